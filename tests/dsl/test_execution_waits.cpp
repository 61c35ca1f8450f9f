// Diagnostics and timeline builds on the emulator for every chip: waits that give up, stamps.
#include <catch2/catch.hpp>

#include "tests/dsl/dsl_run.h"

using namespace baton::dsl;
using namespace baton::tests;
using baton::DiagRecord;

namespace {

constexpr uint32_t kTenSeconds = 1'000'000'000;  ///< of the 100 MHz clock, which starts at 1
/// The low 31 bits of the CRC-32 of the names, by another implementation: "lost" is 0x404584AA,
/// "other" 0xD9583520.
constexpr uint32_t kLostId = 0x404584AA, kOtherId = 0x59583520;

constexpr uint32_t tag_of(uint32_t epoch) { return epoch * 256 + kSlot + 1; }

void check_empty(const DiagRecord& record) {
  CHECK(record.present == 0);
  CHECK(record.region == 0);
  CHECK(record.index == 0);
  CHECK(record.expected_tag == 0);
  CHECK(record.seen_tag == 0);
  CHECK(record.workgroup == 0);
  CHECK(record.clock == 0);
  CHECK(record.zero == 0);
}

struct Expected {
  uint32_t region, index, expected_tag, seen_tag, workgroup;
};

void check_record(const DiagRecord& record, const Expected& expected) {
  CHECK(record.present == 1);
  CHECK(record.region == expected.region);
  CHECK(record.index == expected.index);
  CHECK(record.expected_tag == expected.expected_tag);
  CHECK(record.seen_tag == expected.seen_tag);
  CHECK(record.workgroup == expected.workgroup);
  CHECK(record.clock >= kTenSeconds);
  CHECK(record.clock < 2 * kTenSeconds);
  CHECK(record.zero == 0);
}

}  // namespace

TEST_CASE("execution: a bounded wait for a tag gives up, and leaves one record a workgroup") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const RunOptions options{.epochs = {5, 7}, .diag = true, .timeline = false};
    const RunResult run = run_with(options, chip, {0}, [](const Bench& bench) {
      const auto arrives = bench.handoffs.scratch<I32>("arrives", {kLanes});
      const auto lost = bench.handoffs.scratch<I32>("lost", {kLanes});
      const auto other = bench.handoffs.scratch<I32>("other", {kLanes});
      const I32 t = thread_id(), cta = cta_id();
      If(cta == 0, [&] { put(arrives, t, 3 * t); });
      // In the first epoch every word comes, in the second not the last two of 'lost'.
      If((cta == 0) & ((bench.epoch == 5) | (t < 500)), [&] { put(lost, t, t); });
      If(bench.epoch == 5, [&] { put(other, t, t); });
      const auto words = poll<I32>({arrives.at(t)});
      bench.leave(0, words[0]);
      // All 8 waves of workgroups 1 and 2 wait for word 500 of 'lost', behind three that come.
      If((cta == 1) | (cta == 2), [&] {
        bench.leave(1, poll<I32>({arrives.at(t), lost.at(2 * (t % 8), 2), lost.at(500, 2)})[4]);
        (void)poll<I32>({other.at(9)});  // the first of the step stays
      });
      bench.leave(2, I32(1));
    });
    CHECK(run.record.bounded_waits);
    for (const DiagRecord& record : run.launches[0].diag) check_empty(record);
    const std::vector<DiagRecord>& diag = run.launches[1].diag;
    check_empty(diag[0]);
    for (uint32_t cta : {1u, 2u}) {
      CAPTURE(cta);
      check_record(diag[cta], {kLostId, 500, tag_of(7), tag_of(5), cta});
    }
    check_empty(diag[3]);
    for (size_t t = 0; t < kThreads; ++t) {
      CAPTURE(t);
      for (const LaunchResult& launch : run.launches) {
        REQUIRE(launch.out[t] == 3 * (t % kLanes));
        REQUIRE(launch.out[2 * kThreads + t] == 1);
      }
      // The words of a wait that gave up are what stood there.
      const bool waits = t / kLanes == 1 || t / kLanes == 2;
      REQUIRE(run.launches[0].out[kThreads + t] == (waits ? 501 : 0));
    }
  }
}

TEST_CASE("execution: the record names the first word of the batch that is missing") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const RunOptions options{.epochs = {kEpoch}, .diag = true, .timeline = false};
    const RunResult run = run_with(options, chip, {0}, [](const Bench& bench) {
      const auto lost = bench.handoffs.scratch<I32>("lost", {kLanes});
      const auto other = bench.handoffs.scratch<I32>("other", {kLanes});
      If(cta_id() == 0, [&] {
        If(thread_id() != 7, [&] { put(other, thread_id(), I32(1)); });
        If(thread_id() != 3, [&] { put(lost, thread_id(), I32(1)); });
      });
      If(cta_id() == 3, [&] { (void)poll<I32>({lost.at(4), other.at(6, 2), lost.at(3)}); });
    });
    for (size_t cta : {0, 1, 2}) check_empty(run.launches[0].diag[cta]);
    check_record(run.launches[0].diag[3], {kOtherId, 7, tag_of(kEpoch), 0, 3});
  }
}

