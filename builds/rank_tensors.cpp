#include "builds/rank_tensors.h"

#include "runtime/base/error.h"

namespace baton::builds {

const Tensor* RankTensors::find(int rank, const std::string& name) const {
  for (const TensorMap* tensors : {&ranks.at(static_cast<size_t>(rank)), &common}) {
    if (const auto found = tensors->find(name); found != tensors->end()) return &found->second;
  }
  return nullptr;
}

const Tensor& RankTensors::get(int rank, const std::string& name) const {
  if (const Tensor* tensor = find(rank, name)) return *tensor;
  throw Error(ErrorKind::user, fmt::format("tensor '{}' is missing for rank {}", name, rank),
              fmt::format("put it into common.safetensors or rank{}.safetensors", rank));
}

}  // namespace baton::builds
