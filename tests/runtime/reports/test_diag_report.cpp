#include <catch2/catch.hpp>

#include "runtime/reports/diag_report.h"
#include "runtime/reports/number_ranges.h"
#include "tests/runtime/reports/sample_launch.h"

using namespace baton;
using baton::tests::sample_launch;

namespace {

using Ranks = std::vector<std::vector<DiagRecord>>;

/// CRC-32 of the names, 31 bits, by Python's binascii.
constexpr uint32_t kAr = 0x03345809, kLatr = 0x6CF99A52, kPart = 0x490F70C6;
/// Epoch 5, slot 131 (the second kernel of layer 3): 5 x 256 + 131 + 1.
constexpr uint32_t kTag = 1412;

DiagRecord record_of(uint32_t workgroup, uint32_t region, uint32_t index, uint32_t clock,
                     uint32_t seen = 0) {
  return {1, region, index, kTag, seen, workgroup, clock, 0};
}

DiagReport report_of(const Ranks& ranks) { return diag_report(sample_launch(), ranks); }

}  // namespace

TEST_CASE("ids of regions are the CRC-32 of their names") {
  CHECK(region_id("ar") == kAr);
  CHECK(region_id("latr") == kLatr);
  CHECK(region_id("part") == kPart);
}

TEST_CASE("numbers as ranges") {
  const auto text = [](const std::vector<uint32_t>& numbers) { return ranges_text(numbers); };
  CHECK(text({}) == "");
  CHECK(text({7}) == "7");
  CHECK(text({0, 1}) == "0, 1");
  CHECK(text({0, 1, 2, 4, 6, 7}) == "0 .. 2, 4, 6, 7");
  CHECK(text({0, 2, 4, 6}) == "0, 2, 4, 6");
  CHECK(text({0, 2, 4, 6, 8, 9, 10}) == "0, 2, 4, 6 and 3 more");
  CHECK(number_ranges(std::vector<uint32_t>{1, 2, 9}) ==
        std::vector<std::pair<uint32_t, uint32_t>>{{1, 2}, {9, 9}});
}

TEST_CASE("no records, no report") {
  const DiagReport report = report_of(Ranks(8));
  CHECK(report.waits.empty());
  CHECK(report.conclusions.empty());
  CHECK(report.text().empty());
}

TEST_CASE("a record in words: place, tags, time") {
  Ranks ranks(8);
  // Word 3 x 32 + 16 + 5 of ar: source 3, token 1, columns 10 and 11. Seen: epoch 3, slot 128.
  ranks[2] = {record_of(1, kAr, 117, 4000000000u, 3 * 256 + 129)};
  ranks[6] = {record_of(2, kPart, 11, 4050000000u)};
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 2);
  const DiagWait& ar = report.waits[0];
  CHECK(ar.rank == 2);
  CHECK(ar.workgroups == std::vector<uint32_t>{1});
  CHECK(ar.region == "ar");
  CHECK(ar.place == "ar[3, 1, 10]");
  CHECK(ar.source == 3);
  CHECK(ar.expected == "epoch 5, slot 131 (layer 3)");
  CHECK(ar.seen == "epoch 3, slot 128 (layer 0)");
  CHECK(ar.first_seconds == 0.0);
  const DiagWait& part = report.waits[1];
  CHECK(part.place == "part[3, 2]");
  CHECK_FALSE(part.source);
  CHECK(part.seen == "nothing yet");
  CHECK(part.first_seconds == Approx(0.5));  // 50 million ticks of 10 ns
}

TEST_CASE("the first and the last tag") {
  Ranks ranks(8);
  ranks[0] = {record_of(0, kPart, 0, 0, 1), record_of(1, kPart, 0, 0, 1u << 30),
              record_of(2, kPart, 0, 0, (1u << 30) + 1)};
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 3);
  CHECK(report.waits[0].seen == "epoch 0, slot 0 (layer 0)");
  CHECK(report.waits[1].seen == "epoch 4194303, slot 255 (layer 127)");
  CHECK(report.waits[2].seen == "0x40000001, which is no tag");
}

