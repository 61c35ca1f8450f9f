#include "runtime/emulator/attend.h"

namespace baton::emulator {

void attend(Emulator& emulator, Collective& collective) {
  Names names;
  names.address = [&](uint64_t address) { return collective.describe(address); };
  names.missing = [&](uint64_t address, const auto& awaited) {
    return collective.describe_missing(address, awaited);
  };
  emulator.set_names(std::move(names));
  const std::string verb = "rearm ";
  std::vector<std::string> rearms;
  for (const RecordRegion& region : collective.record().regions) {
    if (region.protocol == RegionProtocol::sentinel) rearms.push_back(verb + region.name);
  }
  emulator.pause_before(std::move(rearms), [&collective, verb](const std::string& handoff) {
    collective.keep_region(handoff.substr(verb.size()));
  });
}

}  // namespace baton::emulator
