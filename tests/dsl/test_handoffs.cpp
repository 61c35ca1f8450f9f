// Regions, puts, polls and publish.
#include <catch2/catch.hpp>

#include "tests/dsl/handoff_launch.h"

using namespace baton::dsl;
using namespace baton::tests;

TEST_CASE("hand-offs of one GPU need no peers") {
  const std::string text = traced([](Kernel& kernel) {
    const Handle scratch = kernel.memory("scratch");
    const auto epoch = kernel.table<I32>("epoch", 1);
    const Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = I32(7)});
    (void)handoffs.scratch<F32>("sums", {8, 9});
  });
  CHECK(has_in_order(text, {"baton.region @sums scratch tagged f32 shape [8, 9]", "func.func",
                            "baton.handoffs scratch %arg0 epoch %arg1 slot %c7_i32\n"}));
}

TEST_CASE("regions are declared with space, element type and shape") {
  const std::string text = traced([](Kernel& kernel) {
    const Launch launch(kernel);
    (void)launch.handoffs.scratch<I32>("flags", {4});
    stage("s", [&] { (void)launch.handoffs.peer<BF16>("ar", {8, 1, 7168}); });
  });
  CHECK(has_in_order(text, {"baton.region @flags scratch tagged i32 shape [4]",
                            "baton.region @ar peer tagged bf16 shape [8, 1, 7168]", "func.func",
                            "baton.handoffs scratch %arg0 epoch %arg1 slot %arg4 peers %arg2 rank "
                            "%arg3\n"}));
}

TEST_CASE("puts of words, pairs of bf16 and raw words") {
  const auto body = [](Kernel& kernel) {
    const Launch launch(kernel);
    const auto sums = launch.handoffs.scratch<F32>("sums", {1024});
    const auto ids = launch.handoffs.scratch<I32>("ids", {1024});
    const auto ar = launch.handoffs.peer<BF16>("ar", {8, 4096});
    const I32 t = thread_id();
    const F32 f = to_f32(t);
    stage("send", [&] {
      put(sums, t, f);
      put(sums, 2 * t, {f, 1.0F});
      put(ids, t, t);
      put_bf(ar.to(3), 2 * t, {f, f});
      put_bf(ar.to(launch.rank), 4 * t, {f, f, f, 0.0F});
      put_words(sums, t, {as_unsigned(t)});
      put_words(ar.to(7), 2 * t, {as_unsigned(t), 0xFFFFFFFFU});
    });
    stage("receive", [&] {
      (void)poll<F32>({sums.at(t)});
      (void)poll<I32>({ids.at(t)});
      (void)poll<BF16>({ar.at(t)});
    });
  };
  const std::string text = traced(body);
  CHECK(has_in_order(text, {"baton.put",
                            "@sums[",
                            "] = ",
                            ": f32\n",
                            "@sums[",
                            "] = ",
                            ": f32, f32\n",
                            "@ids[",
                            "] = ",
                            ": i32\n",
                            "@ar[",
                            "] of %c3_i32 = ",
                            ": vector<2xbf16>\n",
                            "@ar[",
                            "] of %arg3 = ",
                            ": vector<2xbf16>, vector<2xbf16>\n",
                            "@sums[",
                            "] raw = ",
                            ": i32\n",
                            "@ar[",
                            "] of %c7_i32 raw = ",
                            ": i32, i32\n"}));
  // An element's word is half its index, of a number that is not negative.
  CHECK(has_in_order(text, {"arith.divui", "baton.put", "@ar["}));
  compile_everywhere(body);
}

