#include "runtime/base/threads.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace baton {

void on_threads(size_t count, int jobs, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  const auto wanted = std::min(count, static_cast<size_t>(std::max(jobs, 1)));
  try {
    while (threads.size() + 1 < wanted) threads.emplace_back(run);
  } catch (const std::system_error&) {
    // Those there are do the work.
  }
  run();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace baton
