#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "runtime/cache/layout.h"
#include "runtime/loader.h"
#include "tests/runtime/cache/processes.h"
#include "tests/runtime/cache/stub_builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using tests::error_of;
using tests::stub_key;
using tests::stub_keys;
using tests::stub_object;
using tests::StubBuilder;
using tests::TempFolder;

struct LoaderFixture {
  TempFolder temporary;
  fs::path log = temporary / "log";
  std::vector<std::string> reports;

  CacheOptions at(const std::string& name) {
    return {.folder = temporary / name,
            .report = [this](const std::string& line) { reports.push_back(line); }};
  }
  StubBuilder builder(tests::StubOptions options = {}) {
    options.log = log;
    return StubBuilder(options);
  }
  /// How often the log says `what` ("trace", "compile").
  int count(const std::string& what) const {
    std::ifstream lines(log);
    int found = 0;
    for (std::string line; std::getline(lines, line);) found += line.starts_with(what + " ");
    return found;
  }
};

TEST_CASE_METHOD(LoaderFixture, "from memory, from disk, compiled: each source in its turn") {
  const StubBuilder stub = builder();
  Cache cache(at("c"));
  {
    Loader loader({.cache = &cache, .builder = &stub});
    const CodeObject& object = loader.get(stub_key(8));
    CHECK(object.bytes == stub_object(stub_key(8)).bytes);
    CHECK(&loader.get(stub_key(8)) == &object);
    CHECK(&loader.get(stub_key(9)) != &object);
    const LoaderCounts counts = loader.counts();
    CHECK(counts.memory == 1);
    CHECK(counts.compiled == 2);
    CHECK(counts.disk == 0);
  }
  Loader warm({.cache = &cache, .builder = &stub});
  CHECK(warm.get(stub_key(8)).record == stub_object(stub_key(8)).record);
  CHECK(warm.counts().disk == 1);
  CHECK(count("trace") == 2);
  CHECK(count("compile") == 2);
}

TEST_CASE_METHOD(LoaderFixture,
                 "another library build traces again; only another content compiles") {
  Cache cache(at("c"));
  const auto get = [&](const tests::StubOptions& options) {
    const StubBuilder stub = builder(options);
    Loader({.cache = &cache, .builder = &stub}).get(stub_key(8));
    return std::pair(count("trace"), count("compile"));
  };
  CHECK(get({}) == std::pair(1, 1));
  CHECK(get({}) == std::pair(1, 1));
  CHECK(get({.library = "two"}) == std::pair(2, 1));
  CHECK(get({.library = "three", .pipeline = "two"}) == std::pair(3, 2));
  CHECK(get({.library = "two"}) == std::pair(3, 2));
}

TEST_CASE_METHOD(LoaderFixture, "without a cache every loader compiles") {
  const StubBuilder stub = builder();
  for (int i = 1; i <= 2; ++i) {
    Loader loader({.builder = &stub});
    loader.get(stub_key(8));
    loader.get(stub_key(8));
    CHECK(count("compile") == i);
  }
}

TEST_CASE_METHOD(LoaderFixture, "however many threads ask, a key is compiled once") {
  const StubBuilder stub = builder({.compile_time = std::chrono::milliseconds(5)});
  Cache cache(at("c"));
  Loader loader({.cache = &cache, .builder = &stub});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        const BuildKey key = stub_key((round + i) % 5);
        wrong += loader.get(key).record.key != key.text();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(count("compile") == 5);
}

TEST_CASE_METHOD(LoaderFixture,
                 "everybody who waits gets the error, and the next call tries again") {
  const StubBuilder stub = builder({.compile_time = std::chrono::milliseconds(50), .refused = 3});
  Cache cache(at("c"));
  Loader loader({.cache = &cache, .builder = &stub});
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        loader.get(stub_key(3));
      } catch (const Error& error) {
        refused += error.what() == std::string("tokens 3 spills 3 registers");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(refused == 4);
  const int before = count("compile");
  CHECK(before <= 4);
  error_of(ErrorKind::user, [&] { loader.get(stub_key(3)); });
  CHECK(count("compile") == before + 1);
  CHECK(fs::is_empty(cache_layout::objects(temporary / "c")));
}

TEST_CASE_METHOD(LoaderFixture, "what is damaged on disk is reported, compiled again and whole") {
  const StubBuilder stub = builder();
  Cache cache(at("c"));
  Loader({.cache = &cache, .builder = &stub}).get(stub_key(8));
  const fs::path entry = *fs::directory_iterator(cache_layout::objects(temporary / "c"));
  Bytes bytes = read_file(entry / "code.co");
  bytes[5000] ^= 1;
  write_file(entry / "code.co", bytes);
  CHECK(Loader({.cache = &cache, .builder = &stub}).get(stub_key(8)).bytes ==
        stub_object(stub_key(8)).bytes);
  CHECK_FALSE(reports.empty());
  CHECK(count("compile") == 2);
  reports.clear();
  Loader({.cache = &cache, .builder = &stub}).get(stub_key(8));
  CHECK(reports.empty());
  CHECK(count("compile") == 2);
}

