// Sentinel regions: their declarations, the place of a word, puts, polls and re-arms.
#include <catch2/catch.hpp>
#include <cstdint>

#include "runtime/object/handoff_protocol.h"
#include "tests/dsl/handoff_launch.h"

using namespace baton::dsl;
using namespace baton::tests;

namespace {

struct Place {
  int64_t source, token, column;
};

/// The blocked order, spelled out: of a source its blocks of 16 columns, of a block its tokens, of
/// a token its 8 pairs.
std::vector<Place> places_in_order(int sources, int tokens, int width) {
  std::vector<Place> places;
  for (int source = 0; source < sources; ++source) {
    for (int block = 0; block < width; block += 16) {
      for (int token = 0; token < tokens; ++token) {
        for (int column = block; column < block + 16; column += 2) {
          places.push_back({source, token, column});
        }
      }
    }
  }
  return places;
}

}  // namespace

TEST_CASE("sentinel_word counts the words in blocks of 16 columns, each word once") {
  struct Shape {
    int sources, tokens, width;
  };
  for (const Shape& shape :
       {Shape{1, 1, 16}, {8, 1, 7168}, {8, 3, 48}, {2, 64, 128}, {3, 17, 32}}) {
    CAPTURE(shape.sources, shape.tokens, shape.width);
    int64_t word = 0;
    for (const Place& at : places_in_order(shape.sources, shape.tokens, shape.width)) {
      for (const int64_t column : {at.column, at.column + 1}) {  // a pair has one word
        REQUIRE(baton::sentinel_word(at.source, at.token, column, shape.tokens, shape.width) ==
                word);
      }
      ++word;
    }
    CHECK(word == int64_t{shape.sources} * shape.tokens * shape.width / 2);
  }
}

TEST_CASE("the place of a sentinel word on the device is the formula's") {
  // ((r (w / 16) + col / 16) s + t) 8 + (col % 16) / 2
  struct Case {
    int tokens, width, source, token, column;
    uint64_t word;
  };
  const std::vector<Case> cases = {
      {1, 16, 0, 0, 0, 0},          {1, 16, 0, 0, 14, 7},
      {1, 7168, 7, 0, 7166, 28671}, {8, 7168, 1, 0, 0, 28672},
      {8, 7168, 0, 1, 0, 8},        {8, 7168, 0, 0, 16, 64},
      {8, 7168, 5, 3, 50, 143577},  {64, 3584, 7, 63, 3582, 917503},
      {3, 48, 2, 1, 20, 178},
  };
  traced([&](Kernel& kernel) {
    const Launch launch(kernel);
    int name = 0;
    for (const Case& c : cases) {
      CAPTURE(c.tokens, c.width, c.source, c.token, c.column);
      const auto region =
          peer_sentinel(launch.handoffs, "r" + std::to_string(name++), 8, c.tokens, c.width);
      const auto at = [&](const SentinelRegion& view) {
        return constant_bits(view.word(I32(c.source), I32(c.token), I32(c.column)).handle());
      };
      CHECK(at(region) == c.word);
      CHECK(at(region.to(3)) == c.word);
    }
  });
}

TEST_CASE("sentinel regions are declared with space and shape") {
  const std::string text = traced([](Kernel& kernel) {
    const Launch launch(kernel);
    (void)scratch_sentinel(launch.handoffs, "near", 1, 2, 16);
    stage("s", [&] { (void)peer_sentinel(launch.handoffs, "ar", 8, 3, 7168); });
  });
  CHECK(
      has_in_order(text, {"baton.region @near scratch sentinel bf16 shape [1, 2, 16]",
                          "baton.region @ar peer sentinel bf16 shape [8, 3, 7168]", "func.func"}));
}

TEST_CASE("sentinel words are put as pairs and as raw words, polled as either, and re-armed") {
  const auto body = [](Kernel& kernel) {
    const Launch launch(kernel);
    const auto out = kernel.buffer<U32>("out", {4096}, Access::write);
    const auto near = scratch_sentinel(launch.handoffs, "near", 2, 8, 128);
    const auto ar = peer_sentinel(launch.handoffs, "ar", 8, 2, 128);
    const I32 t = thread_id();
    const F32 f = to_f32(t);
    stage("send", [&] {
      put_sent(near, t, pack_bf16({f, f}));
      put_sent(near, t + 512, as_unsigned(t));
      put_sent(ar.to(3), t, pack_bf16({f, 1.0F}));
      put_sent(ar.to(launch.rank), ar.word(launch.rank, t / 64, t % 64 * 2), as_unsigned(t));
    });
    stage("receive", [&] {
      const std::vector<Vec<BF16, 2>> pairs = poll_sent(near, {t, t + 512});
      REQUIRE(pairs.size() == 2);
      const std::vector<U32> words = poll_sent_words(near, {t}, Rearm::later);
      const std::vector<Vec<BF16, 2>> rearmed = poll_sent(ar, {t}, Rearm::at_once);
      const std::vector<U32> both = poll_sent_words(ar, {t, t + 1}, Rearm::at_once);
      REQUIRE(both.size() == 2);
      const F32 sum = to_f32(pairs[1][0]) + to_f32(rearmed[0][1]);
      out.store(t, bitcast<U32>(sum) ^ words[0] ^ both[1]);
    });
    stage("rearm", [&] {
      rearm(near, t);
      rearm(near, t + 512);
    });
  };
  CHECK(has_in_order(traced(body), {"baton.stage \"send\"",
                                    "baton.put_sent",
                                    "@near[",
                                    "] = ",
                                    ": vector<2xbf16>\n",
                                    "baton.put_sent",
                                    "@near[",
                                    "] = ",
                                    ": i32\n",
                                    "@ar[",
                                    "] of %c3_i32 = ",
                                    ": vector<2xbf16>\n",
                                    "@ar[",
                                    "] of %arg3 = ",
                                    ": i32\n",
                                    "baton.stage \"receive\"",
                                    "[@near, @near] at(%",
                                    ") : vector<2xbf16>, vector<2xbf16>\n",
                                    "[@near] at(%",
                                    ") : i32\n",
                                    "[@ar] at(%",
                                    ") rearm : vector<2xbf16>\n",
                                    "[@ar, @ar] at(%",
                                    ") rearm : i32, i32\n",
                                    "baton.stage \"rearm\"",
                                    "baton.rearm",
                                    "@near[",
                                    "baton.rearm",
                                    "@near["}));
  compile_everywhere(body);
}

