#include "tools/baton/run_diag.h"

#include "runtime/reports/number_ranges.h"

namespace baton::cli {

using nlohmann::ordered_json;

DiagReport read_diag_report(Collective& collective) {
  std::vector<std::vector<DiagRecord>> ranks;
  for (const int rank : collective.ranks()) {
    ranks.push_back(collective.rank(rank).read_diag());
  }
  return diag_report(collective.record(), ranks);
}

ordered_json diag_json(const DiagReport& report) {
  auto waits = ordered_json::array();
  for (const DiagWait& wait : report.waits) {
    waits.push_back({{"rank", wait.rank},
                     {"workgroups", number_ranges(wait.workgroups)},
                     {"region", wait.region},
                     {"place", wait.place},
                     {"places", wait.places},
                     {"source", wait.source ? ordered_json(*wait.source) : ordered_json()},
                     {"expected_tag", wait.expected_tag},
                     {"expected", wait.expected},
                     {"seen_word", wait.seen_tag},
                     {"seen", wait.seen},
                     {"first_seconds", wait.first_seconds},
                     {"last_seconds", wait.last_seconds}});
  }
  return {{"waits", waits}, {"conclusions", report.conclusions}};
}

}  // namespace baton::cli
