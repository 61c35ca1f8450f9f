#include "runtime/emulator/memory_access.h"

#include "runtime/emulator/dispatch.h"
#include "runtime/emulator/fault.h"
#include "runtime/emulator/memory.h"

namespace baton::emulator {
namespace {

bool live(const Allocation* a, uint64_t address, uint64_t size) {
  return a && a->holds(address, size) && !a->freed.load(std::memory_order_relaxed);
}

}  // namespace

uint8_t* resolve(Wave& w, uint64_t address, uint64_t size, int lane, bool store) {
  if (!live(w.last_allocation, address, size)) {
    const Allocation* a = w.memory->find(address);
    if (!live(a, address, size)) {
      fault_memory(w, store ? "store of" : "load of", address, size, lane);
    }
    if (!((w.dispatch->reachable >> a->device) & 1)) {
      fault_unreachable(w, store ? "store to" : "load of", address, a->device, lane);
    }
    w.last_allocation = a;
  }
  return w.last_allocation->host + (address - w.last_allocation->base);
}

void note_load(Wave& w, uint64_t address, uint64_t size) {
  SpinWatch& spin = w.spin;
  spin.last_address = address;
  spin.last_load_pc = w.pc - 1;
  if (!spin.active || !spin.pure) return;
  const uint64_t last = (address + size - 1) >> WatchTable::kLineShift;
  for (uint64_t line = address >> WatchTable::kLineShift; line <= last; ++line) {
    const uint32_t bucket = WatchTable::bucket(line << WatchTable::kLineShift);
    if (!spin.watch.empty() && spin.watch.back().bucket == bucket) continue;
    if (spin.watch.size() == SpinWatch::kMaxWatches) {
      spin.pure = false;
      return;
    }
    spin.watch.push_back({bucket, w.memory->watch().version(bucket)});
  }
}

void note_store(Wave& w, uint64_t address, uint64_t size) {
  w.spin.pure = false;
  w.memory->watch().written(address, size, w.worker->woken);
}

void end_memory(Wave& w) {
  if (w.memory_budget >= 0 && w.memory_budget-- == 0 && w.stop == Stop::none) w.stop = Stop::slice;
}

void count_bytes(Wave& w, bool store, uint64_t bytes) {
  Tally& tally = *w.worker->tally;
  Traffic& traffic = tally.traffic[w.pc - 1];
  traffic.bytes += bytes;
  const int device = w.last_allocation->device;
  if (device != w.dispatch->device) traffic.remote_bytes += bytes;
  if (store) tally.stored[static_cast<size_t>(device)] += bytes;
}

void count_lanes(Wave& w, bool store, const uint64_t* addresses, uint64_t active, uint32_t bytes) {
  for (; active != 0; active &= active - 1) {
    const int lane = __builtin_ctzll(active);
    resolve(w, addresses[lane], bytes, lane, store);
    count_bytes(w, store, bytes);
  }
}

}  // namespace baton::emulator
