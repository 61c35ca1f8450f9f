// Signals that end the process, held back while something temporary lies on disk.
#pragma once

#include <pthread.h>

#include <csignal>

namespace baton {

/// While this lives, SIGINT, SIGTERM and SIGHUP wait for this thread: what was half-written is
/// finished or taken away first. For milliseconds of work only.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace baton
