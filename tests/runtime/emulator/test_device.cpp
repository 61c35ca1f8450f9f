// The device interface: streams, events, copies, errors.
#include <catch2/catch.hpp>

#include "tests/runtime/emulator/support.h"
#include "tests/support/expect_error.h"

namespace baton::tests {
namespace {

using emulator::Emulator;

const std::string kAdd = R"(
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void k(__attribute__((address_space(1))) unsigned* p, unsigned v) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  p[i] = p[i] * 3 + v;
}
)";

TEST_CASE("a stream's commands run in order", "[emulator][device]") {
  Emulator emulator({.chip = "gfx942"});
  Device& device = emulator.device(0);
  const auto module = device.load(compile_text(kAdd, "c", "gfx942"));
  const auto stream = device.create_stream();
  const DeviceAddress p = device.allocate(256, MemoryKind::normal),
                      q = device.allocate(256, MemoryKind::normal);
  device.fill_async(p, 0, 256, *stream);
  const LaunchShape shape{.grid = {1, 1, 1}, .workgroup = {64, 1, 1}};
  for (uint32_t v = 1; v <= 4; ++v) {
    device.launch(module->function("k"), shape, Arguments().add(p).add(v), *stream);
  }
  device.fill_words_async(p + 64, 0xFEDCBA98, 2, *stream);
  device.copy_async(q, p, 256, *stream);
  Bytes late(256), early(256);
  device.read_async(q, late, *stream);
  device.synchronize(*stream);
  uint32_t word;
  std::memcpy(&word, late.data() + 128, 4);
  CHECK(word == ((1 * 3 + 2) * 3 + 3) * 3 + 4);
  CHECK(read_at<uint32_t>(late, 64, "late") == 0xFEDCBA98);
  CHECK(read_at<uint32_t>(late, 68, "late") == 0xFEDCBA98);
  CHECK(read_at<uint32_t>(late, 72, "late") == word);
  device.read(p, early);
  CHECK(early == late);
}

TEST_CASE("events order streams of different devices", "[emulator][device]") {
  Emulator emulator({.chip = "gfx950", .devices = 2});
  Device &first = emulator.device(0), &second = emulator.device(1);
  second.enable_peer_access(first);
  const auto a = first.create_stream(), b = second.create_stream();
  const auto event = first.create_event();
  const DeviceAddress p = first.allocate(256, MemoryKind::fine_grained);
  const auto module = first.load(compile_text(kAdd, "c", "gfx950"));
  const auto other = second.load(compile_text(kAdd, "c", "gfx950"));
  const LaunchShape shape{.grid = {1, 1, 1}, .workgroup = {64, 1, 1}};
  first.launch(module->function("k"), shape, Arguments().add(p).add(uint32_t{5}), *a);
  first.record(*event, *a);
  second.wait(*event, *b);
  second.launch(other->function("k"), shape, Arguments().add(p).add(uint32_t{7}), *b);
  second.synchronize();
  CHECK(first.query(*event));
  uint32_t word = 0;
  first.read(p, {reinterpret_cast<uint8_t*>(&word), 4});
  CHECK(word == 5 * 3 + 7);
}

