// The bytes that a GPU would load, run on an emulated chip, against the reference: every shape of
// the batch, the options of the key, both layouts of the conv state.
#include <catch2/catch.hpp>

#include "tests/kernels/kda_pre_run.h"

namespace baton::tests {
namespace {

const std::vector<std::string> kNone;

struct Shape {
  int requests, qlen;
};
const Shape kShapes[] = {{1, 1}, {1, 4}, {2, 4},  {8, 1},  {1, 8},
                         {4, 4}, {8, 4}, {16, 2}, {2, 16}, {32, 1}};

/// The options that a shape comes with.
struct Variant {
  int nblocks;
  bool delta, write, long_state, entry_major;

  std::string fields(const Shape& shape) const {
    return fmt::format("tokens={},qlen={},nblocks={},delta={},write_idx={},state_len={}",
                       shape.requests * shape.qlen, shape.qlen, nblocks, delta ? 1 : 0,
                       write ? nblocks : -1, shape.qlen + (long_state ? 5 : 2));
  }
};

void check(const Shape& shape, const Variant& variant, const std::string& chip) {
  INFO(variant.fields(shape) << " for " << chip);
  CHECK(run_kda_pre(variant.fields(shape), chip, {.entry_major = variant.entry_major}) == kNone);
}

/// Two variants a shape in which every option is on once and off once.
TEMPLATE_TEST_CASE_SIG("kda_pre is right for every shape of the batch on gfx950", "",
                       ((int shape), shape), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
  const bool odd = shape % 2 == 1;
  check(kShapes[shape], {8, true, odd, false, odd}, "gfx950");
  check(kShapes[shape], {1, false, !odd, true, !odd}, "gfx950");
}

TEMPLATE_TEST_CASE_SIG("kda_pre is right for every shape and every option on gfx950", "[.][whole]",
                       ((int shape), shape), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
  for (int bits = 0; bits < 16; ++bits) {
    for (const bool entry_major : {false, true}) {
      check(
          kShapes[shape],
          {(bits & 1) != 0 ? 8 : 1, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, entry_major},
          "gfx950");
    }
  }
}

TEMPLATE_TEST_CASE_SIG("kda_pre is right on gfx942 and gfx90a", "", ((int shape), shape), 0, 2, 8) {
  check(kShapes[shape], {8, true, true, false, false}, "gfx942");
  check(kShapes[shape], {1, false, true, true, true}, "gfx90a");
}

TEMPLATE_TEST_CASE_SIG("kda_pre is right for every shape on gfx942 and gfx90a", "[.][whole]",
                       ((int shape), shape), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
  for (const char* chip : {"gfx942", "gfx90a"}) {
    check(kShapes[shape], {8, true, true, false, true}, chip);
    check(kShapes[shape], {1, false, false, true, false}, chip);
  }
}

TEST_CASE("kda_pre with strided pools leaves what lies between and around the slots") {
  for (const bool entry_major : {false, true}) {
    INFO("entry-major " << entry_major);
    CHECK(run_kda_pre("tokens=6,qlen=3,nblocks=2,write_idx=4", "gfx950",
                      {.entry_major = entry_major,
                       .row_padding = 3,
                       .slot_padding = 5,
                       .state_padding = 132,
                       .spare_slots = 5,
                       .spare_blocks = 2,
                       .table_padding = 3}) == kNone);
  }
}

TEST_CASE("kda_pre takes a dense rstate whose dimensions stand apart") {
  const BuildKey key = builds::complete_key("kda_pre:tokens=2,qlen=2,nblocks=1", "gfx950");
  EmulatedRanks rank(key, builds::build(key).code_object, {.threads = 2});
  auto inputs = builds::kimi_k3::random_kda_pre_inputs(key, 1, {.state_padding = 0});
  auto& shape = inputs.common.at("rstate").shape;
  shape = {shape[0], 12, 128, 128};
  CHECK(run_kda_pre(rank, key, inputs, 2) == kNone);
}

TEST_CASE("kda_pre with debug, diag and timeline is right, and no wait gives up") {
  const std::string build =
      GENERATE("debug=1", "diag=1", "timeline=1", "debug=1,diag=1,timeline=1");
  const BuildKey key = builds::complete_key("kda_pre:tokens=4,qlen=2,nblocks=2," + build, "gfx950");
  INFO(key.text());
  EmulatedRanks rank(key, builds::build(key).code_object, {.threads = 2});
  CHECK(run_kda_pre(rank, key, builds::kimi_k3::random_kda_pre_inputs(key, 1), 2) == kNone);
  CHECK(rank.collective().rank(0).read_diag().empty());
  if (!key.flag("timeline")) return;
  // Every workgroup has stamped something, and no stage ends before it begins.
  const auto stamps = rank.collective().rank(0).read_timeline();
  const size_t points = 2 * rank.collective().record().timeline.size();
  REQUIRE(points > 0);
  for (size_t group = 0; group < stamps.size(); group += points) {
    size_t stamped = 0;
    for (size_t point = group; point < group + points; point += 2) {
      stamped += stamps[point] != 0;
      CHECK(stamps[point + 1] >= stamps[point]);
    }
    CHECK(stamped > 0);
  }
}

TEST_CASE("kda_pre reads no register and no LDS that nothing has written") {
  const BuildKey key = builds::complete_key("kda_pre:tokens=2,qlen=2,nblocks=1", "gfx950");
  EmulatedRanks rank(key, builds::build(key).code_object, {.check_uninit = true});
  CHECK(run_kda_pre(rank, key, builds::kimi_k3::random_kda_pre_inputs(key, 1), 1) == kNone);
}

}  // namespace
}  // namespace baton::tests
