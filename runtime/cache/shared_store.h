// Code objects that several machines share, behind a plain web server.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runtime/base/digest.h"
#include "runtime/cache/http.h"
#include "runtime/object/code_object.h"

namespace baton {

/// One file a content. What comes from there is held to the same checks as what comes from disk,
/// and what does not come in time is compiled. After the first failure, or when slow answers have
/// cost `patience` in all, the server is left alone.
class SharedStore {
 public:
  struct Options {
    std::string url;
    /// For a file to come, for all slow answers together, and for what is still to be sent at the
    /// end.
    std::chrono::milliseconds patience = std::chrono::seconds(2);
    /// An answer that takes longer is slow.
    std::chrono::milliseconds slow = std::chrono::milliseconds(250);
    std::function<void(const std::string& line)> report = {};  ///< any thread
  };

  /// Throws Error (user) for a bad URL; nothing is sent yet.
  explicit SharedStore(Options options);
  /// Waits for what is still to be sent, for at most `patience`; reports what was not.
  ~SharedStore();
  SharedStore(const SharedStore&) = delete;

  /// Nothing when it is not there, or the server or the file is unsound, which is reported.
  std::optional<CodeObject> fetch(const Digest& content);
  /// Sends it behind the caller's back.
  void offer(const Digest& content, const CodeObject& object);

 private:
  using Clock = std::chrono::steady_clock;

  void send_all();
  /// How long the next answer may take: what slow ones have left of the patience.
  std::chrono::milliseconds patience_left() const;
  void count_slow(Clock::duration took);
  void give_up(const std::string& why);
  void report(const std::string& line) const;

  Options options_;
  HttpFolder folder_;
  std::atomic<bool> given_up_ = false;
  std::atomic<int64_t> slow_ms_ = 0;  ///< what slow answers have cost
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, Bytes>> waiting_;
  std::optional<Clock::time_point> end_;  ///< once there is one: nothing is sent after it
  std::thread sender_;
};

}  // namespace baton
