#include "tests/runtime/emulator/encodings.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
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
#include <cstring>
#include <memory>
#include <set>

#include "runtime/emulator/disassembler.h"
#include "runtime/emulator/operand_text.h"

namespace baton::tests {
namespace {

using Words = std::array<uint32_t, 4>;

// -- what LLVM says -------------------------------------------------------------------------------

/// LLVM's own view of an instruction's results.
class Oracle {
 public:
  explicit Oracle(const std::string& chip) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    const llvm::Triple triple("amdgcn-amd-amdhsa");
    std::string why;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
    subtarget_.reset(target->createMCSubtargetInfo(triple, chip, ""));
    registers_.reset(target->createMCRegInfo(triple));
    asm_info_.reset(target->createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions()));
    instructions_.reset(target->createMCInstrInfo());
    context_ = std::make_unique<llvm::MCContext>(triple, asm_info_.get(), registers_.get(),
                                                 subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
    emitter_.reset(target->createMCCodeEmitter(*instructions_, *context_));
  }

  /// Fills in what `to` writes, loads and stores, and its words as LLVM encodes them: fields that
  /// an instruction lacks become what they should be.
  void describe(ByteView bytes, EncodedInstruction& to) const {
    llvm::MCInst inst;
    uint64_t size = 0;
    disassembler_->getInstruction(inst, size, {bytes.data(), bytes.size()}, 0, llvm::nulls());
    const llvm::MCInstrDesc& what = instructions_->get(inst.getOpcode());
    for (unsigned i = 0; i < what.getNumDefs(); ++i) {
      if (inst.getOperand(i).isReg()) add_words(inst.getOperand(i).getReg(), to.writes);
    }
    for (llvm::MCPhysReg reg : what.implicit_defs()) add_words(reg, to.writes);
    std::ranges::sort(to.writes);
    to.may_load = what.mayLoad();
    to.may_store = what.mayStore();
    llvm::SmallVector<char, sizeof(Words)> code;
    llvm::SmallVector<llvm::MCFixup, 1> fixups;
    emitter_->encodeInstruction(inst, code, fixups, *subtarget_);
    to.words = {};
    std::memcpy(to.words.data(), code.data(), std::min(code.size(), sizeof(Words)));
    to.size = static_cast<uint32_t>(code.size());
  }

