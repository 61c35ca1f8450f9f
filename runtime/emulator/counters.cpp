#include "runtime/emulator/counters.h"

namespace baton::emulator {

void Counters::add(const Counters& other) {
  steps += other.steps;
  for (int direction = 0; direction < 2; ++direction) {
    for (int scope = 0; scope < 3; ++scope)
      bytes[direction][scope] += other.bytes[direction][scope];
    remote_bytes[direction] += other.remote_bytes[direction];
  }
  lds_bytes += other.lds_bytes;
  lds_bank_conflicts += other.lds_bank_conflicts;
  mfmas += other.mfmas;
  barriers += other.barriers;
  sleeps += other.sleeps;
  parks += other.parks;
}

}  // namespace baton::emulator