TEST_CASE("sentinel words: the blocked index and what was seen") {
  Ranks ranks(8);
  // ((5 x 2 + 1) 2 + 1) 8 + 3: source 5, block 1, token 1, pair 3: columns 16 + 6 and 16 + 7.
  ranks[0] = {record_of(0, kLatr, 187, 10, kSentinel), record_of(1, kLatr, 187, 11, 0x3F803F80)};
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 2);
  CHECK(report.waits[0].place == "latr[5, 1, 22]");
  CHECK(report.waits[0].source == 5);
  CHECK(report.waits[0].seen == "0x3f803f80");
  CHECK(report.waits[1].seen == "the sentinel: not arrived");
}

TEST_CASE("waits that are alike fold, sorted by time over the clock's wrap") {
  Ranks ranks(8);
  ranks[0] = {record_of(3, kAr, 96, 2000000), record_of(0, kAr, 97, 0xFFFFFFFFu),
              record_of(1, kAr, 97, 5), record_of(2, kAr, 128, 0xFFFFFFFFu - 1000000)};
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 2);
  CHECK(report.waits[0].source == 4);
  CHECK(report.waits[0].first_seconds == 0.0);
  const DiagWait& folded = report.waits[1];
  CHECK(folded.workgroups == std::vector<uint32_t>{0, 1, 3});
  CHECK(folded.place == "ar[3, 0, 2]");  // of workgroup 0
  CHECK(folded.places == 2);
  CHECK(folded.first_seconds == Approx(0.01));
  CHECK(folded.last_seconds == Approx(0.03).margin(1e-7));
}

TEST_CASE("waits that gave up over 30 s, wherever the clock stands") {
  const uint32_t start = GENERATE(0u, 1u, 1000000000u, 2147483647u, 3000000000u, 4294967295u);
  Ranks ranks(8);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    ranks[rank] = {record_of(0, kPart, 0, start + rank * 1000000000u)};
  }
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 4);
  for (int rank = 0; rank < 4; ++rank) {
    const DiagWait& wait = report.waits[static_cast<size_t>(rank)];
    CHECK(wait.rank == rank);
    CHECK(wait.first_seconds == 10.0 * rank);
  }
}

TEST_CASE("waits for a rank without a record come before their consequences, by time") {
  Ranks ranks(8);
  ranks[0] = {record_of(0, kAr, 32, 0), record_of(1, kAr, 160, 60000)};  // sources 1 and 5
  ranks[1] = {record_of(0, kAr, 160, 40000), record_of(1, kAr, 0, 200000)};
  const DiagReport report = report_of(ranks);
  std::vector<std::pair<int, int>> order;  // rank, source
  for (const DiagWait& wait : report.waits) order.emplace_back(wait.rank, *wait.source);
  CHECK(order == std::vector<std::pair<int, int>>{{1, 5}, {0, 5}, {0, 1}, {1, 0}});
}

TEST_CASE("a chain of waits is read from its cause, whatever began first") {
  Ranks ranks(8);
  // 4 did not come; 3 waits for it, 2 for 3, 1 for 2. 6 waits for a word of its own, 5 for 6.
  ranks[1] = {record_of(0, kAr, 64, 0), record_of(1, kPart, 5, 0)};
  ranks[2] = {record_of(0, kAr, 96, 1000000)};
  ranks[3] = {record_of(0, kAr, 128, 9000000)};
  ranks[5] = {record_of(0, kAr, 192, 500000)};
  ranks[6] = {record_of(0, kPart, 5, 8000000)};
  const DiagReport report = report_of(ranks);
  std::vector<std::pair<int, std::string>> order;
  for (const DiagWait& wait : report.waits) order.emplace_back(wait.rank, wait.region);
  CHECK(order == std::vector<std::pair<int, std::string>>{
                     {6, "part"}, {3, "ar"}, {5, "ar"}, {2, "ar"}, {1, "ar"}, {1, "part"}});
  // A circle has no beginning: by time.
  for (size_t rank = 0; rank < 8; ++rank) {
    ranks[rank] = {record_of(0, kAr, static_cast<uint32_t>((rank + 1) % 8 * 32),
                             static_cast<uint32_t>(8 - rank) * 1000000)};
  }
  const DiagReport circle = report_of(ranks);
  REQUIRE(circle.waits.size() == 8);
  for (int i = 0; i < 8; ++i) CHECK(circle.waits[static_cast<size_t>(i)].rank == 7 - i);
}

