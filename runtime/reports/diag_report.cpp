#include "runtime/reports/diag_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "runtime/base/error.h"
#include "runtime/region_words.h"
#include "runtime/reports/number_ranges.h"

namespace baton {
namespace {

constexpr double kTicks = kTicksPerSecond;  ///< of a second

std::string tag_text(uint32_t tag) {
  if (tag == 0) return "nothing yet";
  const uint32_t epoch = (tag - 1) / kTagSlots, slot = (tag - 1) % kTagSlots;
  if (epoch >= kTagEpochs) return fmt::format("0x{:08x}, which is no tag", tag);
  return fmt::format("epoch {}, slot {} (layer {})", epoch, slot, slot % kKernelSlots);
}

std::string seen_text(const RecordRegion* region, uint32_t word) {
  if (!region || region->protocol != RegionProtocol::sentinel) return tag_text(word);
  return word == kSentinel ? "the sentinel: not arrived" : fmt::format("0x{:08x}", word);
}

const RecordRegion* region_of(const Record& record, uint32_t id) {
  const auto found = std::ranges::find_if(
      record.regions, [&](const RecordRegion& region) { return region_id(region.name) == id; });
  return found == record.regions.end() ? nullptr : &*found;
}

bool has_word(const RecordRegion& region, uint32_t index) {
  return index < region.bytes / word_bytes(region);
}

std::string place_of(const RecordRegion* region, const DiagRecord& record) {
  if (!region) return fmt::format("word {} of region 0x{:08x}", record.index, record.region);
  if (has_word(*region, record.index)) return name_of_word(*region, record.index);
  return fmt::format("word {} of {}, which has {}", record.index, region->name,
                     region->bytes / word_bytes(*region));
}

/// A peer region [ranks, ...] has a part for each rank, which that rank alone writes.
std::optional<int> source_of(const RecordRegion* region, const DiagRecord& record) {
  if (!region || region->space != RegionSpace::peer || !has_word(*region, record.index)) return {};
  if (region->shape.empty() || region->shape[0] != kRanks) return {};
  return static_cast<int>(record.index / (region->bytes / word_bytes(*region) / kRanks));
}

/// What makes waits alike.
using Alike = std::tuple<int, uint32_t, std::optional<int>, uint32_t, uint32_t>;

struct Folded {
  const RecordRegion* region = nullptr;
  std::map<uint32_t, DiagRecord> by_workgroup;
  std::set<uint32_t> places;
  int64_t first = 0, last = 0;  ///< ticks since the first of all
};

/// The clock's low words wrap within 42.9 s, so they lie on a circle: the first of them is the one
/// behind the widest gap.
uint32_t first_clock(std::span<const std::vector<DiagRecord>> ranks) {
  std::vector<uint32_t> clocks;
  for (const auto& records : ranks) {
    for (const DiagRecord& record : records) clocks.push_back(record.clock);
  }
  std::ranges::sort(clocks);
  uint32_t first = 0, widest = 0;
  for (size_t i = 0; i < clocks.size(); ++i) {
    const uint32_t gap = clocks[i] - clocks[(i + clocks.size() - 1) % clocks.size()];
    if (i > 0 && gap <= widest) continue;
    widest = gap;
    first = clocks[i];
  }
  return first;
}

DiagWait wait_of(const Alike& alike, const Folded& folded) {
  const DiagRecord& record = folded.by_workgroup.begin()->second;
  DiagWait wait;
  std::tie(wait.rank, std::ignore, wait.source, wait.expected_tag, wait.seen_tag) = alike;
  for (const auto& [workgroup, one] : folded.by_workgroup) wait.workgroups.push_back(workgroup);
  if (folded.region) wait.region = folded.region->name;
  wait.place = place_of(folded.region, record);
  wait.places = folded.places.size();
  wait.expected = tag_text(record.expected_tag);
  wait.seen = seen_text(folded.region, record.seen_tag);
  wait.first_seconds = static_cast<double>(folded.first) / kTicks;
  wait.last_seconds = static_cast<double>(folded.last) / kTicks;
  return wait;
}

std::string numbers_text(const std::set<int>& ranks) {
  return ranges_text(std::vector<uint32_t>(ranks.begin(), ranks.end()));
}

std::string ranks_text(const std::set<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + numbers_text(ranks);
}

/// How far waits are from what nothing explains: a rank that left no record, or a wait inside a
/// rank that waits for no other.
class Causes {
 public:
  explicit Causes(std::span<const DiagWait> waits) {
    for (const DiagWait& wait : waits) {
      steps_.emplace(wait.rank, 0);
      if (wait.source) waiting_.insert(wait.rank);
    }
    for (int rank : waiting_) steps_[rank] = kUnexplained;
    // Each round takes the explanations one rank further.
    for (size_t round = 0; round < waiting_.size(); ++round) {
      for (const DiagWait& wait : waits) {
        if (wait.source) steps_[wait.rank] = std::min(steps_[wait.rank], steps_to(wait));
      }
    }
  }

  int steps_to(const DiagWait& wait) const {
    if (!wait.source && !waiting_.contains(wait.rank)) return 0;
    const auto blamed = steps_.find(wait.source.value_or(wait.rank));
    return blamed == steps_.end() ? 0 : std::min(blamed->second + 1, kUnexplained);
  }

