// A lock between processes, and between threads, that ends with its holder however that ends.
#pragma once

#include <chrono>
#include <filesystem>

#include "runtime/base/descriptor.h"

namespace baton {

/// An advisory lock on a file that exists only while somebody wants it. The kernel lets go of it
/// when its holder dies, also by SIGKILL.
///
/// It saves work and guards no data: where the file system has no locks, or the folder cannot be
/// written, everybody goes on at once and `state()` says so.
class FileLock {
 public:
  enum class State {
    held,
    busy,         ///< somebody else still had it when the patience ended
    unsupported,  ///< no locks here
  };

  /// Waits for the lock, at most `patience`.
  FileLock(std::filesystem::path path, std::chrono::milliseconds patience);
  FileLock(FileLock&&) noexcept = default;
  /// Lets go, and takes the file away.
  ~FileLock();

  State state() const { return state_; }

 private:
  /// One attempt. `busy` may also mean that the file was replaced meanwhile.
  State attempt();

  std::filesystem::path path_;
  Descriptor file_;
  State state_ = State::busy;
};

}  // namespace baton
