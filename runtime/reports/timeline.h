// When each workgroup of each rank was in which stage: the stamps of a timeline build, and the
// files that show them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/object/record.h"

namespace baton {

/// One stay of a workgroup in a stage, in ticks of 10 ns since the earliest stamp of all.
struct StageSpan {
  int rank = 0;
  uint32_t workgroup = 0;
  uint32_t stage = 0;  ///< index into Timeline::stages
  uint32_t depth = 0;  ///< spans of the same workgroup around this one
  int64_t enter = 0, leave = 0;

  bool operator==(const StageSpan&) const = default;
};

struct Timeline {
  std::string key, chip;
  std::string clock;  ///< whose time it is: "emulated clock"
  int ranks = 0;
  uint32_t workgroups = 0;          ///< of each rank
  std::vector<std::string> stages;  ///< each name once
  std::vector<StageSpan> spans;     ///< by rank, workgroup and time, an outer one before its inner
  int64_t end = 0;                  ///< the latest stamp
};

/// `stamps` holds those of each rank, as Runner::read_timeline() gives them; a rank that did not
/// run has zeros only. Throws Error (failed_check) that names a stage left before it was entered,
/// or two that overlap and neither is inside the other.
Timeline timeline_of(const Record& record, std::span<const std::vector<int64_t>> stamps,
                     const std::string& clock);

/// JSON that Perfetto and chrome://tracing read: a process a rank, a track a workgroup, a complete
/// event a span, in microseconds.
std::string timeline_trace(const Timeline& timeline);

/// An SVG picture: a band a rank, a thin row a workgroup, a colour a stage.
std::string timeline_picture(const Timeline& timeline);

}  // namespace baton