TEST_CASE("records that the code object does not know") {
  Ranks ranks(8);
  ranks[0] = {record_of(0, 0x1234, 9, 0), record_of(1, kAr, 256, 0), record_of(2, kPart, 12, 0)};
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 3);
  std::vector<std::string> places;
  for (const DiagWait& wait : report.waits) {
    places.push_back(wait.place);
    CHECK_FALSE(wait.source);
  }
  CHECK(places == std::vector<std::string>{"word 9 of region 0x00001234",
                                           "word 256 of ar, which has 256",
                                           "word 12 of part, which has 12"});
  CHECK(report.conclusions.empty());
}

TEST_CASE("a rank that all others miss and that left no record never arrived") {
  Ranks ranks(8);
  for (uint32_t rank : {0, 1, 2, 4, 5, 6, 7}) {
    for (uint32_t workgroup : {0, 1, 2}) {
      ranks[rank].push_back(record_of(workgroup, kAr, 96 + workgroup, 100 + rank));
    }
  }
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 7);
  REQUIRE(report.conclusions.size() == 1);
  CHECK(report.conclusions[0].starts_with(
      "rank 3 never arrived: all 7 other ranks miss its words, and it left no record of a wait"));
  const std::string text = report.text();
  const std::string table =
      "21 workgroups gave up a wait after 10 s:\n"
      "seconds  ranks           workgroups  first missing word                   "
      "expected                     seen\n"
      "  0.000  0 .. 2, 4 .. 7  0 .. 2      ar[3, 0, 0] and 2 more, from rank 3  "
      "epoch 5, slot 131 (layer 3)  nothing yet\n";
  CHECK(text.substr(0, table.size()) == table);
  CHECK(text.ends_with(report.conclusions[0] + "\n"));
}

TEST_CASE("a rank that only some miss is not said to be absent") {
  Ranks ranks(8);
  ranks[0] = {record_of(0, kAr, 96, 0)};
  ranks[1] = {record_of(0, kAr, 96, 0)};
  const DiagReport report = report_of(ranks);
  REQUIRE(report.conclusions.size() == 2);
  CHECK(report.conclusions[0].starts_with(
      "rank 3 left no record of a wait, and ranks 0, 1 miss words of it"));
  CHECK(
      report.conclusions[1].starts_with("ranks 2, 4 .. 7 left no record and are not named above"));
}

TEST_CASE("ranks that wait themselves are not missing") {
  Ranks ranks(8);
  for (uint32_t rank : {0, 1, 2, 4, 5, 6, 7}) {
    ranks[rank] = {record_of(0, kAr, 96, 0), record_of(1, kAr, rank == 0 ? 32 : 0, 1)};
  }
  const DiagReport two = report_of(ranks);
  REQUIRE(two.conclusions.size() == 2);
  CHECK(two.conclusions[0].starts_with("rank 3 never arrived"));
  CHECK(two.conclusions[1] == "ranks 0, 1 are waited for and gave up a wait of their own");
  // Everybody waits for a rank that waits: nobody is missing.
  for (auto& records : ranks) records = {record_of(0, kAr, 64, 0)};
  const DiagReport circle = report_of(ranks);
  CHECK(circle.conclusions ==
        std::vector<std::string>{"rank 2 is waited for and gave up a wait of its own: no rank is "
                                 "plainly missing"});
}

TEST_CASE("waits inside a rank say nothing of its peers") {
  Ranks ranks(8);
  ranks[4] = {record_of(0, kPart, 5, 0)};
  const DiagReport report = report_of(ranks);
  REQUIRE(report.waits.size() == 1);
  CHECK(report.conclusions.empty());
}
