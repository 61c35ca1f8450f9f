// The innermost loop: a wave's instructions, one after the other.
#pragma once

#include "runtime/emulator/wave.h"

namespace baton::emulator {

class Program;

/// Runs until the wave stops; counts in the wave's worker. Throws Fault.
void run_slice(Wave& wave, const Program& program);

}  // namespace baton::emulator
