#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>
#include <vector>

#include "runtime/cache/file_lock.h"
#include "tests/runtime/cache/processes.h"
#include "tests/support/temp_folder.h"

namespace baton {
namespace {

using std::chrono::milliseconds;
using tests::TempFolder;
constexpr milliseconds kLong = std::chrono::minutes(4);

TEST_CASE("a lock is one holder's; the next one gets it, and no file stays") {
  const TempFolder folder;
  const std::filesystem::path path = folder / "x.lock";
  {
    const FileLock first(path, milliseconds(0));
    CHECK(first.state() == FileLock::State::held);
    CHECK(FileLock(path, milliseconds(0)).state() == FileLock::State::busy);
    CHECK(FileLock(path, milliseconds(30)).state() == FileLock::State::busy);
    CHECK(FileLock(folder / "y.lock", milliseconds(0)).state() == FileLock::State::held);
    CHECK(std::filesystem::exists(path));
  }
  CHECK(FileLock(path, milliseconds(0)).state() == FileLock::State::held);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("threads that share a lock are never two at once") {
  const TempFolder folder;
  std::atomic<int> inside = 0, most = 0;
  int entered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const FileLock lock(folder / "x.lock", kLong);
        most = std::max(most.load(), ++inside);
        ++entered;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most == 1);
  CHECK(entered == 200);
}

TEST_CASE("a lock ends with its holder, also by SIGKILL") {
  const TempFolder folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t holder = tests::start_process([&] {
    const FileLock lock(folder / "x.lock", milliseconds(0));
    if (write(ready[1], "x", 1) != 1) return false;
    std::this_thread::sleep_for(kLong);
    return true;
  });
  char byte;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK(FileLock(folder / "x.lock", milliseconds(0)).state() == FileLock::State::busy);
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(20));
    kill(holder, SIGKILL);
  });
  CHECK(FileLock(folder / "x.lock", kLong).state() == FileLock::State::held);
  killer.join();
  CHECK(tests::wait_for(holder) == -1);
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("where no lock file can be made, nobody waits") {
  const TempFolder folder;
  CHECK(FileLock(folder / "no/x.lock", kLong).state() == FileLock::State::unsupported);
  std::filesystem::create_symlink("y", folder / "link");
  CHECK(FileLock(folder / "link", kLong).state() == FileLock::State::unsupported);
}

}  // namespace
}  // namespace baton
