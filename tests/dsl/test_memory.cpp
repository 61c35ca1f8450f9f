// Buffers, tables and LDS.
#include <catch2/catch.hpp>

#include "tests/dsl/dsl_trace.h"

using namespace baton::dsl;
using namespace baton::tests;
using baton::Scope;

TEST_CASE("a buffer spans its tensor") {
  const std::string text = traced([](Kernel& kernel) {
    kernel.buffer<BF16>("rows", {3, 5, 7});
    kernel.buffer<F32>("any", {});
    kernel.buffer<BF16>("largest", {65536, 32767});
  });
  CHECK(has_in_order(text, {"baton.buffer %arg0 bytes 210 :", "baton.buffer %arg1 bytes 4294967295",
                            "baton.buffer %arg2 bytes 4294836224"}));
}

TEST_CASE("loads and stores of 1, 2 and 4 words, at byte offsets") {
  const auto body = [](Kernel& kernel) {
    const auto halves = kernel.buffer<BF16>("halves", {4096}, Access::read_write);
    const auto words = kernel.buffer<F32>("words", {4096}, Access::read_write);
    const auto wide = kernel.buffer<I64>("wide", {4096}, Access::read_write);
    const I32 i = kernel.i32("i");
    halves.store<2>(i, halves.load<2>(i));
    halves.store<4>(i, halves.load<4>(i));
    halves.store<8>(i, halves.load<8>(i));
    words.store(i, words.load(i));
    words.store<2>(i, words.load<2>(i));
    words.store<4>(i, words.load<4>(i));
    wide.store<2>(i, wide.load<2>(i));
  };
  const std::string text = traced(body);
  CHECK(has_in_order(
      text, {"arith.muli", "%c2_i32", "baton.load", "wave : i32\n", "baton.store", "wave : i32\n",
             "wave : vector<2xi32>", "wave : vector<2xi32>", "wave : vector<4xi32>",
             "wave : vector<4xi32>", "%c4_i32", "wave : i32", "wave : vector<2xi32>",
             "wave : vector<4xi32>", "%c8_i32", "wave : vector<4xi32>"}));
  CHECK(count_of(text, "baton.load") == 7);
  CHECK(count_of(text, "baton.store") == 7);
  compile_everywhere(body);
}

TEST_CASE("one bf16 moves as half a word") {
  const auto body = [](Kernel& kernel) {
    const auto halves = kernel.buffer<BF16>("halves", {4096}, Access::read_write);
    const I32 i = kernel.i32("i");
    halves.store(i + 1, halves.load(i));
  };
  CHECK(has_in_order(traced(body), {"baton.load", "wave : i16", "arith.bitcast", "i16 to bf16",
                                    "bf16 to i16", "baton.store", "wave : i16"}));
  CHECK(has_in_order(assembly(body), {"buffer_load_ushort", "buffer_store_short"}));
  compile_everywhere(body);
}

TEST_CASE("a pool's window lies at its first element, beyond 4 GiB, too") {
  const auto body = [](Kernel& kernel) {
    const auto pool = kernel.pool<F32>("pool", Access::read_write);
    const I32 slot = kernel.i32("slot"), stride = kernel.i32("stride");
    const Buffer<F32> state = pool.window(to_i64(slot) * to_i64(stride), 256);
    state.store(thread_id(), state.load(0));
    pool.window(to_i64(slot)).store(0, state.load(1));
  };
  const std::string text = traced(body);
  CHECK(has_in_order(text, {"llvm.ptrtoint %arg0", "arith.extsi %arg1", "i32 to i64", "arith.muli",
                            ": i64", "%c4_i64", "rocdl.readfirstlane", "baton.buffer",
                            "bytes 1024 : i64", "bytes 4294967292 : i64"}));
  compile_everywhere(body);
}

TEST_CASE("scopes and the streaming hint") {
  const std::string text = traced([](Kernel& kernel) {
    const auto x = kernel.buffer<F32>("x", {64}, Access::read_write);
    x.store(0, x.load(1));
    x.store(2, x.load(3, {.scope = Scope::workgroup}), Scope::workgroup);
    x.store(4, x.load(5, {.scope = Scope::device, .streaming = true}), Scope::device);
    x.store<2>(6, x.load<2>(8, {.scope = Scope::system}), Scope::system);
    (void)x.load<4>(12, {.streaming = true});
  });
  CHECK(has_in_order(
      text, {"baton.load", "wave : i32", "baton.store", "wave : i32", "workgroup : i32",
             "workgroup : i32", "device streaming : i32", "device : i32", "system : vector<2xi32>",
             "system : vector<2xi32>", "wave streaming : vector<4xi32>"}));
}

