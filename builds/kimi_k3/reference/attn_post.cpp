#include "builds/kimi_k3/reference/attn_post.h"

#include <algorithm>

#include "builds/kimi_k3/reference/attn_res.h"

namespace baton::reference {

namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

}  // namespace

std::vector<Bf16> partials(int tokens, std::span<const Bf16> core, std::span<const Bf16> w_o) {
  std::vector<float> wide(core.size());
  std::transform(core.begin(), core.end(), wide.begin(), [](Bf16 v) { return to_float(v); });
  std::vector<Bf16> result(at(int64_t{tokens} * kHiddenColumns));
  for (int column = 0; column < kHiddenColumns; ++column) {
    const std::span<const Bf16> row = w_o.subspan(at(int64_t{column} * kCoreColumns), kCoreColumns);
    for (int t = 0; t < tokens; ++t) {
      double sum = 0;
      for (int k = 0; k < kCoreColumns; ++k) {
        sum += static_cast<double>(to_float(row[at(k)])) * wide[at(int64_t{t} * kCoreColumns + k)];
      }
      result[at(int64_t{t} * kHiddenColumns + column)] = to_bf16(sum);
    }
  }
  return result;
}

std::vector<Bf16> reduce(int tokens, std::span<const Bf16> ar) {
  const size_t elements = at(int64_t{tokens} * kHiddenColumns);
  std::vector<Bf16> delta(elements);
  for (size_t i = 0; i < elements; ++i) {
    float sum = to_float(ar[i]);
    for (size_t rank = 1; rank < kTpRanks; ++rank) sum += to_float(ar[rank * elements + i]);
    delta[i] = to_bf16(sum);
  }
  return delta;
}

}  // namespace baton::reference
