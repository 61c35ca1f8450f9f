#include "runtime/emulator/platform.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "runtime/base/error.h"
#include "runtime/emulator/launch.h"

namespace baton::emulator {
namespace {

constexpr int kMaxThreads = 256;
/// A workgroup keeps a bit for each.
constexpr size_t kMaxDelays = 64;
/// Far below what the scheduler holds a pause to be; no run lasts as long.
constexpr uint64_t kMaxDelayCycles = uint64_t{1} << 50;
/// The kernarg segment, the dispatch packet and a queue's head share one block of memory.
constexpr uint64_t kPacketAlign = 64;
constexpr uint64_t kPacketBytes = 320;
/// A lane's stack where the compiler could not bound it (recursion, calls through pointers).
constexpr uint64_t kDynamicStackBytes = 16 * 1024;

}  // namespace

Emulator::Platform::Platform(EmulatorOptions o)
    : options(std::move(o)),
      target(find_target(options.chip)),
      log(options.chip, options.mfma, options.devices),
      scheduler(memory, SchedulerOptions{options.seed, options.threads, options.resident_bytes,
                                         options.max_steps}) {
  const auto check = [](std::string_view what, int value, int most) {
    if (value < 1 || value > most) {
      throw Error(ErrorKind::user, fmt::format("{} {}: 1 to {} are possible", value, what, most));
    }
  };
  check("emulated devices", options.devices, kMaxDevices);
  check("emulator threads", options.threads, kMaxThreads);
  for (const Delay& delay : options.delays) {
    if (delay.device < 0 || delay.device >= options.devices) {
      throw Error(ErrorKind::user, fmt::format("a delay on device {}, there are {} devices",
                                               delay.device, options.devices));
    }
    if (delay.cycles > kMaxDelayCycles) {
      throw Error(ErrorKind::user, fmt::format("a delay of {} cycles: at most {} are possible",
                                               delay.cycles, kMaxDelayCycles));
    }
  }
  if (options.delays.size() > kMaxDelays) {
    throw Error(ErrorKind::user, fmt::format("{} delays: at most {} are possible",
                                             options.delays.size(), kMaxDelays));
  }
  if (!runs_here(options.host_level)) {
    throw Error(ErrorKind::environment,
                fmt::format("this CPU does not run {} code", name(options.host_level)));
  }
  for (int i = 0; i < options.devices; ++i) {
    reachable.push_back(uint64_t{1} << i);
  }
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
  if (failure_) return;
  try {
    for (bool again = true; again;) {
      again = false;
      for (EmulatedStream* stream : streams) {
        while (!stream->commands.empty() && start(*stream, stream->commands.front())) {
          stream->commands.pop_front();
          again = true;
        }
      }
    }
  } catch (const Error& error) {
    keep(error);
  } catch (const std::exception& error) {
    keep(Error(ErrorKind::environment, error.what()));
  }
}

void Emulator::Platform::completed(Dispatch& dispatch) {
  const std::lock_guard lock(mutex);
  log.add(dispatch);
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

/// The first error is the cause of those behind it.
void Emulator::Platform::keep(Error error) {
  if (!failure_) failure_ = std::move(error);
  changed_.notify_all();
}

void Emulator::Platform::fail(Error error) {
  keep(std::move(error));
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
      check_delays();
      pump();
    } catch (const Error& error) {
      driving_ = false;
      fail(error);
    }
    if (!failure_ && !done()) {
      lock.unlock();
      outcome = scheduler.run([this](Dispatch& d) { completed(d); },
                              [&] {
                                const std::lock_guard inner(mutex);
                                return failure_ || done();
                              });
      lock.lock();
    }
    driving_ = false;
    changed_.notify_all();
    if (!uninit.empty()) fail(with_uninit(outcome));
    if (failure_) throw *failure_;
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

/// What the check found, and behind it what stopped the launch.
Error Emulator::Platform::with_uninit(Outcome outcome) const {
  std::string text = uninit.error().what();
  if (outcome == Outcome::failed) text += fmt::format("\n{}", scheduler.error().what());
  if (outcome == Outcome::stalled) {
    text += fmt::format("\n{}", hang_error(scheduler.workgroups(), names).what());
  }
  return Error(ErrorKind::failed_check, text);
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

void Emulator::Platform::check_delays() {
  if (delays_checked_ || options.delays.empty()) return;
  delays_checked_ = true;
  std::set<std::string> known;
  for (const auto& [bytes, slot] : programs_) {
    const std::shared_ptr<const Program> program = slot.lock();
    if (program) known.insert(program->stages().begin() + 1, program->stages().end());
  }
  for (const Delay& delay : options.delays) {
    if (known.contains(delay.stage)) continue;
    throw Error(ErrorKind::user,
                fmt::format("a delay at stage '{}', which no kernel has; {}", delay.stage,
                            known.empty() ? "none that is loaded has stages"
                                          : fmt::format("there are {}", fmt::join(known, ", "))));
  }
}

std::vector<StageDelay> Emulator::Platform::delays_of(const Program& program, int device) const {
  std::vector<StageDelay> delays;
  for (const Delay& delay : options.delays) {
    if (delay.device != device || delay.stage.empty()) continue;
    const auto found = std::ranges::find(program.stages(), delay.stage);
    if (found == program.stages().end()) continue;
    delays.push_back({static_cast<uint16_t>(found - program.stages().begin()), delay.cycles});
  }
  return delays;
}

std::vector<uint8_t> Emulator::Platform::pauses_of(const Program& program) const {
  std::vector<uint8_t> pauses;
  if (pause_handoffs.empty()) return pauses;
  pauses.resize(program.size());
  for (size_t index = 0; index < pauses.size(); ++index) {
    const OpRow* row = program.info(index).row;
    if (!row || row->op_class != OpClass::vmem_store) continue;
    const auto found = std::ranges::find(pause_handoffs, program.handoff(index));
    if (found == pause_handoffs.end()) continue;
    pauses[index] = static_cast<uint8_t>(1 + (found - pause_handoffs.begin()));
  }
  return pauses;
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
  d.count_bank_conflicts = options.count_bank_conflicts;
  d.delays = delays_of(*code.program, function.device());
  d.pauses = pauses_of(*code.program);
  delays_checked_ = false;
  if (options.check_uninit) {
    d.uninit = &uninit.table(code.program);
    d.uninit_log = &uninit;
  }
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

}  // namespace baton::emulator
