#include "runtime/emulator/emulator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "runtime/base/error.h"
#include "runtime/emulator/code_module.h"
#include "runtime/emulator/launch.h"
#include "runtime/emulator/scheduler.h"
#include "runtime/object/occupancy.h"

namespace baton::emulator {
namespace {

constexpr int kMaxDevices = 64;
constexpr int kMaxThreads = 256;
/// The kernarg segment, the dispatch packet and a queue's head share one block of memory.
constexpr uint64_t kPacketAlign = 64;
constexpr uint64_t kPacketBytes = 320;
/// A lane's stack where the compiler could not bound it (recursion, calls through pointers).
constexpr uint64_t kDynamicStackBytes = 16 * 1024;

struct EmulatedEvent : Event {
  uint64_t recorded = 0;   ///< how often a record was put into a stream
  uint64_t completed = 0;  ///< how often one was reached
};

/// A launch waiting in its stream, then in flight.
struct Launch {
  Dispatch dispatch;
  uint64_t arguments = 0;  ///< block of kernarg and packet
  Bytes kernarg;
};

struct Command {
  std::function<void()> run;       ///< a copy, fill or record
  std::function<bool()> may_run;   ///< null: at once
  std::unique_ptr<Launch> launch;  ///< or this
  bool in_flight = false;
};

struct EmulatedStream : Stream {
  int device = 0;
  std::deque<Command> commands;
};

}  // namespace

class Emulator::Platform {
 public:
  explicit Platform(EmulatorOptions options);
  ~Platform();

  void submit(EmulatedStream& stream, Command command);
  /// Runs work until `done`; throws what went wrong.
  void wait(const std::function<bool()>& done);
  bool stream_idle(const EmulatedStream& stream) const { return stream.commands.empty(); }
  bool device_idle(int device) const;
  std::shared_ptr<const Program> program(const ElfImage& image);
  std::unique_ptr<Launch> prepare(const CodeFunction& function, const LaunchShape& shape,
                                  ByteView arguments);

  EmulatorOptions options;
  const Target& target;
  AddressSpace memory;
  std::vector<std::unique_ptr<EmulatedDevice>> devices;
  std::vector<EmulatedStream*> streams;
  std::vector<uint64_t> reachable;
  Names names;
  RunReport report;
  std::recursive_mutex mutex;

  Scheduler scheduler;

 private:
  void pump();
  bool start(EmulatedStream& stream, Command& command);
  void completed(Dispatch& dispatch);
  uint64_t take_block(int device, uint64_t bytes);
  [[noreturn]] void fail(Error error);

