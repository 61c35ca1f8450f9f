#include "runtime/emulator/operand_text.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::emulator {
namespace {

struct NamedRegister {
  std::string_view name;
  uint16_t index;
  uint8_t words;
};

constexpr NamedRegister kNamed[] = {
    {"vcc", kVcc, 2},
    {"vcc_lo", kVcc, 1},
    {"vcc_hi", kVcc + 1, 1},
    {"exec", kExec, 2},
    {"exec_lo", kExec, 1},
    {"exec_hi", kExec + 1, 1},
    {"m0", kM0, 1},
    {"flat_scratch", kFlatScratch, 2},
    {"flat_scratch_lo", kFlatScratch, 1},
    {"flat_scratch_hi", kFlatScratch + 1, 1},
    {"xnack_mask", kXnackMask, 2},
    {"xnack_mask_lo", kXnackMask, 1},
    {"xnack_mask_hi", kXnackMask + 1, 1},
    {"src_shared_base", kSharedBase, 2},
    {"src_shared_limit", kSharedLimit, 2},
    {"src_private_base", kPrivateBase, 2},
    {"src_private_limit", kPrivateLimit, 2},
    {"src_vccz", kVccz, 1},
    {"src_execz", kExecz, 1},
    {"src_scc", kScc, 1},
    {"scc", kScc, 1},
};

constexpr std::string_view kFlagWords[] = {"offen", "idxen", "sc0", "sc1", "nt",    "glc",
                                           "slc",   "scc",   "lds", "gds", "clamp", "dlc"};

bool is_flag_word(std::string_view word) {
  for (std::string_view flag : kFlagWords) {
    if (word == flag) return true;
  }
  return false;
}

/// "name:..." where the colon is not inside a register's brackets.
bool is_keyed(std::string_view word) {
  const size_t colon = word.find(':');
  return colon != std::string_view::npos &&
         word.substr(0, colon).find('[') == std::string_view::npos;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// Splits at top-level separators: not inside brackets, parentheses or quotes.
template <typename Visit>
void split(std::string_view s, char separator, Visit visit) {
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '"') quoted = !quoted;
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == separator && depth == 0 && !quoted) {
      visit(trim(s.substr(start, i - start)));
      start = i + 1;
    }
  }
  visit(trim(s.substr(start)));
}

[[noreturn]] void unknown(std::string_view text) {
  throw Error(ErrorKind::failed_check, fmt::format("operand '{}' is not understood", text));
}

uint64_t parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  const auto value = parse_number<uint64_t>(digits, hex ? 16 : 10);
  if (!value) unknown(text);
  return negative ? 0 - *value : *value;
}

struct InlineFloat {
  std::string_view text;
  uint16_t f16, bf16;
  uint32_t f32;
  uint64_t f64;
};
constexpr InlineFloat kInlineFloats[] = {
    {"0.5", 0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000},
    {"1.0", 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000},
    {"2.0", 0x4000, 0x4000, 0x40000000, 0x4000000000000000},
    {"4.0", 0x4400, 0x4080, 0x40800000, 0x4010000000000000},
    {"0.15915494", 0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882},
    {"0.15915494309189532", 0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882},
    {"0.15915494309189533", 0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882},
};

std::optional<uint64_t> inline_float(std::string_view text, Type type) {
  const bool negative = text.starts_with('-');
  for (const InlineFloat& f : kInlineFloats) {
    if (text.substr(negative ? 1 : 0) != f.text) continue;
    switch (type) {
      case Type::f16:
      case Type::b16:
      case Type::pkf16:
      case Type::pk16:
        return f.f16 | (negative ? 0x8000 : 0);
      case Type::bf16:
        return f.bf16 | (negative ? 0x8000 : 0);
      case Type::b64:
      case Type::i64:
      case Type::f64:
        return f.f64 | (negative ? uint64_t{1} << 63 : 0);
      default:
        return f.f32 | (negative ? 0x80000000u : 0);
    }
  }
  return std::nullopt;
}

uint64_t parse_constant(std::string_view text, Type type) {
  if (const auto value = inline_float(text, type)) return *value;
  const uint64_t value = parse_integer(text);
  const bool literal = text.find("0x") != std::string_view::npos;
  switch (type) {
    case Type::f64:
      return literal ? value << 32 : value;
    case Type::i64:
      return literal ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)}) : value;
    case Type::b64:
      return value;
    default:
      return value & 0xffffffff;
  }
}

