// Ranks that are threads of one process, for tests of what happens when one of them fails.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/base/error.h"
#include "runtime/ranks/exchange.h"

namespace baton::tests {

/// Where the threads meet.
class Meeting {
 public:
  explicit Meeting(int ranks) : given_(static_cast<size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(given_.size()); }

  std::vector<Bytes> meet(int rank, ByteView own) {
    std::unique_lock lock(mutex_);
    given_[static_cast<size_t>(rank)] = Bytes(own.begin(), own.end());
    const int round = round_;
    if (++here_ == ranks()) {
      here_ = 0;
      ++round_;
      gathered_ = given_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return round_ != round || left_; });
    }
    if (round_ == round) throw Error(ErrorKind::environment, "a peer is gone");
    return gathered_;
  }
  /// Whoever waits now waits in vain.
  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Bytes> given_, gathered_;
  int here_ = 0, round_ = 0;
  bool left_ = false;
};

class ThreadExchange : public Exchange {
 public:
  ThreadExchange(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}

  int rank() const override { return rank_; }
  int ranks() const override { return meeting_.ranks(); }
  std::vector<Bytes> all_gather(ByteView own) override { return meeting_.meet(rank_, own); }

 private:
  Meeting& meeting_;
  const int rank_;
};

/// Runs `body` on a thread a rank; what each threw, by rank.
inline std::vector<std::optional<Error>> run_ranks(int ranks,
                                                   const std::function<void(Exchange&)>& body) {
  Meeting meeting(ranks);
  std::vector<std::optional<Error>> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadExchange exchange(meeting, rank);
      try {
        body(exchange);
      } catch (const Error& error) {
        errors[static_cast<size_t>(rank)] = error;
      }
      meeting.leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace baton::tests
