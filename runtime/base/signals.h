// Signals that end the process, held back while something temporary lies on disk.
#pragma once

namespace baton {

/// While one of these lives on any thread, the watch of end_on_signals() waits: what is
/// half-written is finished or taken away first. For milliseconds of work only. In a process
/// without that watch signals do what they do.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
};

/// For a program's main(), before it starts a thread: from now on SIGINT, SIGTERM and SIGHUP, those
/// of them that are not ignored, end the process once nothing is held, or after a second.
void end_on_signals();

}  // namespace baton
