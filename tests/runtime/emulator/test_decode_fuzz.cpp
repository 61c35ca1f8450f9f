// Random words as instructions: each is executed on random registers, or refused; nothing crashes,
// and no handler leaves the wave's registers, LDS or memory.
#include <catch2/catch.hpp>
#include <random>

#include "runtime/emulator/fault.h"
#include "tests/runtime/emulator/wave_run.h"

namespace baton::tests {
namespace {

constexpr int kWords = 16384;

/// A word whose leading bits name one of gfx9's encodings, so that most of them decode.
uint32_t random_word(std::mt19937_64& random) {
  constexpr uint32_t kPrefixes[][2] = {
      {0x00000000, 0x7fffffff}, {0x7e000000, 0x01ffffff}, {0x7c000000, 0x01ffffff},
      {0x80000000, 0x3fffffff}, {0xbe800000, 0x007fffff}, {0xbf000000, 0x007fffff},
      {0xb0000000, 0x0fffffff}, {0xc0000000, 0x03ffffff}, {0xd0000000, 0x03ffffff},
      {0xd3800000, 0x007fffff}, {0xd8000000, 0x03ffffff}, {0xdc000000, 0x03ffffff},
      {0xe0000000, 0x03ffffff}, {0xe8000000, 0x03ffffff}};
  const auto& prefix = kPrefixes[random() % std::size(kPrefixes)];
  return prefix[0] | (static_cast<uint32_t>(random()) & prefix[1]);
}

Bytes with_random_code(const std::string& chip, std::mt19937_64& random) {
  Bytes code =
      compile_text(kernel_text("  .rept " + std::to_string(kWords) + "\n  s_nop 0\n  .endr", chip),
                   "assembler", chip, "-g");
  const ElfImage image = ElfImage::parse(code, "test");
  const uint64_t entry = image.find_kernel("k").entry_vaddr;
  const size_t at = static_cast<size_t>(image.bytes_at(entry, 4).data() - code.data());
  for (int i = 0; i < kWords; ++i) {
    // Two words at a time: the second is often a register field or a modifier.
    const uint32_t word = i % 2 ? static_cast<uint32_t>(random()) : random_word(random);
    std::memcpy(code.data() + at + 4 * static_cast<size_t>(i), &word, 4);
  }
  return code;
}

TEST_CASE("random instruction words are executed or refused", "[emulator][fuzz]") {
  const std::string chip = GENERATE("gfx950", "gfx942", "gfx90a");
  const uint64_t seed = GENERATE(1, 2, 3);
  CAPTURE(chip, seed);
  std::mt19937_64 random(seed);
  WaveRun run(with_random_code(chip, random));
  emulator::Wave& w = run.wave();
  size_t executed = 0, refused = 0;
  for (size_t i = 0; i < run.program().size(); ++i) {
    if (!run.program().info(i).row) continue;
    // Registers that often point into the test memory.
    for (int s = 0; s < 100; ++s) w.sgpr[s] = static_cast<uint32_t>(random());
    for (int s = 0; s < 96; s += 4) {
      if (random() % 2) run.set_buffer(s, 60000);
    }
    w.set_sgpr64(emulator::kExec, random() % 3 ? ~uint64_t{0} : random());
    w.sgpr[emulator::kM0] = static_cast<uint32_t>(random() % 128);
    const int spoiled = static_cast<int>(random() % 250);
    for (int lane = 0; lane < 64; ++lane) run.vgpr(spoiled)[lane] = static_cast<uint32_t>(random());
    w.pc = static_cast<uint32_t>(i) + 1;
    w.stop = emulator::Stop::none;
    w.gpr_index_mode = 0;
    const emulator::Instruction& in = run.program().code()[i];
    try {
      in.handler(w, in);
      ++executed;
    } catch (const emulator::Fault&) {
      ++refused;
    }
  }
  INFO(executed << " executed, " << refused << " refused");
  CHECK(executed > 1000);
}

}  // namespace
}  // namespace baton::tests
