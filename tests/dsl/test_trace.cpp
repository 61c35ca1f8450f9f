// What a finished trace is: the kernel, its ABI, its stages, its source lines.
#include <catch2/catch.hpp>

#include "dsl/trace/trace.h"
#include "runtime/target/target.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/support/expect_error.h"

using namespace baton;
using namespace baton::dsl;
using namespace baton::tests;

TEST_CASE("the module says chip, key and launch shape") {
  const std::string text = traced([](Kernel&) {}, "gfx90a");
  CHECK(
      has_in_order(text, {"baton.args = []", "baton.chip = \"gfx90a\"", "baton.grid = 4 : i64",
                          "baton.key = \"k:\"", "baton.stages = []", "baton.workgroup = 512 : i64",
                          "func.func @k() attributes {baton.kernel}", "return"}));
}

TEST_CASE("arguments are the ABI, in the order of their naming") {
  const std::string text = traced([](Kernel& kernel) {
    kernel.buffer<BF16>("x", {8, 64});
    kernel.i32("layer");
    kernel.buffer<F32>("y", {}, Access::read_write);
    kernel.buffer<U32>("z", {3}, Access::write);
    kernel.table<I64>("peers", 8);
    kernel.memory("scratch");
  });
  CHECK(has_in_order(
      text,
      {"{access = \"read\", dtype = \"bf16\", kind = \"buffer\", name = \"x\", "
       "shape = array<i64: 8, 64>}",
       "{kind = \"i32\", name = \"layer\"}",
       "{access = \"read_write\", dtype = \"f32\", kind = \"buffer\", name = \"y\", "
       "shape = array<i64>}",
       "{access = \"write\", dtype = \"u32\", kind = \"buffer\", name = \"z\", "
       "shape = array<i64: 3>}",
       "{access = \"read\", dtype = \"i64\", kind = \"buffer\", name = \"peers\", "
       "shape = array<i64: 8>}",
       "{access = \"read_write\", dtype = \"i32\", kind = \"buffer\", name = \"scratch\", "
       "shape = array<i64>}",
       "func.func @k(%arg0: !llvm.ptr<1>, %arg1: i32, %arg2: !llvm.ptr<1>, %arg3: !llvm.ptr<1>, "
       "%arg4: !llvm.ptr<1>, %arg5: !llvm.ptr<1>)"}));
}

TEST_CASE("stages are listed once, in order") {
  const std::string text = traced([](Kernel& kernel) {
    const I32 n = kernel.i32("n");
    stage("slice", [] {});
    If(n > 3, [] { stage("gate", [] {}); });
    stage("slice", [] {});
  });
  CHECK(text.find("baton.stages = [\"slice\", \"gate\"]") != std::string::npos);
  CHECK(count_of(text, "baton.stage \"slice\"") == 2);
}

TEST_CASE("values of a stage are used after it") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    const I32 n = kernel.i32("n");
    I32 doubled, tripled;
    Buffer<I32> view;
    stage("first", [&] {
      doubled = n * 2;
      tripled = n * 3;
      view = Buffer<I32>(to_i64(n), 16);
      (void)(n * 5);
    });
    stage("second", [&] { out.store(0, doubled); });
    If(n > 2, [&] { view.store(1, tripled + doubled); });
  };
  const std::string text = traced(body);
  CHECK(has_in_order(text, {"= baton.stage \"first\" -> i32, i32, !baton.buffer {", "baton.yield",
                            "i32, i32, !baton.buffer", "baton.stage \"second\" {"}));
  compile_everywhere(body);
}

TEST_CASE("a stage in a branch hands its values on within the branch") {
  compile_everywhere([](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    const I32 n = kernel.i32("n");
    If(n > 2, [&] {
      I32 x;
      stage("inside", [&] { x = n * 2; });
      out.store(0, x);
    });
  });
}

TEST_CASE("the open trace's target") {
  traced([](Kernel&) { CHECK(current_target().chip == "gfx942"); }, "gfx942");
  traced([](Kernel&) { CHECK(current_target().chip == "gfx950"); }, "gfx950");
}

TEST_CASE("the same kernel is traced to the same text") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<F32>("out", {512}, Access::write);
    stage("s", [&] { out.store(thread_id(), to_f32(thread_id()) * 0.5F + 3.0F); });
  };
  CHECK(traced(body) == traced(body));
  CHECK(lowered(body) == lowered(body));
}

TEST_CASE("one trace a thread, finished once") {
  const Target& target = find_target("gfx950");
  {
    Trace trace(target, "k:");
    const Error second = error_of(ErrorKind::failed_check, [&] { Trace other(target, "k:"); });
    CHECK_THAT(second.what(), Catch::Contains("a trace is open on this thread already"));
    Kernel kernel("k", {64, 1});
    trace.finish();
    const Error again = error_of(ErrorKind::failed_check, [&] { trace.finish(); });
    CHECK_THAT(again.what(), Catch::Contains("this trace is finished already"));
  }
  Trace next(target, "k:");
  CHECK(user_error([&] { next.finish(); }) == "the traced function opened no Kernel");
}

TEST_CASE("a misuse leaves the thread free for the next trace") {
  const auto out_of_range = [](Kernel&) { sleep(128); };
  CHECK_THROWS_AS(traced(out_of_range), Error);
  CHECK_THROWS_AS(traced([](Kernel& kernel) {
                    const I32 n = kernel.i32("n");
                    If(n > 1, [&] { stage("s", [&] { (void)(n / 0); }); });
                  }),
                  Error);
  CHECK_FALSE(traced([](Kernel&) {}).empty());
}
