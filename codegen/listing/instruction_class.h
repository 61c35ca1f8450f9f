// What an instruction occupies, as a reviewer counts it.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton {

/// The order is the order of the statistics' columns.
enum class InstructionClass : uint8_t {
  mfma,
  valu,
  cross_lane,  ///< DPP, permlane, readlane: data moves between lanes without LDS
  salu,
  smem,
  load,    ///< vector memory: buffer, global, flat, scratch
  store,   ///< the same
  atomic,  ///< the same
  lds,     ///< ds_*, also the permutes that use its crossbar
  waitcnt,
  branch,
  barrier,
  sleep,
  other,  ///< s_nop, s_endpgm, cache control, ...
};

inline constexpr int kInstructionClasses = static_cast<int>(InstructionClass::other) + 1;

/// "MFMA", "cross-lane": a column's heading.
std::string_view name(InstructionClass kind);

/// The class of an instruction by its mnemonic as LLVM prints it: "v_add_f32_dpp".
InstructionClass classify(std::string_view mnemonic);

}  // namespace baton
