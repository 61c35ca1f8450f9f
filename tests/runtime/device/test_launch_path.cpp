// A launch takes no memory on its way to the device.
#include <catch2/catch.hpp>

#include "tests/support/allocation_count.h"
#include "tests/support/launch_path.h"

namespace baton::tests {
namespace {

uint64_t at_door = 0;
int reached = 0;
void note() {
  at_door = allocations();
  ++reached;
}

/// Allocations from the call of `work` to the device's door.
template <typename Work>
uint64_t allocations_of(Work work) {
  const int before = reached;
  const uint64_t start = allocations();
  work();
  REQUIRE(reached == before + 1);
  return at_door - start;
}

void check_launches(Device& device) {
  LaunchPath path(device, launched_object());
  for (uint64_t step = 1; step <= 3; ++step) {
    CAPTURE(step);
    CHECK(allocations_of([&] { path.step_begin(); }) == 0);
    CHECK(allocations_of([&] {
            path.set_all(step << 33);
            path.launch();
          }) == 0);
  }
}

TEST_CASE("allocations are counted") {
  const uint64_t before = allocations();
  const auto one = std::make_unique<uint64_t>(before);
  CHECK(allocations() == *one + 1);
}

TEST_CASE("a launch takes no memory on its way to the emulator") {
  EmulatorDoor door(note);
  check_launches(door.device);
}

TEST_CASE("a launch takes no memory on its way into libamdhip64") {
  HipDoor door(BATON_HIP_STANDIN, note);
  check_launches(door.platform->device(0));
}

}  // namespace
}  // namespace baton::tests
