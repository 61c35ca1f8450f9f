// The HIP device on a libamdhip64 whose devices are emulated: every call that Baton makes.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "builds/families.h"
#include "builds/kernel_check.h"
#include "builds/key_builder.h"
#include "runtime/device/hip/hip_platform.h"
#include "tests/runtime/device/hip/standin_process.h"
#include "tests/runtime/emulator/support.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton::tests {
namespace {

const std::string kAdd = R"(
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void k(__attribute__((address_space(1))) unsigned* p, unsigned v) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  p[i] = p[i] * 3 + v;
}
)";
constexpr LaunchShape kOneWave{.grid = {1, 1, 1}, .workgroup = {64, 1, 1}};

/// A platform with the stand-in as its library, in this process.
struct StandIn {
  explicit StandIn(const char* library = BATON_HIP_STANDIN) {
    setenv("BATON_HIP_LIBRARY", library, 1);
    unsetenv("BATON_STANDIN_SOCKET");
  }
};

uint32_t word_at(Device& device, DeviceAddress address) {
  uint32_t word;
  device.read(address, {reinterpret_cast<uint8_t*>(&word), sizeof word});
  return word;
}

TEST_CASE("the GPUs are listed with the chip among their properties") {
  const StandIn standin;
  hip::Platform platform;
  REQUIRE(platform.gpus().size() == 8);
  CHECK(platform.gpus()[7].ordinal == 7);
  CHECK(platform.gpus()[0].name == "Stand-in");
  CHECK(platform.gpus()[0].chip == "gfx950");
  Device& device = platform.device(3);
  CHECK(&platform.device(3) == &device);
  CHECK(device.ordinal() == 3);
  CHECK(device.target().chip == "gfx950");
  CHECK(device.description() == "Stand-in (gfx950, device 3)");
  user_error([&] { platform.device(8); });
  user_error([&] { platform.device(-1); });
}

TEST_CASE("without a library that can be used the reason is one line") {
  const auto reason = [](const char* library) {
    setenv("BATON_HIP_LIBRARY", library, 1);
    return std::string(error_of(ErrorKind::environment, [] { hip::Platform platform; }).what());
  };
  CHECK_THAT(reason("/no/lib.so"), Catch::StartsWith("cannot open BATON_HIP_LIBRARY: /no/lib.so"));
  CHECK(reason("libm.so.6") == "libm.so.6 has no function hipInit");
}

TEST_CASE("a stream's commands run in order, and copies reach the host") {
  const StandIn standin;
  hip::Platform platform;
  Device& device = platform.device(0);
  const auto module = device.load(compile_text(kAdd, "c", "gfx950"));
  const auto stream = device.create_stream();
  const DeviceAddress p = device.allocate(256, MemoryKind::normal),
                      q = device.allocate(256, MemoryKind::fine_grained);
  device.fill_async(p, 0, 256, *stream);
  device.write_async(p + 128, std::vector<uint8_t>{2, 0, 0, 0}, *stream);
  for (uint32_t v = 1; v <= 3; ++v) {
    device.launch(module->function("k"), kOneWave, Arguments().add(p).add(v), *stream);
  }
  device.fill_words_async(p + 64, 0xFEDCBA98, 2, *stream);
  device.copy_async(q, p, 256, *stream);
  Bytes late(256);
  device.read_async(q, late, *stream);
  device.synchronize(*stream);
  CHECK(word_at(device, p) == (1 * 3 + 2) * 3 + 3);
  CHECK(word_at(device, q + 128) == ((2 * 3 + 1) * 3 + 2) * 3 + 3);
  CHECK(word_at(device, q + 64) == 0xFEDCBA98);
  CHECK(word_at(device, q + 68) == 0xFEDCBA98);
  CHECK(word_at(device, q + 72) == (1 * 3 + 2) * 3 + 3);
  CHECK(read_at<uint32_t>(late, 128, "late") == ((2 * 3 + 1) * 3 + 2) * 3 + 3);
  device.write(p, std::vector<uint8_t>{7, 0, 0, 0});
  CHECK(word_at(device, p) == 7);
  device.release(p);
  device.release(q);
}

