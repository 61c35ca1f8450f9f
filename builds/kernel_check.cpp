#include "builds/kernel_check.h"

#include <algorithm>

#include "builds/kimi_k3/attn_post_run.h"
#include "builds/kimi_k3/kda_pre_run.h"
#include "runtime/base/error.h"

namespace baton::builds {

std::span<const KernelCheck> kernel_checks() {
  static const KernelCheck all[] = {kimi_k3::attn_post_kernel_check(),
                                    kimi_k3::kda_pre_kernel_check()};
  return all;
}

const KernelCheck& find_kernel_check(const BuildKey& key) {
  const auto found = std::ranges::find(kernel_checks(), key.family(), &KernelCheck::family);
  if (found != kernel_checks().end()) return *found;
  throw Error(ErrorKind::user, fmt::format("there is no check of the kernel '{}'", key.family()),
              "baton compile builds it all the same");
}

void upload_tensors(Collective& collective, const RankTensors& inputs) {
  for (const int rank : collective.ranks()) {
    const TensorMap& own = inputs.ranks[static_cast<size_t>(rank)];
    for (const auto& [name, tensor] : own) collective.set_tensor(rank, name, tensor);
    for (const auto& [name, tensor] : inputs.common) {
      if (!own.contains(name)) collective.set_tensor(rank, name, tensor);
    }
  }
}

StepResult run_step(Collective& collective, const BuildKey& key, const RankTensors& inputs,
                    int layer) {
  find_kernel_check(key).upload(collective, key, inputs, layer);
  collective.step();
  StepResult result;
  for (const int rank : collective.ranks()) {
    result.outputs[static_cast<size_t>(rank)] = collective.outputs(rank);
    result.regions[static_cast<size_t>(rank)] = collective.regions(rank);
  }
  return result;
}

std::vector<std::string> unseen_regions(const Collective& collective, const StepResult& result) {
  const TensorMap& seen = result.regions[static_cast<size_t>(collective.ranks().front())];
  std::vector<std::string> unseen;
  for (const RecordRegion& region : collective.record().regions) {
    if (!seen.contains(region.name)) unseen.push_back(region.name);
  }
  return unseen;
}

std::vector<CheckRow> check_step(const BuildKey& key, const RankTensors& inputs,
                                 const StepResult& result) {
  return find_kernel_check(key).check(key, inputs, result.outputs, result.regions);
}

bool all_passed(std::span<const CheckRow> rows) {
  return std::ranges::all_of(rows, [](const CheckRow& row) { return row.comparison.passed; });
}

}  // namespace baton::builds
