// Run-time control flow makes branches and loops; the host's runs at trace time.
#include <catch2/catch.hpp>

#include "tests/dsl/dsl_trace.h"

using namespace baton::dsl;
using namespace baton::tests;

TEST_CASE("If and Else") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    const I32 i = kernel.i32("i");
    If(i < 4, [&] { out.store(0, i); });
    If(i == 9, [&] {
      out.store(1, i);
      If(i > 2, [&] { out.store(2, i); });
    }).Else([&] { out.store(3, i); });
  };
  const std::string text = traced(body);
  CHECK(
      has_in_order(text, {"arith.cmpi slt", "scf.if", "baton.store", "}", "arith.cmpi eq", "scf.if",
                          "baton.store", "scf.if", "baton.store", "} else {", "baton.store", "}"}));
  CHECK(count_of(text, "else") == 1);
  compile_everywhere(body);
}

TEST_CASE("host control flow leaves no trace") {
  const std::string text = traced([](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    for (int i = 0; i < 3; ++i) {
      if (i != 1) out.store(i, I32(i));
    }
  });
  CHECK(count_of(text, "baton.store") == 2);
  CHECK(text.find("scf.") == std::string::npos);
}

TEST_CASE("For counts from begin while below end") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    const I32 n = kernel.i32("n");
    For(2, n, 3, [&](I32 i) { For(i, 8, n, [&](I32 j) { out.store(i, j); }); });
  };
  const std::string text = traced(body);
  CHECK(has_in_order(text, {"scf.for %arg2 = %c2_i32 to %arg1 step %c3_i32",
                            "scf.for %arg3 = %arg2 to %c8_i32 step %arg1", "arith.muli %arg2",
                            "baton.store %arg3"}));
  compile_everywhere(body);
}

TEST_CASE("While and Var") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    const I32 n = kernel.i32("n");
    Var<I32> i(0);
    Var<F32> sum(0.0F);
    While([&] { return i < n; },
          [&] {
            sum += to_f32(i);
            sum = sum * 2.0F;
            i += 1;
          });
    out.store(0, to_i32(sum));
  };
  const std::string text = traced(body);
  CHECK(has_in_order(text, {"llvm.alloca", "x i32", "llvm.alloca", "x f32", "baton.yield"}) ==
        false);
  CHECK(has_in_order(
      text, {"llvm.store", "scf.while", "llvm.load", "arith.cmpi slt", "scf.condition", "} do {",
             "llvm.load", "arith.sitofp", "arith.addf", "llvm.store", "arith.mulf", "llvm.store",
             "arith.addi", "llvm.store", "scf.yield", "arith.fptosi", "baton.store"}));
  CHECK(count_of(text, "llvm.alloca") == 2);
  compile_everywhere(body);
  // Variables live in registers: no scratch memory in the code.
  CHECK(assembly(body).find("scratch_") == std::string::npos);
}

TEST_CASE("a Var in a loop or a branch has its storage at the kernel's head") {
  const std::string text = traced([](Kernel& kernel) {
    const I32 n = kernel.i32("n");
    For(0, n, 1, [&](I32 i) {
      If(i > 3, [&] {
        Var<Vec<F32, 2>> pair(Vec<F32, 2>({0.0F, 1.0F}));
        pair = pair * pair;
        Var<Bool> flag(i > 5);
        flag = !flag;
        Var<I32> copy(i);
        Var<I32> other(0);
        other = copy;
      });
    });
  });
  CHECK(count_of(text, "llvm.alloca") == 4);
  CHECK(has_in_order(text, {"llvm.alloca", "scf.for"}));
  CHECK(text.find("llvm.alloca", text.find("scf.for")) == std::string::npos);
}

TEST_CASE("a value made before a branch is seen inside, and a constant everywhere") {
  compile_everywhere([](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    const I32 n = kernel.i32("n");
    I32 seven;
    If(n > 3, [&] { seven = I32(7); });
    out.store(0, n + seven);
    While([&] { return Bool(n > 1000); }, [&] { out.store(1, n + seven); });
  });
}
