// What the emulator says of a kernel that carries stages and hand-offs: attn_post itself, whole and
// broken.
#include <catch2/catch.hpp>
#include <set>

#include "tests/runtime/emulator/attn_post.h"
#include "tests/runtime/emulator/support.h"

namespace baton::tests {
namespace {

using Catch::Contains;

const BuildKey& small_key() {
  static const BuildKey key = builds::complete_key("attn_post:tokens=1,nblocks=1", "gfx950");
  return key;
}

TEST_CASE("a put left out is a hang that names stage, hand-off, region and rank", "[emulator]") {
  const CodeObject broken = without(attn_post_object(small_key()), "put wgt", "");
  AttnPost run(small_key(), broken, {});
  const std::string what = run.failure();
  INFO(what);
  CHECK_THAT(what, Contains("the launch hangs: none of its "));
  CHECK_THAT(what, Contains("device 5: ") && Contains(" re-reading in stage mix (poll wgt), '") &&
                       Contains("attn_res.cpp:") && Contains(" = wgt[") && Contains("] of rank 5"));
}

TEST_CASE("a wait for a peer's words names the region's index", "[emulator]") {
  const CodeObject broken = without(attn_post_object(small_key()), "put ar", "");
  AttnPost run(small_key(), broken, {.seed = 4});
  const std::string what = run.failure();
  INFO(what);
  for (int rank = 0; rank < kRanks; ++rank) {
    CHECK_THAT(what, Contains(fmt::format("] of rank {}", rank)));
  }
  CHECK_THAT(what, Contains(" re-reading in stage reduce (poll ar), '") &&
                       Contains("attn_post.cpp:") && Contains(" = ar["));
}

TEST_CASE("a fault names the stage", "[emulator]") {
  AttnPost run(small_key(), attn_post_object(small_key()), {});
  run.inputs().ranks[2]["w_o"].bytes.resize(4096);
  const std::string what = run.failure();
  INFO(what);
  CHECK_THAT(what, Contains("kernel attn_post, device 2, workgroup ") && Contains(": load of ") &&
                       Contains("; in stage o, 'buffer_load_dwordx4 ") && Contains("gemv.cpp:"));
}

TEST_CASE("every hand-off lies in its stage, and foreign code has no stages", "[emulator]") {
  const ElfImage image = ElfImage::parse(attn_post_object(small_key()).bytes, "attn_post");
  const auto& handlers = emulator::HandlerTable::of(emulator::best_host_level());
  const emulator::Program program(image, handlers);
  const std::set<std::string> stages(program.stages().begin(), program.stages().end());
  CHECK(stages == std::set<std::string>{"", "o", "reduce", "slice", "gate", "mix"});
  std::set<std::string> polled;
  for (size_t i = 0; i < program.size(); ++i) {
    const std::string& handoff = program.handoff(i);
    if (handoff.starts_with("poll ")) {
      polled.insert(program.stages()[program.stage_of(i)] + ": " + handoff);
    }
    if (!handoff.empty()) CHECK(program.stage_of(i) != 0);
  }
  CHECK(polled == std::set<std::string>{"reduce: poll ar", "gate: poll part", "mix: poll wgt",
                                        "mix: poll msq"});

  const Bytes& foreign = compile_text("__attribute__((amdgpu_kernel)) void k(int* p) { *p = 1; }",
                                      "c", "gfx950", "-O2 -g");
  const emulator::Program other(ElfImage::parse(foreign, "foreign"), handlers);
  CHECK(other.stages() == std::vector<std::string>{""});
  CHECK(other.stage_of(0) == 0);
  CHECK(other.handoff(0).empty());
}

}  // namespace
}  // namespace baton::tests
