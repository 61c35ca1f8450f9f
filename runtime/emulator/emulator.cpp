#include "runtime/emulator/emulator.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/emulator/platform.h"
#include "runtime/object/occupancy.h"

namespace baton::emulator {

class Emulator::EmulatedDevice : public Device {
 public:
  EmulatedDevice(Platform& platform, int ordinal) : platform_(platform), ordinal_(ordinal) {}

  int ordinal() const override { return ordinal_; }
  const Target& target() const override { return platform_.target; }
  std::string description() const override {
    return fmt::format("emulated {} ({} of {})", platform_.target.chip, ordinal_ + 1,
                       platform_.options.devices);
  }
  DeviceAddress allocate(uint64_t bytes, MemoryKind kind) override {
    return platform_.memory
        .allocate(ordinal_, bytes, kind == MemoryKind::normal ? "buffer" : "fine-grained buffer")
        .base;
  }
  void release(DeviceAddress address) override {
    synchronize();
    platform_.memory.release(address);
  }
  void write(DeviceAddress to, ByteView bytes) override {
    if (bytes.empty()) return;
    std::memcpy(platform_.memory.host(to, bytes.size(), "write"), bytes.data(), bytes.size());
    platform_.scheduler.host_wrote(to, bytes.size());
  }
  void read(DeviceAddress from, std::span<uint8_t> bytes) override {
    if (bytes.empty()) return;
    std::memcpy(bytes.data(), platform_.memory.host(from, bytes.size(), "read"), bytes.size());
  }
  std::unique_ptr<Stream> create_stream() override;
  std::unique_ptr<Event> create_event() override { return std::make_unique<EmulatedEvent>(); }
  void write_async(DeviceAddress to, ByteView bytes, Stream& stream) override {
    run_in(stream, [this, to, copy = Bytes(bytes.begin(), bytes.end())] { write(to, copy); });
  }
  void read_async(DeviceAddress from, std::span<uint8_t> bytes, Stream& stream) override {
    run_in(stream, [this, from, bytes] { read(from, bytes); });
  }
  void copy_async(DeviceAddress to, DeviceAddress from, uint64_t bytes, Stream& stream) override {
    run_in(stream, [this, to, from, bytes] {
      Bytes staged(bytes);
      read(from, staged);
      write(to, staged);
    });
  }
  void fill_async(DeviceAddress to, uint8_t value, uint64_t bytes, Stream& stream) override {
    run_in(stream, [this, to, value, bytes] {
      std::memset(platform_.memory.host(to, bytes, "fill"), value, bytes);
      platform_.scheduler.host_wrote(to, bytes);
    });
  }
  void fill_words_async(DeviceAddress to, uint32_t value, uint64_t words, Stream& stream) override {
    run_in(stream, [this, to, value, words] {
      const uint64_t bytes = words * sizeof value;
      uint8_t* host = platform_.memory.host(to, bytes, "fill");
      for (uint64_t i = 0; i < words; ++i)
        std::memcpy(host + i * sizeof value, &value, sizeof value);
      platform_.scheduler.host_wrote(to, bytes);
    });
  }
  void record(Event& event, Stream& stream) override {
    auto& e = static_cast<EmulatedEvent&>(event);
    const std::lock_guard lock(platform_.mutex);
    const uint64_t number = ++e.recorded;
    run_in(stream, [&e, number] { e.completed = number; });
  }
  void wait(Event& event, Stream& stream) override {
    auto& e = static_cast<EmulatedEvent&>(event);
    const std::lock_guard lock(platform_.mutex);
    Command command;
    command.run = [] {};
    command.may_run = [&e, number = e.recorded] { return e.completed >= number; };
    platform_.submit(static_cast<EmulatedStream&>(stream), std::move(command));
  }
  bool query(Event& event) override {
    // Nothing runs by itself here: who asks again and again must see progress.
    synchronize(event);
    return true;
  }
  void synchronize(Event& event) override {
    auto& e = static_cast<EmulatedEvent&>(event);
    platform_.wait([&e, number = e.recorded] { return e.completed >= number; });
  }
  std::unique_ptr<Module> load(ByteView code_object) override;
  void launch(const Function& function, const LaunchShape& shape, ByteView arguments,
              Stream& stream) override;
  void synchronize(Stream& stream) override {
    auto& s = static_cast<EmulatedStream&>(stream);
    platform_.wait([&] { return platform_.stream_idle(s); });
  }
  void synchronize() override {
    platform_.wait([this] { return platform_.device_idle(ordinal_); });
  }
  void enable_peer_access(Device& peer) override {
    const std::lock_guard lock(platform_.mutex);
    platform_.reachable[static_cast<size_t>(ordinal_)] |= uint64_t{1} << peer.ordinal();
  }
  int workgroups_per_cu(const Function& function, const LaunchShape& shape) override;
  int compute_units() override { return target().cus; }
  bool holds_every_workgroup() const override { return true; }

