// The tensors of a launch on several ranks, by argument name.
#pragma once

#include <array>
#include <string>

#include "runtime/object/handoff_protocol.h"
#include "runtime/tensors/tensor.h"

namespace baton::builds {

/// What each rank has; empty for ranks that a kernel does not run on.
using RankMaps = std::array<TensorMap, kRanks>;

/// `common` is the same on every rank, a rank's own wins over it.
struct RankTensors {
  TensorMap common;
  RankMaps ranks;

  /// Null when neither has it.
  const Tensor* find(int rank, const std::string& name) const;
  /// Throws Error (user) that names the tensor when neither has it.
  const Tensor& get(int rank, const std::string& name) const;
};

}  // namespace baton::builds
