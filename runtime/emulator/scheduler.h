// Runs the waves of all launches that are in flight: on one thread in an order that a seed decides,
// or on several threads.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/emulator/dispatch.h"

namespace baton::emulator {

struct SchedulerOptions {
  /// Set: one thread, and after a random number of memory instructions another wave goes on.
  std::optional<uint64_t> seed;
  int threads = 1;
  /// Bytes of registers and LDS of workgroups in flight; more are started when all of those wait.
  uint64_t resident_bytes = uint64_t{8} << 30;
  /// Wave instructions after which what has not ended fails; looked at after a workgroup's turn.
  std::optional<uint64_t> max_steps = std::nullopt;
};

/// What the threads found when they stopped.
enum class Outcome : uint8_t {
  idle,     ///< every launch is done
  paused,   ///< the caller's condition came true
  stalled,  ///< no wave can go on
  failed,   ///< a wave faulted: see error()
};

class Scheduler {
 public:
  explicit Scheduler(AddressSpace& memory, const SchedulerOptions& options);
  ~Scheduler();

  /// From any thread, also while run() runs. The dispatch must outlive its completion.
  void add(Dispatch& dispatch);

  /// Runs until `stop` (asked after each completed launch) or until nothing is left to do.
  /// `completed` is called, on any thread and with no lock held, for each launch that ends.
  Outcome run(const std::function<void(Dispatch&)>& completed, const std::function<bool()>& stop);

  /// Called with the number of each pause, and no lock held, when all workgroups that are left wait
  /// or are paused; they go on afterwards. It must not throw.
  void set_pause_observer(std::function<void(int)> observer) {
    pause_observer_ = std::move(observer);
  }

  /// The host wrote memory: waves that wait for it go on.
  void host_wrote(uint64_t address, uint64_t bytes);

  const Error& error() const { return *error_; }
  /// Of waves that wait for ever: for the report after `stalled`.
  std::vector<const Workgroup*> workgroups() const;
  const Clock& clock() const { return clock_; }

 private:
  /// What lists of waiting waves refer to: unlike a wave it lives as long as the scheduler, and is
  /// used again for others.
  struct Ticket {
    Wave* wave;
    uint64_t epoch;  ///< rises when the wave parks, when it wakes and when its workgroup ends
  };
  struct Parked {
    uint32_t ticket;
    uint64_t epoch;
  };
  struct Timer {
    uint64_t due;
    uint32_t ticket;
    uint64_t epoch;
  };
  struct Held {
    uint64_t due;  ///< by the clock's steps
    Workgroup* group;
  };

  void worker_loop(int thread, const std::function<void(Dispatch&)>& completed,
                   const std::function<bool()>& stop);
  Workgroup* next_workgroup(std::unique_lock<std::mutex>& lock);
  Workgroup* admit();
  bool end_first_nap();
  void end_due_naps();
  bool jump_clock();
  void hold(Workgroup& group);
  bool release_held(bool early);
  void release_first_held();
  bool end_pause(std::unique_lock<std::mutex>& lock);
  void run_workgroup(Workgroup& group, Worker& worker, std::vector<Wave*>& parking);
  bool run_wave(Wave& wave, Worker& worker, std::vector<Wave*>& parking);
  void release_barrier(Workgroup& group);
  void settle(Workgroup& group, Worker& worker, std::vector<Wave*>& parking);
  void give_tickets(Workgroup& group);
  /// Null when the wave no longer waits for what the list was about.
  Wave* still_waiting(uint32_t ticket, uint64_t epoch) const;
  bool park(Wave& wave);
  void wake(Wave& wave);
  void wake_or_tell(Wave& wave);
  void wake_bucket(uint32_t bucket);
  /// `at_once`: before workgroups that are not in flight yet; else behind them.
  void make_ready(Workgroup& group, bool at_once);
  void retire(Workgroup& group);
  bool any_runnable(const Workgroup& group) const;
  void check_limit();
  std::vector<const Workgroup*> sorted_workgroups() const;
  void probe(Wave& wave, std::vector<Wave*>& parking);

  AddressSpace& memory_;
  const SchedulerOptions options_;
  Clock clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Dispatch*> active_;
  std::deque<Workgroup*> ready_;    ///< go on at once
  std::deque<Workgroup*> waiting_;  ///< sleep or were woken: have their turn after new ones
  std::vector<std::unique_ptr<Workgroup>> resident_;
  uint64_t resident_bytes_ = 0;
  std::vector<Ticket> tickets_;
  std::vector<uint32_t> free_tickets_;
  std::vector<std::vector<Parked>> parked_;  ///< by watched line's bucket
  std::vector<Timer> timers_;                ///< a heap, earliest first
  std::vector<Held> held_;                   ///< a heap, earliest first
  std::function<void(int)> pause_observer_;
  int running_ = 0;
  bool stopping_ = false;
  bool stalled_ = false;
  std::optional<Error> error_;
  std::mt19937_64 random_;
};

}  // namespace baton::emulator
