#include "runtime/emulator/scheduler.h"

#include <xmmintrin.h>

#include <algorithm>
#include <set>
#include <thread>

#include "runtime/emulator/diagnosis.h"
#include "runtime/emulator/launch.h"
#include "runtime/emulator/spin.h"
#include "runtime/emulator/step.h"

namespace baton::emulator {
namespace {

/// Backward branches and passes over a workgroup before another workgroup has its turn.
constexpr int32_t kBranchBudget = 4000;
constexpr int kPassesPerTurn = 64;
/// Turns that a workgroup has before those that are not in flight yet are started.
constexpr int kTurnsBeforeOthers = 16;
/// Most memory instructions and backward branches between two random switches.
constexpr uint64_t kMaxSeededMemory = 12;
constexpr uint64_t kMaxSeededBranches = 24;

/// Makes a heap with the earliest first.
constexpr auto by_due = [](const auto& a, const auto& b) { return a.due > b.due; };

}  // namespace

Scheduler::Scheduler(AddressSpace& memory, const SchedulerOptions& options)
    : memory_(memory),
      options_(options),
      parked_(WatchTable::kBuckets),
      random_(options.seed.value_or(0)) {}

Scheduler::~Scheduler() = default;

void Scheduler::add(Dispatch& dispatch) {
  const std::lock_guard lock(mutex_);
  dispatch.clock = &clock_;
  const int threads = options_.seed ? 1 : std::max(1, options_.threads);
  dispatch.tallies.assign(static_cast<size_t>(threads), Tally(dispatch.code->program->size()));
  active_.push_back(&dispatch);
  changed_.notify_all();
}

Outcome Scheduler::run(const std::function<void(Dispatch&)>& completed,
                       const std::function<bool()>& stop) {
  memory_.pin();
  stopping_ = stalled_ = false;
  const int threads = options_.seed ? 1 : std::max(1, options_.threads);
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) {
      others.emplace_back([&, i] { worker_loop(i, completed, stop); });
    }
    worker_loop(0, completed, stop);
  }
  memory_.unpin();
  if (error_) return Outcome::failed;
  if (stalled_) return Outcome::stalled;
  const std::lock_guard lock(mutex_);
  return active_.empty() ? Outcome::idle : Outcome::paused;
}

void Scheduler::worker_loop(int thread, const std::function<void(Dispatch&)>& completed,
                            const std::function<bool()>& stop) {
  const uint32_t host_mode = _mm_getcsr();
  Worker worker;
  std::vector<Wave*> parking;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Workgroup* group = next_workgroup(lock);
    if (!group) break;
    Dispatch& dispatch = *group->dispatch;
    group->state = GroupState::running;
    ++running_;
    worker.tally = &dispatch.tallies[static_cast<size_t>(thread)];
    lock.unlock();
    std::optional<Error> error;
    worker.steps = 0;
    try {
      run_workgroup(*group, worker, parking);
    } catch (const Error& e) {
      error = e;
    } catch (const std::exception& e) {
      error = Error(ErrorKind::environment, e.what());
    }
    lock.lock();
    --running_;
    clock_.steps.fetch_add(worker.steps, std::memory_order_relaxed);
    if (error) {
      if (!error_) error_ = std::move(error);
      stopping_ = true;
    } else {
      settle(*group, worker, parking);
      if (dispatch.retired == dispatch.workgroups) {
        std::erase(active_, &dispatch);
        lock.unlock();
        completed(dispatch);
        const bool enough = stop();
        lock.lock();
        if (enough) stopping_ = true;
      }
      check_limit();
    }
    changed_.notify_all();
  }
  stopping_ = true;
  changed_.notify_all();
  _mm_setcsr(host_mode);
}

void Scheduler::check_limit() {
  if (!options_.max_steps || clock_.steps.load() < *options_.max_steps) return;
  if (error_ || active_.empty()) return;
  error_ = limit_error(clock_.steps.load(), *options_.max_steps, sorted_workgroups());
  stopping_ = true;
}

