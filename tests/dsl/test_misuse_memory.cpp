// Misuse of names, memory, LDS and hand-offs, and what only the closing door finds.
#include <catch2/catch.hpp>

#include "dsl/trace/trace.h"
#include "runtime/target/target.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/support/expect_error.h"

using namespace baton;
using namespace baton::dsl;
using namespace baton::tests;

namespace {

/// Hand-offs within this GPU.
Handoffs local_handoffs(Kernel& kernel) {
  const Handle scratch = kernel.memory("scratch");
  return Handoffs(
      {.scratch = scratch, .epoch = kernel.table<I32>("epoch", 1), .slot = kernel.i32("slot")});
}

Handoffs peer_handoffs(Kernel& kernel) {
  const Handle scratch = kernel.memory("scratch");
  return Handoffs({.scratch = scratch,
                   .epoch = kernel.table<I32>("epoch", 1),
                   .slot = kernel.i32("slot"),
                   .peers = kernel.table<I64>("peers", 8),
                   .rank = kernel.i32("rank")});
}

}  // namespace

TEST_CASE("misuse: names") {
  const std::string hint = "a name has letters, digits and _, and does not begin with a digit";
  for (const std::string name : {"", "8x", "a b", "a.b", "a\n"}) {
    const std::string quoted = name == "a\n" ? "\"a\\n\"" : "\"" + name + "\"";
    expect_misuse("an argument named " + quoted, hint, [&](Kernel& kernel, int& line) {
      line = __LINE__ + 1;
      kernel.i32(name);
    });
    expect_misuse("an LDS array named " + quoted, hint, [&](Kernel&, int& line) {
      LdsLayout lds;
      line = __LINE__ + 1;
      lds.array<F32>(name, 4);
    });
    expect_misuse("a stage named " + quoted, hint, [&](Kernel&, int& line) {
      line = __LINE__ + 1;
      stage(name, [] {});
    });
    expect_misuse("a region named " + quoted, hint, [&](Kernel& kernel, int& line) {
      const Handoffs handoffs = local_handoffs(kernel);
      line = __LINE__ + 1;
      (void)handoffs.scratch<F32>(name, {8});
    });
    Trace trace(find_target("gfx950"), "k:");
    const Error error = error_of(ErrorKind::user, [&] { Kernel kernel(name, {64, 1}); });
    CHECK_THAT(error.what(), Catch::EndsWith(": a kernel named " + quoted));
    CHECK(error.hint() == hint);
  }
}

TEST_CASE("misuse: arguments read anew inside a stage") {
  expect_misuse("arguments are read anew inside stage 'o'",
                "let whole stages read them anew: call this between two", [](Kernel&, int& line) {
                  stage("o", [&] {
                    line = __LINE__ + 1;
                    reread_arguments();
                  });
                });
}

TEST_CASE("misuse: memory") {
  const std::string words = "loads and stores move one BF16, or 1, 2 or 4 words (4, 8 or 16 bytes)";
  expect_misuse("a Vec<BF16, 3> is 6 bytes wide", words, [](Kernel& kernel, int& line) {
    const auto x = kernel.buffer<BF16>("x", {64});
    line = __LINE__ + 1;
    (void)x.load<3>(0);
  });
  expect_misuse("a Vec<F32, 8> is 32 bytes wide", words, [](Kernel& kernel, int& line) {
    const auto x = kernel.buffer<F32>("x", {64});
    line = __LINE__ + 1;
    (void)x.load<8>(0);
  });
  expect_misuse("a Vec<F32, 3> is 12 bytes wide", words, [](Kernel& kernel, int& line) {
    const auto x = kernel.buffer<F32>("x", {64});
    const F32 f = x.load(0);
    line = __LINE__ + 1;
    x.store<3>(0, Vec<F32, 3>({f, f, f}));
  });
  for (const int64_t elements : {int64_t{0}, int64_t{1} << 30}) {
    expect_misuse("a buffer of " + std::to_string(4 * elements) + " bytes",
                  "a buffer resource spans 1 .. 4294967295 bytes", [&](Kernel&, int& line) {
                    const I64 address(4096);
                    line = __LINE__ + 1;
                    Buffer<F32>(address, elements);
                  });
  }
}

