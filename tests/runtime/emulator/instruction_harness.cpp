#include "tests/runtime/emulator/instruction_harness.h"

#include <algorithm>

#include "runtime/emulator/float_mode.h"

namespace baton::tests {
namespace {

constexpr uint32_t kScratchWords = 512;  // a lane
constexpr uint32_t kLaneBytes = 64;      // between two lanes' addresses
constexpr uint32_t kNearBytes = 16;      // the same in LDS and scratch

bool is_memory(Encoding e) {
  return e == Encoding::flat || e == Encoding::global || e == Encoding::scratch ||
         e == Encoding::mubuf || e == Encoding::mtbuf || e == Encoding::ds || e == Encoding::smem;
}

/// Reads or writes lanes whatever EXEC says.
bool ignores_exec(const EncodedInstruction& e) {
  return e.name.starts_with("v_mfma") || e.name.starts_with("v_smfmac") ||
         e.name == "v_writelane_b32";
}

std::string sgpr_name(size_t i) {
  using namespace emulator;
  if (i == kVcc) return "vcc_lo";
  if (i == kVcc + 1) return "vcc_hi";
  if (i == kExec) return "exec_lo";
  if (i == kExec + 1) return "exec_hi";
  if (i == kM0) return "m0";
  return "s" + std::to_string(i);
}

/// The results of a relative move are not in LLVM's list: M0 says which they are.
bool may_change(const EncodedInstruction& what, const std::string& reg) {
  if (what.name.starts_with("s_movreld")) return reg.starts_with("s");
  return std::ranges::binary_search(what.writes, reg);
}

}  // namespace

InstructionHarness::InstructionHarness(const std::string& chip) : scratch_(kScratchWords * 64) {
  const auto& table = emulator::HandlerTable::of(emulator::best_host_level());
  std::string body;
  for (EncodedInstruction& e : all_instructions(chip)) {
    if (!table.find(e.name)) continue;
    body += e.text + "\n";
    claimed_.push_back(std::move(e));
  }
  const Bytes code = compile_text(kernel_text(body, chip), "assembler", chip, "-g");
  run_ = std::make_unique<WaveRun>(code);
  const ElfImage image = ElfImage::parse(code, "test");
  uint64_t at = image.find_kernel("k").entry_vaddr;
  for (size_t i = 0; i < claimed_.size(); ++i) {
    const EncodedInstruction& e = claimed_[i];
    const ByteView bytes = image.bytes_at(at, e.size);
    if (std::memcmp(bytes.data(), e.words.data(), e.size) != 0) {
      throw Error(ErrorKind::failed_check, "LLVM assembles '" + e.text + "' to other bytes");
    }
    at += e.size;
  }
}

void InstructionHarness::prepare(size_t index, uint64_t seed, uint64_t exec, int kind) {
  const EncodedInstruction& e = claimed_[index];
  WaveRun& r = *run_;
  emulator::Wave& w = r.wave();
  std::mt19937_64 random(seed);
  const auto word = [&] { return static_cast<uint32_t>(random()); };
  for (int n = 0; n < kRegisters; ++n) {
    for (int l = 0; l < 64; ++l) r.vgpr(n)[l] = word();
    for (int l = 0; l < 64; ++l) r.agpr(n)[l] = word();
  }
  for (int s = 0; s < 102; ++s) r.sgpr(s) = word();
  w.set_sgpr64(emulator::kVcc, random());
  w.set_sgpr64(emulator::kExec, exec);
  r.sgpr(emulator::kM0) = 4;
  w.scc = seed & 1;
  w.mode = emulator::kModeDefaultFloat | emulator::kModeDx10Clamp | emulator::kModeIeee;
  w.gpr_index_mode = 0;
  w.stop = emulator::Stop::none;
  w.state = emulator::WaveState::runnable;
  w.scratch = scratch_.data();
  w.scratch_words = kScratchWords;
  std::ranges::fill(scratch_, kFill);
  for (uint32_t i = 0; i < kMemoryBytes; i += 4) std::memcpy(r.memory() + i, &kFill, 4);
  for (uint32_t i = 0; i < w.lds_bytes; i += 4) std::memcpy(r.lds() + i, &kLdsFill, 4);
  for (int n : {8, 9, 10, 11, 64, 65, 66, 67}) {
    // Data of an exchange: new value first, or compared value first.
    const bool compared = kind == 1 ? n % 8 > 0 : kind == 2 && n % 8 < 2;
    const uint32_t held = e.encoding == Encoding::ds ? kLdsFill : kFill;
    if (compared && is_memory(e.encoding)) std::fill_n(r.vgpr(n), 64, held);
  }
  const uint64_t base = r.memory_base();
  const bool wide = (e.encoding == Encoding::flat || e.encoding == Encoding::global) &&
                    e.text.find("s[4:5]") == std::string::npos;
  for (uint32_t l = 0; l < 64 && is_memory(e.encoding); ++l) {
    const bool near = e.encoding == Encoding::ds || e.encoding == Encoding::scratch;
    const uint64_t address = (wide ? base : 0) + l * (near ? kNearBytes : kLaneBytes);
    r.vgpr(0)[l] = static_cast<uint32_t>(address);
    if (wide) r.vgpr(1)[l] = static_cast<uint32_t>(address >> 32);
  }
  if (e.encoding == Encoding::scratch) {
    r.sgpr(4) = 16;
  } else if (is_memory(e.encoding)) {
    r.set_buffer(4, kMemoryBytes);
  }
  if (e.name == "s_setpc_b64" || e.name == "s_swappc_b64") {
    w.set_sgpr64(2, r.program().info(0).vaddr);
  }
}

void InstructionHarness::execute(size_t index) {
  emulator::Wave& w = run_->wave();
  emulator::apply_float_mode(w.mode);
  const emulator::Instruction& in = run_->program().code()[index];
  w.pc = static_cast<uint32_t>(index) + 1;
  in.handler(w, in);
}

WaveState InstructionHarness::state() {
  WaveRun& r = *run_;
  const emulator::Wave& w = r.wave();
  WaveState s;
  s.vgprs.assign(r.vgpr(0), r.vgpr(kRegisters));
  s.agprs.assign(r.agpr(0), r.agpr(kRegisters));
  s.sgprs.assign(w.sgpr, w.sgpr + emulator::kSharedBase);
  s.scc = w.scc;
  s.memory.assign(r.memory(), r.memory() + kMemoryBytes);
  s.lds.assign(w.lds, w.lds + w.lds_bytes);
  s.scratch = scratch_;
  return s;
}

std::vector<std::string> unexpected_changes(const EncodedInstruction& what, const WaveState& before,
                                            const WaveState& after, uint64_t exec) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& reg) { found.push_back(what.text + " changed " + reg); };
  const auto vectors = [&](char file, const auto& x, const auto& y) {
    for (size_t n = 0; n < x.size() / 64; ++n) {
      const std::string reg = file + std::to_string(n);
      const bool listed = may_change(what, reg);
      for (size_t l = 0; l < 64; ++l) {
        if (x[64 * n + l] == y[64 * n + l]) continue;
        const bool on = (exec >> l & 1) || ignores_exec(what);
        if (!listed || !on) add(reg + ", lane " + std::to_string(l));
      }
    }
  };
  vectors('v', before.vgprs, after.vgprs);
  vectors('a', before.agprs, after.agprs);
  for (size_t i = 0; i < before.sgprs.size(); ++i) {
    if (before.sgprs[i] != after.sgprs[i] && !may_change(what, sgpr_name(i))) add(sgpr_name(i));
  }
  if (before.scc != after.scc && !may_change(what, "scc")) add("scc");
  if (what.may_store) return found;
  if (before.memory != after.memory) add("memory");
  if (before.lds != after.lds) add("LDS");
  if (before.scratch != after.scratch) add("scratch");
  return found;
}

bool same_state(const WaveState& a, const WaveState& b) {
  return a.vgprs == b.vgprs && a.agprs == b.agprs && a.sgprs == b.sgprs && a.scc == b.scc &&
         a.memory == b.memory && a.lds == b.lds && a.scratch == b.scratch;
}

}  // namespace baton::tests
