#include <catch2/catch.hpp>
#include <cmath>
#include <regex>
#include <set>

#include "runtime/reports/timeline.h"

using namespace baton;

namespace {

struct Text {
  double x, y, size;
  std::string anchor, content;

  /// A character is at most about 0.62 of the font's size wide, on average.
  double width() const { return 0.62 * size * static_cast<double>(content.size()); }
  double left() const {
    return anchor == "start" ? x : anchor == "end" ? x - width() : x - width() / 2;
  }
  bool overlaps(const Text& other) const {
    const bool apart = left() + width() <= other.left() || other.left() + other.width() <= left();
    const bool above = y <= other.y - 0.8 * other.size || other.y <= y - 0.8 * size;
    return !apart && !above;
  }
};

std::vector<std::smatch> matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  return {std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()};
}

std::vector<Text> texts_of(const std::string& svg) {
  std::vector<Text> texts;
  for (const auto& m : matches(svg,
                               "<text x=\"([^\"]*)\" y=\"([^\"]*)\" font-size=\"([^\"]*)\" "
                               "text-anchor=\"([a-z]*)\"[^>]*>([^<]*)</text>")) {
    texts.push_back({std::stod(m[1]), std::stod(m[2]), std::stod(m[3]), m[4], m[5]});
  }
  return texts;
}

std::set<std::string> contents(const std::string& svg) {
  std::set<std::string> all;
  for (const Text& text : texts_of(svg)) all.insert(text.content);
  return all;
}

/// Every workgroup of every rank runs all stages, one after the other, 100 ticks each.
Timeline full(int ranks, uint32_t workgroups, uint32_t stages) {
  Timeline timeline;
  timeline.key = "kernel:field=1";
  timeline.chip = "gfx950";
  timeline.clock = "emulated clock";
  timeline.ranks = ranks;
  timeline.workgroups = workgroups;
  for (uint32_t stage = 0; stage < stages; ++stage) {
    timeline.stages.push_back("stage_" + std::to_string(stage));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    for (uint32_t workgroup = 0; workgroup < workgroups; ++workgroup) {
      for (uint32_t stage = 0; stage < stages; ++stage) {
        timeline.spans.push_back({rank, workgroup, stage, 0, stage * 100, stage * 100 + 100});
      }
    }
  }
  timeline.end = int64_t{stages} * 100;
  return timeline;
}

void require_readable(const std::string& svg) {
  const auto size = matches(svg, "^<svg [^>]*width=\"([0-9.]+)\" height=\"([0-9.]+)\"");
  REQUIRE(size.size() == 1);
  const double width = std::stod(size[0][1]), height = std::stod(size[0][2]);
  const std::vector<Text> texts = texts_of(svg);
  for (size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i].content);
    CHECK(texts[i].left() >= 0);
    CHECK(texts[i].left() + texts[i].width() <= width);
    CHECK(texts[i].y <= height);
    for (size_t j = 0; j < i; ++j) {
      INFO(texts[j].content);
      CHECK_FALSE(texts[i].overlaps(texts[j]));
    }
  }
}

}  // namespace

TEST_CASE("nothing overlaps or leaves the picture, few and many ranks, workgroups, stages") {
  const auto [ranks, workgroups, stages] =
      GENERATE(table<int, uint32_t, uint32_t>({{8, 256, 6}, {8, 304, 24}, {1, 1, 1}, {2, 4, 12}}));
  Timeline timeline = full(ranks, workgroups, stages);
  require_readable(timeline_picture(timeline));
  timeline.key = std::string(200, 'k');
  require_readable(timeline_picture(timeline));
}

TEST_CASE("title, clock, ranks, legend") {
  Timeline timeline = full(2, 4, 2);
  timeline.key = "a<b&c";
  timeline.stages.push_back("rearm");
  const auto all = contents(timeline_picture(timeline));
  for (const char* text :
       {"a&lt;b&amp;c", "rank 0", "rank 1", "0", "3", "stage_0: median 1 µs, longest 1 µs",
        "rearm (not run)", "time since the first stamp, µs (emulated clock)",
        "2 ranks of gfx950, 4 workgroups each, a row a workgroup. Time: emulated clock."}) {
    INFO(text);
    CHECK(all.contains(text));
  }
  CHECK(contents(timeline_picture(full(1, 1, 1)))
            .contains("1 rank of gfx950, 1 workgroup each, a row a workgroup. Time: emulated "
                      "clock."));
}