 private:
  void run_in(Stream& stream, std::function<void()> work) {
    Command command;
    command.run = std::move(work);
    platform_.submit(static_cast<EmulatedStream&>(stream), std::move(command));
  }

  Platform& platform_;
  const int ordinal_;
};

namespace {

/// A stream that takes itself off its platform's list.
template <typename Platform>
struct ListedStream : EmulatedStream {
  ListedStream(Platform& p, int of_device) : platform(p) {
    device = of_device;  // before other threads see it
    const std::lock_guard lock(platform.mutex);
    platform.streams.push_back(this);
  }
  ~ListedStream() override {
    const std::lock_guard lock(platform.mutex);
    std::erase(platform.streams, this);
  }
  Platform& platform;
};

}  // namespace

std::unique_ptr<Stream> Emulator::EmulatedDevice::create_stream() {
  return std::make_unique<ListedStream<Platform>>(platform_, ordinal_);
}

std::unique_ptr<Module> Emulator::EmulatedDevice::load(ByteView code_object) {
  const ElfImage image = ElfImage::parse(code_object, "code object");
  if (image.chip() != platform_.target.chip) {
    throw Error(ErrorKind::user, fmt::format("the code object is for {}, the device is a {}",
                                             image.chip(), platform_.target.chip));
  }
  return std::make_unique<CodeModule>(platform_.memory, ordinal_, image, platform_.program(image));
}

void Emulator::EmulatedDevice::launch(const Function& function, const LaunchShape& shape,
                                      ByteView arguments, Stream& stream) {
  const auto& code = static_cast<const CodeFunction&>(function);
  const int stream_device = static_cast<EmulatedStream&>(stream).device;
  if (code.device() != ordinal_ || stream_device != ordinal_) {
    throw Error(ErrorKind::user,
                fmt::format("kernel {} was loaded on device {}, the launch is on device {}, its "
                            "stream of device {}",
                            code.metadata().name, code.device(), ordinal_, stream_device));
  }
  Command command;
  const std::lock_guard lock(platform_.mutex);
  command.launch = platform_.prepare(code, shape, arguments);
  platform_.submit(static_cast<EmulatedStream&>(stream), std::move(command));
}

int Emulator::EmulatedDevice::workgroups_per_cu(const Function& function,
                                                const LaunchShape& shape) {
  const KernelMetadata& kernel = function.metadata();
  return occupancy(platform_.target, {.vgprs = kernel.vgprs,
                                      .sgprs = kernel.sgprs,
                                      .lds_bytes = kernel.lds_bytes + shape.dynamic_lds_bytes,
                                      .workgroup_lanes = shape.workgroup[0] * shape.workgroup[1] *
                                                         shape.workgroup[2]})
      .workgroups_per_cu;
}

Emulator::Emulator(EmulatorOptions options)
    : platform_(std::make_unique<Platform>(std::move(options))) {
  for (int i = 0; i < platform_->options.devices; ++i) {
    platform_->devices.push_back(std::make_unique<EmulatedDevice>(*platform_, i));
  }
}
Emulator::~Emulator() = default;

const EmulatorOptions& Emulator::options() const { return platform_->options; }

Device& Emulator::device(int ordinal) {
  if (ordinal < 0 || ordinal >= platform_->options.devices) {
    throw Error(ErrorKind::user, fmt::format("device {} of {}: they are numbered from 0", ordinal,
                                             platform_->options.devices));
  }
  return *platform_->devices[static_cast<size_t>(ordinal)];
}

void Emulator::synchronize() {
  platform_->wait([this] {
    for (int i = 0; i < platform_->options.devices; ++i) {
      if (!platform_->device_idle(i)) return false;
    }
    return true;
  });
}

void Emulator::pause_before(std::vector<std::string> handoffs,
                            std::function<void(const std::string& handoff)> when_all_wait) {
  constexpr size_t kMaxPauses = 64;
  BATON_CHECK(handoffs.size() <= kMaxPauses, "too many hand-offs to pause at");
  const std::lock_guard lock(platform_->mutex);
  platform_->pause_handoffs = handoffs;
  platform_->scheduler.set_pause_observer(
      [names = std::move(handoffs), observer = std::move(when_all_wait)](int pause) {
        observer(names[static_cast<size_t>(pause)]);
      });
}

void Emulator::set_names(Names names) {
  const std::lock_guard lock(platform_->mutex);
  platform_->names = std::move(names);
}

RunReport Emulator::report() const {
  const std::lock_guard lock(platform_->mutex);
  return platform_->log.report();
}

}  // namespace baton::emulator
