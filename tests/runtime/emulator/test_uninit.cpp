// check_uninit: uses of registers and LDS that nobody wrote are found, and nothing else is.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

using Catch::Contains;
using emulator::Emulator;
using emulator::EmulatorOptions;

/// What a launch of `code`'s kernel k says, with one buffer of 16 KiB as its argument.
std::string check(const Bytes& code, const std::string& chip, uint32_t lanes = 64,
                  std::optional<uint64_t> seed = {}) {
  Emulator emulator({.chip = chip, .seed = seed, .check_uninit = true});
  Device& device = emulator.device(0);
  const DeviceArray<uint32_t> buffer(device, 4096);
  const auto module = device.load(code);
  const auto stream = device.create_stream();
  REQUIRE(buffer.address() == uint64_t{1} << 40);
  const Arguments arguments = Arguments().add(buffer.address());
  device.launch(module->function("k"), {.grid = {1, 1, 1}, .workgroup = {lanes, 1, 1}}, arguments,
                *stream);
  try {
    device.synchronize(*stream);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed_check);
    return error.what();
  }
  return "";
}

/// s[2:3] is the buffer, v0 the lane, v1 four times the lane.
std::string check_body(const std::string& body, const std::string& chip = "gfx950") {
  // The first allocation of device 0.
  const std::string start = "s_mov_b32 s2, 0\n s_mov_b32 s3, 0x100\n v_lshlrev_b32 v1, 2, v0\n";
  return check(compile_text(kernel_text(start + body, chip), "assembler", chip, "-g"), chip);
}
const std::string kStore4 = "global_store_dword v1, v4, s[2:3]\n";

TEST_CASE("a VGPR that nobody wrote is found where it leaves the wave", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  CHECK(check_body("v_mov_b32 v4, 1\n" + kStore4, chip) == "");
  const std::string what = check_body("v_mov_b32 v5, 1.0\n v_add_f32 v4, v5, v9\n" + kStore4, chip);
  CHECK_THAT(what, Contains("1 instruction uses uninitialised registers or LDS"));
  CHECK_THAT(what, Contains("kernel k, device 0, workgroup 0, wave 0, lane 0: the stored value v4 "
                            "is uninitialised; in 'global_store_dword v1, v4, s[2:3]' at 0x"));
  CHECK_THAT(what, Contains("(kernel.s:"));
  CHECK_THAT(what, Contains("it comes from v9 of lane 0, which nobody wrote, read in "
                            "'v_add_f32_e32 v4, v5, v9' at 0x"));
  // Never moved: the store itself reads it.
  CHECK_THAT(check_body(kStore4, chip), Contains("nothing was ever written there"));
  // Computed and not used: no error.
  CHECK(check_body("v_add_f32 v4, v5, v9\n", chip) == "");
}

TEST_CASE("lanes count, and only those that are on", "[emulator]") {
  const std::string half = "s_mov_b64 exec, 0xffffffff\n v_mov_b32 v4, 1\n";
  CHECK(check_body(half + kStore4) == "");
  CHECK_THAT(check_body(half + "s_mov_b64 exec, -1\n" + kStore4),
             Contains("lane 32: the stored value v4"));
  // A DPP move takes lane 32's value to lane 31 and not further.
  const std::string shift = half +
                            "s_mov_b64 exec, -1\n v_mov_b32 v5, 0\n"
                            "v_mov_b32_dpp v5, v4 wave_shl:1 row_mask:0xf bank_mask:0xf\n";
  CHECK_THAT(check_body(shift + "global_store_dword v1, v5, s[2:3]\n"),
             Contains("lane 31: the stored value v5"));
  CHECK(check_body(shift + "s_mov_b64 exec, 0x7fffffff\n global_store_dword v1, v5, s[2:3]\n") ==
        "");
}

TEST_CASE("bits count: masks, shifts, halves and selections", "[emulator]") {
  CHECK(check_body("v_and_b32 v4, 0, v9\n" + kStore4) == "");
  CHECK_THAT(check_body("v_and_b32 v4, 1, v9\n" + kStore4), Contains("the stored value v4"));
  CHECK(check_body("v_and_b32 v4, 1, v9\n v_and_b32 v4, 2, v4\n" + kStore4) == "");
  const std::string low = "global_load_short_d16 v4, v1, s[2:3]\n";
  CHECK_THAT(check_body(low + kStore4), Contains("the stored value v4"));
  CHECK(check_body(low + "v_lshlrev_b32 v4, 16, v4\n" + kStore4) == "");
  CHECK(check_body(low + "global_load_short_d16_hi v4, v1, s[2:3]\n" + kStore4) == "");
  CHECK(check_body(low + "global_store_short v1, v4, s[2:3]\n") == "");
  CHECK_THAT(check_body(low + "global_store_short_d16_hi v1, v4, s[2:3]\n"),
             Contains("the stored value v4"));
  // v_cndmask takes the known side everywhere.
  CHECK(check_body("v_mov_b32 v5, 1\n s_mov_b64 vcc, -1\n v_cndmask_b32 v4, v9, v5, vcc\n" +
                   kStore4) == "");
  CHECK_THAT(
      check_body("v_mov_b32 v5, 1\n s_mov_b64 vcc, 5\n v_cndmask_b32 v4, v9, v5, vcc\n" + kStore4),
      Contains("lane 1: the stored value v4"));
  // Through an AGPR and back.
  CHECK_THAT(check_body("v_accvgpr_write_b32 a3, v9\n v_accvgpr_read_b32 v4, a3\n" + kStore4),
             Contains("it comes from v9 of lane 0"));
}

