// One wave, some instructions, and its whole state before and after.
#pragma once

#include <array>
#include <memory>

#include "runtime/emulator/diagnosis.h"
#include "runtime/emulator/handlers.h"
#include "runtime/emulator/launch.h"
#include "runtime/emulator/step.h"
#include "tests/runtime/emulator/support.h"

namespace baton::tests {

/// A code object whose kernel "k" is `body`, ended by s_endpgm.
inline std::string kernel_text(const std::string& body, const std::string& chip) {
  return ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n" + body +
         "\n  s_endpgm\n.size k, .-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n"
         "  .amdhsa_next_free_vgpr 512\n  .amdhsa_next_free_sgpr 102\n  .amdhsa_accum_offset 256\n"
         "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
         "  .amdhsa_group_segment_fixed_size 4096\n  .amdhsa_kernarg_size 64\n"
         ".end_amdhsa_kernel\n.amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\n"
         "amdhsa.target: amdgcn-amd-amdhsa--" +
         chip +
         "\namdhsa.kernels:\n"
         "  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: 64\n"
         "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 4096\n"
         "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 102\n"
         "    .vgpr_count: 512\n    .agpr_count: 256\n    .max_flat_workgroup_size: 1024\n"
         "    .vgpr_spill_count: 0\n    .sgpr_spill_count: 0\n...\n.end_amdgpu_metadata\n";
}

class WaveRun {
 public:
  WaveRun(const std::string& chip, const std::string& body,
          emulator::HostLevel level = emulator::best_host_level()) {
    load(compile_text(kernel_text(body, chip), "assembler", chip, "-g"), level);
  }
  /// A code object whose kernel is called k.
  explicit WaveRun(const Bytes& code) { load(code, emulator::best_host_level()); }
  ~WaveRun() { memory_.unpin(); }

 private:
  void load(const Bytes& code, emulator::HostLevel level) {
    const ElfImage image = ElfImage::parse(code, "test");
    program_ = std::make_shared<emulator::Program>(image, emulator::HandlerTable::of(level));
    code_.program = program_;
    code_.kernel = image.find_kernel("k");
    code_.entry = program_->index_of(code_.kernel.entry_vaddr);
    const emulator::Allocation& a = memory_.allocate(0, 1 << 16, "test memory");
    memory_base_ = a.base;
    memory_host_ = a.host;
    dispatch_.code = &code_;
    dispatch_.memory = &memory_;
    dispatch_.shape.workgroup[0] = 64;
    dispatch_.lds_bytes = 4096;
    dispatch_.clock = &clock_;
    dispatch_.kernarg_host = a.host;
    dispatch_.workgroups = 1;
    group_ = emulator::make_workgroup(dispatch_, 0);
    tally_ = emulator::Tally(program_->size());
    worker_.tally = &tally_;
    wave().worker = &worker_;
    wave().memory_budget = -1;
    wave().branch_budget = 100000;
    memory_.pin();
  }

 public:
  const emulator::Program& program() const { return *program_; }
  emulator::Wave& wave() { return *group_->waves[0]; }
  emulator::Dispatch& dispatch() { return dispatch_; }
  uint32_t* vgpr(int n) { return wave().file[0] + n * 64; }
  uint32_t* agpr(int n) { return wave().file[1] + n * 64; }
  uint32_t& sgpr(int n) { return wave().sgpr[n]; }
  uint64_t memory_base() const { return memory_base_; }
  uint8_t* memory() { return memory_host_; }
  uint8_t* lds() { return wave().lds; }

  /// To the end of the kernel. Throws Fault.
  void run() { emulator::run_slice(wave(), *program_); }

  /// A raw buffer of `bytes` at the start of the test memory, in s[n : n + 3].
  void set_buffer(int n, uint32_t bytes, uint32_t stride = 0) {
    sgpr(n) = static_cast<uint32_t>(memory_base_);
    sgpr(n + 1) = static_cast<uint32_t>(memory_base_ >> 32) | stride << 16;
    sgpr(n + 2) = bytes;
    sgpr(n + 3) = 0x00027000;
  }

 private:
  emulator::AddressSpace memory_;
  uint64_t memory_base_ = 0;
  uint8_t* memory_host_ = nullptr;
  std::shared_ptr<emulator::Program> program_;
  emulator::KernelCode code_;
  emulator::Clock clock_;
  emulator::Dispatch dispatch_;
  std::unique_ptr<emulator::Workgroup> group_;
  emulator::Tally tally_;
  emulator::Worker worker_;
};

}  // namespace baton::tests