TEST_CASE("a stage in pieces counts once a workgroup") {
  Timeline timeline = full(1, 3, 1);  // a stay of 100 ticks each, then a second one
  timeline.spans.push_back({0, 1, 0, 0, 100, 500});
  timeline.spans.push_back({0, 2, 0, 0, 100, 20100});
  timeline.end = 20100;
  CHECK(contents(timeline_picture(timeline)).contains("stage_0: median 5 µs, longest 201 µs"));
}

TEST_CASE("workgroups that only pass through a stage have no part in its median") {
  Timeline timeline = full(1, 7, 1);  // 100 ticks each
  for (size_t i = 0; i < 5; ++i) timeline.spans[i].leave = timeline.spans[i].enter;
  CHECK(contents(timeline_picture(timeline)).contains("stage_0: median 1 µs, longest 1 µs"));
  for (StageSpan& span : timeline.spans) span.leave = span.enter;
  CHECK(contents(timeline_picture(timeline)).contains("stage_0: median 0 ns, longest 0 ns"));
}

TEST_CASE("the axis has its unit and round steps") {
  const auto axis = [](int64_t end) {
    Timeline timeline = full(1, 1, 1);
    timeline.spans = {{0, 0, 0, 0, 0, end}};
    timeline.end = end;
    return contents(timeline_picture(timeline));
  };
  CHECK(axis(50).contains("time since the first stamp, ns (emulated clock)"));
  CHECK(axis(50).contains("50"));
  CHECK(axis(20000).contains("20"));  // 200 us in steps of 20
  CHECK(axis(20000).contains("200"));
  CHECK(axis(1'000'000'000).contains("time since the first stamp, s (emulated clock)"));
  CHECK(axis(1'000'000'000).contains("10"));
}

TEST_CASE("spans stand where their time is, inner ones over outer ones") {
  Timeline timeline = full(1, 2, 2);
  timeline.spans = {{0, 0, 0, 0, 0, 1000}, {0, 0, 1, 1, 250, 500}, {0, 1, 1, 0, 750, 1000}};
  timeline.end = 1000;
  const std::string svg = timeline_picture(timeline);
  const auto ground = matches(svg, "<rect x=\"([0-9.]+)\"[^>]* width=\"([0-9.]+)\"[^>]*#f1f1f1");
  REQUIRE(ground.size() == 1);
  const double left = std::stod(ground[0][1]), plot = std::stod(ground[0][2]);
  const auto paths = matches(svg, "<path d=\"M([0-9.]+) ([0-9.]+)h([0-9.]+)\" stroke=\"([^\"]+)\"");
  REQUIRE(paths.size() == 3);
  const auto check = [&](size_t path, double enter, double leave) {
    CHECK(std::stod(paths[path][1]) == Approx(left + plot * enter).margin(0.01));
    CHECK(std::stod(paths[path][3]) == Approx(plot * (leave - enter)).margin(0.02));
  };
  // By depth: both outer ones, then the inner one.
  check(0, 0, 1);
  check(1, 0.75, 1);
  check(2, 0.25, 0.5);
  CHECK(paths[0][4] != paths[1][4]);
  CHECK(paths[1][4] == paths[2][4]);
  CHECK(std::stod(paths[0][2]) == std::stod(paths[2][2]));  // the same row
  CHECK(std::stod(paths[0][2]) < std::stod(paths[1][2]));
}

TEST_CASE("a rank that did not run says so") {
  Timeline timeline = full(2, 4, 1);
  std::erase_if(timeline.spans, [](const StageSpan& span) { return span.rank == 1; });
  const std::string svg = timeline_picture(timeline);
  CHECK(contents(svg).contains("no stamps: did not run"));
  CHECK(matches(svg, "did not run").size() == 1);
}

TEST_CASE("stages have colours of their own") {
  const std::string svg = timeline_picture(full(1, 1, 24));
  std::set<std::string> colours;
  for (const auto& m : matches(svg, "width=\"14\" height=\"14\" fill=\"([^\"]+)\"")) {
    colours.insert(m[1]);
  }
  CHECK(colours.size() == 24);
}