TEST_CASE("what an undefined value may not decide", "[emulator]") {
  CHECK_THAT(check_body("v_mov_b32 v4, 1\n global_store_dword v9, v4, s[2:3]\n"),
             Contains("the address v9"));
  CHECK_THAT(check_body("v_lshlrev_b32 v5, 2, v9\n global_load_dword v4, v5, s[2:3]\n"),
             Contains("the address v5") && Contains("it comes from v9"));
  CHECK_THAT(check_body("s_load_dword s8, s[20:21], 0x0\n"), Contains("s20"));
  CHECK_THAT(check_body("v_cmp_eq_u32 vcc, 5, v9\n s_cbranch_vccnz next\n s_nop 0\nnext:\n"),
             Contains("the branch's condition, VCC,") && Contains("it comes from v9"));
  CHECK_THAT(check_body("v_readfirstlane_b32 s8, v9\n s_cmp_eq_u32 s8, 77\n"
                        "s_cbranch_scc1 next\n s_nop 0\nnext:\n"),
             Contains("the branch's condition, SCC,") && Contains("it comes from v9"));
  CHECK_THAT(check_body("v_cmp_eq_u32 vcc, 5, v9\n s_and_saveexec_b64 s[8:9], vcc\n"),
             Contains("the condition that EXEC is set from"));
  // Known to be false in the lanes where the other is not known.
  CHECK(check_body("v_cmp_eq_u32 vcc, 5, v9\n s_and_b64 vcc, vcc, 0\n"
                   "s_and_saveexec_b64 s[8:9], vcc\n") == "");
  CHECK_THAT(check_body("v_mov_b32 v4, 1\n global_atomic_add v1, v9, s[2:3]\n"),
             Contains("the atomic's value v9"));
}

TEST_CASE("LDS bytes that nobody wrote are found", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  const std::string load = "ds_read_b32 v4, v1 offset:16\n s_waitcnt lgkmcnt(0)\n";
  const std::string what = check_body(load + kStore4, chip);
  CHECK_THAT(what, Contains("lane 0: the stored value v4") &&
                       Contains("it comes from LDS byte 16, which nobody wrote, read in "
                                "'ds_read_b32 v4, v1 offset:16'"));
  CHECK(check_body("ds_write_b32 v1, v0 offset:16\n" + load + kStore4, chip) == "");
  // The last lanes' bytes are not written.
  CHECK_THAT(check_body("ds_write_b32 v1, v0\n" + load + kStore4, chip),
             Contains("lane 60: the stored value v4") && Contains("LDS byte 256"));
  // Wider than what is used.
  const std::string wide =
      "v_lshlrev_b32 v5, 3, v0\n ds_write_b32 v5, v0\n ds_read_b64 v[4:5], v5\n";
  CHECK(check_body(wide + kStore4, chip) == "");
  CHECK_THAT(check_body(wide + "global_store_dword v1, v5, s[2:3]\n", chip),
             Contains("the stored value v5") && Contains("LDS byte 4,"));
  // An undefined value that is stored to LDS and comes back is the register's.
  CHECK_THAT(check_body("ds_write_b32 v1, v9 offset:16\n" + load + kStore4, chip),
             Contains("it comes from v9 of lane 0"));
  CHECK(check_body("ds_write_b8 v1, v0 offset:17\n ds_read_u8 v4, v1 offset:17\n" + kStore4,
                   chip) == "");
  CHECK_THAT(check_body("ds_add_u32 v1, v0\n", chip), Contains("the atomic's LDS byte 0"));
  CHECK(check_body("ds_write_b32 v1, v0\n ds_add_u32 v1, v0\n", chip) == "");
}

