// What emulated launches did, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/emulator/report.h"

namespace baton::cli {

/// Instructions by class, bytes by scope, LDS, MFMAs, waits; a line each, and the fidelity line.
/// Bank conflicts must have been counted.
std::string report_text(const emulator::RunReport& report);

/// All of it and, by kernel, each stage's own; "stored_bytes" has a row a device: the bytes that it
/// stored in each device's memory.
nlohmann::ordered_json report_json(const emulator::RunReport& report);

}  // namespace baton::cli
