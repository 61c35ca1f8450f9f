#include "runtime/emulator/disassembler.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>
#include <tuple>

#include "runtime/base/error.h"

namespace baton::emulator {

namespace {

constexpr uint32_t kLiteral = 0xff;  // as a source: a literal word follows

/// SDWA: of the byte and word selections 0 to 6 exist.
bool sdwa_is_broken(uint32_t word1, bool compare) {
  const auto is_seven = [&](int shift) { return ((word1 >> shift) & 7) == 7; };
  return (!compare && is_seven(8)) || is_seven(16) || is_seven(24);
}

/// VOP3 and VOP3P have no literals on these chips, and a compare's result is no literal either.
bool vop3_is_broken(uint32_t word0, uint32_t word1) {
  for (const int shift : {0, 9, 18}) {
    if (((word1 >> shift) & 0x1ff) == kLiteral) return true;
  }
  const uint32_t op9 = (word0 >> 16) & 0x3ff;
  // The f8f6f4 forms: A and B are registers, and ranges of them end in the file.
  constexpr uint32_t k16x16x128 = 0x3ad, k32x32x64 = 0x3ae;
  if (op9 == k16x16x128 || op9 == k32x32x64) {
    constexpr uint32_t kFirstVgpr = 0x100, kLastStart = 256 - 8;
    for (const int shift : {0, 9}) {
      const uint32_t source = (word1 >> shift) & 0x1ff;
      if (source < kFirstVgpr || (source & 0xff) > kLastStart) return true;
    }
    const uint32_t last = 256 - (op9 == k16x16x128 ? 4 : 16);
    const uint32_t addend = (word1 >> 18) & 0x1ff;
    if ((word0 & 0xff) > last || (addend >= kFirstVgpr && (addend & 0xff) > last)) return true;
  }
  const bool compare = op9 < 0x100;
  return compare && (word0 & 0xff) == kLiteral;
}

/// Encodings that no chip has, and on which LLVM 22's decoder reads through a null pointer.
bool is_broken(uint32_t word0, uint32_t word1) {
  constexpr uint32_t kSdwa = 0xf9;
  const bool short_vector = word0 >> 31 == 0;
  if (short_vector && (word0 & 0x1ff) == kSdwa) {
    return sdwa_is_broken(word1, word0 >> 25 == 0x3e);
  }
  switch (word0 >> 26) {
    case 0x34:
      return vop3_is_broken(word0, word1);
    case 0x38:
    case 0x3a:
      return word1 >> 24 == kLiteral;  // MUBUF, MTBUF: soffset
    default:
      return false;
  }
}

uint32_t word_at(ByteView bytes, size_t index) {
  uint32_t word = 0;
  if (bytes.size() >= 4 * index + 4) std::memcpy(&word, bytes.data() + 4 * index, 4);
  return word;
}

/// LLVM's own name of a register: "VGPR4", "SGPR2_SGPR3", "AGPR7_LO16", "VCC_LO". Nothing for those
/// that no kernel computes with.
std::optional<Operand> register_of(std::string_view name) {
  Operand operand;
  operand.kind = OperandKind::sgpr;
  constexpr std::tuple<std::string_view, Sgpr, int, uint8_t> kSpecial[] = {
      {"VCC", kVcc, 0, 2},   {"VCC_LO", kVcc, 0, 1},    {"VCC_HI", kVcc, 1, 1},
      {"EXEC", kExec, 0, 2}, {"EXEC_LO", kExec, 0, 1},  {"EXEC_HI", kExec, 1, 1},
      {"M0", kM0, 0, 1},     {"M0_gfxpre11", kM0, 0, 1}};
  for (const auto& [known, index, word, words] : kSpecial) {
    if (name != known) continue;
    operand.index = static_cast<uint16_t>(index + word);
    operand.words = words;
    return operand;
  }
  constexpr std::string_view kNumber = "0123456789";
  if (name.size() < 5 || name.substr(1, 3) != "GPR" || kNumber.find(name[4]) == name.npos) {
    return std::nullopt;
  }
  operand.kind = name[0] == 'V'   ? OperandKind::vgpr
                 : name[0] == 'A' ? OperandKind::agpr
                                  : OperandKind::sgpr;
  std::from_chars(name.data() + 4, name.data() + name.size(), operand.index);
  operand.words = static_cast<uint8_t>(1 + std::ranges::count(name, '_'));
  if (name.ends_with("16")) {
    const std::string_view half = name.substr(name.size() - 5);
    if (half == "_LO16" || half == "_HI16") operand.words = 1;
  }
  return operand;
}

}  // namespace

struct Disassembler::Impl {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asm_info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

Disassembler::Disassembler(std::string_view chip) : impl_(std::make_unique<Impl>()) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target) {
    throw Error(ErrorKind::environment, "this LLVM has no AMDGPU back end: " + why,
                "install Debian's llvm-22 packages");
  }
  const std::string cpu(chip);
  Impl& i = *impl_;
  i.subtarget.reset(target->createMCSubtargetInfo(triple, cpu, ""));
  if (!i.subtarget || !i.subtarget->isCPUStringValid(cpu)) {
    throw Error(ErrorKind::user, fmt::format("LLVM knows no AMDGPU chip '{}'", chip));
  }
  i.registers.reset(target->createMCRegInfo(triple));
  i.asm_info.reset(target->createMCAsmInfo(*i.registers, triple, llvm::MCTargetOptions()));
  i.instructions.reset(target->createMCInstrInfo());
  i.context = std::make_unique<llvm::MCContext>(triple, i.asm_info.get(), i.registers.get(),
                                                i.subtarget.get());
  i.disassembler.reset(target->createMCDisassembler(*i.subtarget, *i.context));
  i.printer.reset(
      target->createMCInstPrinter(triple, 0, *i.asm_info, *i.instructions, *i.registers));
  BATON_CHECK(i.disassembler && i.printer);
}

