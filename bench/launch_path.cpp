// A launch of attn_post from setting every argument anew, as a server does, to the device's door:
// Baton's own part, without the library's (hipSetDevice, the driver), as the libamdhip64 is a
// stand-in. On the way to the emulator the door is a wrapper before it: its own part is not in
// the number either. `allocations` counts a launch's; the aim is none, and any exits with 1.
#include "tests/support/launch_path.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>

#include "tests/support/allocation_count.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point at_door;
uint64_t allocated_at_door = 0;
uint64_t allocated = 0;  ///< by all launches that were measured
void note() {
  at_door = Clock::now();
  allocated_at_door = tests::allocations();
}

void measure(benchmark::State& state, Device& device) {
  tests::LaunchPath path(device, tests::launched_object());
  path.step_begin();
  path.launch();
  uint64_t allocations = 0, step = 1;
  for (auto _ : state) {
    const uint64_t before = tests::allocations();
    const auto start = Clock::now();
    path.set_all(++step);
    path.launch();
    state.SetIterationTime(std::chrono::duration<double>(at_door - start).count());
    allocations += allocated_at_door - before;
  }
  allocated += allocations;
  state.SetLabel("aim: 5 us, 0 allocations");
  state.counters["allocations"] =
      benchmark::Counter(static_cast<double>(allocations), benchmark::Counter::kAvgIterations);
}

// Launches stay in their stream: a bounded number of them.
constexpr int kLaunches = 5000;

void into_the_emulator(benchmark::State& state) {
  tests::EmulatorDoor door(note);
  measure(state, door.device);
}
BENCHMARK(into_the_emulator)->UseManualTime()->Iterations(kLaunches);

void into_libamdhip64(benchmark::State& state) {
  tests::HipDoor door(BATON_HIP_STANDIN, note);
  measure(state, door.platform->device(0));
}
BENCHMARK(into_libamdhip64)->UseManualTime()->Iterations(kLaunches);

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (baton::allocated == 0) return 0;
  std::fprintf(stderr, "launches took memory %llu times: the aim is none\n",
               static_cast<unsigned long long>(baton::allocated));
  return 1;
}