TEST_CASE("misuse: LDS") {
  expect_misuse("an LdsArray is used that was never laid out", "", [](Kernel&, int& line) {
    const LdsArray<F32> unset;
    line = __LINE__ + 1;
    (void)unset.load(0);
  });
  expect_misuse("an LdsArray is used that was never laid out", "", [](Kernel&, int& line) {
    const LdsArray<F32> unset;
    line = __LINE__ + 1;
    unset.store(0, F32(1.0F));
  });
  expect_misuse("the name 'rows' is taken", "", [](Kernel&, int& line) {
    LdsLayout lds;
    lds.array<F32>("rows", 4);
    line = __LINE__ + 1;
    lds.array<F32>("rows", 4);
  });
  expect_misuse("a kernel has one LdsLayout, this is its second",
                "hand the first one on, or lay out alternatives with one_of",
                [](Kernel&, int& line) {
                  LdsLayout first;
                  line = __LINE__ + 1;
                  LdsLayout second;
                });
  expect_misuse("LDS array 'rows' has 0 bytes", "", [](Kernel&, int& line) {
    LdsLayout lds;
    line = __LINE__ + 1;
    lds.array<F32>("rows", 0);
  });
}

TEST_CASE("misuse: opening hand-offs") {
  const std::string message = "hand-offs are opened inside a stage, branch or loop";
  const std::string hint = "open them at the kernel's head, before the first stage";
  expect_misuse(message, hint, [](Kernel& kernel, int& line) {
    const Handle scratch = kernel.memory("scratch");
    const auto epoch = kernel.table<I32>("epoch", 1);
    const I32 n = kernel.i32("n");
    If(n > 2, [&] {
      line = __LINE__ + 1;
      const Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = n});
    });
  });
  expect_misuse(message, hint, [](Kernel& kernel, int& line) {
    const Handle scratch = kernel.memory("scratch");
    const auto epoch = kernel.table<I32>("epoch", 1);
    const I32 n = kernel.i32("n");
    stage("s", [&] {
      line = __LINE__ + 1;
      const Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = n});
    });
  });
  expect_misuse("hand-offs take peers and rank together", "", [](Kernel& kernel, int& line) {
    const Handle scratch = kernel.memory("scratch");
    const auto epoch = kernel.table<I32>("epoch", 1);
    const I32 n = kernel.i32("n");
    line = __LINE__ + 1;
    const Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = n, .rank = n});
  });
}

TEST_CASE("misuse: a slot beyond the tag's") {
  for (const int slot : {256, -1}) {
    expect_misuse("hand-offs of slot " + std::to_string(slot),
                  "a slot is 0 .. 255: layers of one step do not share a tag",
                  [&](Kernel& kernel, int& line) {
                    const Handle scratch = kernel.memory("scratch");
                    const auto epoch = kernel.table<I32>("epoch", 1);
                    line = __LINE__ + 1;
                    Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = I32(slot)});
                  });
  }
}

TEST_CASE("misuse: hand-offs opened twice") {
  expect_misuse("a kernel opens its hand-offs once, this is the second time",
                "declare every region on the first", [](Kernel& kernel, int& line) {
                  const Handle scratch = kernel.memory("scratch");
                  const auto epoch = kernel.table<I32>("epoch", 1);
                  const Handoffs first({.scratch = scratch, .epoch = epoch, .slot = I32(1)});
                  line = __LINE__ + 1;
                  const Handoffs second({.scratch = scratch, .epoch = epoch, .slot = I32(2)});
                });
}

TEST_CASE("misuse: regions") {
  expect_misuse("the name 'sums' is taken", "", [](Kernel& kernel, int& line) {
    const Handoffs handoffs = local_handoffs(kernel);
    LdsLayout().array<F32>("sums", 4);
    line = __LINE__ + 1;
    (void)handoffs.scratch<F32>("sums", {8});
  });
  expect_misuse("region 'sums' has no shape", "", [](Kernel& kernel, int& line) {
    const Handoffs handoffs = local_handoffs(kernel);
    line = __LINE__ + 1;
    (void)handoffs.scratch<F32>("sums", {});
  });
  expect_misuse("region 'sums' has size -3", "", [](Kernel& kernel, int& line) {
    const Handoffs handoffs = local_handoffs(kernel);
    line = __LINE__ + 1;
    (void)handoffs.scratch<F32>("sums", {8, -3});
  });
}