TEST_CASE("events order streams of different devices, which reach each other's memory") {
  const StandIn standin;
  hip::Platform platform;
  Device &first = platform.device(0), &second = platform.device(1);
  second.enable_peer_access(first);
  second.enable_peer_access(first);
  const auto a = first.create_stream(), b = second.create_stream();
  const auto event = first.create_event();
  const DeviceAddress p = first.allocate(256, MemoryKind::fine_grained);
  first.fill_async(p, 0, 256, *a);
  const auto module = first.load(compile_text(kAdd, "c", "gfx950"));
  const auto other = second.load(compile_text(kAdd, "c", "gfx950"));
  first.launch(module->function("k"), kOneWave, Arguments().add(p).add(uint32_t{5}), *a);
  first.record(*event, *a);
  second.wait(*event, *b);
  second.launch(other->function("k"), kOneWave, Arguments().add(p).add(uint32_t{7}), *b);
  second.synchronize();
  CHECK(first.query(*event));
  first.synchronize(*event);
  CHECK(word_at(first, p) == 5 * 3 + 7);
}

TEST_CASE("what is wrong is an error that says what was done") {
  const StandIn standin;
  hip::Platform platform;
  Device& device = platform.device(0);
  CHECK_THAT(user_error([&] { device.load(compile_text(kAdd, "c", "gfx90a")); }),
             Catch::Contains("the code object is for gfx90a, the device is a gfx950"));
  const auto module = device.load(compile_text(kAdd, "c", "gfx950"));
  CHECK_THAT(user_error([&] { module->function("kk"); }), Catch::Contains("no kernel 'kk'"));
  CHECK(user_error([&] { device.release(0x1234); }) ==
        "HIP cannot free 0x1234 on device 0: invalid argument (error 1)");
  const auto stream = device.create_stream();
  device.launch(module->function("k"), kOneWave, Arguments().add(uint64_t{64}).add(1u), *stream);
  CHECK(
      std::string(error_of(ErrorKind::failed_check, [&] { device.synchronize(*stream); }).what()) ==
      "HIP cannot wait for a stream on device 0: unspecified launch failure (error 719)");
}

TEST_CASE("occupancy is the library's answer") {
  const StandIn standin;
  hip::Platform platform;
  const auto module = platform.device(0).load(compile_text(kAdd, "c", "gfx950"));
  LaunchShape shape = kOneWave;
  CHECK(platform.device(0).workgroups_per_cu(module->function("k"), shape) == 32);
  shape.dynamic_lds_bytes = 100 * 1024;  // of 160 KiB
  CHECK(platform.device(0).workgroups_per_cu(module->function("k"), shape) == 1);
}

TEST_CASE("a GPU that does not keep the whole grid resident is refused") {
  const StandIn standin;
  hip::Platform platform;
  Device& device = platform.device(0);
  CHECK(device.compute_units() == 256);
  CHECK_FALSE(device.holds_every_workgroup());
  const CodeObject object =
      builds::KeyBuilder()
          .trace(builds::complete_key("attn_post:tokens=1,nblocks=1", "gfx950"))
          ->compile();
  CHECK(Runner(device, object, 0).fits_chip());
  setenv("BATON_STANDIN_CUS", "32", 1);  // an eighth of the chip
  CHECK(device.compute_units() == 32);
  // Of the registers that it uses alone, a CU would have room for two.
  CHECK(object.record.occupancy.workgroups_per_cu == 1);
  CHECK(error_of(ErrorKind::environment, [&] { Runner(device, object, 0); }).what() ==
        std::string("a gfx950 of 32 CUs keeps 32 of the 256 workgroups of attn_post resident: it "
                    "would hang"));
  unsetenv("BATON_STANDIN_CUS");
}

