// docs/instructions.md: what each chip's instructions are to the emulator.
#pragma once

#include <string>

namespace baton::tests {

/// The whole file.
std::string instruction_table();

}  // namespace baton::tests
