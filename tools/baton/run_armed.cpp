#include "tools/baton/run_armed.h"

#include <fmt/format.h>

namespace baton::cli {

ArmedCheck check_armed(Collective& collective) {
  size_t words = 0;
  for (const RecordRegion& region : collective.record().regions) {
    if (region.protocol != RegionProtocol::sentinel) continue;
    words += copies(region) * region.bytes / kWordBytes;
  }
  ArmedCheck check;
  if (words == 0) return check;
  for (const int rank : collective.ranks()) {
    const std::vector<UnarmedWord> unarmed = collective.rank(rank).unarmed_words(words);
    reference::Comparison comparison;
    comparison.elements = words;
    comparison.differing = unarmed.size();
    comparison.passed = unarmed.empty();
    check.rows.push_back({rank, "sentinel words armed",
                          std::string(reference::name(reference::Rule::exact)), comparison});
    if (unarmed.empty() || !check.first_unarmed.empty()) continue;
    check.first_unarmed =
        fmt::format("{} is 0x{:08x}", unarmed.front().place, unarmed.front().word);
  }
  return check;
}

}  // namespace baton::cli
