#include "runtime/reports/timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "runtime/base/error.h"

namespace baton {
namespace {

/// Stages of one workgroup as they were stamped, by time; the outer one first.
std::vector<StageSpan> stays(std::span<const int64_t> stamps, const StageSpan& of,
                             std::span<const uint32_t> names) {
  std::vector<StageSpan> spans;
  for (size_t i = 0; i < names.size(); ++i) {
    StageSpan span = of;
    span.stage = names[i];
    span.enter = stamps[2 * i];
    span.leave = stamps[2 * i + 1];
    if (span.enter != 0 || span.leave != 0) spans.push_back(span);
  }
  std::ranges::sort(spans, {}, [](const StageSpan& span) {
    return std::tuple(span.enter, -span.leave, span.stage);
  });
  return spans;
}

/// Counts the spans around each.
void nest(const Timeline& timeline, std::span<StageSpan> spans) {
  const auto fail = [&](const StageSpan& span, const std::string& what) {
    throw Error(ErrorKind::failed_check,
                fmt::format("rank {}, workgroup {}: stage {} {}", span.rank, span.workgroup,
                            timeline.stages[span.stage], what));
  };
  std::vector<const StageSpan*> around;
  for (StageSpan& span : spans) {
    if (span.leave < span.enter) {
      fail(span, fmt::format("was left at tick {} and entered at {}", span.leave, span.enter));
    }
    while (!around.empty() && around.back()->leave <= span.enter) around.pop_back();
    if (!around.empty() && around.back()->leave < span.leave) {
      fail(*around.back(), fmt::format("ended inside stage {}", timeline.stages[span.stage]));
    }
    span.depth = static_cast<uint32_t>(around.size());
    around.push_back(&span);
  }
}

}  // namespace

Timeline timeline_of(const Record& record, std::span<const std::vector<int64_t>> stamps,
                     const std::string& clock) {
  Timeline timeline;
  timeline.key = record.key;
  timeline.chip = record.chip;
  timeline.clock = clock;
  timeline.ranks = static_cast<int>(stamps.size());
  timeline.workgroups = record.resources.grid_workgroups;
  std::vector<uint32_t> names;  // of each pair of stamps: a stage may come in pieces
  for (const std::string& stage : record.timeline) {
    const auto found = std::ranges::find(timeline.stages, stage);
    names.push_back(static_cast<uint32_t>(found - timeline.stages.begin()));
    if (found == timeline.stages.end()) timeline.stages.push_back(stage);
  }
  const size_t row = 2 * names.size();
  for (int rank = 0; rank < timeline.ranks; ++rank) {
    const std::vector<int64_t>& all = stamps[static_cast<size_t>(rank)];
    BATON_CHECK(all.size() == row * timeline.workgroups, "a pair of stamps a workgroup and stage");
    for (uint32_t workgroup = 0; workgroup < timeline.workgroups; ++workgroup) {
      std::vector<StageSpan> spans = stays(std::span(all).subspan(workgroup * row, row),
                                           {.rank = rank, .workgroup = workgroup}, names);
      nest(timeline, spans);
      timeline.spans.insert(timeline.spans.end(), spans.begin(), spans.end());
    }
  }
  int64_t start = std::numeric_limits<int64_t>::max();
  for (const StageSpan& span : timeline.spans) start = std::min(start, span.enter);
  for (StageSpan& span : timeline.spans) {
    span.enter -= start;
    span.leave -= start;
    timeline.end = std::max(timeline.end, span.leave);
  }
  return timeline;
}

}  // namespace baton
