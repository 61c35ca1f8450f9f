#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/object/handoff_protocol.h"
#include "runtime/reports/timeline.h"

namespace baton {
namespace {

// In pixels of a picture that is as wide as a page.
constexpr double kWidth = 1400, kLeft = 84, kRight = 24, kPlot = kWidth - kLeft - kRight;
constexpr double kBandHeight = 160, kTallestRow = 8, kLowestBand = 44, kGap = 14;
constexpr double kTitleSize = 19, kTextSize = 13, kSmallSize = 11;
/// Of an average character, as a part of the font's size: for boxes that hold text.
constexpr double kCharWidth = 0.62;
/// Spans narrower than this would not be seen.
constexpr double kThinnest = 1.2;

/// Told apart by people who do not see every colour, and in grey.
constexpr std::array kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
                                 "#d55e00", "#8c6bb1", "#b5bd00", "#7f4f24", "#5f6b73"};

std::string colour(size_t stage) {
  if (stage < kColours.size()) return kColours[stage];
  constexpr size_t kGoldenAngle = 137, kCircle = 360;
  return fmt::format("hsl({},60%,40%)", stage * kGoldenAngle % kCircle);
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// A unit in which `ticks` of 10 ns is a number of one to three digits, and its ticks.
std::pair<const char*, double> unit_for(double ticks) {
  constexpr std::array<std::pair<const char*, double>, 3> kLarger = {
      {{"s", kTicksPerSecond}, {"ms", kTicksPerSecond / 1e3}, {"µs", kTicksPerSecond / 1e6}}};
  for (const auto& unit : kLarger) {
    if (ticks >= unit.second) return unit;
  }
  return {"ns", 0.1};
}

std::string duration(int64_t ticks) {
  const auto [unit, size] = unit_for(static_cast<double>(ticks));
  return fmt::format("{:.3g} {}", static_cast<double>(ticks) / size, unit);
}

/// 1, 2 or 5 times a power of ten: at most 12 of them make `length`.
double axis_step(double length) {
  double step = 1e-3;
  for (int i = 0; step * 12 < length; ++i) step *= i % 3 == 1 ? 2.5 : 2;
  return step;
}

class Picture {
 public:
  explicit Picture(const Timeline& timeline)
      : timeline_(timeline),
        row_(std::min(kTallestRow, kBandHeight / std::max(1u, timeline.workgroups))),
        band_(std::max(kLowestBand, row_ * timeline.workgroups)),
        ticks_(static_cast<double>(std::max<int64_t>(1, timeline.end))) {}

  std::string draw() {
    head();
    const double top = y_ + kSmallSize + 8;
    const double bottom = top + timeline_.ranks * (band_ + kGap) - kGap;
    std::vector<double> tops;
    for (int rank = 0; rank < timeline_.ranks; ++rank) tops.push_back(top + rank * (band_ + kGap));
    for (size_t rank = 0; rank < tops.size(); ++rank) frame(static_cast<int>(rank), tops[rank]);
    axis(top, bottom);
    spans(tops);
    const double height = bottom + 52;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
               "viewBox=\"0 0 {0:g} {1:g}\" font-family=\"DejaVu Sans, Helvetica, Arial, "
               "sans-serif\">\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#fff\"/>\n",
               kWidth, height) +
           body_ + "</svg>\n";
  }

 private:
  struct Style {
    double size = kTextSize;
    const char* anchor = "start";
    const char* fill = "#222";
    const char* weight = "normal";
  };

  void text(double x, double y, std::string_view what, const Style& style) {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" "
        "font-weight=\"{}\">{}</text>\n",
        x, y, style.size, style.anchor, style.fill, style.weight, escaped(what));
  }

  /// Title, clock, legend; leaves y_ below them. Long text shrinks to the picture's width.
  void head() {
    const auto fitting = [](const std::string& line, double size) {
      return std::min(size,
                      (kWidth - 2 * kRight) / (kCharWidth * static_cast<double>(line.size())));
    };
    const std::string& key = timeline_.key;
    text(kRight, 34, key, {fitting(key, kTitleSize), "start", "#000", "bold"});
    const auto ending = [](auto count) { return count == 1 ? "" : "s"; };
    const std::string what =
        fmt::format("{} rank{} of {}, {} workgroup{} each, a row a workgroup. Time: {}.",
                    timeline_.ranks, ending(timeline_.ranks), timeline_.chip, timeline_.workgroups,
                    ending(timeline_.workgroups), timeline_.clock);
    text(kRight, 56, what, {fitting(what, kTextSize), "start", "#444"});
    y_ = 84;
    legend();
  }

