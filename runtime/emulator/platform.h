// What all devices of one emulator share: memory, streams, the scheduler, the report.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/emulator/code_module.h"
#include "runtime/emulator/emulator.h"
#include "runtime/emulator/scheduler.h"
#include "runtime/emulator/uninit_log.h"

namespace baton::emulator {

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
  std::vector<std::unique_ptr<Device>> devices;  ///< made by the emulator
  std::vector<EmulatedStream*> streams;
  std::vector<uint64_t> reachable;
  Names names;
  std::vector<std::string> pause_handoffs;  ///< launches pause before their stores
  LaunchLog log;
  UninitLog uninit;
  std::recursive_mutex mutex;

  Scheduler scheduler;

 private:
  /// Starts what can start. An error of a command is kept for whoever waits next, and nothing is
  /// started after it.
  void pump();
  bool start(EmulatedStream& stream, Command& command);
  void completed(Dispatch& dispatch);
  uint64_t take_block(int device, uint64_t bytes);
  /// Throws Error (user) for a delay at a stage that no loaded code object has.
  void check_delays();
  std::vector<uint8_t> pauses_of(const Program& program) const;
  std::vector<StageDelay> delays_of(const Program& program, int device) const;
  Error with_uninit(Outcome outcome) const;
  void keep(Error error);
  [[noreturn]] void fail(Error error);

  std::condition_variable_any changed_;
  bool driving_ = false;
  uint64_t submissions_ = 0;
  bool delays_checked_ = true;  ///< no launch since the last check
  std::optional<Error> failure_;
  std::map<std::pair<int, uint64_t>, std::vector<uint64_t>> free_blocks_;  ///< by device and size
  std::map<std::string, std::weak_ptr<const Program>> programs_;  ///< by the object's bytes
};

}  // namespace baton::emulator
