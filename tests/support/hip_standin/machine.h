// The machine behind the stand-in libamdhip64: emulated devices, asked by calls that can travel
// between processes.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/device/hip/hip_functions.h"
#include "runtime/emulator/emulator.h"

namespace baton::standin {

enum class Op : uint32_t {
  count,
  allocate,
  release,
  write,
  read,
  write_async,
  copy_async,
  fill_async,
  fill_words_async,
  create_stream,
  destroy_stream,
  wait_stream,
  create_event,
  destroy_event,
  record,
  stream_waits,
  wait_event,
  load,
  unload,
  function,
  launch,
  occupancy,
  wait_device,
  enable_peer,
  share,
  open_shared,
  close_shared,
};

struct Call {
  Op op;
  int32_t device = 0;
  std::array<uint64_t, 10> values = {};
  uint64_t payload_bytes = 0;
};

struct Reply {
  hip::Code code = hip::kSuccess;
  uint64_t value = 0;
  uint64_t payload_bytes = 0;
};

class Machine {
 public:
  Machine(const std::string& chip, int devices);

  /// Any thread may call it; `answer` is the reply's payload.
  Reply handle(const Call& call, ByteView payload, Bytes& answer);

  /// What its users have left and done wrong so far: "2 allocations, 1 opened by others, 0 freed
  /// while open".
  std::string leftovers();

 private:
  uint64_t perform(const Call& call, ByteView payload, Bytes& answer);
  uint64_t memory(const Call& call, ByteView payload);
  uint64_t streams(const Call& call);
  uint64_t code(const Call& call, ByteView payload);
  uint64_t sharing(const Call& call);
  Device& device(int64_t ordinal);

  emulator::Emulator emulator_;
  const int devices_;
  std::recursive_mutex mutex_;  ///< of all but waits
  uint64_t next_ = 1;
  std::map<uint64_t, std::unique_ptr<Stream>> streams_;
  std::map<uint64_t, std::unique_ptr<Event>> events_;
  std::map<uint64_t, std::unique_ptr<Module>> modules_;
  std::map<uint64_t, const Function*> functions_;
  std::map<uint64_t, int> owners_;  ///< device of each allocation
  std::multiset<uint64_t> opened_;  ///< allocations, by those who have opened them
  int freed_while_open_ = 0;
};

}  // namespace baton::standin
