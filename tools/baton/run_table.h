// The comparisons of a run, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "builds/kernel_check.h"

namespace baton::cli {

/// A row a comparison, then how many are right and, below, the wrong ones once more: among many
/// rows they would be lost.
std::string comparisons_text(std::span<const builds::CheckRow> rows, double seconds);
nlohmann::ordered_json comparisons_json(std::span<const builds::CheckRow> rows);

}  // namespace baton::cli