Workgroup* Scheduler::next_workgroup(std::unique_lock<std::mutex>& lock) {
  while (!stopping_) {
    release_held(/*early=*/false);
    end_due_naps();
    const bool room = resident_bytes_ < options_.resident_bytes;
    // Under a seed everything that fits is in flight before anything runs.
    if (options_.seed && room) {
      if (Workgroup* group = admit()) {
        make_ready(*group, true);
        continue;
      }
    }
    if (!ready_.empty()) {
      if (options_.seed) std::swap(ready_.front(), ready_[random_() % ready_.size()]);
      Workgroup* group = ready_.front();
      ready_.pop_front();
      return group;
    }
    if (room || (running_ == 0 && waiting_.empty())) {
      if (Workgroup* group = admit()) return group;
    }
    if (!waiting_.empty()) {
      Workgroup* group = waiting_.front();
      waiting_.pop_front();
      return group;
    }
    if (running_ == 0) {
      if (active_.empty()) return nullptr;
      if (end_pause(lock) || release_held(/*early=*/true) || jump_clock()) continue;
      stalled_ = true;
      return nullptr;
    }
    changed_.wait(lock);
  }
  return nullptr;
}

Workgroup* Scheduler::admit() {
  for (size_t i = 0; i < active_.size(); ++i) {
    Dispatch& d = *active_[i];
    if (d.admitted == d.workgroups) continue;
    // In turn, so that launches that wait for each other start together.
    std::rotate(active_.begin() + static_cast<ptrdiff_t>(i),
                active_.begin() + static_cast<ptrdiff_t>(i) + 1, active_.end());
    resident_bytes_ += workgroup_bytes(d);
    resident_.push_back(make_workgroup(d, d.admitted++));
    give_tickets(*resident_.back());
    return resident_.back().get();
  }
  return nullptr;
}

void Scheduler::give_tickets(Workgroup& group) {
  for (auto& wave : group.waves) {
    if (free_tickets_.empty()) {
      free_tickets_.push_back(static_cast<uint32_t>(tickets_.size()));
      tickets_.push_back({nullptr, 0});
    }
    wave->spin.ticket = free_tickets_.back();
    free_tickets_.pop_back();
    tickets_[wave->spin.ticket].wave = wave.get();
  }
}

Wave* Scheduler::still_waiting(uint32_t ticket, uint64_t epoch) const {
  return tickets_[ticket].epoch == epoch ? tickets_[ticket].wave : nullptr;
}

bool Scheduler::any_runnable(const Workgroup& group) const {
  return std::ranges::any_of(group.waves,
                             [](const auto& w) { return w->state == WaveState::runnable; });
}

void Scheduler::release_barrier(Workgroup& group) {
  if (group.at_barrier == 0 || group.at_barrier < group.live) return;
  group.at_barrier = 0;
  for (auto& wave : group.waves) {
    if (wave->state == WaveState::barrier) wave->state = WaveState::runnable;
  }
}

void Scheduler::run_workgroup(Workgroup& group, Worker& worker, std::vector<Wave*>& parking) {
  if (options_.seed) {
    std::vector<Wave*> runnable;
    for (auto& wave : group.waves) {
      if (wave->state == WaveState::runnable) runnable.push_back(wave.get());
    }
    Wave& wave = *runnable[random_() % runnable.size()];
    wave.memory_budget = static_cast<int32_t>(random_() % kMaxSeededMemory);
    wave.branch_budget = static_cast<int32_t>(random_() % kMaxSeededBranches);
    run_wave(wave, worker, parking);
    return;
  }
  group.waited = false;
  bool progress = true;
  for (int pass = 0; pass < kPassesPerTurn && progress; ++pass) {
    progress = false;
    for (auto& wave : group.waves) {
      if (wave->state != WaveState::runnable) continue;
      wave->memory_budget = -1;
      wave->branch_budget = kBranchBudget;
      progress |= run_wave(*wave, worker, parking);
      if (group.hold_steps != 0) return;
    }
  }
}

/// True when the wave ended or reached a barrier: others may go on for that.
bool Scheduler::run_wave(Wave& wave, Worker& worker, std::vector<Wave*>& parking) {
  Workgroup& group = *wave.workgroup;
  wave.worker = &worker;
  try {
    run_slice(wave, *wave.dispatch->code->program);
  } catch (const Fault& fault) {
    throw fault_error(wave, fault);
  }
  if (wave.spin.wrote_lds) {
    wave.spin.wrote_lds = false;
    ++group.lds_version;
  }
  switch (wave.stop) {
    case Stop::ended:
      wave.state = WaveState::ended;
      --group.live;
      release_barrier(group);
      return true;
    case Stop::barrier:
      wave.state = WaveState::barrier;
      ++group.at_barrier;
      release_barrier(group);
      return true;
    case Stop::held:
      return false;
    default:
      probe(wave, parking);
      return false;
  }
}