TEST_CASE("wrong uses of a device are named", "[emulator][device]") {
  CHECK_THROWS_WITH(Emulator({.chip = "gfx906"}), "unknown chip 'gfx906'");
  CHECK_THROWS_WITH(Emulator({.chip = "gfx950", .devices = 0}),
                    "0 emulated devices: 1 to 64 are possible");
  CHECK_THROWS_WITH(Emulator({.chip = "gfx950", .threads = 1000}),
                    "1000 emulator threads: 1 to 256 are possible");
  Emulator emulator({.chip = "gfx950", .devices = 2});
  Device& device = emulator.device(0);
  CHECK_THROWS_WITH(emulator.device(2), "device 2 of 2: they are numbered from 0");
  CHECK_THROWS_WITH(device.allocate(0, MemoryKind::normal), "an allocation of 0 bytes on device 0");
  CHECK_THROWS_WITH(device.allocate(uint64_t{1} << 60, MemoryKind::normal),
                    Catch::StartsWith("device 0 has no room for 1152921504606846976 bytes"));
  CHECK_THROWS_WITH(device.load(compile_text(kAdd, "c", "gfx942")),
                    "the code object is for gfx942, the device is a gfx950");
  const auto module = device.load(compile_text(kAdd, "c", "gfx950"));
  CHECK_THROWS_WITH(module->function("nope"), "no kernel 'nope' in the code object");
  const auto& k = module->function("k");
  const auto stream = device.create_stream(), other = emulator.device(1).create_stream();
  const DeviceAddress p = device.allocate(256, MemoryKind::normal);
  const auto launch = [&](LaunchShape shape, ByteView arguments) {
    device.launch(k, shape, arguments, *stream);
  };
  const Arguments good = Arguments().add(p).add(uint32_t{1});
  CHECK_THROWS_WITH(launch({.grid = {1, 1, 1}, .workgroup = {65, 1, 1}}, good),
                    "kernel k: a workgroup of 65 lanes, it was compiled for at most 64");
  CHECK_THROWS_WITH(launch({.grid = {0, 1, 1}, .workgroup = {64, 1, 1}}, good),
                    "kernel k: an empty grid or workgroup");
  CHECK_THROWS_WITH(
      launch({.grid = {1, 1, 1}, .workgroup = {64, 1, 1}, .dynamic_lds_bytes = 200000}, good),
      "kernel k: 200000 bytes of LDS, gfx950 has 163840");
  CHECK_THROWS_WITH(launch({.grid = {1, 1, 1}, .workgroup = {64, 1, 1}}, Arguments().add(p)),
                    "kernel k: 8 bytes of arguments, it takes 12");
  CHECK_THROWS_WITH(
      device.launch(k, {}, good, *other),
      "kernel k was loaded on device 0, the launch is on device 0, its stream of device 1");
  CHECK_THROWS_WITH(device.release(p + 8),
                    Catch::Contains("is not the start of a live allocation"));
  uint8_t byte = 0;
  CHECK_THROWS_WITH(device.write(p + 256, {&byte, 1}), Catch::StartsWith("write: 1 bytes at 0x"));
  // After all that the device still works.
  launch({.grid = {1, 1, 1}, .workgroup = {64, 1, 1}}, good);
  device.synchronize(*stream);
}

TEST_CASE("a command that fails behind a launch is the error of who waits", "[emulator][device]") {
  const int threads = GENERATE(1, 2, 4);
  CAPTURE(threads);
  Emulator emulator({.chip = "gfx942", .threads = threads});
  Device& device = emulator.device(0);
  const auto module = device.load(compile_text(kAdd, "c", "gfx942"));
  const auto stream = device.create_stream();
  const DeviceAddress p = device.allocate(64 * 256, MemoryKind::normal),
                      freed = device.allocate(256, MemoryKind::normal);
  device.release(freed);
  device.fill_async(p, 0, 64 * 256, *stream);
  const LaunchShape shape{.grid = {64, 1, 1}, .workgroup = {64, 1, 1}};
  device.launch(module->function("k"), shape, Arguments().add(p).add(uint32_t{5}), *stream);
  device.fill_async(freed, 0, 256, *stream);
  device.launch(module->function("k"), shape, Arguments().add(p).add(uint32_t{6}), *stream);
  const auto wait = [&] { device.synchronize(*stream); };
  const std::string what = error_of(ErrorKind::user, wait).what();
  CHECK_THAT(what, Catch::StartsWith("fill: 256 bytes at 0x"));
  CHECK(error_of(ErrorKind::user, wait).what() == what);
  // The launch before it is done, the one behind it is not.
  uint32_t word = 0;
  device.read(p, {reinterpret_cast<uint8_t*>(&word), 4});
  CHECK(word == 5);
  CHECK(emulator.report().kernels.at(0).launches == 1);
}

TEST_CASE("the same seed gives the same run", "[emulator][device]") {
  const auto steps = [](uint64_t seed) {
    Emulator emulator({.chip = "gfx950", .seed = seed});
    Device& device = emulator.device(0);
    const auto module = device.load(compile_text(R"(
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void k(__attribute__((address_space(1))) unsigned* p) {
  unsigned n = 0;
  if (__builtin_amdgcn_workgroup_id_x() == 0) {
    for (int i = 0; i < 100; i++)
      __scoped_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  } else {
    while (__scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) < 6400) n++;
  }
  p[1 + __builtin_amdgcn_workgroup_id_x()] = n;
})",
                                                 "c", "gfx950"));
    const auto stream = device.create_stream();
    const DeviceArray<uint32_t> p(device, 16);
    device.launch(module->function("k"), {.grid = {8, 1, 1}, .workgroup = {64, 1, 1}},
                  Arguments().add(p.address()), *stream);
    device.synchronize(*stream);
    return std::pair(p.read(), emulator.report().counters.steps);
  };
  const auto once = steps(5);
  CHECK(once.first[0] == 6400);
  CHECK(steps(5) == once);
  CHECK(steps(6).second != once.second);
}

}  // namespace
}  // namespace baton::tests
