// A small kernel on 8 ranks: what the runner allocates, arms, checks and reads back.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include "runtime/collective.h"
#include "runtime/emulator/emulator.h"
#include "runtime/object/code_object.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/support/expect_error.h"

namespace baton::tests {
namespace {

constexpr int kWorkgroups = 4;
constexpr int kTokens = 2, kWidth = 64;  // 8 sources of 64 words

/// What the kernel is told to leave undone.
constexpr int kNothing = 0, kPeerRearm = 1, kScratchRearm = 2, kPut = 4;

/// Every rank puts its number and the step to all ranks; workgroup 0 polls and sums what came.
/// Rank 5's word 3 of source 2 is not re-armed, or is not put by rank 2, if `skip` says so.
void exchange(dsl::Kernel& kernel, bool diag_build) {
  using namespace dsl;
  const auto out = kernel.buffer<I32>("out", {64}, Access::write);
  const Handle scratch = kernel.memory("scratch");
  const auto epoch = kernel.table<I32>("epoch", 1);
  const auto peers = kernel.table<I64>("peers", kRanks);
  const I32 rank = kernel.i32("rank"), skip = kernel.i32("skip");
  const Handle diag = kernel.memory("diag"), tl = kernel.memory("tl");
  timeline(tl);
  const Handoffs handoffs({.scratch = scratch,
                           .epoch = epoch,
                           .slot = I32(0),
                           .peers = peers,
                           .rank = rank,
                           .diag = diag_build ? diag : Handle()});
  const auto far = peer_sentinel(handoffs, "far", kRanks, kTokens, kWidth);
  const auto near = scratch_sentinel(handoffs, "near", 1, 1, 2 * 64);
  const I32 t = thread_id();
  If((cta_id() == 0) & (t < 64), [&] {
    stage("push", [&] {
      for (int to = 0; to < kRanks; ++to) {
        const auto push = [&] {
          put_sent(far.to(to), rank * 64 + t, as_unsigned(1000 * epoch[0] + rank));
        };
        if (to != 5) push();
        if (to == 5) If((skip != kPut) | (rank != 2) | (t != 3), push);
      }
      put_sent(near, t, as_unsigned(t));
    });
    stage("reduce", [&] {
      std::vector<I32> words;
      for (int source = 0; source < kRanks; ++source) words.push_back(source * 64 + t);
      I32 sum(0);
      for (const U32& word : poll_sent_words(far, words)) sum = sum + as_signed(word);
      out.store(t, sum + as_signed(poll_sent_words(near, {t})[0]));
      for (int source = 0; source < kRanks; ++source) {
        const auto restore = [&] { rearm(far, words[static_cast<size_t>(source)]); };
        if (source != 2) restore();
        if (source == 2) If((skip != kPeerRearm) | (rank != 5) | (t != 3), restore);
      }
      If((skip != kScratchRearm) | (rank != 6) | (t != 63), [&] { rearm(near, t); });
    });
  });
}

struct Ranks {
  explicit Ranks(bool diag_build)
      : object(code_object([&](dsl::Kernel& kernel) { exchange(kernel, diag_build); }, "gfx950")),
        emulator({.chip = "gfx950", .devices = kRanks, .seed = 3}) {
    std::vector<Device*> devices;
    for (int rank = 0; rank < kRanks; ++rank) devices.push_back(&emulator.device(rank));
    collective = std::make_unique<Collective>(devices, object);
  }

  void step(int skip) {
    collective->set_value("skip", static_cast<uint64_t>(skip));
    collective->step();
  }
  std::vector<std::string> unarmed(size_t limit = 100) {
    std::vector<std::string> places;
    for (const UnarmedWord& word : collective->unarmed_words(limit)) places.push_back(word.place);
    return places;
  }
  std::vector<int32_t> out(int rank) {
    const Tensor tensor = collective->outputs(rank).at("out");
    std::vector<int32_t> values(tensor.bytes.size() / 4);
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  }

  CodeObject object;
  emulator::Emulator emulator;
  std::unique_ptr<Collective> collective;
};

using Places = std::vector<std::string>;

}  // namespace

TEST_CASE("a runner arms both halves, and steps leave them armed") {
  Ranks ranks(/*diag_build=*/false);
  CHECK(ranks.unarmed() == Places{});
  for (int rank = 0; rank < kRanks; ++rank) {
    const Tensor far = ranks.collective->rank(rank).read_region("far");
    CHECK(far.shape == std::vector<int64_t>{kRanks, kTokens, kWidth});
    CHECK(far.bytes == Bytes(kRanks * kTokens * kWidth * 2, 0xFF));
  }
  for (int step = 1; step <= 3; ++step) {
    CAPTURE(step);
    ranks.step(kNothing);
    CHECK(ranks.unarmed() == Places{});
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::vector<int32_t> sums = ranks.out(rank);
      for (int t = 0; t < 64; ++t) REQUIRE(sums[static_cast<size_t>(t)] == 8000 * step + 28 + t);
    }
  }
}

