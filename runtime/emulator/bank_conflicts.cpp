#include "runtime/emulator/bank_conflicts.h"

#include <algorithm>
#include <string_view>

#include "runtime/emulator/lds_shape.h"
#include "runtime/emulator/wave.h"

namespace baton::emulator {
namespace {

constexpr int kMaxBanks = 64;
constexpr int kWordBytes = 4;

/// In which phase a lane is served.
int phase_of(int lane, int bytes, bool load, int banks) {
  const int words = std::max(1, (bytes + kWordBytes - 1) / kWordBytes);
  if (words < 3) return lane / (banks / words);
  if (!load) return lane / (banks / 4);
  // By four lanes: the groups of AMD's documentation.
  constexpr int kGroups[] = {0, 1, 2, 3, 1, 0, 3, 2};
  const int group = kGroups[lane % 32 / 4];
  const bool wide = banks == kMaxBanks;
  const int half = lane / 32;
  return wide ? half * 2 + (group == 1 || group == 2) : half * 4 + group;
}

}  // namespace

uint64_t bank_conflicts(const uint32_t* addresses, uint64_t lanes, int bytes, bool load,
                        int banks) {
  constexpr int kMaxPhases = 8;
  constexpr int kMaxWords = 4;
  uint32_t seen[kMaxBanks][kLanes * kMaxWords];
  uint64_t conflicts = 0;
  for (int phase = 0; phase < kMaxPhases; ++phase) {
    int count[kMaxBanks] = {};
    int most = 1;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!((lanes >> lane) & 1) || phase_of(lane, bytes, load, banks) != phase) continue;
      const uint32_t first = addresses[lane] / kWordBytes;
      const uint32_t last = (addresses[lane] + static_cast<uint32_t>(bytes) - 1) / kWordBytes;
      for (uint32_t word = first; word <= last && word - first < kMaxWords; ++word) {
        const auto bank = word % static_cast<uint32_t>(banks);
        uint32_t* words = seen[bank];
        if (std::find(words, words + count[bank], word) != words + count[bank]) continue;
        words[count[bank]++] = word;
        most = std::max(most, count[bank]);
      }
    }
    conflicts += static_cast<uint64_t>(most - 1);
  }
  return conflicts;
}

uint64_t bank_conflicts(const Wave& w, const Instruction& in) {
  const LdsShape shape = lds_shape(in);
  if (shape.bytes == 0 || !shape.addressed) return 0;
  const int banks = w.generation == Generation::cdna4 ? 64 : 32;
  const uint32_t* base = w.row(in.src[0]);
  uint64_t conflicts = 0;
  for (int k = 0; k < shape.places; ++k) {
    uint32_t addresses[kLanes];
    for (int i = 0; i < kLanes; ++i) addresses[i] = base[i] + shape.offset[k];
    conflicts += bank_conflicts(addresses, w.exec(), shape.bytes, shape.load, banks);
  }
  return conflicts;
}

}  // namespace baton::emulator
