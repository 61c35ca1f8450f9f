// A decoded instruction: everything that LLVM's MC layer says about it, resolved once, so that a
// step is one indirect call.
#pragma once

#include <cstdint>

namespace baton::emulator {

inline constexpr int kLanes = 64;

struct Wave;
struct Instruction;
using Handler = void (*)(Wave&, const Instruction&);

/// The numbers index Wave::file: a VGPR or AGPR operand names its bank.
enum class OperandKind : uint8_t { vgpr = 0, agpr = 1, sgpr, constant, off, none };

/// What a constant's text means and what the sign modifiers touch.
enum class Type : uint8_t { b32, f32, b16, f16, bf16, b64, i64, f64, pk16, pkf16, pkf32, none };

/// The places of the special scalars in Wave::sgpr, by their encoding.
enum Sgpr : uint16_t {
  kFlatScratch = 102,
  kXnackMask = 104,
  kVcc = 106,
  kTtmp0 = 108,
  kM0 = 124,
  kExec = 126,
  kSharedBase = 128,  ///< from here on not writable; 64 bits each
  kSharedLimit = 130,
  kPrivateBase = 132,
  kPrivateLimit = 134,
  kVccz = 136,
  kExecz = 137,
  kScc = 138,
  kSgprs = 144,
};

enum Modifier : uint8_t { kNeg = 1, kAbs = 2, kSext = 4 };

struct Operand {
  OperandKind kind = OperandKind::none;
  Type type = Type::none;
  uint8_t modifiers = 0;
  uint8_t words = 1;   ///< registers in the operand, as printed
  bool plain = false;  ///< a VGPR or AGPR that is read as it is
  uint16_t index = 0;
  uint64_t value = 0;  ///< of a constant, in the operand's type
};
static_assert(sizeof(Operand) == 16);

/// SDWA selections, in their encoding.
enum class Select : uint8_t { byte0, byte1, byte2, byte3, word0, word1, dword };
enum class Unused : uint8_t { pad, sext, preserve };

enum Flag : uint32_t {
  kClamp = 1u << 0,
  kOffen = 1u << 1,
  kIdxen = 1u << 2,
  kLds = 1u << 3,
  kSc0 = 1u << 4,  ///< glc; on an atomic: return the old value
  kSc1 = 1u << 5,  ///< scc
  kNt = 1u << 6,   ///< slc
  kDpp = 1u << 7,
  kSdwa = 1u << 8,
  kBoundCtrl = 1u << 9,
  kPlainResult = 1u << 10,  ///< no clamp, omod, SDWA, DPP mask or op_sel on the result
  kVop3 = 1u << 11,
  kGds = 1u << 12,
  kFetchInactive = 1u << 14,  ///< permlane: lanes that are off are read too
  kKeepsHalf = 1u << 13,      ///< a 16-bit result leaves the other half alone
};

/// What a counter counts an instruction as.
enum class OpClass : uint8_t {
  salu,
  valu,
  mfma,
  smem,
  vmem_load,
  vmem_store,
  atomic,
  lds,
  branch,
  sync,
  other
};
inline constexpr int kOpClasses = static_cast<int>(OpClass::other) + 1;

struct Instruction {
  Handler handler = nullptr;
  uint32_t flags = 0;
  int32_t offset = 0;   ///< of a memory instruction; DS: offset0
  uint32_t imm = 0;     ///< simm16, zero-extended; DS: offset1; bitop3
  uint32_t target = 0;  ///< index that a branch goes to
  uint16_t dpp_ctrl = 0;
  uint8_t row_mask = 0xf, bank_mask = 0xf;
  uint8_t op_sel = 0, op_sel_hi = 0, neg_lo = 0, neg_hi = 0;
  uint8_t omod = 0;  ///< 0, 1: x 2, 2: x 4, 3: / 2
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  Select dst_sel = Select::dword;
  Unused dst_unused = Unused::pad;
  Select src_sel[2] = {Select::dword, Select::dword};
  Operand dst;
  Operand src[5];
  Operand sdst;                ///< the second result: carry out, v_div_scale's vcc
  const char* name = nullptr;  ///< the mnemonic without its encoding's suffix
};

/// OpRow::results of an instruction that returns the old value when its sc0 (glc) bit is set.
inline constexpr uint8_t kResultIfSc0 = 9;

/// One line of a family's table: how a mnemonic is executed and how its operands are read.
struct OpRow {
  const char* name;
  Handler handler;
  OpClass op_class;
  /// How many leading operands are results: 0, 1, or 2 where a scalar result follows the vector
  /// one.
  uint8_t results;
  Type result;    ///< what clamp and omod work on
  Type types[3];  ///< of the sources; the last one holds for those behind it
  /// A 16-bit result leaves the other half of its register alone, and op_sel may choose the high
  /// half.
  bool keeps_half = false;
  bool imm_in_text = false;   ///< Instruction::imm is a modifier and not the encoding's low half
  Handler clamped = nullptr;  ///< when the clamp bit means saturation of an integer result
};

}  // namespace baton::emulator