 private:
  static constexpr int kUnexplained = kRanks;  ///< ranks that wait for each other in a circle
  std::set<int> waiting_;                      ///< ranks that wait for others
  std::map<int, int> steps_;                   ///< by rank with records, of its first wait
};

/// What may be said of the ranks. A record names the first word only that its workgroup missed, so
/// a rank that nobody names may still be one that did not arrive.
class Conclusions {
 public:
  explicit Conclusions(const std::vector<DiagWait>& waits) {
    for (const DiagWait& wait : waits) {
      recorded_.insert(wait.rank);
      if (wait.source) waiting_for_[*wait.source].insert(wait.rank);
    }
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::set<int> held_up, silent;
    for (int rank = 0; rank < kRanks; ++rank) {
      const bool awaited = waiting_for_.contains(rank), recorded = recorded_.contains(rank);
      if (awaited && recorded) held_up.insert(rank);
      if (awaited && !recorded) lines.push_back(missing(rank));
      if (!awaited && !recorded && !waiting_for_.empty()) silent.insert(rank);
    }
    const bool one_is_missing = !lines.empty();
    if (!held_up.empty()) {
      lines.push_back(fmt::format("{} {} waited for and gave up a wait of {} own{}",
                                  ranks_text(held_up), held_up.size() == 1 ? "is" : "are",
                                  held_up.size() == 1 ? "its" : "their",
                                  one_is_missing ? "" : ": no rank is plainly missing"));
    }
    if (!silent.empty()) {
      const bool one = silent.size() == 1;
      lines.push_back(
          fmt::format("{0} left no record and {1} not named above: all that {2} waited for came, "
                      "or {2} did not "
                      "arrive either (a record names its workgroup's first missing word only)",
                      ranks_text(silent), one ? "is" : "are", one ? "it" : "they"));
    }
    return lines;
  }

 private:
  std::string missing(int rank) const {
    const std::set<int>& waiters = waiting_for_.at(rank);
    if (waiters.size() == kRanks - 1) {
      return fmt::format(
          "rank {} never arrived: all {} other ranks miss its words, and it left no record of a "
          "wait: it did not launch, stopped before its puts, or no store of it gets through",
          rank, kRanks - 1);
    }
    return fmt::format(
        "rank {} left no record of a wait, and {} miss{} words of it: it did not put them, or they "
        "did not get there",
        rank, ranks_text(waiters), waiters.size() == 1 ? "es" : "");
  }

  std::set<int> recorded_;                    ///< ranks that left a record
  std::map<int, std::set<int>> waiting_for_;  ///< source -> ranks that miss its words
};

/// Rows with columns as wide as their widest cell, two spaces apart.
std::string table(const std::vector<std::array<std::string, 6>>& rows) {
  std::array<size_t, 6> widths{};
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? fmt::format("{:>{}}  ", row[i], widths[i])  // the time
                     : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string DiagReport::text() const {
  if (waits.empty()) return "";
  size_t workgroups = 0;
  std::vector<std::array<std::string, 6>> rows;
  std::vector<std::set<int>> ranks;  // of each row: those whose waits read the same
  for (const DiagWait& wait : waits) {
    workgroups += wait.workgroups.size();
    std::string place = wait.place;
    if (wait.places > 1) place += fmt::format(" and {} more", wait.places - 1);
    if (wait.source) place += fmt::format(", from rank {}", *wait.source);
    const std::array<std::string, 6> row = {fmt::format("{:.3f}", wait.first_seconds),
                                            "",
                                            ranges_text(wait.workgroups),
                                            place,
                                            wait.expected,
                                            wait.seen};
    const auto found = std::ranges::find(rows, row);
    const auto index = static_cast<size_t>(found - rows.begin());
    if (found == rows.end()) {
      rows.push_back(row);
      ranks.emplace_back();
    }
    ranks[index].insert(wait.rank);
  }
  for (size_t i = 0; i < rows.size(); ++i) rows[i][1] = numbers_text(ranks[i]);
  rows.insert(rows.begin(),
              {"seconds", "ranks", "workgroups", "first missing word", "expected", "seen"});
  std::string text = fmt::format("{} workgroup{} gave up a wait after {:g} s:\n", workgroups,
                                 workgroups == 1 ? "" : "s", kDiagWaitTicks / kTicks);
  text += table(rows);
  for (const std::string& line : conclusions) text += line + "\n";
  return text;
}

DiagReport diag_report(const Record& record, std::span<const std::vector<DiagRecord>> ranks) {
  const uint32_t start = first_clock(ranks);
  std::map<Alike, Folded> folds;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    for (const DiagRecord& one : ranks[static_cast<size_t>(rank)]) {
      const RecordRegion* region = region_of(record, one.region);
      const int64_t ticks = one.clock - start;
      const Alike alike{rank, one.region, source_of(region, one), one.expected_tag, one.seen_tag};
      const auto [found, added] = folds.try_emplace(alike, Folded{region, {}, {}, ticks, ticks});
      Folded& folded = found->second;
      folded.by_workgroup.emplace(one.workgroup, one);
      folded.places.insert(one.index);
      folded.first = std::min(folded.first, ticks);
      folded.last = std::max(folded.last, ticks);
    }
  }
  DiagReport report;
  for (const auto& [alike, folded] : folds) report.waits.push_back(wait_of(alike, folded));
  // When a wait began says little of what caused it: workgroups begin to wait for what comes last
  // of all at once. By time are those that are as far from a cause, to the millisecond.
  const Causes causes(report.waits);
  std::ranges::sort(report.waits, {}, [&](const DiagWait& wait) {
    return std::tuple(causes.steps_to(wait), std::llround(wait.first_seconds * 1e3), wait.region,
                      wait.source, wait.rank, wait.place, wait.expected_tag, wait.seen_tag);
  });
  report.conclusions = Conclusions(report.waits).lines();
  return report;
}

}  // namespace baton
