// What compiled kernels, the runner and the reports agree on about hand-off memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton {

/// Ranks of a launch, one GPU each: entries of the table of peer buffers.
inline constexpr int kRanks = 8;

/// A tagged word is a pair of 8 bytes, the value first; a sentinel word stands alone.
inline constexpr int kPairBytes = 8, kWordBytes = 4;

/// The tag of a launch is (epoch mod kTagEpochs) kTagSlots + slot + 1.
inline constexpr uint32_t kTagEpochs = 1u << 22, kTagSlots = 256;
/// A slot is the layer's index; for the second kernel of a layer this is added.
inline constexpr int kKernelSlots = 128;

/// The word of a sentinel region that has not arrived: two bf16 NaNs.
inline constexpr uint32_t kSentinel = 0xFFFFFFFF;
/// What a payload that equals the sentinel is put as: still two NaNs.
inline constexpr uint32_t kSentinelPayload = 0xFFFEFFFE;

/// Columns of a block of a sentinel region: its words of one token stand side by side.
inline constexpr int kSentinelBlockColumns = 16;

/// Where a sentinel region [sources, tokens, width] of bf16 keeps the pair of columns `column` and
/// `column` + 1: ((source (width / 16) + column / 16) tokens + token) 8 + (column % 16) / 2.
/// `Integer` is int64_t, or a value of the device.
template <class Integer>
Integer sentinel_word(const Integer& source, const Integer& token, const Integer& column,
                      int tokens, int width) {
  const Integer block = source * (width / kSentinelBlockColumns) + column / kSentinelBlockColumns;
  return (block * tokens + token) * (kSentinelBlockColumns / 2) +
         column % kSentinelBlockColumns / 2;
}

/// The name of a region in a diagnostics record: the low 31 bits of the CRC-32 of `name`.
uint32_t region_id(std::string_view name);

/// What a workgroup of a diagnostics build leaves of its first wait of the step that gave up.
struct DiagRecord {
  uint32_t present;  ///< 1
  uint32_t region;   ///< region_id() of its name
  uint32_t index;    ///< in words of the region
  uint32_t expected_tag;
  uint32_t seen_tag;  ///< for a sentinel region the word itself
  uint32_t workgroup;
  uint32_t clock;  ///< low word of the 100 MHz clock
  uint32_t zero;
};
static_assert(sizeof(DiagRecord) == 32);

/// Of s_memrealtime, the clock of records and stamps: 100 MHz.
inline constexpr int64_t kTicksPerSecond = 100'000'000;

/// How long a wait of a diagnostics build lasts at most, in ticks: 10 s. A tagged word that comes
/// after its wait gave up is told by its tag. A sentinel word is not: the step that uses the same
/// half next, two steps later, would take it for its own. So a build with sentinel regions must not
/// go on after that, which Runner enforces: buffers and regions are made anew.
inline constexpr int64_t kDiagWaitTicks = 10 * kTicksPerSecond;

}  // namespace baton
