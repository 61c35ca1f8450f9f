#include "builds/kimi_k3/sums.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

F32 sum_in_order(std::span<const F32> parts) {
  F32 sum = parts[0];
  for (const F32& part : parts.subspan(1)) sum = sum + part;
  return sum;
}

F32 sum_of_row(const F32& part) {
  return butterfly({16, 8, 4, 2, 1}, part, [](F32 a, F32 b) { return a + b; });
}

}  // namespace baton::builds::kimi_k3
