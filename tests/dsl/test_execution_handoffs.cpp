// Hand-offs between workgroups that run at once, on the emulator for every chip.
#include <bit>
#include <catch2/catch.hpp>

#include "tests/dsl/dsl_run.h"

using namespace baton::dsl;
using namespace baton::tests;

namespace {

size_t thread_at(int workgroup, int lane) { return static_cast<size_t>(workgroup * kLanes + lane); }

}  // namespace

TEST_CASE("execution: what one workgroup puts another one polls") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, {0}, [](const Bench& bench) {
      const auto sums = bench.handoffs.scratch<F32>("sums", {kWorkgroups, kLanes});
      const auto pairs = bench.handoffs.peer<BF16>("pairs", {kWorkgroups, 4 * kLanes});
      const auto ids = bench.handoffs.peer<I32>("ids", {kWorkgroups, kLanes});
      const I32 t = thread_id(), cta = cta_id();
      const I32 next = (cta + 1) % kWorkgroups, before = (cta + kWorkgroups - 1) % kWorkgroups;
      stage("send", [&] {
        put(sums, next * kLanes + t, to_f32(cta * 1000 + t));
        put_bf(pairs.to(kRank), 4 * (next * kLanes + t),
               {to_f32(t % 128), to_f32(cta), -1.0F, 0.5F});
        If(t % 2 == 0, [&] {  // a NaN's payload survives as a raw word
          put_words(ids.to(bench.rank), next * kLanes + t,
                    {as_unsigned(t) + 0x7FA00000U, 0xFFFFFFFFU});
        });
      });
      stage("receive", [&] {
        const I32 mine = cta * kLanes + t;
        bench.leave(0, poll<F32>({sums.at(mine)})[0]);
        const auto words = poll<BF16>({pairs.at(2 * mine, 2)});
        bench.leave(1, to_f32(words[0][0]) + to_f32(words[0][1]));
        bench.leave(2, to_f32(words[1][0]) + to_f32(words[1][1]));
        bench.leave(3, poll_words<I32>({ids.at(mine)})[0]);
        bench.leave(4, before);
      });
    });
    for (int cta = 0; cta < kWorkgroups; ++cta) {
      const int before = (cta + kWorkgroups - 1) % kWorkgroups;
      for (int lane = 0; lane < kLanes; ++lane) {
        const size_t t = thread_at(cta, lane);
        CAPTURE(cta, lane);
        REQUIRE(std::bit_cast<float>(out[t]) == static_cast<float>(before * 1000 + lane));
        REQUIRE(std::bit_cast<float>(out[kThreads + t]) == static_cast<float>(lane % 128 + before));
        REQUIRE(std::bit_cast<float>(out[2 * kThreads + t]) == -0.5F);
        const auto raw = lane % 2 == 0 ? static_cast<uint32_t>(lane) + 0x7FA00000U : 0xFFFFFFFFU;
        REQUIRE(out[3 * kThreads + t] == raw);
        REQUIRE(out[4 * kThreads + t] == static_cast<uint32_t>(before));
      }
    }
  }
}

TEST_CASE("execution: plain rows behind a flag, an element at a time") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, {0}, [](const Bench& bench) {
      const auto rows = bench.handoffs.rows<BF16>("rows", {kWorkgroups, kLanes});
      const auto ready = bench.handoffs.scratch<I32>("ready", {kWorkgroups});
      const I32 t = thread_id(), cta = cta_id();
      stage("write", [&] {
        // A neighbour's half of a word stays as it is.
        rows.store(cta * kLanes + (kLanes - 1 - t), to_bf16(to_f32(t % 128 + cta)));
        publish(ready, cta);
      });
      reread_arguments();
      stage("read", [&] {
        const I32 next = (cta + 1) % kWorkgroups;
        bench.leave(0, poll<I32>({ready.at(next)})[0]);
        bench.leave(1, to_f32(rows.load(next * kLanes + t)));
      });
    });
    for (int cta = 0; cta < kWorkgroups; ++cta) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const size_t t = thread_at(cta, lane);
        CAPTURE(cta, lane);
        REQUIRE(out[t] == 1);
        const int writer = kLanes - 1 - lane, next = (cta + 1) % kWorkgroups;
        REQUIRE(std::bit_cast<float>(out[kThreads + t]) == static_cast<float>(writer % 128 + next));
      }
    }
  }
}

TEST_CASE("execution: batches of a long poll give their words in order") {
  constexpr int kSpecs = 30;
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, {0}, [](const Bench& bench) {
      const auto words = bench.handoffs.scratch<I32>("words", {2 * kSpecs});
      If((cta_id() == 3) & (thread_id() < 2 * kSpecs),
         [&] { put(words, thread_id(), 7 * thread_id() + 1); });
      std::vector<PollSpec<I32>> specs;
      for (int i = 0; i < kSpecs; ++i) specs.push_back(words.at(2 * i, 1 + i % 2));
      const std::vector<I32> seen = poll(specs);
      I32 hash(0);
      for (const I32& word : seen) hash = hash * 31 + word;
      bench.leave(0, hash);
    });
    uint32_t hash = 0;
    for (int i = 0; i < kSpecs; ++i) {
      for (int w = 0; w < 1 + i % 2; ++w)
        hash = hash * 31 + static_cast<uint32_t>(7 * (2 * i + w) + 1);
    }
    for (size_t t = 0; t < kThreads; ++t) REQUIRE(out[t] == hash);
  }
}

TEST_CASE("execution: rows are complete when their flag is up") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, {0}, [](const Bench& bench) {
      const auto flags = bench.handoffs.scratch<I32>("flags", {kWorkgroups});
      constexpr auto kDevice = baton::Scope::device;
      stage("write", [&] {
        bench.out.store(bench.thread(), as_unsigned(3 * bench.thread() + 1), kDevice);
        publish(flags, cta_id());
      });
      stage("read", [&] {
        const I32 other = (cta_id() + 2) % kWorkgroups;
        (void)poll<I32>({flags.at(other)});
        barrier();
        const I32 mirrored = other * kLanes + kLanes - 1 - thread_id();
        bench.leave(1, bench.out.load(mirrored, {.scope = kDevice}));
      });
    });
    for (int cta = 0; cta < kWorkgroups; ++cta) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const size_t other = thread_at((cta + 2) % kWorkgroups, kLanes - 1 - lane);
        CAPTURE(cta, lane);
        REQUIRE(out[kThreads + thread_at(cta, lane)] == 3 * other + 1);
      }
    }
  }
}

TEST_CASE("execution: a rank that is computed, lane by lane") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const std::vector<uint32_t> out = run_on(chip, {0}, [](const Bench& bench) {
      const auto ar = bench.handoffs.peer<I32>("ar", {kThreads});
      // Every lane puts to every rank, another one each time.
      For(0, 8, 1, [&](I32 i) {
        put(ar.to((bench.thread() + i) % 8), bench.thread(), bench.thread() + 10 * i);
      });
      bench.leave(0, poll<I32>({ar.at(bench.thread())})[0]);
    });
    for (size_t t = 0; t < kThreads; ++t) {
      // Rank kRank got the word of the turn in which (t + i) % 8 was kRank.
      const size_t turn = (kRank + 8 - t % 8) % 8;
      CAPTURE(t);
      REQUIRE(out[t] == t + 10 * turn);
    }
  }
}
