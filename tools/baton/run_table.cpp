#include "tools/baton/run_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace baton::cli {
namespace {

using builds::CheckRow;

std::string distance(uint32_t ulps) { return ulps == UINT32_MAX ? "NaN" : fmt::format("{}", ulps); }

std::string table_of(std::span<const CheckRow> rows) {
  std::string text =
      fmt::format("{:>4}  {:<22} {:<12} {:>9} {:>9} {:>8}  {:>11}  {}\n", "rank", "tensor", "rule",
                  "elements", "differing", "ulps", "relative L2", "verdict");
  for (const CheckRow& row : rows) {
    const auto& c = row.comparison;
    text += fmt::format("{:>4}  {:<22} {:<12} {:>9} {:>9} {:>8}  {:>11.3g}  {}\n", row.rank,
                        row.tensor, row.rule, c.elements, c.differing, distance(c.largest_ulps),
                        c.relative_l2, c.passed ? "right" : "WRONG");
  }
  return text;
}

}  // namespace

std::string comparisons_text(std::span<const CheckRow> rows, double seconds) {
  std::vector<CheckRow> wrong;
  std::ranges::copy_if(rows, std::back_inserter(wrong),
                       [](const CheckRow& row) { return !row.comparison.passed; });
  std::string text = table_of(rows);
  text += fmt::format("{} of {} comparisons right, {:.2f} s with the comparison\n",
                      rows.size() - wrong.size(), rows.size(), seconds);
  if (!wrong.empty()) text += "the wrong ones:\n" + table_of(wrong);
  return text;
}

nlohmann::ordered_json comparisons_json(std::span<const CheckRow> rows) {
  auto list = nlohmann::ordered_json::array();
  for (const CheckRow& row : rows) {
    const auto& c = row.comparison;
    list.push_back({{"rank", row.rank},
                    {"tensor", row.tensor},
                    {"rule", row.rule},
                    {"elements", c.elements},
                    {"differing", c.differing},
                    {"largest_ulps", c.largest_ulps},
                    {"relative_l2", c.relative_l2},
                    {"right", c.passed}});
  }
  return list;
}

}  // namespace baton::cli
