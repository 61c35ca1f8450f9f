// Where a lane stands and what lanes exchange.
#include <catch2/catch.hpp>

#include "tests/dsl/dsl_trace.h"

using namespace baton::dsl;
using namespace baton::tests;

TEST_CASE("ids know their bounds and are made once") {
  const std::string text = traced([](Kernel& kernel) {
    const I32 n = kernel.i32("n");
    If(n > 1, [&] { (void)(thread_id() + cta_id()); });
    (void)(thread_id() * cta_id());
    (void)(lane_id() - wave_id());
  });
  CHECK(count_of(text, "baton.thread_id below 512") == 1);
  CHECK(count_of(text, "baton.cta_id below 4") == 1);
  CHECK(has_in_order(text, {"baton.thread_id", "scf.if"}));
  CHECK(has_in_order(
      text, {"arith.constant 64 : i32", "arith.remsi", "arith.divsi", "rocdl.readfirstlane"}));
}

TEST_CASE("barrier, sleep, clock and order") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    barrier();
    sleep(0);
    sleep(127);
    keep_order();
    out.store(0, to_i32(memrealtime()));
  };
  CHECK(has_in_order(traced(body), {"baton.barrier", "rocdl.s.sleep 0", "rocdl.s.sleep 127",
                                    "rocdl.sched.barrier 0", "llvm.amdgcn.s.memrealtime"}));
  compile_everywhere(body);
  CHECK(has_in_order(assembly(body), {"s_barrier", "s_sleep 0x7f", "s_memrealtime"}));
}

TEST_CASE("values of the wave") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<F32>("out", {512}, Access::write);
    const F32 f = to_f32(thread_id());
    const F32 first = uniform(f), third = read_lane(f, 3);
    const I64 mask = ballot(f > 7.0F);
    out.store(thread_id(), first + third + to_f32(popcount(mask)));
  };
  CHECK(has_in_order(traced(body), {"rocdl.readfirstlane", ": f32", "rocdl.readlane",
                                    "rocdl.ballot", ": i64", "math.ctpop", ": i64"}));
  compile_everywhere(body);
}

TEST_CASE("every type may be uniform or read from a lane") {
  compile_everywhere([](Kernel& kernel) {
    const auto out = kernel.buffer<U32>("out", {4096}, Access::write);
    const auto in = kernel.buffer<BF16>("in", {4096});
    const I32 t = thread_id();
    const U32 u = uniform(as_unsigned(t)) + read_lane(as_unsigned(t), 5);
    const I64 l = uniform(to_i64(t)) + read_lane(to_i64(t), 7);
    out.store(t, u + as_unsigned(to_i32(l)));
    const Vec<BF16, 2> pair = in.load<2>(2 * t);
    out.store(t + 512, bitcast<U32>(uniform(pair)));
  });
}

TEST_CASE("a butterfly's combiner is the author's function") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<F32>("out", {512}, Access::write);
    const F32 f = to_f32(thread_id());
    const F32 sum = butterfly({16, 8, 4, 2, 1}, f, [](F32 a, F32 b) { return a + b; });
    const std::array<I32, 2> best =
        butterfly({32}, std::array{thread_id(), to_i32(f)}, [](const auto& a, const auto& b) {
          const Bool left = a[0] > b[0];
          return std::array{select(left, a[0], b[0]), select(left, a[1], b[1])};
        });
    out.store(thread_id(), sum + to_f32(best[0] + best[1]));
  };
  CHECK(has_in_order(traced(body), {"baton.butterfly", "offsets [16, 8, 4, 2, 1] : f32 {", ": f32,",
                                    ": f32):", "arith.addf", "baton.yield", "baton.butterfly",
                                    "offsets [32] : i32, i32 {", "arith.cmpi sgt", "arith.select",
                                    "arith.select", "baton.yield", ": i32, i32"}));
  compile_everywhere(body);
}

TEST_CASE("prefix sums over the wave") {
  const std::string text = traced([](Kernel&) {
    (void)wave_inclusive_sum(thread_id());
    (void)wave_exclusive_sum(7);
  });
  CHECK(count_of(text, "baton.wave_scan") == 2);
  CHECK(has_in_order(text, {"baton.wave_scan", "baton.wave_scan", "arith.subi"}));
}

TEST_CASE("a prefix sum over the workgroup") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {1024}, Access::write);
    LdsLayout lds;
    const auto totals = lds.array<I32>("totals", 8);
    const WorkgroupSum sum = workgroup_exclusive_sum(thread_id() % 3, totals, 8);
    out.store(thread_id(), sum.before);
    out.store(thread_id() + 512, sum.total);
  };
  const std::string text = traced(body);
  // The last lane of each wave leaves the wave's total; every lane reads all of them.
  CHECK(has_in_order(text, {"baton.wave_scan", "scf.if", "baton.lds_store", "@totals",
                            "baton.barrier", "baton.lds_load @totals"}));
  CHECK(count_of(text, "baton.lds_store") == 1);
  CHECK(count_of(text, "baton.lds_load") == 9);  // the total starts from the first once more
  // What is before a lane: its own wave's, and the totals of the waves below.
  CHECK(has_in_order(text, {"arith.subi", "arith.cmpi sgt", "arith.select", "arith.addi"}));
  CHECK(count_of(text, "arith.cmpi sgt") == 8);
  compile_everywhere(body);
}

TEST_CASE("matrix steps") {
  const auto body = [](Kernel& kernel) {
    const auto in = kernel.buffer<BF16>("in", {8192});
    const auto out = kernel.buffer<F32>("out", {4096}, Access::write);
    const Vec<BF16, 8> a = in.load<8>(8 * thread_id(), {.streaming = true});
    const Vec<F32, 4> sum = mfma_16x16x32(a, a, mfma_16x16x32(a, a, zero_accumulator()));
    out.store<4>(4 * thread_id(), sum);
  };
  const std::string text = traced(body);
  CHECK(count_of(text, "baton.mfma") == 2);
  CHECK(has_in_order(text, {"dense<0.000000e+00> : vector<4xf32>", "streaming : vector<4xi32>",
                            "vector<4xi32> to vector<8xbf16>", "baton.mfma"}));
  compile_everywhere(body);
}
