#include "runtime/emulator/isa/lanes.h"

#include "runtime/emulator/isa/half.h"

namespace baton::emulator::BATON_ISA {
namespace {

/// The lane that `lane` reads through a DPP control, or -1.
int dpp_source(uint32_t ctrl, int lane) {
  const int row = lane & ~15, in_row = lane & 15;
  const auto within_row = [&](int i) { return i < 0 || i > 15 ? -1 : row + i; };
  const int n = static_cast<int>(ctrl & 15);
  if (ctrl < 0x100) return (lane & ~3) | static_cast<int>((ctrl >> (2 * (lane & 3))) & 3);
  switch (ctrl >> 4) {
    case 0x10:
      return within_row(in_row + n);  // row_shl
    case 0x11:
      return within_row(in_row - n);  // row_shr
    case 0x12:
      return row + ((in_row - n) & 15);  // row_ror
    case 0x15:
      return row + n;  // row_newbcast
    default:
      break;
  }
  switch (ctrl) {
    case 0x130:
      return lane == 63 ? -1 : lane + 1;  // wave_shl
    case 0x134:
      return (lane + 1) & 63;  // wave_rol
    case 0x138:
      return lane - 1;  // wave_shr
    case 0x13c:
      return (lane - 1) & 63;  // wave_ror
    case 0x140:
      return row + 15 - in_row;  // row_mirror
    case 0x141:
      return lane ^ 7;  // row_half_mirror
    case 0x142:
      return row == 0 ? -1 : row - 1;  // row_bcast:15
    case 0x143:
      return lane < 32 ? -1 : 31;  // row_bcast:31
    default:
      return -1;
  }
}

bool dpp_known(uint32_t ctrl) {
  return ctrl < 0x100 || (ctrl >> 4) == 0x10 || (ctrl >> 4) == 0x11 || (ctrl >> 4) == 0x12 ||
         (ctrl >> 4) == 0x15 || ctrl == 0x130 || ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c ||
         (ctrl >= 0x140 && ctrl <= 0x143);
}

void permute(Wave& w, const Instruction& in, const uint32_t* from, uint32_t* to) {
  if (!dpp_known(in.dpp_ctrl)) fault_unsupported(in, "this DPP control");
  const uint64_t exec = w.exec();
  Lanes r;
  for (int i = 0; i < kLanes; ++i) {
    const int s = dpp_source(in.dpp_ctrl, i);
    r.v[i] = s >= 0 && ((exec >> s) & 1) ? from[s] : 0;
  }
  for (int i = 0; i < kLanes; ++i) to[i] = r.v[i];
}

uint32_t select(uint32_t value, Select which, bool sign_extend) {
  switch (which) {
    case Select::dword:
      return value;
    case Select::word0:
    case Select::word1: {
      const uint32_t half = which == Select::word1 ? value >> 16 : value & 0xffff;
      return sign_extend ? static_cast<uint32_t>(static_cast<int16_t>(half)) : half;
    }
    default: {
      const uint32_t byte = (value >> (8 * static_cast<uint32_t>(which))) & 0xff;
      return sign_extend ? static_cast<uint32_t>(static_cast<int8_t>(byte)) : byte;
    }
  }
}

uint32_t sign_bits(Type type) {
  switch (type) {
    case Type::f16:
    case Type::b16:
    case Type::bf16:
      return 0x8000;
    default:
      return 0x80000000;
  }
}

bool is_half(Type type) { return type == Type::f16 || type == Type::b16 || type == Type::bf16; }

/// One word of a source, before selection and modifiers.
void read_word(Wave& w, const Operand& o, int word, uint32_t* to) {
  if (o.kind == OperandKind::vgpr || o.kind == OperandKind::agpr) {
    const uint32_t* from = w.row(o, word);
    for (int i = 0; i < kLanes; ++i) to[i] = from[i];
    return;
  }
  uint32_t value = 0;
  if (o.kind == OperandKind::constant) {
    value = static_cast<uint32_t>(o.value >> (32 * word));
  } else if (o.index == kScc) {
    value = word == 0 && w.scc;
  } else if (o.index == kVccz || o.index == kExecz) {
    value = word == 0 && w.sgpr64(o.index == kVccz ? kVcc : kExec) == 0;
  } else {
    value = w.sgpr[o.index + word];
  }
  for (int i = 0; i < kLanes; ++i) to[i] = value;
}

float omod_factor(uint8_t omod) { return omod == 1 ? 2.0f : omod == 2 ? 4.0f : 0.5f; }

/// NaN becomes 0 when MODE's DX10_CLAMP is set.
float clamp01(float x, bool nan_to_zero) {
  if (x != x) return nan_to_zero ? 0.0f : x;
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

uint32_t modify_result(const Wave& w, const Instruction& in, uint32_t r) {
  const bool clamp = in.flags & kClamp;
  const bool dx10 = w.mode & kModeDx10Clamp;
  const auto modify_f32 = [&](float x) {
    if (in.omod) x *= omod_factor(in.omod);
    return clamp ? clamp01(x, dx10) : x;
  };
  const auto modify_half = [&](uint32_t h) {
    return uint32_t{f32_to_f16(modify_f32(f16_to_f32(static_cast<uint16_t>(h))))};
  };
  switch (in.dst.type) {
    case Type::f32:
      return as_u32(modify_f32(as_f32(r)));
    case Type::f16:
      return modify_half(r & 0xffff);
    case Type::pkf16:
      return modify_half(r & 0xffff) | modify_half(r >> 16) << 16;
    default:
      return r;
  }
}

uint32_t insert(const Instruction& in, uint32_t r, uint32_t old) {
  if (in.dst_sel == Select::dword) return r;
  const bool word = in.dst_sel == Select::word0 || in.dst_sel == Select::word1;
  const uint32_t bits = word ? 16 : 8;
  const uint32_t at = in.dst_sel == Select::word0   ? 0
                      : in.dst_sel == Select::word1 ? 16
                                                    : 8 * static_cast<uint32_t>(in.dst_sel);
  const uint32_t mask = ((1u << bits) - 1) << at;
  const uint32_t placed = (r << at) & mask;
  switch (in.dst_unused) {
    case Unused::preserve:
      return placed | (old & ~mask);
    case Unused::sext: {
      const uint32_t up = 32 - bits - at;
      return static_cast<uint32_t>(static_cast<int32_t>(placed << up) >> up);
    }
    default:
      return placed;
  }
}

}  // namespace

const uint32_t* fetch_slow(Wave& w, const Instruction& in, int which, uint32_t* scratch) {
  const Operand& o = in.src[which];
  read_word(w, o, 0, scratch);
  if ((in.flags & kDpp) && which == 0) permute(w, in, scratch, scratch);
  if ((in.flags & kSdwa) && which < 2) {
    const bool sext = o.modifiers & kSext;
    for (int i = 0; i < kLanes; ++i) scratch[i] = select(scratch[i], in.src_sel[which], sext);
  }
  if (is_half(o.type) && ((in.op_sel >> which) & 1)) {
    for (int i = 0; i < kLanes; ++i) scratch[i] >>= 16;
  }
  const uint32_t sign = sign_bits(o.type);
  if (o.modifiers & kAbs) {
    for (int i = 0; i < kLanes; ++i) scratch[i] &= ~sign;
  }
  if (o.modifiers & kNeg) {
    for (int i = 0; i < kLanes; ++i) scratch[i] ^= sign;
  }
  return scratch;
}

void fetch64_slow(Wave& w, const Instruction& in, int which, uint32_t* lo, uint32_t* hi) {
  const Operand& o = in.src[which];
  read_word(w, o, 0, lo);
  read_word(w, o, 1, hi);
  if ((in.flags & kDpp) && which == 0) {
    permute(w, in, lo, lo);
    permute(w, in, hi, hi);
  }
  if (o.type != Type::f64) return;
  for (int i = 0; i < kLanes; ++i) {
    if (o.modifiers & kAbs) hi[i] &= 0x7fffffff;
    if (o.modifiers & kNeg) hi[i] ^= 0x80000000;
  }
}

uint64_t write_mask(Wave& w, const Instruction& in) {
  const uint64_t exec = w.exec();
  if (!(in.flags & kDpp)) return exec;
  uint64_t mask = 0;
  for (int i = 0; i < kLanes; ++i) {
    const bool selected = ((in.row_mask >> (i / 16)) & 1) && ((in.bank_mask >> (i % 16 / 4)) & 1);
    const int s = dpp_source(in.dpp_ctrl, i);
    const bool valid = (in.flags & kBoundCtrl) || (s >= 0 && ((exec >> s) & 1));
    if (selected && valid) mask |= uint64_t{1} << i;
  }
  return mask & exec;
}

void write_slow(Wave& w, const Instruction& in, const uint32_t* result) {
  const uint64_t mask = write_mask(w, in);
  const bool high = in.op_sel & 8;
  uint32_t* d = w.row(in.dst);
  for (int i = 0; i < kLanes; ++i) {
    if (!((mask >> i) & 1)) continue;
    uint32_t r = result[i];
    if (in.omod || (in.flags & kClamp)) r = modify_result(w, in, r);
    if (in.flags & kSdwa) {
      r = insert(in, r, d[i]);
    } else if (in.flags & kKeepsHalf) {
      r = high ? (d[i] & 0xffff) | r << 16 : (d[i] & 0xffff0000) | (r & 0xffff);
    }
    d[i] = r;
  }
}

}  // namespace baton::emulator::BATON_ISA
