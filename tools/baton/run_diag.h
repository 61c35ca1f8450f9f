// What the waits of a diagnostics build that gave up left behind in a run.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/collective.h"
#include "runtime/reports/diag_report.h"

namespace baton::cli {

/// Of the last step; without waits for a build whose waits are not bounded.
DiagReport read_diag_report(Collective& collective);

/// The waits, their workgroups as [first, last] pairs, and the conclusions.
nlohmann::ordered_json diag_json(const DiagReport& report);

}  // namespace baton::cli
