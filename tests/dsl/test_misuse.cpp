// Every misuse that the DSL refuses while it traces: what it says, the hint, the author's line.
#include <catch2/catch.hpp>

#include "dsl/trace/trace.h"
#include "runtime/target/target.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/support/expect_error.h"

using namespace baton;
using namespace baton::dsl;
using namespace baton::tests;

namespace {

/// Sets `line` to the line of the statement that is wrong: the one below.
using WrongBody = std::function<void(Kernel& kernel, int& line)>;

void expect_misuse(const std::string& message, const std::string& hint, const WrongBody& body) {
  int line = 0;
  const Error error = refused([&](Kernel& kernel) { body(kernel, line); });
  const std::string where = "tests/dsl/test_misuse.cpp:" + std::to_string(line);
  CHECK(error.where() == where);
  CHECK(error.what() == where + ": " + message);
  CHECK(error.hint() == hint);
}

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

TEST_CASE("misuse: no trace is open") {
  int line = 0;
  const Error error = error_of(ErrorKind::user, [&] {
    line = __LINE__ + 1;
    barrier();
  });
  CHECK(error.what() ==
        "tests/dsl/test_misuse.cpp:" + std::to_string(line) + ": no trace is open on this thread");
  CHECK(error.hint() == "DSL calls belong into a kernel");
}

TEST_CASE("misuse: no kernel is open") {
  Trace trace(find_target("gfx950"), "k:");
  int line = 0;
  const Error error = error_of(ErrorKind::user, [&] {
    line = __LINE__ + 1;
    (void)I32(3);
  });
  CHECK(error.what() ==
        "tests/dsl/test_misuse.cpp:" + std::to_string(line) + ": no kernel is open");
  CHECK(error.hint() == "begin with Kernel kernel(\"name\", {lanes, workgroups})");
}

TEST_CASE("misuse: kernels") {
  expect_misuse("a trace holds one kernel, this is its second: 'other'", "",
                [](Kernel&, int& line) {
                  line = __LINE__ + 1;
                  Kernel other("other", {64, 1});
                });
  const auto shape_of = [](LaunchShape shape) {
    Trace trace(find_target("gfx950"), "k:");
    return error_of(ErrorKind::user, [&] { Kernel kernel("k", shape); });
  };
  for (int lanes : {0, -64, 32, 96, 1088}) {
    const Error error = shape_of({lanes, 1});
    CHECK_THAT(error.what(),
               Catch::EndsWith(": a workgroup of " + std::to_string(lanes) + " lanes"));
    CHECK(error.hint() == "whole waves of 64, at most 1024 lanes");
  }
  CHECK_THAT(shape_of({64, 0}).what(), Catch::EndsWith(": a grid of 0 workgroups"));
}

TEST_CASE("misuse: arguments") {
  expect_misuse("argument 'x' is named twice", "", [](Kernel& kernel, int& line) {
    kernel.buffer<F32>("x", {8});
    line = __LINE__ + 1;
    kernel.i32("x");
  });
  expect_misuse("argument 'x' has size 0", "", [](Kernel& kernel, int& line) {
    line = __LINE__ + 1;
    kernel.buffer<F32>("x", {8, 0});
  });
  const std::string hint =
      "a buffer resource spans no more: leave the shape empty and index from a nearer base";
  for (const int64_t rows : {int64_t{1} << 20, int64_t{1} << 62}) {
    expect_misuse("argument 'x' has more than 4294967295 bytes", hint,
                  [&](Kernel& kernel, int& line) {
                    line = __LINE__ + 1;
                    kernel.buffer<F32>("x", {rows, 1024});
                  });
  }
}

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

TEST_CASE("misuse: stages") {
  expect_misuse("a stage needs a name", "", [](Kernel&, int& line) {
    line = __LINE__ + 1;
    stage("", [] {});
  });
  expect_misuse("stage 'inner' is opened inside stage 'outer'",
                "stages do not nest: close the first one before", [](Kernel& kernel, int& line) {
                  const I32 n = kernel.i32("n");
                  stage("outer", [&] {
                    If(n > 2, [&] {
                      line = __LINE__ + 1;
                      stage("inner", [] {});
                    });
                  });
                });
}

TEST_CASE("misuse: a value that was never set") {
  const std::string message = "a value is used that was never set";
  const std::string hint = "give it a value first";
  expect_misuse(message, hint, [](Kernel&, int& line) {
    I32 unset;
    line = __LINE__ + 1;
    (void)(unset + 1);
  });
  expect_misuse(message, hint, [](Kernel&, int& line) {
    Vec<F32, 4> unset;
    line = __LINE__ + 1;
    (void)mfma_16x16x32(Vec<BF16, 8>(), Vec<BF16, 8>(), unset);
  });
  expect_misuse(message, hint, [](Kernel&, int& line) {
    Buffer<F32> unset;
    line = __LINE__ + 1;
    (void)unset.load(0);
  });
  expect_misuse(message, hint, [](Kernel&, int& line) {
    Region<F32> unset;
    line = __LINE__ + 1;
    put(unset, 0, F32(1.0F));
  });
}

TEST_CASE("misuse: a value of a branch or a loop outside of it") {
  const auto outside = [](int made) {
    return "a value made inside a branch or loop at tests/dsl/test_misuse.cpp:" +
           std::to_string(made) + " is used outside of it";
  };
  const std::string hint = "hold what a branch or a loop changes in a Var";
  int made = 0;
  const auto expect = [&](const WrongBody& body) {
    int line = 0;
    const Error error = refused([&](Kernel& kernel) { body(kernel, line); });
    CHECK(error.what() ==
          "tests/dsl/test_misuse.cpp:" + std::to_string(line) + ": " + outside(made));
    CHECK(error.hint() == hint);
  };
  expect([&](Kernel& kernel, int& line) {
    I32 n = kernel.i32("n");
    If(n > 2, [&] {
      made = __LINE__ + 1;
      n = n * 2;
    });
    line = __LINE__ + 1;
    (void)(n + 1);
  });
  expect([&](Kernel& kernel, int& line) {  // of the other branch
    const I32 n = kernel.i32("n");
    I32 x;
    If(n > 2, [&] {
      made = __LINE__ + 1;
      x = n * 2;
    }).Else([&] {
      line = __LINE__ + 1;
      barrier(), (void)(x + 1);
    });
  });
  expect([&](Kernel& kernel, int& line) {  // the loop's index
    const I32 n = kernel.i32("n");
    I32 last;
    made = __LINE__ + 1;
    For(0, n, 1, [&](I32 i) { last = i; });
    line = __LINE__ + 1;
    (void)(last + 1);
  });
  expect([&](Kernel& kernel, int& line) {  // of the condition, in the body
    const I32 n = kernel.i32("n");
    I32 x;
    const auto condition = [&] {
      made = __LINE__ + 1;
      x = n * 2;
      return x < 9;
    };
    While(condition, [&] {
      line = __LINE__ + 1;
      (void)(x + 1);
    });
  });
  expect([&](Kernel& kernel, int& line) {  // a stage in a branch ends with the branch
    const I32 n = kernel.i32("n");
    I32 x;
    If(n > 2, [&] {
      stage("inside", [&] {
        made = __LINE__ + 1;
        x = n * 2;
      });
    });
    line = __LINE__ + 1;
    (void)(x + 1);
  });
}

TEST_CASE("misuse: constants that do not fit") {
  expect_misuse("constant 2147483648 does not fit a I32", "", [](Kernel& kernel, int& line) {
    const I32 n = kernel.i32("n");
    line = __LINE__ + 1;
    (void)(n + 2147483648U);
  });
  expect_misuse("constant -2147483649 does not fit a I32", "", [](Kernel&, int& line) {
    line = __LINE__ + 1;
    (void)I32(-2147483649LL);
  });
  expect_misuse("constant -1 does not fit a U32", "", [](Kernel& kernel, int& line) {
    const U32 n = as_unsigned(kernel.i32("n"));
    line = __LINE__ + 1;
    (void)(-1 + n);
  });
  expect_misuse("constant 4294967296 does not fit a U32", "", [](Kernel&, int& line) {
    line = __LINE__ + 1;
    (void)U32(int64_t{1} << 32);
  });
  expect_misuse("constant above 2^63 does not fit a I64", "", [](Kernel&, int& line) {
    line = __LINE__ + 1;
    (void)I64(UINT64_MAX);
  });
}

TEST_CASE("misuse: operators") {
  for (const bool remainder : {false, true}) {
    expect_misuse("division by the constant 0", "", [&](Kernel& kernel, int& line) {
      const I32 n = kernel.i32("n");
      line = __LINE__ + 1;
      (void)(remainder ? n % 0 : n / (3 - I32(3)));
    });
  }
  expect_misuse("a shift of I32 by 32", "shift by 0 .. 31", [](Kernel& kernel, int& line) {
    const I32 n = kernel.i32("n");
    line = __LINE__ + 1;
    (void)(n << 32);
  });
  expect_misuse("a shift of I64 by -1", "shift by 0 .. 63", [](Kernel& kernel, int& line) {
    const I64 n = to_i64(kernel.i32("n"));
    line = __LINE__ + 1;
    (void)(n >> -1);
  });
  expect_misuse("element 4 of a Vec<F32, 4>", "", [](Kernel&, int& line) {
    const Vec<F32, 4> v = zero_accumulator();
    line = __LINE__ + 1;
    (void)v[4];
  });
  expect_misuse("element -1 of a Vec<F32, 4>", "", [](Kernel&, int& line) {
    const Vec<F32, 4> v = zero_accumulator();
    line = __LINE__ + 1;
    (void)v[-1];
  });
  // No value class offers it; the layer below refuses all the same.
  expect_misuse("this operator is for integers", "", [](Kernel&, int& line) {
    const F32 f(1.0F);
    line = __LINE__ + 1;
    const SourceLocation at = SourceLocation::current();
    detail::binary(detail::Binary::rem, F32::type(), f.handle(), f.handle(), at);
  });
}

TEST_CASE("misuse: control flow") {
  expect_misuse("this If has an Else already", "", [](Kernel& kernel, int& line) {
    const I32 n = kernel.i32("n");
    IfResult branch = If(n > 2, [] {});
    branch.Else([] {});
    line = __LINE__ + 1;
    branch.Else([] {});
  });
  for (const int step : {0, -1}) {
    expect_misuse("a For with step " + std::to_string(step), "the step is at least 1",
                  [&](Kernel&, int& line) {
                    line = __LINE__ + 1;
                    For(0, 8, step, [](I32) {});
                  });
  }
}

TEST_CASE("misuse: lanes") {
  for (const int count : {-1, 128}) {
    expect_misuse("sleep(" + std::to_string(count) + ")", "the count is 0 .. 127",
                  [&](Kernel&, int& line) {
                    line = __LINE__ + 1;
                    sleep(count);
                  });
  }
  for (const int offset : {0, -1, 3, 64}) {
    expect_misuse("butterfly offset " + std::to_string(offset), "1, 2, 4, 8, 16 or 32",
                  [&](Kernel&, int& line) {
                    const I32 t = thread_id();
                    line = __LINE__ + 1;
                    butterfly({16, offset}, t, [](I32 a, I32 b) { return a + b; });
                  });
  }
  expect_misuse("a butterfly without offsets", "", [](Kernel&, int& line) {
    const I32 t = thread_id();
    line = __LINE__ + 1;
    butterfly({}, t, [](I32 a, I32 b) { return a + b; });
  });
}

TEST_CASE("misuse: memory") {
  const std::string words = "loads and stores move 1, 2 or 4 words (4, 8 or 16 bytes)";
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