/// A wave that comes back to where it was, with the state that it had and nothing written in
/// between, can only repeat itself until something that it read changes.
void Scheduler::probe(Wave& wave, std::vector<Wave*>& parking) {
  SpinWatch& spin = wave.spin;
  bool waits = false;
  if (spin.active && spin.pure && spin.probe_pc == wave.pc) {
    // The clock changes the state of a wave that reads it: it waits while what it reads stays.
    const uint64_t hash = spin.reads_clock ? reads_hash(wave) : state_hash(wave);
    waits = spin.hashed && hash == spin.state_hash;
    spin.state_hash = hash;
    spin.hashed = true;
  } else {
    spin.hashed = false;
    // A slice may end anywhere in the loop of a wait: what ends a wait is a change that it makes.
    if (!spin.pure) spin.naps = 0;
  }
  if (waits) {
    wave.state = WaveState::parked;
    parking.push_back(&wave);
    return;
  }
  begin_watch(wave);
}

/// After a workgroup's turn: what it woke, what of it waits now, whether it is done. With the lock.
void Scheduler::settle(Workgroup& group, Worker& worker, std::vector<Wave*>& parking) {
  group.state = GroupState::idle;
  // Before the wakes: they would put a workgroup that is held into a queue as well.
  if (group.hold_steps != 0) hold(group);
  for (Wave* wave : parking) {
    ++worker.tally->traffic[wait_pc(*wave)].parks;
    if (!park(*wave)) wake(*wave);
  }
  parking.clear();
  for (const uint32_t bucket : worker.woken) wake_bucket(bucket);
  worker.woken.clear();
  for (Wave* wave : group.woken) wake(*wave);
  group.woken.clear();
  for (auto& wave : group.waves) {
    if (wave->state == WaveState::parked && wave->spin.reads_lds &&
        wave->spin.lds_version != group.lds_version) {
      wake(*wave);
    }
  }
  if (group.live == 0) {
    retire(group);
  } else if (group.state != GroupState::held && any_runnable(group)) {
    make_ready(group, !group.waited && ++group.turns < kTurnsBeforeOthers);
  }
}

/// False when something that the wave read has changed already.
bool Scheduler::park(Wave& wave) {
  SpinWatch& spin = wave.spin;
  WatchTable& table = memory_.watch();
  for (const Watch& watch : spin.watch) table.add_waiter(watch.bucket);
  spin.registered = true;
  const uint64_t epoch = ++tickets_[spin.ticket].epoch;
  for (const Watch& watch : spin.watch) {
    if (table.version(watch.bucket) != watch.version) return false;
  }
  if (spin.reads_lds && spin.lds_version != wave.workgroup->lds_version) return false;
  for (const Watch& watch : spin.watch) {
    std::vector<Parked>& here = parked_[watch.bucket];
    constexpr size_t kTidyFrom = 64;
    if (here.size() >= kTidyFrom && here.size() == here.capacity()) {
      std::erase_if(here, [&](const Parked& p) { return !still_waiting(p.ticket, p.epoch); });
    }
    here.push_back({spin.ticket, epoch});
  }
  if (spin.reads_clock) {
    constexpr uint32_t kMaxNapShift = 26;
    const uint64_t ticks = uint64_t{16} << std::min(spin.naps++, kMaxNapShift);
    timers_.push_back({clock_.now() + ticks, spin.ticket, epoch});
    std::ranges::push_heap(timers_, by_due);
  }
  return true;
}

void Scheduler::wake(Wave& wave) {
  if (wave.state != WaveState::parked) return;
  SpinWatch& spin = wave.spin;
  if (spin.registered) {
    for (const Watch& watch : spin.watch) memory_.watch().remove_waiter(watch.bucket);
    spin.registered = false;
  }
  ++tickets_[spin.ticket].epoch;
  wave.state = WaveState::runnable;
  begin_watch(wave);
  make_ready(*wave.workgroup, false);
}

