// What an LDS instruction touches, by its mnemonic.
#pragma once

#include <cstdint>

#include "runtime/emulator/instruction.h"

namespace baton::emulator {

struct LdsShape {
  int bytes = 0;            ///< a lane at each place; 0: it does not touch LDS
  int places = 1;           ///< 2: the forms with two offsets
  bool load = false;        ///< it only reads
  bool store = false;       ///< it only writes; neither: an atomic
  bool addressed = false;   ///< src[0] holds byte addresses; else M0 does
  uint32_t offset[2] = {};  ///< bytes, added to the address
};

LdsShape lds_shape(const Instruction& in);

}  // namespace baton::emulator
