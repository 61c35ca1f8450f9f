#include "runtime/emulator/counters.h"

namespace baton::emulator {

void Tally::add(const Tally& other) {
  for (std::size_t i = 0; i < hits.size(); ++i) hits[i] += other.hits[i];
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    traffic[i].bytes += other.traffic[i].bytes;
    traffic[i].remote_bytes += other.traffic[i].remote_bytes;
    traffic[i].bank_conflicts += other.traffic[i].bank_conflicts;
    traffic[i].parks += other.traffic[i].parks;
  }
  for (std::size_t i = 0; i < stored.size(); ++i) stored[i] += other.stored[i];
}

void Counters::add(const Counters& other) {
  steps += other.steps;
  for (std::size_t i = 0; i < by_class.size(); ++i) by_class[i] += other.by_class[i];
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
