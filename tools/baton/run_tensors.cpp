#include "tools/baton/run_tensors.h"

#include <fmt/format.h>

#include "builds/kernel_check.h"
#include "runtime/base/error.h"

namespace baton::cli {
namespace {

using builds::KernelCheck;
using builds::RankTensors;
using Path = std::filesystem::path;

TensorMap read_if_there(const Path& path) {
  return std::filesystem::exists(path) ? read_safetensors(path) : TensorMap();
}

/// "rank0.safetensors .. rank7.safetensors".
std::string rank_files(int ranks) {
  return ranks == 1 ? "rank0.safetensors"
                    : fmt::format("rank0.safetensors .. rank{}.safetensors", ranks - 1);
}

}  // namespace

RankTensors read_inputs(const Path& folder, const BuildKey& key) {
  const KernelCheck& check = builds::find_kernel_check(key);
  if (!std::filesystem::is_directory(folder)) {
    throw Error(ErrorKind::user, fmt::format("{} is no folder", folder.string()),
                "--inputs DIR holds common.safetensors and " + rank_files(check.ranks));
  }
  RankTensors inputs;
  inputs.common = read_if_there(folder / "common.safetensors");
  for (int rank = 0; rank < check.ranks; ++rank) {
    inputs.ranks[static_cast<size_t>(rank)] =
        read_if_there(folder / fmt::format("rank{}.safetensors", rank));
  }
  check.require_inputs(key, inputs);
  return inputs;
}

void write_ranks(const std::optional<std::string>& folder, const builds::RankMaps& tensors,
                 int ranks) {
  if (!folder) return;
  std::error_code failed;  // then the write says why
  std::filesystem::create_directory(*folder, failed);
  for (int rank = 0; rank < ranks; ++rank) {
    write_safetensors(Path(*folder) / fmt::format("rank{}.safetensors", rank),
                      tensors[static_cast<size_t>(rank)]);
  }
}

}  // namespace baton::cli
