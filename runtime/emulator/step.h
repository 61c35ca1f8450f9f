// The innermost loop: a wave's instructions, one after the other.
#pragma once

#include "runtime/emulator/wave.h"

namespace baton::emulator {

class Program;

/// Runs until the wave stops; returns the instructions executed. Throws Fault.
uint64_t run_slice(Wave& wave, const Program& program);

}  // namespace baton::emulator
