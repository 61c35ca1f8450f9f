// The folders of tensors that `baton run` reads and writes: a file a rank.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "builds/rank_tensors.h"
#include "runtime/key/build_key.h"

namespace baton::cli {

/// Throws Error (user) for what is no folder, or a tensor that is missing or does not fit.
builds::RankTensors read_inputs(const std::filesystem::path& folder, const BuildKey& key);

/// Does nothing without a folder.
void write_ranks(const std::optional<std::string>& folder, const builds::RankMaps& tensors,
                 int ranks);

}  // namespace baton::cli
