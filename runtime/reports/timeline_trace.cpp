#include <nlohmann/json.hpp>

#include "runtime/object/handoff_protocol.h"
#include "runtime/reports/timeline.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

/// What the viewer calls a process or a track.
Json named(const char* what, int rank, uint32_t workgroup, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", workgroup}, {"args", {{"name", name}}}};
}

double microseconds(int64_t ticks) { return static_cast<double>(ticks) / (kTicksPerSecond / 1e6); }

}  // namespace

std::string timeline_trace(const Timeline& timeline) {
  Json events = Json::array();
  for (int rank = 0; rank < timeline.ranks; ++rank) {
    events.push_back(named("process_name", rank, 0, "rank " + std::to_string(rank)));
    for (uint32_t workgroup = 0; workgroup < timeline.workgroups; ++workgroup) {
      events.push_back(
          named("thread_name", rank, workgroup, "workgroup " + std::to_string(workgroup)));
    }
  }
  for (const StageSpan& span : timeline.spans) {
    events.push_back({{"ph", "X"},
                      {"name", timeline.stages[span.stage]},
                      {"pid", span.rank},
                      {"tid", span.workgroup},
                      {"ts", microseconds(span.enter)},
                      {"dur", microseconds(span.leave - span.enter)}});
  }
  // An event a line: a text that tools for text can work on.
  std::string text = "{\"displayTimeUnit\": \"ns\",\n\"otherData\": ";
  text += Json{{"key", timeline.key}, {"chip", timeline.chip}, {"clock", timeline.clock}}.dump();
  text += ",\n\"traceEvents\": [\n";
  for (size_t i = 0; i < events.size(); ++i) {
    text += events[i].dump() + (i + 1 < events.size() ? ",\n" : "\n");
  }
  return text + "]}\n";
}

}  // namespace baton
