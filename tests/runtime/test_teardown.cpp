// In which order ranks go when nobody has waited for their launches.
#include <catch2/catch.hpp>

#include "runtime/collective.h"
#include "runtime/emulator/emulator.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/runtime/watched_device.h"
#include "tests/support/expect_error.h"

namespace baton::tests {
namespace {

using Log = std::vector<std::string>;

/// Tells when it is unloaded.
class LoggedModule : public Module {
 public:
  LoggedModule(std::unique_ptr<Module> module, Log& log) : module_(std::move(module)), log_(log) {}
  ~LoggedModule() override { log_.push_back("unload"); }
  const Function& function(std::string_view name) const override { return module_->function(name); }

 private:
  std::unique_ptr<Module> module_;
  Log& log_;
};

/// Writes down launches, waits, and what takes something from under a launch that still runs.
class LoggedDevice : public WatchedDevice {
 public:
  LoggedDevice(Device& device, Log& log) : WatchedDevice(device), log_(log) {}

  bool fails_to_wait = false;

  std::unique_ptr<Module> load(ByteView code_object) override {
    return std::make_unique<LoggedModule>(WatchedDevice::load(code_object), log_);
  }
  void launch(const Function& function, const LaunchShape& shape, ByteView arguments,
              Stream& stream) override {
    WatchedDevice::launch(function, shape, arguments, stream);
    log_.push_back("launch");
  }
  void synchronize(Stream& stream) override {
    log_.push_back("wait");
    WatchedDevice::synchronize(stream);
    if (fails_to_wait) throw Error(ErrorKind::failed_check, "a memory fault");
  }
  void release(DeviceAddress address) override {
    WatchedDevice::release(address);
    if (log_.back() != "release") log_.push_back("release");
  }

 private:
  Log& log_;
};

const CodeObject& object() {
  const auto body = [](dsl::Kernel& kernel) {
    const auto out = kernel.buffer<dsl::I32>("out", {64}, dsl::Access::write);
    dsl::If((dsl::cta_id() == 0) & (dsl::thread_id() < 64),
            [&] { out.store(dsl::thread_id(), dsl::I32(7)); });
  };
  static const CodeObject once = code_object(body, "gfx950");
  return once;
}

struct Machine {
  Log log;
  emulator::Emulator emulator{{.chip = "gfx950", .devices = 2}};
  LoggedDevice first{emulator.device(0), log}, second{emulator.device(1), log};
};

TEST_CASE("ranks that go wait for every launch before they unload or free anything") {
  Machine machine;
  std::vector<Device*> devices{&machine.first, &machine.second};
  SECTION("on their way through an exception") {
    CHECK_THROWS_AS(
        [&] {
          Collective collective(devices, object());
          collective.launch();
          machine.log.push_back("throw");
          throw std::bad_alloc();
        }(),
        std::bad_alloc);
    const Log all = {"launch", "launch", "throw", "wait", "wait"};
    CHECK(Log(machine.log.begin(), machine.log.begin() + 5) == all);
  }
  SECTION("also when a launch went wrong") {
    {
      Collective collective(devices, object());
      collective.launch();
      machine.first.fails_to_wait = true;
    }
    CHECK(Log(machine.log.begin(), machine.log.begin() + 4) ==
          Log{"launch", "launch", "wait", "wait"});
  }
  CHECK(machine.first.live.empty());
  CHECK(machine.second.live.empty());
}

TEST_CASE("a runner that goes waits for its stream, unloads, then frees") {
  Machine machine;
  {
    const DeviceMemory out(machine.first, 256, MemoryKind::normal);
    Runner runner(machine.first, object(), 0);
    KernelArguments arguments = runner.arguments();
    arguments.set("out", out.address());
    runner.step_begin();
    runner.launch(arguments);
  }
  CHECK(machine.log == Log{"launch", "wait", "unload", "release"});
}

TEST_CASE("a runner launches with its own arguments alone") {
  Machine machine;
  Runner one(machine.first, object(), 0), other(machine.second, object(), 1);
  KernelArguments arguments = one.arguments();
  arguments.set("out", 0);
  CHECK(user_error([&] { other.launch(arguments); }) ==
        "k: the arguments are not those of rank 1's runner");
  KernelArguments copy = arguments;
  one.step_begin();
  one.launch(copy);
  CHECK_THAT(error_of(ErrorKind::failed_check, [&] { one.synchronize(); }).what(),
             Catch::Contains("0x0"));
}

}  // namespace
}  // namespace baton::tests
