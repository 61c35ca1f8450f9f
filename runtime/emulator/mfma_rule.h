// How a matrix instruction rounds.
#pragma once

#include <cstdint>

namespace baton::emulator {

/// exact: the published behaviour of the chip (gfx950: the CDNA3 rule extended to its K).
/// chain: a plain fp32 fused chain in ascending k.
enum class MfmaRule : uint8_t { exact, chain };

}  // namespace baton::emulator
