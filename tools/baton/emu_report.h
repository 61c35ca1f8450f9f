// What an emulated launch did, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/emulator/report.h"

namespace baton::cli {

/// Instructions by class, bytes by scope, LDS, MFMAs, waits; a line each, and the fidelity line.
std::string counters_text(const emulator::RunReport& report);
nlohmann::ordered_json counters_json(const emulator::RunReport& report);

}  // namespace baton::cli