Disassembler::~Disassembler() = default;

uint32_t Disassembler::decode(ByteView bytes, uint64_t address, std::string& text) const {
  text.clear();
  if (is_broken(word_at(bytes, 0), word_at(bytes, 1))) return 0;
  llvm::MCInst inst;
  uint64_t size = 0;
  const llvm::ArrayRef<uint8_t> view(bytes.data(), bytes.size());
  if (impl_->disassembler->getInstruction(inst, size, view, address, llvm::nulls()) !=
      llvm::MCDisassembler::Success) {
    return 0;
  }
  llvm::raw_string_ostream out(text);
  impl_->printer->printInst(&inst, address, "", *impl_->subtarget, out);
  const size_t first = text.find_first_not_of(" \t");
  text.erase(0, first);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
  return static_cast<uint32_t>(size);
}

InstructionRegisters Disassembler::registers(ByteView bytes, uint64_t address) const {
  InstructionRegisters result;
  if (is_broken(word_at(bytes, 0), word_at(bytes, 1))) return result;
  llvm::MCInst inst;
  uint64_t size = 0;
  const llvm::ArrayRef<uint8_t> view(bytes.data(), bytes.size());
  if (impl_->disassembler->getInstruction(inst, size, view, address, llvm::nulls()) !=
      llvm::MCDisassembler::Success) {
    return result;
  }
  const auto add = [&](llvm::MCRegister reg, std::vector<Operand>& to, bool& scc) {
    const std::string_view name = impl_->registers->getName(reg);
    if (name == "SCC" || name == "SRC_SCC") scc = true;
    if (const std::optional<Operand> operand = register_of(name)) to.push_back(*operand);
  };
  const llvm::MCInstrDesc& what = impl_->instructions->get(inst.getOpcode());
  for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
    const llvm::MCOperand& operand = inst.getOperand(i);
    if (!operand.isReg() || !operand.getReg()) continue;
    if (i < what.getNumDefs()) {
      add(operand.getReg(), result.writes, result.writes_scc);
      // A tied source may be left out by the decoder.
      for (unsigned k = 0; k < what.getNumOperands(); ++k) {
        if (what.getOperandConstraint(k, llvm::MCOI::TIED_TO) == static_cast<int>(i)) {
          add(operand.getReg(), result.reads, result.reads_scc);
        }
      }
    } else {
      add(operand.getReg(), result.reads, result.reads_scc);
    }
  }
  for (const llvm::MCPhysReg reg : what.implicit_uses()) {
    add(reg, result.reads, result.reads_scc);
  }
  for (const llvm::MCPhysReg reg : what.implicit_defs()) {
    add(reg, result.writes, result.writes_scc);
  }
  return result;
}

}  // namespace baton::emulator