/// "v5", "v[4:7]", "a0", "s[2:3]", "ttmp4".
bool parse_register(std::string_view text, Operand& operand) {
  for (const NamedRegister& r : kNamed) {
    if (text == r.name) {
      operand.kind = OperandKind::sgpr;
      operand.index = r.index;
      operand.words = r.words;
      return true;
    }
  }
  uint16_t base = 0;
  if (text.starts_with("ttmp")) {
    text.remove_prefix(4);
    operand.kind = OperandKind::sgpr;
    base = kTtmp0;
  } else if (text.size() > 1 && (text[1] == '[' || (text[1] >= '0' && text[1] <= '9'))) {
    if (text[0] != 'v' && text[0] != 's' && text[0] != 'a') return false;
    operand.kind = text[0] == 'v'   ? OperandKind::vgpr
                   : text[0] == 's' ? OperandKind::sgpr
                                    : OperandKind::agpr;
    text.remove_prefix(1);
  } else {
    return false;
  }
  uint64_t first = 0, last = 0;
  if (text.starts_with('[')) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.back() != ']') return false;
    first = parse_integer(text.substr(1, colon - 1));
    last = parse_integer(text.substr(colon + 1, text.size() - colon - 2));
  } else {
    first = last = parse_integer(text);
  }
  const uint64_t limit = operand.kind == OperandKind::sgpr ? kSgprs : 256;
  if (last < first || base + last >= limit) return false;
  operand.index = static_cast<uint16_t>(base + first);
  operand.words = static_cast<uint8_t>(last - first + 1);
  return true;
}

void apply_list(std::string_view list, uint8_t& bits) {
  bits = 0;
  uint8_t bit = 1;
  split(list.substr(1, list.size() - 2), ',', [&](std::string_view item) {
    if (item == "1") bits |= bit;
    bit = static_cast<uint8_t>(bit << 1);
  });
}

Select parse_select(std::string_view value) {
  constexpr std::string_view kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                         "WORD_0", "WORD_1", "DWORD"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (value == kNames[i]) return static_cast<Select>(i);
  }
  unknown(value);
}

bool apply_sdwa(std::string_view key, std::string_view value, Instruction& in) {
  if (key == "dst_sel") {
    in.dst_sel = parse_select(value);
  } else if (key == "src0_sel") {
    in.src_sel[0] = parse_select(value);
  } else if (key == "src1_sel") {
    in.src_sel[1] = parse_select(value);
  } else if (key == "dst_unused") {
    in.dst_unused = value == "UNUSED_PRESERVE" ? Unused::preserve
                    : value == "UNUSED_SEXT"   ? Unused::sext
                                               : Unused::pad;
  } else {
    return false;
  }
  return true;
}

void apply_keyed(std::string_view key, std::string_view value, Instruction& in) {
  // DPP controls and DS offsets are read from the encoding, where they are plain fields.
  constexpr std::string_view kFromEncoding[] = {
      "quad_perm", "row_shl",  "row_shr",  "row_ror",  "row_newbcast", "row_bcast",
      "row_share", "wave_shl", "wave_shr", "wave_rol", "wave_ror",     "row_mask",
      "bank_mask", "offset0",  "offset1",  "gpr_idx"};
  if (apply_sdwa(key, value, in)) return;
  for (std::string_view known : kFromEncoding) {
    if (key == known) return;
  }
  if (key == "bound_ctrl") {
    in.flags |= kBoundCtrl;
  } else if (key == "fi") {
    in.flags |= kFetchInactive;
  } else if (key == "offset") {
    if (!value.starts_with("swizzle")) in.offset = static_cast<int32_t>(parse_integer(value));
  } else if (key == "op_sel") {
    apply_list(value, in.op_sel);
  } else if (key == "op_sel_hi") {
    apply_list(value, in.op_sel_hi);
  } else if (key == "neg_lo" || key == "neg") {
    apply_list(value, in.neg_lo);
  } else if (key == "neg_hi") {
    apply_list(value, in.neg_hi);
  } else if (key == "mul") {
    in.omod = value == "2" ? 1 : 2;
  } else if (key == "div") {
    in.omod = 3;
  } else if (key == "cbsz") {
    in.cbsz = static_cast<uint8_t>(parse_integer(value));
  } else if (key == "abid") {
    in.abid = static_cast<uint8_t>(parse_integer(value));
  } else if (key == "blgp") {
    in.blgp = static_cast<uint8_t>(parse_integer(value));
  } else if (key == "bitop3") {
    in.imm = static_cast<uint32_t>(parse_integer(value));
  } else {
    throw Error(ErrorKind::failed_check,
                fmt::format("modifier '{}:{}' is not understood", key, value));
  }
}