  std::condition_variable_any changed_;
  bool driving_ = false;
  uint64_t submissions_ = 0;
  std::optional<Error> failure_;
  std::map<std::pair<int, uint64_t>, std::vector<uint64_t>> free_blocks_;  ///< by device and size
  std::map<std::string, std::weak_ptr<const Program>> programs_;  ///< by the object's bytes
};

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
  explicit ListedStream(Platform& p) : platform(p) {
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

Emulator::Platform::Platform(EmulatorOptions o)
    : options(std::move(o)),
      target(find_target(options.chip)),
      scheduler(memory, SchedulerOptions{options.seed, options.threads, options.resident_bytes}) {
  const auto check = [](std::string_view what, int value, int most) {
    if (value < 1 || value > most) {
      throw Error(ErrorKind::user, fmt::format("{} {}: 1 to {} are possible", value, what, most));
    }
  };
  check("emulated devices", options.devices, kMaxDevices);
  check("emulator threads", options.threads, kMaxThreads);
  if (!runs_here(options.host_level)) {
    throw Error(ErrorKind::environment,
                fmt::format("this CPU does not run {} code", name(options.host_level)));
  }
  for (int i = 0; i < options.devices; ++i) {
    devices.push_back(std::make_unique<EmulatedDevice>(*this, i));
    reachable.push_back(uint64_t{1} << i);
  }
  report.chip = options.chip;
  report.mfma = options.mfma;
}

Emulator::Platform::~Platform() = default;

bool Emulator::Platform::device_idle(int device) const {
  return std::ranges::all_of(
      streams, [&](const EmulatedStream* s) { return s->device != device || s->commands.empty(); });
}

void Emulator::Platform::submit(EmulatedStream& stream, Command command) {
  const std::lock_guard lock(mutex);
  if (failure_) throw *failure_;
  stream.commands.push_back(std::move(command));
  ++submissions_;
  // Whoever drives already must see new work; nobody else starts it before it is waited for.
  if (driving_) pump();
  changed_.notify_all();
}

/// True when the command is done and the stream's next may start.
bool Emulator::Platform::start(EmulatedStream& stream, Command& command) {
  if (command.in_flight) return false;
  if (command.launch) {
    Dispatch& d = command.launch->dispatch;
    const uint64_t packet =
        (command.launch->kernarg.size() + kPacketAlign - 1) / kPacketAlign * kPacketAlign;
    command.launch->arguments = take_block(stream.device, packet + kPacketBytes);
    d.kernarg = command.launch->arguments;
    d.packet = d.kernarg + packet;
    uint8_t* host = memory.host(d.kernarg, packet + kPacketBytes, "arguments");
    std::ranges::copy(command.launch->kernarg, host);
    std::ranges::copy(dispatch_packet(d), host + packet);
    d.kernarg_host = host;
    command.in_flight = true;
    scheduler.add(d);
    return false;
  }
  if (command.may_run && !command.may_run()) return false;
  command.run();
  return true;
}

void Emulator::Platform::pump() {
  for (bool again = true; again;) {
    again = false;
    for (EmulatedStream* stream : streams) {
      while (!stream->commands.empty() && start(*stream, stream->commands.front())) {
        stream->commands.pop_front();
        again = true;
      }
    }
  }
}

void Emulator::Platform::completed(Dispatch& dispatch) {
  const std::lock_guard lock(mutex);
  ++report.launches;
  report.counters.add(dispatch.counters);
  for (const auto& hits : dispatch.hits) report.add(*dispatch.code->program, hits);
  for (EmulatedStream* stream : streams) {
    if (stream->commands.empty()) continue;
    const Command& front = stream->commands.front();
    if (!front.launch || &front.launch->dispatch != &dispatch) continue;
    const uint64_t bytes = dispatch.packet + kPacketBytes - dispatch.kernarg;
    free_blocks_[{stream->device, bytes}].push_back(dispatch.kernarg);
    if (dispatch.scratch) memory.release(dispatch.scratch);
    stream->commands.pop_front();
    break;
  }
  pump();
  changed_.notify_all();
}

void Emulator::Platform::fail(Error error) {
  failure_ = std::move(error);
  throw *failure_;
}

void Emulator::Platform::wait(const std::function<bool()>& done) {
  std::unique_lock lock(mutex);
  while (!done()) {
    if (failure_) throw *failure_;
    if (driving_) {
      changed_.wait(lock);
      continue;
    }
    driving_ = true;
    Outcome outcome = Outcome::idle;
    const uint64_t seen = submissions_;
    try {
      pump();
    } catch (const Error& error) {
      driving_ = false;
      fail(error);
    }
    if (!done()) {
      lock.unlock();
      outcome = scheduler.run([this](Dispatch& d) { completed(d); },
                              [&] {
                                const std::lock_guard inner(mutex);
                                return done();
                              });
      lock.lock();
    }
    driving_ = false;
    changed_.notify_all();
    if (done()) break;
    if (outcome == Outcome::failed) fail(scheduler.error());
    const bool more = submissions_ != seen ||
                      changed_.wait_for(lock, std::chrono::milliseconds(options.stall_grace_ms),
                                        [&] { return submissions_ != seen; });
    if (more) continue;
    if (outcome == Outcome::stalled) fail(hang_error(scheduler.workgroups(), names));
    if (outcome == Outcome::idle) {
      fail(Error(ErrorKind::failed_check, "a stream waits for an event that nothing records"));
    }
  }
}

uint64_t Emulator::Platform::take_block(int device, uint64_t bytes) {
  std::vector<uint64_t>& blocks = free_blocks_[{device, bytes}];
  if (blocks.empty()) return memory.allocate(device, bytes, "kernel arguments").base;
  const uint64_t block = blocks.back();
  blocks.pop_back();
  return block;
}

std::shared_ptr<const Program> Emulator::Platform::program(const ElfImage& image) {
  const std::lock_guard lock(mutex);
  const ByteView bytes = image.bytes();
  std::weak_ptr<const Program>& slot = programs_[std::string(bytes.begin(), bytes.end())];
  std::shared_ptr<const Program> found = slot.lock();
  if (!found) {
    found = std::make_shared<const Program>(image, HandlerTable::of(options.host_level));
    slot = found;
  }
  return found;
}

std::unique_ptr<Launch> Emulator::Platform::prepare(const CodeFunction& function,
                                                    const LaunchShape& shape, ByteView arguments) {
  const KernelCode& code = function.code();
  check_shape(code, target, shape);
  auto launch = std::make_unique<Launch>();
  launch->kernarg = kernarg_segment(code.kernel, shape, arguments);
  Dispatch& d = launch->dispatch;
  d.code = &code;
  d.device = function.device();
  d.shape = shape;
  d.lds_bytes = code.kernel.lds_bytes + shape.dynamic_lds_bytes;
  d.memory = &memory;
  d.mfma = options.mfma;
  d.reachable = reachable[static_cast<size_t>(function.device())];
  d.workgroups = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  const uint64_t lane_bytes = code.kernel.descriptor.private_segment_fixed_size +
                              (code.kernel.uses_dynamic_stack ? kDynamicStackBytes : 0);
  if (lane_bytes != 0) {
    const uint64_t waves =
        (uint64_t{shape.workgroup[0]} * shape.workgroup[1] * shape.workgroup[2] + kLanes - 1) /
        kLanes;
    d.scratch_wave_bytes = (lane_bytes + 3) / 4 * 4 * kLanes;
    const Allocation& a =
        memory.allocate(d.device, d.workgroups * waves * d.scratch_wave_bytes, "private memory");
    d.scratch = a.base;
    d.scratch_host = a.host;
  }
  return launch;
}

std::unique_ptr<Stream> Emulator::EmulatedDevice::create_stream() {
  auto stream = std::make_unique<ListedStream<Platform>>(platform_);
  stream->device = ordinal_;
  return stream;
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
    : platform_(std::make_unique<Platform>(std::move(options))) {}
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

void Emulator::set_names(Names names) {
  const std::lock_guard lock(platform_->mutex);
  platform_->names = std::move(names);
}

RunReport Emulator::report() const {
  const std::lock_guard lock(platform_->mutex);
  return platform_->report;
}

}  // namespace baton::emulator