TEST_CASE("misuse: puts and polls") {
  expect_misuse("a put of 3 words", "one store holds 1 or 2", [](Kernel& kernel, int& line) {
    const auto sums = local_handoffs(kernel).scratch<F32>("sums", {8});
    line = __LINE__ + 1;
    put(sums, 0, {1.0F, 2.0F, 3.0F});
  });
  expect_misuse("a poll of nothing", "", [](Kernel&, int& line) {
    line = __LINE__ + 1;
    (void)poll<F32>({});
  });
  for (const int words : {0, 3}) {
    expect_misuse("a poll spec of " + std::to_string(words) + " words", "1 or 2",
                  [&](Kernel& kernel, int& line) {
                    const auto sums = local_handoffs(kernel).scratch<F32>("sums", {8});
                    line = __LINE__ + 1;
                    (void)poll<F32>({sums.at(0, words)});
                  });
  }
  expect_misuse("a poll of region 'ar' names a rank",
                "a poll reads this rank's own buffer: leave out to(...)",
                [](Kernel& kernel, int& line) {
                  const auto ar = peer_handoffs(kernel).peer<F32>("ar", {8});
                  line = __LINE__ + 1;
                  (void)poll<F32>({ar.to(2).at(0)});
                });
}

TEST_CASE("misuse: sentinel words") {
  const std::string own = " is of this rank's own buffer: leave out to(...)";
  expect_misuse("a poll of region 'ar' names a rank", "a poll" + own,
                [](Kernel& kernel, int& line) {
                  const auto ar = peer_sentinel(peer_handoffs(kernel), "ar", 8, 1, 16);
                  line = __LINE__ + 1;
                  (void)poll_sent(ar.to(2), {I32(0)});
                });
  expect_misuse("a poll of region 'ar' names a rank", "a poll" + own,
                [](Kernel& kernel, int& line) {
                  const auto ar = peer_sentinel(peer_handoffs(kernel), "ar", 8, 1, 16);
                  line = __LINE__ + 1;
                  (void)poll_sent_words(ar.to(2), {I32(0)}, Rearm::at_once);
                });
  expect_misuse("a re-arm of region 'ar' names a rank", "a re-arm" + own,
                [](Kernel& kernel, int& line) {
                  const auto ar = peer_sentinel(peer_handoffs(kernel), "ar", 8, 1, 16);
                  line = __LINE__ + 1;
                  rearm(ar.to(2), 0);
                });
  expect_misuse("a poll of nothing", "", [](Kernel& kernel, int& line) {
    const auto near = scratch_sentinel(local_handoffs(kernel), "near", 1, 1, 16);
    line = __LINE__ + 1;
    (void)poll_sent(near, {});
  });
  expect_misuse("region 'near' has size 0", "", [](Kernel& kernel, int& line) {
    const Handoffs handoffs = local_handoffs(kernel);
    line = __LINE__ + 1;
    (void)scratch_sentinel(handoffs, "near", 1, 0, 16);
  });
  expect_misuse("the name 'near' is taken", "", [](Kernel& kernel, int& line) {
    const Handoffs handoffs = local_handoffs(kernel);
    (void)scratch_sentinel(handoffs, "near", 1, 1, 16);
    line = __LINE__ + 1;
    (void)peer_sentinel(handoffs, "near", 1, 1, 16);
  });
  expect_misuse("a value is used that was never set", "give it a value first",
                [](Kernel&, int& line) {
                  SentinelRegion unset;
                  line = __LINE__ + 1;
                  put_sent(unset, 0, U32(1U));
                });
}