 private:
  /// The 32-bit registers in `reg`, by their assembly names.
  void add_words(llvm::MCRegister reg, std::vector<std::string>& to) const {
    if (!reg) return;
    for (llvm::MCPhysReg part : registers_->subregs_inclusive(reg)) {
      std::string name = registers_->getName(part);
      std::ranges::transform(name, name.begin(), [](char c) { return std::tolower(c); });
      for (const char* file : {"vgpr", "agpr", "sgpr"}) {
        if (!name.starts_with(file)) continue;
        name.erase(1, 3);
        break;
      }
      const bool numbered = name.size() > 1 && name.size() < 5 &&
                            name.find_first_not_of("0123456789", 1) == std::string::npos;
      static const std::set<std::string> kSpecial = {"vcc_lo",  "vcc_hi", "exec_lo",
                                                     "exec_hi", "m0",     "scc"};
      if (numbered || kSpecial.contains(name)) to.push_back(name);
    }
  }

  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> asm_info_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCCodeEmitter> emitter_;
};

// -- what can be tried ----------------------------------------------------------------------------

/// Fillings of an opcode's other fields; of each group the first that decodes counts.
struct Form {
  Encoding encoding;
  uint32_t opcodes;
  uint32_t opcode_shift;
  std::vector<std::vector<Words>> groups;
};

constexpr uint32_t kVgpr = 256;
constexpr uint32_t kFive = 128 + 5;    // an inline constant
constexpr uint32_t kLiteral = 0x4049;  // fits 16 bits too
constexpr uint32_t kVdst = 64, kSdst = 16;

std::vector<Form> scalar_forms() {
  constexpr uint32_t kSop1 = 0xbe800000, kSop2 = 0x80000000, kSopc = 0xbf000000, kSopk = 0xb0000000,
                     kSopp = 0xbf800000, kSmem = 0xc0000000;
  constexpr uint32_t kImmediate = 1u << 17, kGlc = 1u << 16, kCall = 21;
  const uint32_t data = kSdst << 6 | 2, offset = 16;
  const uint32_t buffer = data;  // s[4:7], as s[4:5]
  return {
      {Encoding::sop1, 256, 8, {{{kSop1 | kSdst << 16 | 2, kLiteral}}}},
      {Encoding::sop2, 96, 23, {{{kSop2 | kSdst << 16 | 4 << 8 | 2, kLiteral}}}},
      {Encoding::sopc, 128, 16, {{{kSopc | 4 << 8 | 2, kLiteral}}}},
      // The immediate names hwreg(HW_REG_MODE, 0, 4) where it names one.
      {Encoding::sopk, kCall, 23, {{{kSopk | kSdst << 16 | 3 << 11 | 1, 0}}}},
      // A call goes to the next instruction.
      {Encoding::sopk, 29 - kCall, 23, {{{kSopk | kCall << 23 | kSdst << 16, 0}}}},
      {Encoding::sopp, 128, 16, {{{kSopp, 0}}, {{kSopp | 1, 0}}}},
      {Encoding::smem,
       256,
       18,
       {{{kSmem | kImmediate | buffer, offset}, {kSmem | kSdst << 6, 0}, {kSmem, 0}},
        {{kSmem | kImmediate | kGlc | buffer, offset}}}},
  };
}

std::vector<Form> vector_forms() {
  constexpr uint32_t kVop1 = 0x7e000000, kVop2 = 0, kVopc = 0x7c000000;
  constexpr uint32_t kSdwa = 0xf9, kDpp = 0xfa;
  const uint32_t sdwa = 6 << 8 | 6 << 16 | 6 << 24, sdwa_compare = 6 << 16 | 6 << 24;
  const uint32_t ror = 0xff000000 | 0x124 << 8, broadcast = 0xff000000 | 0x153 << 8;
  const uint32_t one = kVdst << 17, two = kVdst << 17 | 8 << 9, compare = 8 << 9;
  const auto three = [](uint32_t a, uint32_t b, uint32_t c) { return a | b << 9 | c << 18; };
  constexpr uint32_t kVop3 = 0xd0000000 | kVdst;
  constexpr uint32_t v0 = kVgpr, v8 = kVgpr + 8, v32 = kVgpr + 32;
  return {
      {Encoding::vop1,
       256,
       9,
       {{{kVop1 | one | v0, 0}, {kVop1 | one | 2, 0}, {kVop1, 0}},
        {{kVop1 | one | kSdwa, sdwa}},
        {{kVop1 | one | kDpp, ror}, {kVop1 | one | kDpp, broadcast}}}},
      {Encoding::vop2,
       62,
       25,
       {{{kVop2 | two | v0, kLiteral}},
        {{kVop2 | two | kSdwa, sdwa}},
        {{kVop2 | two | kDpp, ror}, {kVop2 | two | kDpp, broadcast}}}},
      {Encoding::vopc,
       256,
       17,
       {{{kVopc | compare | v0, 0}}, {{kVopc | compare | kSdwa, sdwa_compare}}}},
      {Encoding::vop3, 0x100, 16, {{{kVop3, three(v0, v8, 0)}}}},
      // VOP2 in VOP3: a third source is a mask in SGPRs.
      {Encoding::vop3,
       0x40,
       16,
       {{{kVop3 | 0x100 << 16, three(v0, v8, 32)}, {kVop3 | 0x100 << 16, three(v0, v8, 0)}}}},
      {Encoding::vop3, 0x40, 16, {{{kVop3 | 0x140 << 16, three(v0, v8, v32)}}}},
      {Encoding::vop3,
       0x200,
       16,
       {{{kVop3 | 0x180 << 16, three(v0, v8, v32)},
         {kVop3 | 0x180 << 16, three(v0, v8, 32)},
         {kVop3 | 0x180 << 16, three(v0, 8, v32)},
         {kVop3 | 0x180 << 16, three(8, kFive, 0)}}}},
  };
}

std::vector<Form> matrix_forms() {
  constexpr uint32_t kVop3p = 0xd3800000 | kVdst, kAccResult = 1u << 15, kHighHalves = 1u << 14;
  constexpr uint32_t v0 = kVgpr, v8 = kVgpr + 8, v32 = kVgpr + 32;
  const uint32_t sources = v0 | v8 << 9 | v32 << 18, high = 3u << 27;
  const uint32_t scales = (kVgpr + 20) | (kVgpr + 21) << 9;
  const uint32_t k16x16 = 0xd3ad0800 | kVdst, k32x32 = 0xd3ae0800 | kVdst;
  return {
      {Encoding::vop3p,
       128,
       16,
       // Packed arithmetic with its default halves; matrix results in VGPRs and in AGPRs.
       {{{kVop3p | kHighHalves, sources | high}, {kVop3p, sources}},
        {{kVop3p, sources}},
        {{kVop3p | kAccResult, sources}}}},
      // The scaled forms: two scales, and a plain form behind them.
      {Encoding::vop3p,
       1,
       0,
       {{{0xd3ac0000, scales, k16x16, sources}}, {{0xd3ac0000, scales, k32x32, sources}}}},
  };
}

std::vector<Form> memory_forms() {
  constexpr uint32_t kDs = 0xd8000000, kFlat = 0xdc000000, kMubuf = 0xe0000000, kMtbuf = 0xe8000000;
  constexpr uint32_t kGlc = 1u << 16, kSegment = 14, kNoBase = 0x7f;
  // One bit: gfx90a's loads to LDS, and a lane's own address in gfx942's scratch forms.
  constexpr uint32_t kToLds = 1u << 13, kLaneAddress = kToLds;
  const uint32_t data = 8 << 8, vdst = kVdst << 24;
  const uint32_t data2 = 16 << 16;
  const uint32_t far = data | kNoBase << 16 | vdst, based = data | 4 << 16 | vdst;
  const auto flat = [&](uint32_t segment, uint32_t flags, uint32_t word1) {
    return Words{kFlat | segment << kSegment | flags, word1, 0, 0};
  };
  // Data in v[64:..] (a load's result), 4 more bytes of offset, s[4:7], soffset 0.
  constexpr uint32_t kOffen = 1u << 12, kBufferGlc = 1u << 14, kBufferLds = 1u << 16;
  const uint32_t buffer = kVdst << 8 | 1 << 16 | 128u << 24;
  const uint32_t typed = 4u << 19 | 4u << 23;  // dfmt 32, nfmt uint
  return {
      // Fields that an opcode does not have must be 0.
      {Encoding::ds,
       256,
       17,
       {{{kDs, data | data2 | vdst},
         {kDs, data | vdst},
         {kDs, vdst},
         {kDs, data | data2},
         {kDs, data},
         {kDs, 0}}}},
      {Encoding::flat,
       128,
       18,
       {{flat(0, 0, data | vdst), flat(0, 0, vdst), flat(0, 0, data)},
        {flat(0, kGlc, data | vdst)},
        {flat(0, kToLds, 0)}}},
      {Encoding::global,
       128,
       18,
       {{flat(2, 0, far)},
        {flat(2, kGlc, far)},
        {flat(2, 0, based)},
        {flat(2, kToLds, kNoBase << 16)}}},
      {Encoding::scratch,
       128,
       18,
       {{flat(1, 0, far)}, {flat(1, 0, based)}, {flat(1, kLaneAddress, far)}}},
      {Encoding::mubuf,
       128,
       18,
       {{{kMubuf | kOffen, buffer}, {kMubuf, 0}},
        {{kMubuf | kOffen | kBufferGlc, buffer}},
        {{kMubuf | kOffen | kBufferLds, buffer}}}},
      {Encoding::mtbuf, 16, 15, {{{kMtbuf | kOffen | typed, buffer}}}},
      // Interpolation, exports and images, which these chips lack.
      {Encoding::other, 4, 16, {{{0xd4000000, 0}}}},
      {Encoding::other, 1, 0, {{{0xc4000000, 0}}}},
      {Encoding::other, 128, 18, {{{0xf0000f00, 0x00010000}}}},
  };
}

Words with_opcode(const Words& words, const Form& form, uint32_t opcode) {
  Words result = words;
  result[0] += opcode << form.opcode_shift;
  return result;
}

/// Whether VOP3P's bits 14 and 15 mean something else than the halves of packed arithmetic.
bool is_matrix(const std::string& name) {
  return name.starts_with("v_mfma") || name.starts_with("v_smfmac");
}

/// False when LLVM does not decode the words, or takes a field for one that names nothing.
bool decode(const emulator::Disassembler& disassembler, const Oracle& oracle,
            EncodedInstruction& e) {
  const ByteView bytes(reinterpret_cast<const uint8_t*>(e.words.data()), sizeof(Words));
  e.size = disassembler.decode(bytes, 0, e.text);
  if (e.size == 0 || e.text.find("/*") != std::string::npos) return false;
  std::ranges::replace(e.text, '\t', ' ');
  e.mnemonic = emulator::split_instruction(e.text).mnemonic;
  e.name = emulator::base_name(e.mnemonic);
  oracle.describe(bytes, e);
  return true;
}

}  // namespace

std::vector<EncodedInstruction> all_instructions(std::string_view chip) {
  const emulator::Disassembler disassembler(chip);
  const Oracle oracle{std::string(chip)};
  std::vector<EncodedInstruction> all;
  std::set<std::string> texts;
  const auto try_all = [&](const Form& form, uint32_t opcode, size_t group) {
    for (const Words& filling : form.groups[group]) {
      EncodedInstruction e;
      e.encoding = form.encoding;
      e.words = with_opcode(filling, form, opcode);
      if (!decode(disassembler, oracle, e)) continue;
      if (form.encoding == Encoding::vop3p && group > 0 && !is_matrix(e.name)) continue;
      if (texts.insert(e.text).second) all.push_back(std::move(e));
      return;
    }
  };
  for (const auto& forms : {scalar_forms(), vector_forms(), matrix_forms(), memory_forms()}) {
    for (const Form& form : forms) {
      for (uint32_t opcode = 0; opcode < form.opcodes; ++opcode) {
        for (size_t group = 0; group < form.groups.size(); ++group) try_all(form, opcode, group);
      }
    }
  }
  return all;
}

}  // namespace baton::tests
