// Code objects that several machines share, behind a plain web server.
#pragma once

#include <atomic>
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
/// and what does not come in time is compiled: after the first failure the server is left alone.
class SharedStore {
 public:
  struct Options {
    std::string url;
    /// For a file to come. A server that needs longer is left alone.
    std::chrono::milliseconds patience = std::chrono::seconds(2);
    std::function<void(const std::string& line)> report = {};  ///< any thread
  };

  /// Throws Error (user) for a bad URL; nothing is sent yet.
  explicit SharedStore(Options options);
  /// Waits for what is still to be sent, as long as the server takes it.
  ~SharedStore();
  SharedStore(const SharedStore&) = delete;

  /// Nothing when it is not there, or the server or the file is unsound, which is reported.
  std::optional<CodeObject> fetch(const Digest& content);
  /// Sends it behind the caller's back.
  void offer(const Digest& content, const CodeObject& object);

 private:
  void send_all();
  void give_up(const std::string& why);

  Options options_;
  HttpFolder folder_;
  std::atomic<bool> given_up_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, Bytes>> waiting_;
  bool ending_ = false;
  std::thread sender_;
};

}  // namespace baton