TEST_CASE("a word that a step leaves unarmed is named at once, in either half") {
  Ranks ranks(/*diag_build=*/false);
  // Word 3 of source 2: token 0, columns 6 and 7.
  const std::string left = "far[2, 0, 6] of rank 5";
  ranks.step(kPeerRearm);
  CHECK(ranks.unarmed() == Places{left});
  ranks.step(kPeerRearm);
  CHECK(ranks.unarmed() == Places{left, left});
  const std::vector<UnarmedWord> words = ranks.collective->unarmed_words(1);
  REQUIRE(words.size() == 1);
  CHECK(words[0].word == 2000 + 2);  // of the second, even step
  CHECK(ranks.unarmed(0) == Places{});
}

TEST_CASE("a scratch word that a step leaves unarmed is named at once") {
  Ranks ranks(/*diag_build=*/false);
  ranks.step(kScratchRearm);
  CHECK(ranks.unarmed() == Places{"near[0, 0, 126] of rank 6"});
}

TEST_CASE("the records of a step are read by rank, and no step follows them") {
  Ranks ranks(/*diag_build=*/true);
  ranks.step(kPut);
  for (int rank = 0; rank < kRanks; ++rank) {
    CAPTURE(rank);
    const std::vector<DiagRecord> records = ranks.collective->rank(rank).read_diag();
    if (rank != 5) {
      CHECK(records.empty());
      continue;
    }
    REQUIRE(records.size() == 1);
    CHECK(records[0].workgroup == 0);
    CHECK(records[0].index == 2 * 64 + 3);
    CHECK(records[0].seen_tag == 0xFFFFFFFF);
  }
  const std::string refusal =
      "k: a wait of rank 5 gave up, so that no further step may run: a sentinel word that comes "
      "late would look fresh";
  Runner& gave_up = ranks.collective->rank(5);
  CHECK(error_of(ErrorKind::failed_check, [&] { ranks.step(kNothing); }).what() == refusal);
  CHECK(error_of(ErrorKind::failed_check, [&] { gave_up.step_begin(); }).what() == refusal);
  CHECK(error_of(ErrorKind::failed_check, [&] { gave_up.launch(gave_up.arguments()); }).what() ==
        refusal);
  CHECK(gave_up.read_diag().size() == 1);
  ranks.collective->rank(4).step_begin();  // a rank that left no record may
}

TEST_CASE("a record is found when the next step began before anybody waited") {
  Ranks ranks(/*diag_build=*/true);
  ranks.collective->set_value("skip", kPut);
  ranks.collective->launch();
  ranks.collective->set_value("skip", kNothing);
  ranks.step(kNothing);
  CHECK(ranks.collective->rank(5).read_diag().size() == 1);
  CHECK_THROWS_AS(ranks.collective->launch(), Error);
}

TEST_CASE("stamps are read by rank, workgroup and stage") {
  Ranks ranks(/*diag_build=*/false);
  CHECK(ranks.object.record.timeline == std::vector<std::string>{"push", "reduce"});
  ranks.step(kNothing);
  ranks.step(kNothing);
  for (int rank = 0; rank < kRanks; ++rank) {
    CAPTURE(rank);
    const std::vector<int64_t> stamps = ranks.collective->rank(rank).read_timeline();
    REQUIRE(stamps.size() == kWorkgroups * 4);
    CHECK(stamps[0] > 0);
    for (size_t i = 1; i < 4; ++i) CHECK(stamps[i] >= stamps[i - 1]);
    for (size_t i = 4; i < stamps.size(); ++i) CHECK(stamps[i] == 0);
  }
}

TEST_CASE("ranks and devices outside a launch are refused") {
  const Ranks ranks(/*diag_build=*/false);
  emulator::Emulator other({.chip = "gfx950", .devices = 2, .seed = 3});
  for (const int rank : {-1, kRanks}) {
    CHECK(user_error([&] { Runner(other.device(0), ranks.object, rank); }) ==
          "rank " + std::to_string(rank) + " of 8");
  }
  std::vector<Device*> two{&other.device(0), &other.device(1)};
  CHECK(user_error([&] { Collective(two, ranks.object); }) == "k runs on 8 ranks, not on 2");
}

}  // namespace baton::tests