/// A workgroup that runs on some thread wakes its waves itself, after its turn.
void Scheduler::wake_or_tell(Wave& wave) {
  if (wave.workgroup->state == GroupState::running) {
    wave.workgroup->woken.push_back(&wave);
  } else {
    wake(wave);
  }
}

void Scheduler::wake_bucket(uint32_t bucket) {
  std::vector<Parked> here;
  here.swap(parked_[bucket]);
  for (const Parked& p : here) {
    if (Wave* wave = still_waiting(p.ticket, p.epoch)) wake_or_tell(*wave);
  }
}

/// Ends the first nap; false when its wave waits no longer.
bool Scheduler::end_first_nap() {
  std::ranges::pop_heap(timers_, by_due);
  const Timer timer = timers_.back();
  timers_.pop_back();
  Wave* wave = still_waiting(timer.ticket, timer.epoch);
  if (!wave) return false;
  if (timer.due > clock_.now()) clock_.skipped.fetch_add(timer.due - clock_.now());
  wake_or_tell(*wave);
  return true;
}

/// Naps that are over, while others work.
void Scheduler::end_due_naps() {
  while (!timers_.empty() && timers_.front().due <= clock_.now()) end_first_nap();
}

/// All wait, some of them by the clock: time passes until the first of those is due.
bool Scheduler::jump_clock() {
  while (!timers_.empty()) {
    if (end_first_nap()) return true;
  }
  return false;
}

void Scheduler::hold(Workgroup& group) {
  group.state = GroupState::held;
  held_.push_back({clock_.steps.load() + group.hold_steps, &group});
  std::ranges::push_heap(held_, by_due);
  group.hold_steps = 0;
}

/// Workgroups whose delay is over go on. `early`: one whose delay is not over, when there is one.
bool Scheduler::release_held(bool early) {
  bool released = false;
  while (!held_.empty() && (held_.front().due <= clock_.steps.load() || (early && !released))) {
    release_first_held();
    released = true;
  }
  return released;
}

void Scheduler::release_first_held() {
  std::ranges::pop_heap(held_, by_due);
  Workgroup& group = *held_.back().group;
  held_.pop_back();
  group.state = GroupState::idle;
  if (any_runnable(group)) make_ready(group, false);
}

/// When all that is held is paused: a delay that is not over is due before any pause.
bool Scheduler::end_pause(std::unique_lock<std::mutex>& lock) {
  if (held_.empty() || held_.front().due < kPauseSteps) return false;
  std::set<int> pauses;
  for (const Held& held : held_) pauses.insert(held.group->pause);
  ++running_;  // the other threads wait for this one
  lock.unlock();
  for (int pause : pauses) pause_observer_(pause);
  lock.lock();
  --running_;
  while (!held_.empty()) release_first_held();
  changed_.notify_all();
  return true;
}

void Scheduler::make_ready(Workgroup& group, bool at_once) {
  if (group.state != GroupState::idle) return;
  group.state = GroupState::queued;
  if (at_once || options_.seed) {
    ready_.push_back(&group);
  } else {
    group.turns = 0;
    waiting_.push_back(&group);
  }
}

void Scheduler::retire(Workgroup& group) {
  ++group.dispatch->retired;
  for (auto& wave : group.waves) {
    ++tickets_[wave->spin.ticket].epoch;
    free_tickets_.push_back(wave->spin.ticket);
  }
  resident_bytes_ -= workgroup_bytes(*group.dispatch);
  const auto at = std::ranges::find(resident_, &group, &std::unique_ptr<Workgroup>::get);
  std::swap(*at, resident_.back());
  resident_.pop_back();
}

void Scheduler::host_wrote(uint64_t address, uint64_t bytes) {
  std::vector<uint32_t> woken;
  memory_.watch().written(address, bytes, woken);
  const std::lock_guard lock(mutex_);
  for (const uint32_t bucket : woken) wake_bucket(bucket);
  changed_.notify_all();
}

std::vector<const Workgroup*> Scheduler::workgroups() const {
  const std::lock_guard lock(mutex_);
  return sorted_workgroups();
}

std::vector<const Workgroup*> Scheduler::sorted_workgroups() const {
  std::vector<const Workgroup*> all;
  for (const auto& group : resident_) all.push_back(group.get());
  std::ranges::sort(all, {},
                    [](const Workgroup* g) { return std::pair(g->dispatch->device, g->number); });
  return all;
}

}  // namespace baton::emulator
