// Many processes on one cache folder, and what is left when one is killed.
#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "runtime/cache/upkeep.h"
#include "runtime/loader.h"
#include "tests/runtime/cache/processes.h"
#include "tests/runtime/cache/stub_builder.h"
#include "tests/support/temp_folder.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using tests::start_process;
using tests::stub_keys;
using tests::StubBuilder;
using tests::TempFolder;
using tests::wait_for;

/// Prepares all keys on a cache, and checks that every one has the bytes that it must have.
bool prepare_all(const fs::path& folder, const CodeBuilder& builder, int keys) {
  Cache cache({.folder = folder});
  Loader loader({.cache = &cache, .builder = &builder});
  if (!loader.prepare(stub_keys(keys), 2).empty()) return false;
  for (const BuildKey& key : stub_keys(keys)) {
    if (loader.get(key).bytes != tests::stub_object(key).bytes) return false;
  }
  return true;
}

/// How often each line stands in the log.
std::map<std::string, int> lines_of(const fs::path& log) {
  std::map<std::string, int> counts;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) ++counts[line];
  return counts;
}

TEST_CASE("8 processes on one empty cache compile each of 40 keys exactly once") {
  const TempFolder temporary;
  constexpr int kProcesses = 8, kKeys = 40;
  const StubBuilder builder({.log = temporary / "log", .compile_time = milliseconds(5)});
  std::array<pid_t, kProcesses> children;
  for (pid_t& child : children) {
    child = start_process([&] { return prepare_all(temporary / "c", builder, kKeys); });
  }
  for (pid_t child : children) CHECK(wait_for(child) == 0);
  const std::map<std::string, int> lines = lines_of(temporary / "log");
  for (const BuildKey& key : stub_keys(kKeys)) {
    CAPTURE(key.text());
    CHECK(lines.at("compile " + key.text()) == 1);
    CHECK(lines.at("trace " + key.text()) == 1);
  }
  const CacheHealth health = check_cache(temporary / "c");
  CHECK(health.entries.size() == kKeys);
  CHECK(health.index_files == kKeys);
  CHECK(health.damaged() + health.dangling + health.left_over == 0);
}

/// Kills one of three processes at a random point, `rounds` times on one cache folder. After each
/// kill nothing in it is damaged; the two others finish with the right bytes.
void kill_at_random(int rounds) {
  const uint32_t seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const TempFolder temporary;
  int killed = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    if (round % 4 == 0) fs::remove_all(temporary / "c");
    const StubBuilder builder({.log = temporary / "log", .compile_time = milliseconds(1)});
    constexpr int kKeys = 8;
    std::array<pid_t, 3> children;
    for (pid_t& child : children) {
      child = start_process([&] { return prepare_all(temporary / "c", builder, kKeys); });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    kill(children[0], SIGKILL);
    killed += wait_for(children[0]) == -1;
    REQUIRE(check_cache(temporary / "c").damaged() == 0);
    REQUIRE(wait_for(children[1]) == 0);
    REQUIRE(wait_for(children[2]) == 0);
    const CacheHealth health = check_cache(temporary / "c");
    REQUIRE(health.damaged() == 0);
    REQUIRE(health.entries.size() == kKeys);
  }
  // Some end before they are hit.
  CHECK(killed > 0);
  CHECK(killed <= rounds);
  // Whatever is left over is swept by the next one that opens the cache.
  Cache cache({.folder = temporary / "c"});
  CHECK(fs::is_empty(temporary / "c/v1/work"));
}

TEST_CASE("a process killed at a random point, 30 times: the cache is whole") {
  kill_at_random(30);
}

TEST_CASE("a process killed at a random point, 200 times: the cache is whole", "[.][whole]") {
  kill_at_random(200);
}

}  // namespace
}  // namespace baton
