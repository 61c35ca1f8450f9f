// Sentinel words between workgroups that run at once, on the emulator for every chip.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>

#include "tests/dsl/dsl_run.h"

using namespace baton::dsl;
using namespace baton::tests;

namespace {

constexpr uint32_t kArmed = 0xFFFFFFFF;

bool all_armed(const std::vector<uint32_t>& words) {
  return std::all_of(words.begin(), words.end(), [](uint32_t word) { return word == kArmed; });
}

size_t thread_at(int workgroup, int lane) { return static_cast<size_t>(workgroup * kLanes + lane); }

/// What a bf16 payload may be and must stay, as raw words of two: all but the sentinel itself.
const std::vector<uint32_t> kHostile = {
    0xFFFEFFFE,              // what the sentinel is put as
    0x7FC07FC0, 0xFFC0FFC0,  // quiet NaNs
    0x7F817F81, 0xFF81FFBF,  // signalling NaNs
    0xFFFFFFFE, 0xFFFEFFFF,  // NaNs one bit from the sentinel
    0x7FFFFFFF, 0xFFFF7FFF, 0xFFFF0000, 0x0000FFFF, 0x80008000, 0x80000000, 0x00008000,  // -0
    0x7F807F80, 0xFF80FF80, 0x7F80FF80,  // infinities
    0x00010001, 0x80018001, 0x007F807F,  // denormals
    0x00000000, 0x3F803F80, 0xDEADBEEF,
};

}  // namespace

TEST_CASE("execution: sentinel words go from one workgroup to another") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const RunResult run = run_with({}, chip, {0}, [](const Bench& bench) {
      const auto near = scratch_sentinel(bench.handoffs, "near", kWorkgroups, 8, 128);
      const auto far = peer_sentinel(bench.handoffs, "far", kWorkgroups, 8, 128);
      const I32 t = thread_id(), cta = cta_id();
      const I32 next = (cta + 1) % kWorkgroups;
      const I32 token = t / 64, column = t % 64 * 2;
      stage("send", [&] {
        put_sent(near, near.word(next, token, column), pack_bf16({to_f32(t % 128), to_f32(cta)}));
        put_sent(far.to(bench.rank), far.word(next, token, column), as_unsigned(cta * 1000 + t));
      });
      stage("receive", [&] {
        const auto pair = poll_sent(near, {near.word(cta, token, column)}, Rearm::at_once);
        bench.leave(0, to_f32(pair[0][0]) + 1000.0F * to_f32(pair[0][1]));
        const I32 word = far.word(cta, token, column);
        bench.leave(1, poll_sent_words(far, {word})[0]);
        rearm(far, word);
      });
    });
    const std::vector<uint32_t>& out = run.launches[0].out;
    for (int cta = 0; cta < kWorkgroups; ++cta) {
      const int before = (cta + kWorkgroups - 1) % kWorkgroups;
      for (int lane = 0; lane < kLanes; ++lane) {
        const size_t t = thread_at(cta, lane);
        CAPTURE(cta, lane);
        REQUIRE(std::bit_cast<float>(out[t]) == static_cast<float>(lane % 128 + 1000 * before));
        REQUIRE(out[kThreads + t] == static_cast<uint32_t>(before * 1000 + lane));
      }
    }
    CHECK(all_armed(run.words_of("near", kEpoch)));
    CHECK(all_armed(run.words_of("far", kEpoch)));
    CHECK(all_armed(run.words_of("far", kEpoch + 1)));
  }
}

TEST_CASE("execution: hostile payloads arrive bit for bit") {
  std::vector<uint32_t> in = kHostile;
  in.push_back(kArmed);
  const int payloads = static_cast<int>(in.size());
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, in, [&](const Bench& bench) {
      const auto near = scratch_sentinel(bench.handoffs, "near", 1, 8, 1024);
      const auto far = peer_sentinel(bench.handoffs, "far", 1, 8, 1024);
      const I32 mine = bench.thread(), other = kThreads - 1 - mine;
      const U32 payload = bench.in.load(mine % payloads);
      put_sent(near, mine, payload);
      put_sent(far.to(kRank), mine, bitcast<Vec<BF16, 2>>(payload));
      bench.leave(0, poll_sent_words(near, {other}, Rearm::at_once)[0]);
      bench.leave(1, bitcast<U32>(poll_sent(far, {other}, Rearm::at_once)[0]));
    });
    for (int thread = 0; thread < kThreads; ++thread) {
      const uint32_t payload = in[static_cast<size_t>((kThreads - 1 - thread) % payloads)];
      const uint32_t arrives = payload == kArmed ? 0xFFFEFFFE : payload;
      CAPTURE(thread, payload);
      REQUIRE(out[static_cast<size_t>(thread)] == arrives);
      REQUIRE(out[static_cast<size_t>(kThreads + thread)] == arrives);
    }
  }
}