TEST_CASE("misuse: timelines") {
  const std::string hint = "ask for it at the kernel's head, before the first stage";
  expect_misuse("a timeline is asked for inside a stage, branch or loop", hint,
                [](Kernel& kernel, int& line) {
                  const Handle stamps = kernel.memory("tl");
                  stage("o", [&] {
                    line = __LINE__ + 1;
                    timeline(stamps);
                  });
                });
  expect_misuse("a timeline is asked for inside a stage, branch or loop", hint,
                [](Kernel& kernel, int& line) {
                  const Handle stamps = kernel.memory("tl");
                  If(kernel.i32("n") > 2, [&] {
                    line = __LINE__ + 1;
                    timeline(stamps);
                  });
                });
  expect_misuse("a timeline is asked for behind a stage", hint, [](Kernel& kernel, int& line) {
    const Handle stamps = kernel.memory("tl");
    stage("o", [] {});
    line = __LINE__ + 1;
    timeline(stamps);
  });
  expect_misuse("a kernel has one timeline", "", [](Kernel& kernel, int& line) {
    const Handle stamps = kernel.memory("tl");
    timeline(stamps);
    line = __LINE__ + 1;
    timeline(stamps);
  });
}

TEST_CASE("misuse of sentinel words that the closing door finds") {
  expect_misuse("'baton.put_sent' op needs a rank: region 'ar' lies in the peer space", "",
                [](Kernel& kernel, int& line) {
                  const auto ar = peer_sentinel(peer_handoffs(kernel), "ar", 8, 1, 16);
                  line = __LINE__ + 1;
                  put_sent(ar, 0, U32(1U));
                });
  expect_misuse(
      "'baton.rearm' op uses peer region 'ar', but its hand-offs were opened without peers", "",
      [](Kernel& kernel, int& line) {
        const auto ar = peer_sentinel(local_handoffs(kernel), "ar", 8, 1, 16);
        line = __LINE__ + 1;
        rearm(ar, 0);
      });
  expect_misuse(
      "'baton.region' op 'near' is a sentinel region: expected bf16 of shape [sources, tokens, "
      "width], the width a multiple of 16",
      "", [](Kernel& kernel, int& line) {
        const Handoffs handoffs = local_handoffs(kernel);
        line = __LINE__ + 1;
        (void)scratch_sentinel(handoffs, "near", 1, 1, 24);
      });
}

TEST_CASE("misuse that the closing door finds") {
  expect_misuse("'baton.put' op needs a rank: region 'ar' lies in the peer space", "",
                [](Kernel& kernel, int& line) {
                  const auto ar = peer_handoffs(kernel).peer<F32>("ar", {8});
                  line = __LINE__ + 1;
                  put(ar, 0, F32(1.0F));
                });
  expect_misuse("'baton.put' op names a rank, but region 'sums' lies in the scratch space", "",
                [](Kernel& kernel, int& line) {
                  const auto sums = local_handoffs(kernel).scratch<F32>("sums", {8});
                  line = __LINE__ + 1;
                  put(sums.to(2), 0, F32(1.0F));
                });
  expect_misuse(
      "'baton.poll' op uses peer region 'ar', but its hand-offs were opened without peers", "",
      [](Kernel& kernel, int& line) {
        const auto ar = local_handoffs(kernel).peer<F32>("ar", {8});
        line = __LINE__ + 1;
        (void)poll<F32>({ar.at(0)});
      });
  expect_misuse("'baton.region' op 'ar' has an odd row of 7 bf16: a word holds two", "",
                [](Kernel& kernel, int& line) {
                  const Handoffs handoffs = local_handoffs(kernel);
                  line = __LINE__ + 1;
                  (void)handoffs.scratch<BF16>("ar", {8, 7});
                });
  expect_misuse(
      "'baton.region' op 'r' takes 4294967296 bytes: a buffer resource spans at most 4294967295",
      "", [](Kernel& kernel, int& line) {
        const Handoffs handoffs = local_handoffs(kernel);
        line = __LINE__ + 1;
        (void)handoffs.scratch<F32>("r", {1 << 29});
      });
  expect_misuse("'baton.lds_load' op moves 12 bytes: expected 1, 2, 4, 8 or 16", "",
                [](Kernel&, int& line) {
                  LdsLayout lds;
                  const auto rows = lds.array<F32>("rows", 64);
                  line = __LINE__ + 1;
                  (void)rows.load<3>(0);
                });
  // An Else that is opened late stands before what was made in between.
  expect_misuse("operand #0 does not dominate this use", "", [](Kernel& kernel, int& line) {
    const I32 n = kernel.i32("n");
    IfResult branch = If(n > 2, [] {});
    const I32 later = n * 2;
    branch.Else([&] {
      line = __LINE__ + 1;
      (void)(later + 1);
    });
  });
}