  /// A stage's entry says how long it takes its workgroups: the median and the longest. One that
  /// left in the tick in which it came had nothing to do there.
  std::string entry(uint32_t stage) const {
    std::map<std::pair<int, uint32_t>, int64_t> stays;
    for (const StageSpan& span : timeline_.spans) {
      if (span.stage == stage) stays[{span.rank, span.workgroup}] += span.leave - span.enter;
    }
    if (stays.empty()) return timeline_.stages[stage] + " (not run)";
    std::vector<int64_t> sorted;
    for (const auto& [where, ticks] : stays) {
      if (ticks > 0) sorted.push_back(ticks);
    }
    if (sorted.empty()) sorted.push_back(0);
    std::ranges::sort(sorted);
    return fmt::format("{}: median {}, longest {}", timeline_.stages[stage],
                       duration(sorted[sorted.size() / 2]), duration(sorted.back()));
  }

  void legend() {
    double x = kRight;
    for (uint32_t stage = 0; stage < timeline_.stages.size(); ++stage) {
      const std::string label = entry(stage);
      const double width = 22 + kCharWidth * kTextSize * static_cast<double>(label.size()) + 18;
      if (x > kRight && x + width > kWidth - kRight) {
        x = kRight;
        y_ += 22;
      }
      body_ +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"{}\"/>\n",
                      x, y_ - 12, colour(stage));
      text(x + 20, y_, label, {});
      x += width;
    }
    y_ += 14;
  }

  /// A band's ground, its rank, and the numbers of its first and last workgroup.
  void frame(int rank, double top) {
    body_ += fmt::format(
        "<rect x=\"{:g}\" y=\"{:.1f}\" width=\"{:g}\" height=\"{:.1f}\" fill=\"#f1f1f1\"/>\n",
        kLeft, top, kPlot, band_);
    const bool stamped = std::ranges::any_of(
        timeline_.spans, [&](const StageSpan& span) { return span.rank == rank; });
    const double middle = top + band_ / 2 + kTextSize / 3;
    text(kRight, middle, fmt::format("rank {}", rank), {kTextSize, "start", "#000", "bold"});
    if (!stamped) text(kLeft + 10, middle, "no stamps: did not run", {});
    const Style small{kSmallSize, "end", "#666"};
    text(kLeft - 5, top + kSmallSize - 2, "0", small);
    if (timeline_.workgroups < 2) return;
    text(kLeft - 5, top + band_ - 1, fmt::format("{}", timeline_.workgroups - 1), small);
  }

  double x_of(double ticks) const { return kLeft + kPlot * ticks / ticks_; }

  void axis(double top, double bottom) {
    const auto [unit, size] = unit_for(ticks_);
    const double step = axis_step(ticks_ / size);
    for (int i = 0; i * step <= ticks_ / size; ++i) {
      const double x = x_of(i * step * size);
      body_ += fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"#c8c8c8\" stroke-width=\"1\"/>\n", x,
          top - 4, bottom + 5);
      const std::string label = fmt::format("{:g}", i * step);
      for (double y : {top - 8, bottom + 5 + kSmallSize + 3}) {
        text(x, y, label, {kSmallSize, "middle", "#444"});
      }
    }
    text(kLeft + kPlot / 2, bottom + 42,
         fmt::format("time since the first stamp, {} ({})", unit, timeline_.clock),
         {kTextSize, "middle"});
  }

  /// One path a rank, depth and stage: a row's spans are thick lines. Rows overlap a little, so
  /// that no ground shines through between them.
  void spans(const std::vector<double>& tops) {
    std::map<std::array<uint32_t, 3>, std::string> paths;  // inner ones are drawn over outer ones
    for (const StageSpan& span : timeline_.spans) {
      const double y = tops[static_cast<size_t>(span.rank)] + (span.workgroup + 0.5) * row_;
      const double x = x_of(static_cast<double>(span.enter));
      const double width = std::max(kThinnest, x_of(static_cast<double>(span.leave)) - x);
      paths[{static_cast<uint32_t>(span.rank), span.depth, span.stage}] +=
          fmt::format("M{:.2f} {:.2f}h{:.2f}", x, y, width);
    }
    constexpr double kOverlap = 1.25, kWithSeams = 3;
    const double stroke = row_ < kWithSeams ? row_ * kOverlap : row_ - 1;
    for (const auto& [where, path] : paths) {
      body_ += fmt::format("<path d=\"{}\" stroke=\"{}\" stroke-width=\"{:.3f}\"/>\n", path,
                           colour(where[2]), stroke);
    }
  }

  const Timeline& timeline_;
  const double row_, band_;
  const double ticks_;  ///< across the plot
  double y_ = 0;
  std::string body_;
};

}  // namespace

std::string timeline_picture(const Timeline& timeline) { return Picture(timeline).draw(); }

}  // namespace baton