void apply_flag(std::string_view word, Instruction& in) {
  constexpr std::pair<std::string_view, uint32_t> kFlags[] = {
      {"offen", kOffen}, {"idxen", kIdxen}, {"sc0", kSc0}, {"glc", kSc0},
      {"sc1", kSc1},     {"scc", kSc1},     {"nt", kNt},   {"slc", kNt},
      {"clamp", kClamp}, {"lds", kLds},     {"gds", kGds}};
  for (const auto& [name, flag] : kFlags) {
    if (word == name) in.flags |= flag;
  }
}

}  // namespace

std::string_view base_name(std::string_view mnemonic) {
  for (std::string_view suffix : {"_e32", "_e64", "_dpp", "_sdwa"}) {
    if (mnemonic.ends_with(suffix)) {
      mnemonic.remove_suffix(suffix.size());
      return mnemonic;
    }
  }
  return mnemonic;
}

InstructionText split_instruction(std::string_view text) {
  InstructionText result;
  const size_t end = text.find_first_of(" \t");
  result.mnemonic = text.substr(0, end);
  if (end == std::string_view::npos) return result;
  split(text.substr(end + 1), ',', [&](std::string_view part) {
    bool first = true;
    split(part, ' ', [&](std::string_view word) {
      if (word.empty()) return;
      if (is_flag_word(word) || is_keyed(word) || word == "row_mirror" ||
          word == "row_half_mirror") {
        result.modifiers.push_back(word);
      } else if (first || result.operands.empty()) {
        result.operands.push_back(word);
      } else {
        result.modifiers.push_back(word);
      }
      first = false;
    });
  });
  return result;
}

Operand parse_operand(std::string_view text, Type type, uint32_t simm16) {
  Operand operand;
  operand.type = type;
  const std::string_view whole = text;
  if (text == "off" || text == "null") {
    operand.kind = OperandKind::off;
    return operand;
  }
  if (text.starts_with("hwreg(") || text.starts_with("sendmsg(") || text.starts_with("gpr_idx(") ||
      text.starts_with("vmcnt(") || text.starts_with("lgkmcnt(") || text.starts_with("expcnt(")) {
    operand.kind = OperandKind::constant;
    operand.value = simm16;
    return operand;
  }
  const auto unwrap = [&](std::string_view prefix, Modifier modifier) {
    if (text.starts_with(prefix) && text.ends_with(')')) {
      text = text.substr(prefix.size(), text.size() - prefix.size() - 1);
      operand.modifiers |= modifier;
    }
  };
  unwrap("sext(", kSext);
  unwrap("neg(", kNeg);
  const bool minus = text.starts_with('-') && text.size() > 1 && (text[1] < '0' || text[1] > '9');
  if (minus) {
    text.remove_prefix(1);
    operand.modifiers |= kNeg;
  }
  unwrap("abs(", kAbs);
  if (text.size() > 2 && text.starts_with('|') && text.ends_with('|')) {
    text = text.substr(1, text.size() - 2);
    operand.modifiers |= kAbs;
  }
  if (parse_register(text, operand)) return operand;
  unwrap("lit(", Modifier{});
  if (text.empty() || !(text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))) unknown(whole);
  operand.kind = OperandKind::constant;
  operand.value = parse_constant(text, type);
  return operand;
}

void apply_modifiers(const InstructionText& text, Instruction& in) {
  for (std::string_view word : text.modifiers) {
    const size_t colon = word.find(':');
    if (is_keyed(word)) {
      apply_keyed(word.substr(0, colon), word.substr(colon + 1), in);
    } else {
      apply_flag(word, in);
    }
  }
}

}  // namespace baton::emulator
