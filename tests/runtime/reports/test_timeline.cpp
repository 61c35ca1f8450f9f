#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/reports/timeline.h"
#include "tests/runtime/reports/sample_launch.h"

using namespace baton;
using baton::tests::sample_launch;
using nlohmann::json;

namespace {

using Stamps = std::vector<std::vector<int64_t>>;

/// Four workgroups; the manifest has `slice` in two pieces, and `wait` stands inside `o`.
Record stamped_launch() {
  Record record = sample_launch();
  record.timeline = {"wait", "o", "slice", "slice"};
  return record;
}

/// Rank 0: workgroup 0 runs o with wait inside it, workgroup 1 both pieces of slice, 2 nothing, 3 a
/// stage of no length. Rank 1 did not run.
Stamps sample_stamps() {
  return {{1120, 1150, 1100, 1200, 0,    0,    0,    0,     //
           0,    0,    0,    0,    1010, 1040, 1040, 1345,  //
           0,    0,    0,    0,    0,    0,    0,    0,     //
           0,    0,    1000, 1000, 0,    0,    0,    0},    //
          std::vector<int64_t>(32)};
}

Timeline sample() { return timeline_of(stamped_launch(), sample_stamps(), "a test's clock"); }

void refuse(std::vector<int64_t> first, const std::string& message) {
  Stamps stamps = sample_stamps();
  std::copy(first.begin(), first.end(), stamps[0].begin());
  CHECK_THROWS_MATCHES(timeline_of(stamped_launch(), stamps, ""), Error,
                       Catch::Matchers::Message(message));
}

}  // namespace

TEST_CASE("stamps become spans since the first of all") {
  const Timeline timeline = sample();
  CHECK(timeline.stages == std::vector<std::string>{"wait", "o", "slice"});
  CHECK(timeline.ranks == 2);
  CHECK(timeline.workgroups == 4);
  CHECK(timeline.end == 345);
  CHECK(timeline.spans == std::vector<StageSpan>{{0, 0, 1, 0, 100, 200},
                                                 {0, 0, 0, 1, 120, 150},
                                                 {0, 1, 2, 0, 10, 40},
                                                 {0, 1, 2, 0, 40, 345},
                                                 {0, 3, 1, 0, 0, 0}});
}

TEST_CASE("no stamps at all") {
  const Stamps none(8, std::vector<int64_t>(32));
  const Timeline timeline = timeline_of(stamped_launch(), none, "");
  CHECK(timeline.spans.empty());
  CHECK(timeline.end == 0);
  CHECK(json::parse(timeline_trace(timeline)).at("traceEvents").size() == 8 * (1 + 4));
}

TEST_CASE("stamps that no launch leaves") {
  refuse({0, 0, 1200, 1100},
         "rank 0, workgroup 0: stage o was left at tick 1100 and entered at "
         "1200");
  refuse({0, 0, 1200, 0}, "rank 0, workgroup 0: stage o was left at tick 0 and entered at 1200");
  refuse({1150, 1250, 1100, 1200}, "rank 0, workgroup 0: stage o ended inside stage wait");
}

TEST_CASE("a trace: names, a complete event a span, microseconds") {
  const json document = json::parse(timeline_trace(sample()));
  CHECK(document.at("otherData") ==
        json{{"key", "attn_post:tokens=2"}, {"chip", "gfx950"}, {"clock", "a test's clock"}});
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> tracks;
  std::vector<json> complete;
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == "X") {
      complete.push_back(event);
    } else if (event.at("name") == "process_name") {
      processes[event.at("pid")] = event.at("args").at("name");
    } else {
      CHECK(event.at("name") == "thread_name");
      tracks[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
    }
  }
  CHECK(processes == std::map<int, std::string>{{0, "rank 0"}, {1, "rank 1"}});
  CHECK(tracks.size() == 2 * 4);
  CHECK(tracks.at({1, 3}) == "workgroup 3");
  CHECK(complete ==
        std::vector<json>{
            {{"ph", "X"}, {"name", "o"}, {"pid", 0}, {"tid", 0}, {"ts", 1.0}, {"dur", 1.0}},
            {{"ph", "X"}, {"name", "wait"}, {"pid", 0}, {"tid", 0}, {"ts", 1.2}, {"dur", 0.3}},
            {{"ph", "X"}, {"name", "slice"}, {"pid", 0}, {"tid", 1}, {"ts", 0.1}, {"dur", 0.3}},
            {{"ph", "X"}, {"name", "slice"}, {"pid", 0}, {"tid", 1}, {"ts", 0.4}, {"dur", 3.05}},
            {{"ph", "X"}, {"name", "o"}, {"pid", 0}, {"tid", 3}, {"ts", 0.0}, {"dur", 0.0}},
        });
}