TEST_CASE_METHOD(LoaderFixture,
                 "without a builder, and read-only, a miss names every missing key") {
  const StubBuilder stub = builder();
  {
    Cache cache(at("c"));
    Loader({.cache = &cache, .builder = &stub}).get(stub_key(2));
  }
  CacheOptions options = at("c");
  options.read_only = true;
  Cache cache(options);
  Loader run_only({.cache = &cache, .library = stub.library()});
  Loader read_only({.cache = &cache, .builder = &stub});
  for (Loader* loader : {&run_only, &read_only}) {
    CHECK(loader->get(stub_key(2)).record.key == "stub:tokens=2");
    const Error one = error_of(ErrorKind::failed_check, [&] { loader->get(stub_key(1)); });
    CHECK(one.what() ==
          std::string("stub:tokens=1 for gfx950 is not on disk, and nothing may be compiled here"));
    const std::vector<PrepareFailure> failures = loader->prepare(stub_keys(3), 2);
    CHECK(failures.size() == 2);
    const std::string all =
        error_of(ErrorKind::failed_check, [&] { throw_if_any(failures); }).what();
    CHECK(all.starts_with("2 keys failed: stub:tokens=1 for gfx950"));
    CHECK(all.find("stub:tokens=3 for gfx950") != std::string::npos);
  }
  CHECK(count("compile") == 1);
  CHECK_NOTHROW(throw_if_any({}));
}

TEST_CASE_METHOD(LoaderFixture, "what was shipped is taken, what is missing is compiled") {
  const StubBuilder stub = builder();
  {
    Cache cache(at("shipped"));
    Loader({.cache = &cache, .builder = &stub}).prepare(stub_keys(3), 1);
  }
  CacheOptions options = at("shipped");
  options.read_only = true;
  Cache shipped(options), own(at("own"));
  Loader loader({.shipped = {&shipped}, .cache = &own, .builder = &stub});
  CHECK(loader.prepare(stub_keys(5), 2).empty());
  CHECK(count("compile") == 5);
  CHECK(loader.counts().disk == 3);
  // What another build shipped is not used by this one.
  const StubBuilder newer = builder({.library = "two", .pipeline = "two"});
  Loader changed({.shipped = {&shipped}, .cache = &own, .builder = &newer});
  changed.get(stub_key(1));
  CHECK(count("compile") == 6);
}

TEST_CASE_METHOD(LoaderFixture,
                 "prepare compiles each key once, tells of each, and keeps all errors") {
  const StubBuilder stub = builder({.refused = 7});
  Cache cache(at("c"));
  Loader loader({.cache = &cache, .builder = &stub});
  std::vector<BuildKey> keys = stub_keys(12);
  keys.push_back(stub_key(7));  // twice the same
  std::multiset<std::string> told;
  PrepareProgress last;
  const std::vector<PrepareFailure> failures =
      loader.prepare(keys, 4, [&](const PrepareProgress& progress) {
        told.insert(progress.key->text());
        CHECK(progress.done + progress.failed == told.size());
        CHECK(progress.total == 13);
        last = progress;
      });
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].key == stub_key(7));
  CHECK(failures[1].error.hint() == "use fewer tokens");
  CHECK(last.done == 11);
  CHECK(last.failed == 2);
  CHECK(told.size() == 13);
  CHECK(told.count("stub:tokens=7") == 2);
  CHECK(loader.prepare(stub_keys(6), 4).empty());
  CHECK(loader.prepare({}, 4).empty());
  CHECK(count("compile") <= 13);
}

TEST_CASE_METHOD(LoaderFixture,
                 "a cache that can keep nothing stops nothing, but where it must keep it") {
  const fs::path folder = temporary / "c";
  {
    Cache cache(at("c"));
  }
  const Bytes expected = stub_object(stub_key(8)).bytes;
  // Another user than root, so that permissions count.
  constexpr uid_t kNobody = 65534;
  REQUIRE(chmod(temporary.path().c_str(), 0755) == 0);
  for (const fs::path& path : fs::recursive_directory_iterator(temporary.path())) {
    if (geteuid() == 0) REQUIRE(chown(path.c_str(), kNobody, kNobody) == 0);
    REQUIRE(chmod(path.c_str(), 0555) == 0);
  }
  const pid_t child = tests::start_process([&] {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return false;
    const StubBuilder quiet({});
    Cache cache(at("c"));
    Loader loader({.cache = &cache, .builder = &quiet});
    Loader strict({.cache = &cache, .builder = &quiet, .must_keep = true});
    const std::vector<PrepareFailure> failures = strict.prepare(stub_keys(2), 1);
    return loader.get(stub_key(8)).bytes == expected && reports.size() == 1 &&
           failures.size() == 2 && failures[1].error.kind() == ErrorKind::environment &&
           std::string(failures[1].error.what()).ends_with(": Permission denied") &&
           reports[0].starts_with("not kept: stub:tokens=8: cannot make a folder in '") &&
           reports[0].ends_with(": Permission denied");
  });
  CHECK(tests::wait_for(child) == 0);
  for (const fs::path& path : fs::recursive_directory_iterator(temporary.path())) {
    chmod(path.c_str(), 0755);
  }
}

TEST_CASE_METHOD(LoaderFixture, "a lock that nobody lets go of ends the wait, not the work") {
  const StubBuilder stub = builder();
  CacheOptions options = at("c");
  options.patience = std::chrono::milliseconds(20);
  Cache cache(options);
  const CodeName name{.key = "stub:tokens=8", .chip = "gfx950", .library = stub.library()};
  const FileLock held = cache.lock(name.digest());
  Loader loader({.cache = &cache, .builder = &stub});
  loader.get(stub_key(8));
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find("not waiting any longer") != std::string::npos);
  CHECK(Loader({.cache = &cache, .builder = &stub}).get(stub_key(8)).record.key == name.key);
  CHECK(count("compile") == 1);
}

}  // namespace
}  // namespace baton
