#include "runtime/emulator/spin.h"

#include <cstring>

namespace baton::emulator {

uint64_t state_hash(const Wave& wave) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  constexpr int kStreams = 8;
  uint64_t h[kStreams] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto mix = [&](const uint32_t* words, uint64_t count) {
    for (uint64_t i = 0; i + 2 * kStreams <= count; i += 2 * kStreams) {
      for (int s = 0; s < kStreams; ++s) {
        uint64_t x;
        std::memcpy(&x, words + i + 2 * s, sizeof(x));
        h[s] = (h[s] ^ x) * kOdd;
        h[s] ^= h[s] >> 29;
      }
    }
  };
  mix(wave.file[0], wave.workgroup->register_words);
  mix(wave.sgpr, kSgprs);
  uint64_t all =
      uint64_t{wave.scc} | uint64_t{wave.mode} << 1 | uint64_t{wave.gpr_index_mode} << 40;
  for (const uint64_t x : h) all = (all ^ x) * kOdd ^ (all >> 31);
  return all;
}

uint64_t reads_hash(const Wave& wave) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t all = wave.spin.lds_version;
  for (const Watch& watch : wave.spin.watch) {
    const uint64_t x = uint64_t{watch.bucket} << 32 | watch.version;
    all = (all ^ x) * kOdd;
    all ^= all >> 31;
  }
  return all;
}

}  // namespace baton::emulator
