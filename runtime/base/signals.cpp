#include "runtime/base/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

namespace baton {
namespace {

/// For who hangs while it holds: the signal is not lost on him.
constexpr std::chrono::seconds kPatience(1);

struct Holders {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  bool ending = false;
};

/// Never destroyed: the watch may look at it while the process exits.
Holders& holders() {
  static Holders* const all = new Holders;
  return *all;
}

thread_local int depth = 0;

[[noreturn]] void watch(const sigset_t& signals) {
  int signal = 0;
  while (::sigwait(&signals, &signal) != 0) {
  }
  Holders& all = holders();
  {
    std::unique_lock lock(all.mutex);
    all.ending = true;
    all.changed.wait_for(lock, kPatience, [&] { return all.count == 0; });
  }
  std::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);
}

/// Whoever started the process may want a signal ignored, as nohup does.
bool is_ignored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

HeldSignals::HeldSignals() {
  if (depth++ > 0) return;
  Holders& all = holders();
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return !all.ending; });  // else the process is about to end
  ++all.count;
}

HeldSignals::~HeldSignals() {
  if (--depth > 0) return;
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  --all.count;
  all.changed.notify_all();
}

void end_on_signals() {
  sigset_t ending, all;
  ::sigemptyset(&ending);
  ::sigemptyset(&all);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&all, signal);
    if (!is_ignored(signal)) ::sigaddset(&ending, signal);
  }
  // An ignored one too: LLVM puts handlers of its own in the place of what ignores it.
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  try {
    std::thread([ending] { watch(ending); }).detach();
  } catch (const std::system_error&) {
    ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);  // without a thread they end it at once
  }
}

}  // namespace baton
