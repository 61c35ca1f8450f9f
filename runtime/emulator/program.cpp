#include "runtime/emulator/program.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "runtime/base/error.h"
#include "runtime/emulator/disassembler.h"
#include "runtime/emulator/fault.h"
#include "runtime/emulator/handlers.h"
#include "runtime/emulator/operand_text.h"

namespace baton::emulator {
namespace {

constexpr uint32_t kStepBytes = 4;

void unknown_instruction(Wave&, const Instruction& in) { fault_unknown(in); }

uint32_t word(ByteView bytes, size_t index) {
  return bytes.size() >= 4 * index + 4 ? read_at<uint32_t>(bytes, 4 * index, "instruction") : 0;
}

bool is_vop3p(uint32_t word0) { return word0 >> 23 == 0x1a7; }
bool is_vop3(uint32_t word0) { return word0 >> 26 == 0x34 && !is_vop3p(word0); }
bool is_ds(uint32_t word0) { return word0 >> 26 == 0x36; }

/// Fields that LLVM prints in several spellings, or not at all when they have their default.
void read_encoding(ByteView bytes, const OpRow& row, Instruction& in) {
  const uint32_t word0 = word(bytes, 0), word1 = word(bytes, 1);
  if (!row.imm_in_text) in.imm = word0 & 0xffff;
  if (is_ds(word0)) in.offset = static_cast<int32_t>(word0 & 0xffff);
  if (is_vop3p(word0) && row.op_class != OpClass::mfma) {
    in.op_sel = (word0 >> 11) & 7;
    in.op_sel_hi = static_cast<uint8_t>(((word1 >> 27) & 3) | ((word0 >> 14) & 1) << 2);
    in.neg_hi = (word0 >> 8) & 7;
    in.neg_lo = static_cast<uint8_t>(word1 >> 29);
  }
  if (is_vop3(word0) && row.results < 2) in.op_sel = (word0 >> 11) & 0xf;
  if (in.flags & kDpp) {
    in.dpp_ctrl = (word1 >> 8) & 0x1ff;
    in.bank_mask = (word1 >> 24) & 0xf;
    in.row_mask = static_cast<uint8_t>(word1 >> 28);
  }
}

bool is_half(Type type) { return type == Type::f16 || type == Type::b16 || type == Type::bf16; }

bool reads_plainly(const Instruction& in, const Operand& o, int which) {
  if (o.kind != OperandKind::vgpr && o.kind != OperandKind::agpr) return false;
  if (o.modifiers) return false;
  if ((in.flags & kDpp) && which == 0) return false;
  if ((in.flags & kSdwa) && which < 2 &&
      (in.src_sel[which] != Select::dword || (o.modifiers & kSext))) {
    return false;
  }
  return !(is_half(o.type) && ((in.op_sel >> which) & 1));
}

int result_count(const OpRow& row, const Instruction& in) {
  if (row.results == kResultIfSc0) return (in.flags & kSc0) ? 1 : 0;
  if (in.flags & kLds) return 0;
  return row.results;
}

void place_operands(const InstructionText& text, const OpRow& row, Instruction& in) {
  const int results = result_count(row, in);
  const uint32_t simm16 = in.imm;
  for (size_t i = 0; i < text.operands.size(); ++i) {
    const int source = static_cast<int>(i) - results;
    if (source >= static_cast<int>(std::size(in.src))) {
      throw Error(ErrorKind::failed_check, "more operands than an instruction has");
    }
    const Type type = source < 0 ? row.result : row.types[std::min(source, 2)];
    const Operand operand = parse_operand(text.operands[i], type, simm16);
    if (i == 0 && results > 0) {
      in.dst = operand;
    } else if (i == 1 && results > 1) {
      in.sdst = operand;
    } else {
      in.src[source] = operand;
    }
  }
  for (int i = 0; i < static_cast<int>(std::size(in.src)); ++i) {
    in.src[i].plain = reads_plainly(in, in.src[i], i);
  }
}

}  // namespace

Program::Program(const ElfImage& image, const HandlerTable& handlers)
    : chip_(image.chip()), file_(image.bytes().begin(), image.bytes().end()) {
  for (const ElfSymbol& symbol : image.symbols()) {
    if (symbol.defined && symbol.type == 2 /* STT_FUNC */) {
      symbols_.push_back({symbol.vaddr, symbol.size, std::string(symbol.name)});
    }
  }
  for (const Kernel& kernel : image.kernels()) {
    symbols_.push_back({kernel.entry_vaddr, 0, kernel.name});
  }
  std::ranges::sort(symbols_, {}, [](const Symbol& s) { return std::tie(s.vaddr, s.name); });
  for (const ElfSegment& segment : image.segments()) {
    if (!segment.executable) continue;
    code_parts_.emplace_back(segment.vaddr, segment.bytes.data() - image.bytes().data());
    decode_segment(segment, handlers);
  }
  resolve_branches();
  count_rows();
}

void Program::decode_segment(const ElfSegment& segment, const HandlerTable& handlers) {
  const Disassembler disassembler(chip_);
  if (code_.empty()) code_vaddr_ = segment.vaddr;
  index_.resize((segment.vaddr + segment.bytes.size() - code_vaddr_) / kStepBytes, kNowhere);
  const size_t words = segment.bytes.size() / kStepBytes;
  code_.reserve(code_.size() + words * 2 / 3);
  info_.reserve(code_.size() + words * 2 / 3);
  auto boundary = symbols_.begin();
  std::string text;
  for (size_t at = 0; at + kStepBytes <= segment.bytes.size();) {
    const uint64_t vaddr = segment.vaddr + at;
    while (boundary != symbols_.end() && boundary->vaddr <= vaddr) ++boundary;
    ByteView rest = segment.bytes.subspan(at);
    // What stands before a function may be data: it must not swallow the function's first words.
    if (boundary != symbols_.end()) {
      rest = rest.first(std::min<size_t>(rest.size(), boundary->vaddr - vaddr));
    }
    uint32_t size = disassembler.decode(rest, vaddr, text);
    if (size == 0) {
      text = fmt::format(".long 0x{:08x}", word(rest, 0));
      size = kStepBytes;
    }
    index_[(vaddr - code_vaddr_) / kStepBytes] = static_cast<uint32_t>(code_.size());
    Instruction& in = code_.emplace_back();
    InstructionInfo& info = info_.emplace_back();
    info.vaddr = vaddr;
    info.text = text;
    std::ranges::replace(info.text, '\t', ' ');
    bind(in, info, rest.first(size), handlers);
    at += size;
  }
}

void Program::bind(Instruction& in, InstructionInfo& info, ByteView bytes,
                   const HandlerTable& handlers) {
  const InstructionText text = split_instruction(info.text);
  const std::string_view name = base_name(text.mnemonic);
  const OpRow* row = handlers.find(name);
  in.handler = unknown_instruction;
  if (!row) return;
  in.name = row->name;
  if (text.mnemonic.ends_with("_dpp")) in.flags |= kDpp;
  if (text.mnemonic.ends_with("_sdwa")) in.flags |= kSdwa;
  try {
    apply_modifiers(text, in);
    read_encoding(bytes, *row, in);
    place_operands(text, *row, in);
  } catch (const Error&) {
    in = Instruction();
    in.handler = unknown_instruction;
    return;
  }
  info.row = row;
  in.handler = row->handler;
  if ((in.flags & kClamp) && row->clamped) {
    in.handler = row->clamped;
    in.flags &= ~uint32_t{kClamp};
  }
  if (row->keeps_half) in.flags |= kKeepsHalf;
  if (!(in.flags & (kDpp | kSdwa | kClamp | kKeepsHalf)) && !in.omod) in.flags |= kPlainResult;
}

void Program::resolve_branches() {
  for (size_t i = 0; i < code_.size(); ++i) {
    if (!info_[i].row || info_[i].row->op_class != OpClass::branch) continue;
    const int64_t words = static_cast<int16_t>(code_[i].imm);
    code_[i].target = index_of(info_[i].vaddr + kStepBytes + static_cast<uint64_t>(words * 4));
  }
}

void Program::count_rows() {
  const auto count = [&](const Operand& o) {
    if (o.kind != OperandKind::vgpr && o.kind != OperandKind::agpr) return;
    uint32_t& rows = rows_[static_cast<int>(o.kind)];
    rows = std::max<uint32_t>(rows, uint32_t{o.index} + o.words);
  };
  for (const Instruction& in : code_) {
    count(in.dst);
    for (const Operand& o : in.src) count(o);
  }
}

uint32_t Program::index_of(uint64_t vaddr) const {
  const uint64_t slot = (vaddr - code_vaddr_) / kStepBytes;
  return vaddr % kStepBytes == 0 && slot < index_.size() ? index_[slot] : kNowhere;
}

std::string Program::function(size_t index) const {
  const uint64_t vaddr = info_[index].vaddr;
  const auto above = std::ranges::upper_bound(symbols_, vaddr, {}, &Symbol::vaddr);
  return above == symbols_.begin() ? std::string() : std::prev(above)->name;
}

ByteView Program::bytes_of(size_t index) const {
  const uint64_t vaddr = info_[index].vaddr;
  const auto above =
      std::ranges::upper_bound(code_parts_, vaddr, {}, [](const auto& part) { return part.first; });
  const auto& [start, place] = *std::prev(above);
  constexpr size_t kLongest = 20;
  return ByteView(file_)
      .subspan(place + (vaddr - start))
      .first(std::min<size_t>(kLongest, file_.size() - (place + (vaddr - start))));
}

std::string Program::source_line(size_t index) const {
  const std::lock_guard lock(debug_mutex_);
  if (!debug_) debug_ = std::make_unique<DebugInfo>(file_);
  return debug_->source_line(info_[index].vaddr);
}

const Program::Origins& Program::origins() const {
  std::call_once(origins_read_, [this] { read_origins(); });
  return origins_;
}

void Program::read_origins() const {
  const std::lock_guard lock(debug_mutex_);
  if (!debug_) debug_ = std::make_unique<DebugInfo>(file_);
  origins_.stage_of.assign(code_.size(), 0);
  origins_.handoff_of.assign(code_.size(), 0);
  const auto number = [](std::vector<std::string>& names, const std::string& name) {
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<size_t>(found - names.begin());
    if (index > std::numeric_limits<uint16_t>::max()) return uint16_t{0};
    if (found == names.end()) names.push_back(name);
    return static_cast<uint16_t>(index);
  };
  for (const StagePiece& piece : debug_->stage_pieces()) {
    const uint16_t stage = number(origins_.stages, piece.stage);
    const uint16_t handoff = number(origins_.handoffs, piece.handoff);
    for (const auto& [first, end] : piece.ranges) {
      const auto from = std::ranges::lower_bound(info_, first, {}, &InstructionInfo::vaddr);
      for (auto at = from; at != info_.end() && at->vaddr < end; ++at) {
        const auto index = static_cast<size_t>(at - info_.begin());
        origins_.stage_of[index] = stage;
        origins_.handoff_of[index] = handoff;
      }
    }
  }
}

}  // namespace baton::emulator