TEST_CASE("execution: batches of sentinel words come in order and are all re-armed") {
  constexpr int kWords = 30;
  for (const char* chip : kChips) {
    for (const Rearm mode : {Rearm::later, Rearm::at_once}) {
      CAPTURE(chip, mode == Rearm::later);
      const RunResult run = run_with({}, chip, {0}, [&](const Bench& bench) {
        // A word has one reader: each wave reads its own 30.
        const auto words = scratch_sentinel(bench.handoffs, "words", kThreads / 64, 4, 16);
        const I32 wave = bench.thread() / 64, lane = lane_id();
        If(lane < kWords, [&] {
          const I32 other = kThreads / 64 - 1 - wave;
          put_sent(words, other * 32 + lane, as_unsigned(7 * lane + other));
        });
        If(lane == 0, [&] {
          std::vector<I32> indices;
          for (int i = 0; i < kWords; ++i) indices.push_back(wave * 32 + i);
          U32 hash(0U);
          for (const U32& word : poll_sent_words(words, indices, mode)) hash = hash * 31U + word;
          bench.leave(0, hash);
          if (mode == Rearm::later) {
            for (const I32& index : indices) rearm(words, index);
          }
        });
      });
      for (size_t wave = 0; wave < kThreads / 64; ++wave) {
        uint32_t hash = 0;
        for (size_t i = 0; i < kWords; ++i) hash = hash * 31 + static_cast<uint32_t>(7 * i + wave);
        REQUIRE(run.launches[0].out[wave * 64] == hash);
      }
      CHECK(all_armed(run.words_of("words", kEpoch)));
    }
  }
}

TEST_CASE("execution: a re-arm touches its own word, in this step's half") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const RunResult run = run_with({}, chip, {0}, [](const Bench& bench) {
      const auto far = peer_sentinel(bench.handoffs, "far", 1, 16, 256);
      const I32 mine = bench.thread();
      put_sent(far.to(kRank), mine, as_unsigned(mine));
      bench.leave(0, poll_sent_words(far, {mine})[0]);
      If(mine % 2 == 0, [&] { rearm(far, mine); });
    });
    const std::vector<uint32_t> words = run.words_of("far", kEpoch);
    REQUIRE(words.size() == kThreads);
    for (uint32_t i = 0; i < kThreads; ++i) {
      CAPTURE(i);
      REQUIRE(run.launches[0].out[i] == i);
      REQUIRE(words[i] == (i % 2 == 0 ? kArmed : i));
    }
    CHECK(all_armed(run.words_of("far", kEpoch + 1)));
  }
}

TEST_CASE("execution: re-armed words serve the next epoch but one, and every one after") {
  for (const char* chip : kChips) {
    for (const Rearm mode : {Rearm::later, Rearm::at_once}) {
      CAPTURE(chip, mode == Rearm::later);
      const RunOptions options{.epochs = {5, 6, 7, 8, 9}, .diag = false, .timeline = false};
      const RunResult run = run_with(options, chip, {0}, [&](const Bench& bench) {
        const auto far = peer_sentinel(bench.handoffs, "far", 1, 16, 256);
        const auto near = scratch_sentinel(bench.handoffs, "near", 1, 16, 256);
        const I32 mine = bench.thread(), other = (mine + kThreads / 2) % kThreads;
        put_sent(far.to(kRank), other, as_unsigned(mine + 10000 * bench.epoch));
        put_sent(near, other, as_unsigned(mine + 20000 * bench.epoch));
        bench.leave(0, poll_sent_words(far, {mine}, mode)[0]);
        bench.leave(1, poll_sent_words(near, {mine}, mode)[0]);
        if (mode == Rearm::later) {
          rearm(far, mine);
          rearm(near, mine);
        }
      });
      REQUIRE(run.launches.size() == 5);
      for (uint32_t launch = 0; launch < 5; ++launch) {
        const std::vector<uint32_t>& out = run.launches[launch].out;
        for (uint32_t thread = 0; thread < kThreads; ++thread) {
          const uint32_t sender = (thread + kThreads / 2) % kThreads;
          CAPTURE(launch, thread);
          REQUIRE(out[thread] == sender + 10000 * (5 + launch));
          REQUIRE(out[kThreads + thread] == sender + 20000 * (5 + launch));
        }
      }
      for (const uint32_t epoch : {8u, 9u}) CHECK(all_armed(run.words_of("far", epoch)));
      CHECK(all_armed(run.words_of("near", 9)));
    }
  }
}
