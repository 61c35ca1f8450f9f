// A launch of kda_pre that no kernel did: what the reference makes of the inputs, stage by stage,
// in the form in which a kernel's results reach the checker. A test changes a stage's result and
// runs the later ones again, as a faulty kernel would.
#pragma once

#include <vector>

#include "builds/kernel_check.h"
#include "builds/kimi_k3/reference/attn_res.h"
#include "builds/kimi_k3/reference/kda_pre.h"
#include "builds/random_tensors.h"

namespace baton::tests {

using reference::Bf16;

struct FakeKdaLaunch {
  enum Stage { seam, weights, mix, project, conv, gates, recur, norm };

  /// Both must outlive it.
  FakeKdaLaunch(const BuildKey& launch_key, const builds::RankTensors& tensors);

  /// Makes the results of `first` and of everything behind it.
  void run_from(Stage first);

  builds::RankMaps outputs() const;
  builds::RankMaps regions() const;

  template <class T>
  std::span<const T> input(const char* name) const {
    return builds::values_of<T>(inputs->get(0, name));
  }
  reference::Blocks block_rows() const;
  template <class T>
  reference::ConvPool<T> conv_pool_of(std::span<T> data) const;
  reference::StatePool state_pool();

  const BuildKey* key;
  const builds::RankTensors* inputs;
  reference::AttnResShape seam_shape;
  reference::KdaShape shape;
  reference::SlotTable table;

  std::vector<Bf16> prefix, blocks;       ///< seam
  std::vector<float> part;                ///< seam
  std::vector<float> wgt;                 ///< weights
  std::vector<float> mixed, msq;          ///< mix
  std::vector<Bf16> x;                    ///< mix
  std::vector<Bf16> proj;                 ///< project
  std::vector<Bf16> conv_out, conv_pool;  ///< conv
  std::vector<float> qk, beta, decay;     ///< gates
  std::vector<Bf16> o;                    ///< recur
  std::vector<float> states, onrm;        ///< recur
  std::vector<Bf16> core;                 ///< norm
};

}  // namespace baton::tests
