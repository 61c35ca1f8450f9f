// How the kernels of each family are run and checked: one row a family, one path for all.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "builds/kimi_k3/reference/compare.h"
#include "builds/rank_tensors.h"
#include "runtime/collective.h"
#include "runtime/key/build_key.h"

namespace baton::builds {

/// One line of the comparison table.
struct CheckRow {
  int rank;
  std::string tensor;
  std::string rule;
  reference::Comparison comparison;
};

/// A family's row. All functions but `random_inputs` may throw Error (user).
struct KernelCheck {
  std::string_view family;
  int ranks;  ///< GPUs of a launch: kRanks for a kernel that has peers
  /// Of realistic magnitudes; the same seed gives the same inputs.
  RankTensors (*random_inputs)(const BuildKey& key, uint64_t seed);
  /// Throws an Error that names the first tensor that is missing or of another shape or dtype.
  void (*require_inputs)(const BuildKey& key, const RankTensors& inputs);
  /// Sets every argument but the runner's own and what is only written; leaves out what the key
  /// has not.
  void (*upload)(Collective& collective, const BuildKey& key, const RankTensors& inputs, int layer);
  /// Compares each stage with the reference fed with that stage's own dumped inputs, and the end
  /// with the reference run from `inputs`. Without a region that was not kept (Collective::regions)
  /// what rests on it alone is not compared.
  std::vector<CheckRow> (*check)(const BuildKey& key, const RankTensors& inputs,
                                 const RankMaps& outputs, const RankMaps& regions);
  /// Puts what a step left behind where the next step reads it.
  void (*carry)(const BuildKey& key, const RankMaps& outputs, RankTensors& next_inputs);
};

/// In the order of families().
std::span<const KernelCheck> kernel_checks();
/// Throws Error (user) when the key's family has no row.
const KernelCheck& find_kernel_check(const BuildKey& key);

/// What a step left behind: what the kernel wrote, and the hand-off regions.
struct StepResult {
  RankMaps outputs, regions;
};

/// The tensors of `inputs` as arguments of the same names, on every rank of `collective`.
void upload_tensors(Collective& collective, const RankTensors& inputs);

/// Uploads `inputs` to every rank and runs one step. Nothing is compared: a kernel that gave up its
/// waits has no results. `layer` is below kLayers.
StepResult run_step(Collective& collective, const BuildKey& key, const RankTensors& inputs,
                    int layer);

/// Names of the regions that `result`, of a step of `collective`, does not have.
std::vector<std::string> unseen_regions(const Collective& collective, const StepResult& result);

std::vector<CheckRow> check_step(const BuildKey& key, const RankTensors& inputs,
                                 const StepResult& result);
bool all_passed(std::span<const CheckRow> rows);

}  // namespace baton::builds
