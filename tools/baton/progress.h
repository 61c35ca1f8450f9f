// One line on a terminal that says what takes so long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace baton::cli {

/// Shows the phase and its seconds on standard error when the work has lasted over a second, in
/// place, and takes the line away again. Silent unless standard error is a terminal. Nothing else
/// may be printed while a phase is on: hide() comes first.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is being done now: "compile".
  void phase(const std::string& name);
  /// The phase goes on, under another name.
  void update(const std::string& name);
  /// No line until the next phase.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  void work();
  void draw();
  void erase();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string phase_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point phase_started_ = Clock::now();
  bool drawn_ = false;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace baton::cli
