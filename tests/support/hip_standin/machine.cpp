#include "tests/support/hip_standin/machine.h"

#include "runtime/base/error.h"

namespace baton::standin {
namespace {

using hip::kInvalidDevice;
constexpr hip::Code kInvalidHandle = 400, kLaunchFailure = 719;

/// Thrown inside, returned outside.
struct Refusal {
  hip::Code code;
};

template <typename T>
auto& find(std::map<uint64_t, T>& map, uint64_t id) {
  const auto found = map.find(id);
  if (found == map.end()) throw Refusal{kInvalidHandle};
  return *found->second;
}

hip::Code code_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::user:
      return hip::kInvalidValue;
    case ErrorKind::environment:
      return hip::kOutOfMemory;
    default:
      return kLaunchFailure;
  }
}

constexpr int kOthersMayTakeMs = 120'000;  // other processes are still to launch

}  // namespace

Machine::Machine(const std::string& chip, int devices)
    : emulator_({.chip = chip, .devices = devices, .stall_grace_ms = kOthersMayTakeMs}),
      devices_(devices) {}

std::string Machine::leftovers() {
  const std::lock_guard lock(mutex_);
  return fmt::format("{} allocations, {} opened by others, {} freed while open", owners_.size(),
                     opened_.size(), freed_while_open_);
}

Device& Machine::device(int64_t ordinal) {
  if (ordinal < 0 || ordinal >= devices_) throw Refusal{kInvalidDevice};
  return emulator_.device(static_cast<int>(ordinal));
}

Reply Machine::handle(const Call& call, ByteView payload, Bytes& answer) {
  Reply reply;
  try {
    reply.value = perform(call, payload, answer);
  } catch (const Refusal& refusal) {
    reply.code = refusal.code;
  } catch (const Error& error) {
    reply.code = code_of(error);
  }
  reply.payload_bytes = answer.size();
  return reply;
}

uint64_t Machine::perform(const Call& call, ByteView payload, Bytes& answer) {
  switch (call.op) {  // waits let other threads in
    case Op::wait_stream: {
      std::unique_lock lock(mutex_);
      Stream& stream = find(streams_, call.values[0]);
      lock.unlock();
      device(call.device).synchronize(stream);
      return 0;
    }
    case Op::wait_event: {
      std::unique_lock lock(mutex_);
      Event& event = find(events_, call.values[0]);
      lock.unlock();
      device(call.device).synchronize(event);
      return 0;
    }
    case Op::wait_device:
      device(call.device).synchronize();
      return 0;
    default:
      break;
  }
  const std::lock_guard lock(mutex_);
  switch (call.op) {
    case Op::count:
      return static_cast<uint64_t>(devices_);
    case Op::read:
      answer.resize(call.values[1]);
      device(call.device).read(call.values[0], answer);
      return 0;
    case Op::allocate:
    case Op::release:
    case Op::write:
    case Op::write_async:
    case Op::copy_async:
    case Op::fill_async:
    case Op::fill_words_async:
      return memory(call, payload);
    case Op::load:
    case Op::unload:
    case Op::function:
    case Op::launch:
    case Op::occupancy:
      return code(call, payload);
    case Op::enable_peer:
    case Op::share:
    case Op::open_shared:
    case Op::close_shared:
      return sharing(call);
    default:
      return streams(call);
  }
}

uint64_t Machine::memory(const Call& call, ByteView payload) {
  Device& on = device(call.device);
  const auto& v = call.values;
  switch (call.op) {
    case Op::allocate: {
      const auto kind = v[1] == 0 ? MemoryKind::normal : MemoryKind::fine_grained;
      const DeviceAddress address = on.allocate(v[0], kind);
      owners_[address] = call.device;
      return address;
    }
    case Op::release: {
      const auto owner = owners_.find(v[0]);
      if (owner == owners_.end()) throw Refusal{hip::kInvalidValue};
      device(owner->second).release(v[0]);
      owners_.erase(owner);
      if (opened_.contains(v[0])) ++freed_while_open_;
      return 0;
    }
    case Op::write:
      on.write(v[0], payload);
      return 0;
    case Op::write_async:
      on.write_async(v[0], payload, find(streams_, v[1]));
      return 0;
    case Op::copy_async:
      on.copy_async(v[0], v[1], v[2], find(streams_, v[3]));
      return 0;
    case Op::fill_words_async:
      on.fill_words_async(v[0], static_cast<uint32_t>(v[1]), v[2], find(streams_, v[3]));
      return 0;
    default:
      on.fill_async(v[0], static_cast<uint8_t>(v[1]), v[2], find(streams_, v[3]));
      return 0;
  }
}

uint64_t Machine::streams(const Call& call) {
  Device& on = device(call.device);
  const auto& v = call.values;
  switch (call.op) {
    case Op::create_stream:
      streams_[next_] = on.create_stream();
      return next_++;
    case Op::destroy_stream:
      find(streams_, v[0]);
      streams_.erase(v[0]);
      return 0;
    case Op::create_event:
      events_[next_] = on.create_event();
      return next_++;
    case Op::destroy_event:
      find(events_, v[0]);
      events_.erase(v[0]);
      return 0;
    case Op::record:
      on.record(find(events_, v[0]), find(streams_, v[1]));
      return 0;
    case Op::stream_waits:
      on.wait(find(events_, v[1]), find(streams_, v[0]));
      return 0;
    default:
      throw Refusal{hip::kInvalidValue};
  }
}

uint64_t Machine::code(const Call& call, ByteView payload) {
  Device& on = device(call.device);
  const auto& v = call.values;
  switch (call.op) {
    case Op::load:
      modules_[next_] = on.load(payload);
      return next_++;
    case Op::unload:
      find(modules_, v[0]);
      modules_.erase(v[0]);
      return 0;
    case Op::function:
      functions_[next_] =
          &find(modules_, v[0])
               .function({reinterpret_cast<const char*>(payload.data()), payload.size()});
      return next_++;
    default:
      break;
  }
  const auto half = [](uint64_t value) { return static_cast<uint32_t>(value); };
  if (!functions_.contains(v[0])) throw Refusal{kInvalidHandle};
  const Function& function = *functions_.at(v[0]);
  LaunchShape shape;
  for (size_t i = 0; i < 3; ++i) {
    shape.grid[i] = half(v[1 + i]);
    shape.workgroup[i] = half(v[4 + i]);
  }
  shape.dynamic_lds_bytes = half(v[7]);
  if (call.op == Op::occupancy) {
    return static_cast<uint64_t>(on.workgroups_per_cu(function, shape));
  }
  on.launch(function, shape, payload, find(streams_, v[8]));
  return 0;
}

uint64_t Machine::sharing(const Call& call) {
  const uint64_t address = call.values[0];
  if (call.op == Op::enable_peer) {
    Device& peer = device(static_cast<int64_t>(address));
    if (&peer == &device(call.device)) throw Refusal{kInvalidDevice};
    device(call.device).enable_peer_access(peer);
    return 0;
  }
  if (call.op == Op::close_shared) {
    const auto open = opened_.find(address);
    if (open == opened_.end()) throw Refusal{hip::kInvalidValue};
    opened_.erase(open);
    return 0;
  }
  const auto owner = owners_.find(address);
  if (owner == owners_.end()) throw Refusal{hip::kInvalidValue};
  if (call.op == Op::open_shared) {
    opened_.insert(address);
    // Who opens another's memory may reach it.
    if (owner->second != call.device) {
      device(call.device).enable_peer_access(device(owner->second));
    }
  }
  return address;
}

}  // namespace baton::standin