TEST_CASE("attn_post, out of a loader, on 8 devices of the library") {
  const StandIn standin;
  hip::Platform platform;
  std::vector<Device*> devices;
  for (int rank = 0; rank < 8; ++rank) devices.push_back(&platform.device(rank));
  for (const char* text :
       {"attn_post:tokens=3,nblocks=2", "attn_post:tokens=1,nblocks=1,sent=ar"}) {
    const BuildKey key = builds::complete_key(text, "gfx950");
    const TempFolder folder;
    Cache cache({.folder = folder / "c"});
    const builds::KeyBuilder builder;
    Loader loader({.cache = &cache, .builder = &builder});
    Collective collective(devices, loader.get(key));
    CHECK(collective.fits_chip());
    // Of each rank in each of two steps part, wgt, msq and x_out, and of all but rank 0 whether
    // prefix and x_out are its; of rank 0 both end to end. On a GPU nobody sees the words of a
    // sentinel region before they are re-armed; without those, ar, ar at the others, and prefix.
    const int expected = 2 * (8 * 4 + 7 * 2 + 2 + (key.has("sent", "ar") ? 0 : 8 * 3));
    int compared = 0;
    for (uint64_t step = 1; step <= 2; ++step) {
      const auto inputs = builds::find_kernel_check(key).random_inputs(key, step);
      const auto made = builds::run_step(collective, key, inputs, /*layer=*/3);
      CHECK(builds::unseen_regions(collective, made) ==
            (key.has("sent", "ar") ? std::vector<std::string>{"ar"} : std::vector<std::string>{}));
      for (const builds::CheckRow& row : builds::check_step(key, inputs, made)) {
        ++compared;
        CAPTURE(row.rank, row.tensor, row.rule);
        CHECK(row.comparison.passed);
      }
    }
    CHECK(compared == expected);
  }
}

TEST_CASE("processes hand each other memory by IPC handles") {
  const StandinServer server("gfx942", 2);
  server.use();
  const Bytes& code = compile_text(kAdd, "c", "gfx942");
  constexpr unsigned kPatience = 120;  // seconds, for the other process
  int handles[2], done[2];
  REQUIRE(pipe(handles) == 0);
  REQUIRE(pipe(done) == 0);
  const auto run = [&](Device& device, DeviceAddress p, uint32_t v) {
    const auto module = device.load(code);
    const auto stream = device.create_stream();
    device.launch(module->function("k"), kOneWave, Arguments().add(p).add(v), *stream);
    device.synchronize(*stream);
  };
  const pid_t owner = start_process([&] {
    alarm(kPatience);
    hip::Platform platform;
    Device& device = platform.device(0);
    const DeviceAddress p = device.allocate(256, MemoryKind::fine_grained);
    device.write(p, Bytes(256));
    const MemoryHandle handle = device.export_memory(p);
    char byte;
    if (write(handles[1], &handle, sizeof handle) != sizeof handle) return false;
    if (read(done[0], &byte, 1) != 1) return false;
    run(device, p, 2);
    const bool right = word_at(device, p + 4 * 63) == 5 * 3 + 2;
    device.release(p);
    return right;
  });
  const pid_t peer = start_process([&] {
    alarm(kPatience);
    hip::Platform platform;
    Device& device = platform.device(1);
    MemoryHandle handle;
    if (read(handles[0], &handle, sizeof handle) != sizeof handle) return false;
    const DeviceAddress p = device.import_memory(handle);
    run(device, p, 5);
    device.close_imported(p);
    return write(done[1], "x", 1) == 1;
  });
  CHECK(wait_for(owner) == 0);
  CHECK(wait_for(peer) == 0);
  for (int fd : {handles[0], handles[1], done[0], done[1]}) close(fd);
}

TEST_CASE("a handle that nobody gave is refused") {
  const StandIn standin;
  hip::Platform platform;
  Device& device = platform.device(0);
  CHECK(user_error([&] { device.import_memory(MemoryHandle{}); }) ==
        "HIP cannot open another process's memory on device 0: invalid argument (error 1)");
  emulator::Emulator emulator({.chip = "gfx950"});
  const Error error =
      error_of(ErrorKind::environment, [&] { emulator.device(0).export_memory(0x1000); });
  CHECK_THAT(error.what(), Catch::Contains("shares no memory with other processes"));
}

}  // namespace
}  // namespace baton::tests