TEST_CASE("more than 12 sentinel words are polled batch by batch, in order") {
  for (const Rearm mode : {Rearm::later, Rearm::at_once}) {
    const auto body = [&](Kernel& kernel) {
      const Launch launch(kernel);
      const auto out = kernel.buffer<U32>("out", {4}, Access::write);
      const auto near = scratch_sentinel(launch.handoffs, "near", 1, 1, 128);
      put_sent(near, thread_id() % 64, U32(1U));
      std::vector<I32> indices;
      for (int i = 0; i < 27; ++i) indices.emplace_back(i);
      const std::vector<U32> words = poll_sent_words(near, indices, mode);
      REQUIRE(words.size() == 27);
      for (int i = 0; i < 4; ++i) out.store(i, words[std::vector<size_t>{26, 24, 12, 11}[i]]);
      if (mode == Rearm::later) {
        for (const I32& index : indices) rearm(near, index);
      }
    };
    const std::string text = traced(body);
    CHECK(count_of(text, "baton.poll_sent") == 3);
    CHECK(count_of(text, ") rearm : i32") == (mode == Rearm::at_once ? 3 : 0));
    const size_t first = text.find(":12 = baton.poll_sent");
    const size_t second = text.find(":12 = baton.poll_sent", first + 1);
    const size_t third = text.find(":3 = baton.poll_sent");
    REQUIRE(first < second);
    REQUIRE(second < third);
    REQUIRE(third != std::string::npos);
    const auto name_before = [&](size_t at) {
      const size_t start = text.rfind('%', at);
      return text.substr(start, at - start);
    };
    CHECK(has_in_order(text, {name_before(third) + "#2", name_before(third) + "#0",
                              name_before(second) + "#0", name_before(first) + "#11"}));
    compile_everywhere(body);
  }
}

TEST_CASE("bounded waits are asked for with the hand-offs") {
  const auto body = [](Kernel& kernel) {
    const Handle scratch = kernel.memory("scratch");
    const auto epoch = kernel.table<I32>("epoch", 1);
    const Handle diag = kernel.memory("diag");
    const Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = I32(7), .diag = diag});
    const auto near = scratch_sentinel(handoffs, "near", 1, 1, 1024);
    const auto sums = handoffs.scratch<F32>("sums", {512});
    put_sent(near, thread_id(), U32(1U));
    put(sums, thread_id(), F32(1.0F));
    (void)poll_sent(near, {thread_id()}, Rearm::at_once);
    (void)poll<F32>({sums.at(thread_id())});
  };
  CHECK(has_in_order(traced(body),
                     {"baton.handoffs scratch %arg0 epoch %arg1 slot %c7_i32 diag %arg2",
                      "baton.poll_sent", "baton.poll"}));
  CHECK(has_in_order(lowered(body), {"baton.bounded_waits"}));
  compile_everywhere(body);
}

TEST_CASE("a timeline stamps every stage") {
  const auto body = [](Kernel& kernel) {
    const auto out = kernel.buffer<I32>("out", {4096}, Access::write);
    const Handle stamps = kernel.memory("tl");
    timeline(stamps);
    stage("first", [&] { out.store(thread_id(), cta_id()); });
    If(cta_id() < 2, [&] { stage("second", [&] { out.store(thread_id() + 512, cta_id()); }); });
  };
  CHECK(has_in_order(traced(body), {"baton.timeline %arg1\n", "baton.stage \"first\""}));
  CHECK(has_in_order(lowered(body), {"baton.timeline = [\"first\", \"second\"]"}));
  compile_everywhere(body);
}

TEST_CASE("a sentinel word that is never re-armed is refused with its stage and line") {
  int line = 0;
  const auto body = [&](Kernel& kernel) {
    const Launch launch(kernel);
    const auto ar = peer_sentinel(launch.handoffs, "ar", 8, 1, 1024);
    put_sent(ar.to(launch.rank), thread_id(), U32(1U));
    stage("reduce", [&] {
      line = __LINE__ + 1;
      (void)poll_sent(ar, {thread_id()});
    });
  };
  try {
    lowered(body);
    FAIL("nothing re-arms 'ar'");
  } catch (const baton::Error& error) {
    CHECK(error.what() == "tests/dsl/test_sentinels.cpp:" + std::to_string(line) +
                              ": stage 'reduce': polls sentinel region 'ar', but no path from here "
                              "reaches a re-arm");
  }
}