TEST_CASE("polls return the words in order") {
  const auto body = [](Kernel& kernel) {
    const Launch launch(kernel);
    const auto out = kernel.buffer<F32>("out", {4096}, Access::write);
    const auto sums = launch.handoffs.scratch<F32>("sums", {1024});
    const auto more = launch.handoffs.scratch<F32>("more", {1024});
    const auto ar = launch.handoffs.peer<BF16>("ar", {8, 4096});
    const I32 t = thread_id();
    put(sums, t, to_f32(t));
    put(more, t, to_f32(t));
    put_bf(ar.to(1), 2 * t, {1.0F, 2.0F});
    stage("receive", [&] {
      const std::vector<F32> words = poll<F32>({sums.at(t), more.at(2 * t, 2), sums.at(t + 1)});
      CHECK(words.size() == 4);
      const std::vector<Vec<BF16, 2>> pairs = poll<BF16>({ar.at(t)});
      const std::vector<U32> raw = poll_words<F32>({sums.at(t, 2)});
      CHECK(raw.size() == 2);
      const F32 sum = words[0] + words[1] + words[2] + words[3] + to_f32(pairs[0][1]);
      out.store(t, sum + bitcast<F32>(raw[1]));
    });
  };
  CHECK(has_in_order(
      traced(body),
      {"baton.poll", "[@sums, @more, @sums] at(%", ") words [1, 2, 1] : f32, f32, f32, f32",
       "[@ar] at(%", ") words [1] : vector<2xbf16>", "[@sums] at(%", ") words [2] : i32, i32"}));
  compile_everywhere(body);
}

TEST_CASE("a list of more than 12 specs is polled batch by batch, its words in order") {
  const auto body = [](Kernel& kernel) {
    const Launch launch(kernel);
    const auto out = kernel.buffer<F32>("out", {4096}, Access::write);
    const auto sums = launch.handoffs.scratch<F32>("sums", {1024});
    put(sums, thread_id(), F32(1.0F));
    std::vector<PollSpec<F32>> specs;
    for (int i = 0; i < 26; ++i) specs.push_back(sums.at(i, i == 0 ? 2 : 1));
    const std::vector<F32> words = poll(specs);
    CHECK(words.size() == 27);
    out.store(0, words[26]);
    out.store(1, words[13]);
    out.store(2, words[12]);
  };
  const std::string text = traced(body);
  CHECK(count_of(text, "baton.poll") == 3);
  // 13 words come from the first 12 specs: words 13 and 26 are the first of the second batch and
  // the last of the third.
  const size_t first = text.find(":13 = baton.poll"), second = text.find(":12 = baton.poll"),
               third = text.find(":2 = baton.poll");
  REQUIRE(first < second);
  REQUIRE(second < third);
  REQUIRE(third != std::string::npos);
  const auto name_before = [&](size_t at) {
    const size_t start = text.rfind('%', at);
    return text.substr(start, at - start);
  };
  CHECK(has_in_order(
      text, {name_before(third) + "#1", name_before(second) + "#0", name_before(first) + "#12"}));
  compile_everywhere(body);
}

TEST_CASE("publish") {
  const auto body = [](Kernel& kernel) {
    const Launch launch(kernel);
    const auto rows = kernel.buffer<F32>("rows", {4096}, Access::read_write);
    const auto flags = launch.handoffs.scratch<I32>("flags", {4});
    stage("write", [&] {
      rows.store(thread_id(), F32(1.0F), baton::Scope::device);
      publish(flags, cta_id());
    });
    stage("read", [&] {
      (void)poll<I32>({flags.at(0)});
      barrier();
      rows.store(thread_id() + 512, rows.load(thread_id(), {.scope = baton::Scope::device}));
    });
  };
  CHECK(has_in_order(traced(body), {"baton.store", "baton.publish", "@flags[", "baton.poll",
                                    "baton.barrier", "baton.load"}));
  compile_everywhere(body);
}

TEST_CASE("a hand-off that hangs is refused with its stage and line") {
  int line = 0;
  const auto body = [&](Kernel& kernel) {
    const Launch launch(kernel);
    const auto sums = launch.handoffs.scratch<F32>("sums", {8});
    stage("receive", [&] {
      line = __LINE__ + 1;
      (void)poll<F32>({sums.at(0)});
    });
  };
  try {
    lowered(body);
    FAIL("nothing puts 'sums'");
  } catch (const baton::Error& error) {
    CHECK(error.what() == "tests/dsl/test_handoffs.cpp:" + std::to_string(line) +
                              ": stage 'receive': polls region 'sums', which nothing puts");
  }
}