TEST_CASE("a buffer at an address that the device computes") {
  const auto body = [](Kernel& kernel) {
    const auto table = kernel.table<I64>("table", 8);
    const I32 rank = kernel.i32("rank");
    const Buffer<F32> peer(table[rank] + 4096, 100);
    peer.store(thread_id(), peer.load(0, {.scope = Scope::system}), Scope::system);
  };
  // An address is the same on every lane: it is made so.
  CHECK(has_in_order(traced(body),
                     {"baton.scalar_load %arg0", ": i64", "arith.addi", ": i64",
                      "rocdl.readfirstlane", ": i64", "baton.buffer", "bytes 400 : i64"}));
  compile_everywhere(body);
}

TEST_CASE("tables are read with the element's size") {
  const std::string text = traced([](Kernel& kernel) {
    const auto epoch = kernel.table<I32>("epoch", 1);
    const auto peers = kernel.table<I64>("peers", 8);
    (void)(epoch[0] + to_i32(peers[3]));
  });
  CHECK(text.find("baton.scalar_load %arg0[%c0_i32] : i32") != std::string::npos);
  CHECK(text.find("baton.scalar_load %arg1[%c24_i32] : i64") != std::string::npos);
}

TEST_CASE("LDS: arrays follow each other, alternatives share their bytes") {
  int64_t bytes = 0;
  const std::string text = traced([&](Kernel&) {
    LdsLayout lds;
    lds.array<BF16>("head", 5);
    lds.one_of([&] { lds.array<F32>("short", 3); },
               [&] {
                 lds.array<F32>("long_a", 4);
                 lds.array<I64>("long_b", 6);
               },
               [] {});
    lds.array<I32>("tail", 1);
    bytes = lds.bytes();
  });
  // Each array starts at a multiple of 16; what follows a union starts behind its longest.
  CHECK(has_in_order(
      text, {"baton.lds @head offset 0 bytes 10", "baton.lds @short offset 16 bytes 12",
             "baton.lds @long_a offset 16 bytes 16", "baton.lds @long_b offset 32 bytes 48",
             "baton.lds @tail offset 80 bytes 4"}));
  CHECK(bytes == 96);
}

TEST_CASE("LDS loads and stores of every element type and width") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<F32>("out", {4096}, Access::write);
    LdsLayout lds;
    const auto halves = lds.array<BF16>("halves", 4096);
    const auto floats = lds.array<F32>("floats", 2048);
    const auto wide = lds.array<I64>("wide", 512);
    const I32 t = thread_id();
    const F32 f = to_f32(t);
    halves.store(t, to_bf16(f));
    halves.store<2>(2 * t, pack_bf16({f, f}));
    halves.store<8>(8 * t, pack_bf16({f, f, f, f, f, f, f, f}));
    floats.store(t, f);
    floats.store<4>(4 * t, Vec<F32, 4>({f, f, f, f}));
    wide.store(t, to_i64(t));
    barrier();
    const Vec<BF16, 4> four = halves.load<4>(4 * t);
    F32 sum = to_f32(halves.load(t)) + to_f32(four[3]) + floats.load(t) + floats.load<2>(2 * t)[1];
    out.store(t, sum + to_f32(to_i32(wide.load(t))));
  };
  const std::string text = traced(body);
  CHECK(has_in_order(text, {"baton.lds_store", "@halves", ": bf16", "@halves", ": vector<2xbf16>",
                            "@halves", ": vector<8xbf16>", "@floats", ": f32", "@floats",
                            ": vector<4xf32>", "@wide", ": i64", "baton.barrier"}));
  CHECK(text.find("baton.lds_load @halves", text.find("baton.barrier")) != std::string::npos);
  CHECK(count_of(text, "baton.lds_store") == 6);
  CHECK(count_of(text, "baton.lds_load") == 5);
  compile_everywhere(body);
}

TEST_CASE("too much LDS is refused for the chip that has less") {
  const auto body = [](Kernel&) {
    LdsLayout lds;
    lds.array<F32>("rows", 20000);
  };
  CHECK_FALSE(lowered(body, "gfx950").empty());
  for (const char* chip : {"gfx942", "gfx90a"}) {
    try {
      lowered(body, chip);
      FAIL("80000 bytes of LDS on " << chip);
    } catch (const baton::Error& error) {
      CHECK_THAT(error.what(),
                 Catch::Contains("test_memory.cpp:") &&
                     Catch::Contains("LDS takes 80000 bytes up to the end of 'rows', " +
                                     std::string(chip) + " has 65536"));
    }
  }
}