TEST_CASE("a load straight to LDS defines the bytes that it writes", "[emulator]") {
  const std::string load = GENERATE(as<std::string>(), "global_load_lds_dword v1, s[2:3]\n",
                                    "s_mov_b32 s4, s2\n s_mov_b32 s5, s3\n s_movk_i32 s6, 0x1000\n"
                                    "s_mov_b32 s7, 0x27000\n"
                                    "buffer_load_dword v1, s[4:7], 0 offen lds\n");
  const std::string read = "s_waitcnt vmcnt(0)\n ds_read_b32 v4, v1 offset:64\n" + kStore4;
  CHECK(check_body("s_mov_b32 m0, 64\n" + load + read) == "");
  CHECK_THAT(check_body("s_mov_b32 m0, 60\n" + load + read),
             Contains("lane 63: the stored value v4") && Contains("LDS byte 316"));
  CHECK_THAT(check_body(load), Contains("the LDS address m0"));
}

TEST_CASE("a matrix product is undefined in the rows whose operands are", "[emulator]") {
  // A's rows are lanes 0 to 15 of each group: rows 3 and above are left undefined.
  const std::string body =
      "v_mov_b32 v10, 0\n v_mov_b32 v11, 0\n v_mov_b32 v12, 1.0\n v_mov_b32 v13, 1.0\n"
      "s_mov_b32 s8, 0x00070007\n s_mov_b32 exec_lo, s8\n s_mov_b32 exec_hi, s8\n"
      "v_mov_b32 v14, 1.0\n v_mov_b32 v15, 1.0\n s_mov_b64 exec, -1\n"
      "v_mov_b32 v4, 0\n v_mov_b32 v5, 0\n v_mov_b32 v6, 0\n v_mov_b32 v7, 0\n"
      "v_mfma_f32_16x16x16_f16 v[4:7], v[14:15], v[12:13], v[4:7]\n s_nop 15\n";
  // D: row 4 (lane / 16) + word, column lane % 16.
  CHECK(check_body(body + "s_mov_b64 exec, 0xffff\n global_store_dwordx3 v1, v[4:6], s[2:3]\n",
                   "gfx942") == "");
  CHECK_THAT(
      check_body(body + "s_mov_b64 exec, 0xffff\n global_store_dword v1, v7, s[2:3]\n", "gfx942"),
      Contains("lane 0: the stored value v7") && Contains("it comes from v14 of lane 3"));
  CHECK_THAT(check_body(body + kStore4, "gfx942"), Contains("lane 16: the stored value v4"));
}

/// Wave 1 puts words into LDS, wave 0 stores them; BARRIER stands between.
std::string exchange(const std::string& barrier) {
  std::string text = R"(
typedef __attribute__((address_space(1))) unsigned* gp;
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128)))
void k(gp p) {
  __attribute__((address_space(3), loader_uninitialized)) static volatile unsigned words[64];
  unsigned i = __builtin_amdgcn_workitem_id_x();
  unsigned x = p[i];
  if (i >= 64) words[i - 64] = x + 1;
  BARRIER;
  if (i < 64) p[i] = words[i];
}
)";
  text.replace(text.find("BARRIER"), 7, barrier);
  return text;
}

TEST_CASE("a missing barrier shows under some seed, a present one never", "[emulator]") {
  const std::string chip = GENERATE("gfx950", "gfx90a");
  int found = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    CHECK(check(compile_text(exchange("__builtin_amdgcn_s_barrier()"), "c", chip), chip, 128,
                seed) == "");
    const std::string what = check(compile_text(exchange(""), "c", chip), chip, 128, seed);
    if (what.empty()) continue;
    ++found;
    CHECK_THAT(what, Contains("wave 0, lane ") && Contains("LDS byte "));
  }
  CHECK(found > 0);
}

TEST_CASE("private memory and flat LDS are followed", "[emulator]") {
  const std::string text = R"(
typedef __attribute__((address_space(1))) unsigned* gp;
static __attribute__((noinline)) void put(unsigned* to, unsigned x) { *to = x; }
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void k(gp p) {
  __attribute__((address_space(3), loader_uninitialized)) static unsigned words[64];
  volatile unsigned own[8];
  unsigned i = __builtin_amdgcn_workitem_id_x();
  for (unsigned n = 0; n < FILLED; ++n) own[(i + n) & 7] = n;
  put((unsigned*)&words[i], i);
  __builtin_amdgcn_s_barrier();
  p[i] = own[i & 7] + own[(i + 5) & 7] + words[i ^ 3];
}
)";
  for (const char* filled : {"8", "5"}) {
    std::string source = text;
    source.replace(source.find("FILLED"), 6, filled);
    const std::string what = check(compile_text(source, "c", "gfx942", "-O1"), "gfx942");
    if (filled[0] == '8') {
      CHECK(what == "");
    } else {
      CHECK_THAT(what, Contains("the stored value") && Contains("private memory"));
    }
  }
}

}  // namespace
}  // namespace baton::tests
