// Every misuse that the DSL refuses while it traces: what it says, the hint, the author's line.
#include <catch2/catch.hpp>

#include "dsl/trace/trace.h"
#include "runtime/target/target.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/support/expect_error.h"

using namespace baton;
using namespace baton::dsl;
using namespace baton::tests;

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

TEST_CASE("misuse: stages") {
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
