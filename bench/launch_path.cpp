// A launch of attn_post from the call of Runner::launch to the device's door: the emulator's, and a
// libamdhip64's. Every argument is set anew, as a server does. `allocations` counts a launch's.
#include "tests/support/launch_path.h"

#include <benchmark/benchmark.h>

#include <chrono>

#include "tests/support/allocation_count.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point at_door;
uint64_t allocated_at_door = 0;
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

BENCHMARK_MAIN();