TEST_CASE("execution: a bounded wait for a sentinel word gives up") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    const RunOptions options{.epochs = {kEpoch}, .diag = true, .timeline = false};
    const RunResult run = run_with(options, chip, {0}, [](const Bench& bench) {
      const auto lost = scratch_sentinel(bench.handoffs, "lost", 1, 8, 128);
      const auto other = peer_sentinel(bench.handoffs, "other", kWorkgroups, 8, 128);
      const I32 t = thread_id(), cta = cta_id();
      // Of 'other' one word of workgroup 2's 512 is left out.
      If((cta != 2) | (t != 77),
         [&] { put_sent(other.to(kRank), cta * kLanes + t, as_unsigned(t)); });
      If(bench.in.load(0) == 1U, [&] { put_sent(lost, t, U32(1U)); });
      bench.leave(0, poll_sent_words(other, {cta * kLanes + t}, Rearm::at_once)[0]);
      If(cta == 1, [&] { bench.leave(1, poll_sent_words(lost, {I32(5)}, Rearm::at_once)[0]); });
    });
    const std::vector<DiagRecord>& diag = run.launches[0].diag;
    check_empty(diag[0]);
    check_record(diag[1], {kLostId, 5, tag_of(kEpoch), 0xFFFFFFFF, 1});
    check_record(diag[2], {kOtherId, 2 * kLanes + 77, tag_of(kEpoch), 0xFFFFFFFF, 2});
    check_empty(diag[3]);
    for (size_t t = 0; t < kThreads; ++t) {
      CAPTURE(t);
      const bool left_out = t == 2 * kLanes + 77;
      REQUIRE(run.launches[0].out[t] == (left_out ? 0xFFFFFFFF : t % kLanes));
    }
    for (const uint32_t word : run.words_of("other", kEpoch)) REQUIRE(word == 0xFFFFFFFF);
  }
}

TEST_CASE("execution: a timeline stamps every stage that a workgroup runs") {
  for (const char* chip : kChips) {
    CAPTURE(chip);
    // The emulated clock starts at 1: no stamp reads 0.
    const RunOptions options{.epochs = {kEpoch}, .diag = false, .timeline = true};
    const RunResult run = run_with(options, chip, {0}, [](const Bench& bench) {
      const auto late = bench.handoffs.scratch<I32>("late", {kLanes});
      const I32 t = thread_id(), cta = cta_id();
      stage("all", [&] { bench.leave(0, t); });
      If(cta == 0, [&] {
        stage("work", [&] {
          Var<I32> sum(t);
          For(0, 2000, 1, [&](I32 i) { sum = sum.get() * 3 + i; });
          bench.leave(1, sum.get());
        });
        stage("put", [&] { put(late, t, t); });
      });
      If(cta >= 2, [&] { stage("wait", [&] { bench.leave(2, poll<I32>({late.at(t)})[0]); }); });
      stage("last", [&] { bench.leave(3, t); });
    });
    REQUIRE(run.record.timeline == std::vector<std::string>{"all", "work", "put", "wait", "last"});
    const std::vector<int64_t>& stamps = run.launches[0].stamps;
    REQUIRE(stamps.size() == 4 * 10);
    const auto enter = [&](size_t cta, size_t stage) { return stamps[cta * 10 + 2 * stage]; };
    const auto leave = [&](size_t cta, size_t stage) { return stamps[cta * 10 + 2 * stage + 1]; };
    const std::vector<std::vector<size_t>> runs = {{0, 1, 2, 4}, {0, 4}, {0, 3, 4}, {0, 3, 4}};
    for (size_t cta = 0; cta < 4; ++cta) {
      int64_t before = 1;
      std::vector<bool> seen(5);
      for (const size_t stage : runs[cta]) {
        CAPTURE(cta, stage);
        CHECK(before <= enter(cta, stage));
        CHECK(enter(cta, stage) <= leave(cta, stage));
        before = leave(cta, stage);
        seen[stage] = true;
      }
      CHECK(before < kTenSeconds);
      for (size_t stage = 0; stage < 5; ++stage) {
        CAPTURE(cta, stage);
        if (seen[stage]) continue;
        CHECK(enter(cta, stage) == 0);
        CHECK(leave(cta, stage) == 0);
      }
    }
    // Work takes time, and who waits for it waits as long.
    CHECK(leave(0, 1) > enter(0, 1));
    for (const size_t cta : {2, 3}) CHECK(leave(cta, 3) >= enter(0, 2));
  }
}
