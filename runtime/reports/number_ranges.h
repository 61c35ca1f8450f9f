// Numbers in few words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace baton {

/// First and last of each run of neighbours. `numbers` ascend.
std::vector<std::pair<uint32_t, uint32_t>> number_ranges(std::span<const uint32_t> numbers);

/// "0 .. 2, 4, 5", and behind the fourth range "and 12 more".
std::string ranges_text(std::span<const uint32_t> numbers);

}  // namespace baton
