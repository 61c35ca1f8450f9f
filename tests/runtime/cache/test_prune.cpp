#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <ctime>
#include <nlohmann/json.hpp>

#include "runtime/cache/prune.h"
#include "runtime/cache/sealed.h"
#include "runtime/cache/upkeep.h"
#include "tests/runtime/cache/stub_cache.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using tests::entry_of;
using tests::error_of;
using tests::index_file_of;
using tests::keep;
using tests::stub_content;
using tests::stub_name;
using tests::TempFolder;

/// As if the entry and its name had last been used that many seconds after 1970.
void set_used(const fs::path& folder, int64_t tokens, std::time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  const fs::path seal = entry_of(folder, tokens) / "entry.json";
  REQUIRE(utimensat(AT_FDCWD, seal.c_str(), times, 0) == 0);
  const fs::path name = index_file_of(folder, tokens);
  REQUIRE(utimensat(AT_FDCWD, name.c_str(), times, 0) == 0);
}

bool is_there(const fs::path& folder, int64_t tokens) {
  return fs::exists(entry_of(folder, tokens));
}

/// What one stored key takes on disk.
uint64_t bytes_of_one() {
  const TempFolder folder;
  Cache cache({.folder = folder / "c"});
  keep(cache, 1);
  return prune_cache(folder / "c", kDefaultCacheBytes).bytes_left;
}

TEST_CASE("the least recently used goes first, and a hit is a use") {
  const TempFolder temporary;
  const fs::path folder = temporary / "c";
  Cache cache({.folder = folder});
  for (int tokens = 1; tokens <= 4; ++tokens) {
    keep(cache, tokens);
    set_used(folder, tokens, 1000 + tokens);
  }
  CHECK(cache.load(*cache.find(stub_name(2)), stub_name(2)));
  const Pruned pruned = prune_cache(folder, 2 * bytes_of_one() + 100);
  CHECK(pruned.evicted == 2);
  CHECK(pruned.bytes_left <= 2 * bytes_of_one() + 100);
  CHECK_FALSE(is_there(folder, 1));
  CHECK(is_there(folder, 2));
  CHECK_FALSE(is_there(folder, 3));
  CHECK(is_there(folder, 4));
  CHECK(check_cache(folder).damaged() == 0);
  CHECK(prune_cache(folder, 0).evicted == 2);
  CHECK(prune_cache(folder, 0).evicted == 0);
  CHECK(fs::is_empty(cache_layout::index(folder)));
}

TEST_CASE("a cache keeps to its bound while keys are stored") {
  const TempFolder temporary;
  const fs::path folder = temporary / "c";
  const uint64_t bound = 20 * bytes_of_one();
  Cache cache({.folder = folder, .max_bytes = bound});
  for (int tokens = 1; tokens <= 60; ++tokens) keep(cache, tokens);
  const std::vector<CachedCode> left = list_cache(folder, true);
  CHECK(left.size() <= 22);  // it is measured when a sixteenth of the bound has been stored
  CHECK(left.size() >= 17);
  CHECK(is_there(folder, 60));
  CHECK_FALSE(is_there(folder, 1));
}

TEST_CASE("what is being compiled is not evicted") {
  const TempFolder temporary;
  const fs::path folder = temporary / "c";
  Cache cache({.folder = folder});
  keep(cache, 1);
  keep(cache, 2);
  const FileLock held = cache.lock(stub_content(1));
  CHECK(prune_cache(folder, 0).evicted == 1);
  CHECK(is_there(folder, 1));
}

TEST_CASE("a clock that was set back makes no entry stay for ever") {
  const TempFolder temporary;
  const fs::path folder = temporary / "c";
  Cache cache({.folder = folder});
  keep(cache, 1);
  const std::time_t now = std::time(nullptr);
  set_used(folder, 1, now + 10L * 365 * 24 * 3600);
  CHECK(check_cache(folder).future == 1);
  keep(cache, 2);
  prune_cache(folder, kDefaultCacheBytes);
  CHECK(check_cache(folder).future == 0);
  set_used(folder, 2, now + 60);  // clocks of a network differ by that much
  CHECK(prune_cache(folder, bytes_of_one() + 100).evicted == 1);
  CHECK_FALSE(is_there(folder, 1));
  CHECK(is_there(folder, 2));
  set_used(folder, 2, 0);
  CHECK(cache.load(stub_content(2), stub_name(2)));
}

TEST_CASE("pruning removes what is damaged, dangling and left over") {
  const TempFolder temporary;
  const fs::path folder = temporary / "c";
  Cache cache({.folder = folder});
  for (int tokens = 1; tokens <= 4; ++tokens) keep(cache, tokens);
  write_file(entry_of(folder, 1) / "code.co", as_bytes("x"));
  fs::remove_all(entry_of(folder, 2));
  write_file(index_file_of(folder, 3), as_bytes("{}"));
  fs::create_directory(cache_layout::work(folder) / "1-7");
  write_file(cache_layout::locks(folder) / (stub_content(9).hex() + ".lock"), {});
  const CacheHealth health = check_cache(folder);
  CHECK(health.damaged() == 2);
  CHECK(health.dangling == 2);
  CHECK(health.left_over == 2);
  const Pruned pruned = prune_cache(folder, kDefaultCacheBytes);
  CHECK(pruned.damaged == 1);
  CHECK(pruned.index_files == 3);
  CHECK(pruned.left_over == 2);
  CHECK(pruned.evicted == 0);
  const CacheHealth after = check_cache(folder);
  CHECK(after.damaged() + after.dangling + after.left_over == 0);
  CHECK(after.entries.size() == 2);
  CHECK(after.index_files == 1);
}

TEST_CASE("an entry of another record format is whole, and is not read") {
  const TempFolder temporary;
  const fs::path folder = temporary / "c";
  Cache cache({.folder = folder});
  keep(cache, 1);
  CHECK(list_cache(folder, true).at(0).soundness == Soundness::sound);
  const fs::path path = entry_of(folder, 1) / "entry.json";
  const Bytes text = read_file(path);
  nlohmann::ordered_json json =
      unseal({reinterpret_cast<const char*>(text.data()), text.size()}, "");
  json.erase("seal");
  json["record_format"] = kRecordFormat + 1;
  write_file(path, as_bytes(seal(json)));
  CHECK(list_cache(folder, true).at(0).soundness == Soundness::other_version);
  CHECK(check_cache(folder).damaged() == 0);
  CHECK(list_cache(temporary / "none", true).empty());
}

TEST_CASE("a full disk is named, and what was there stays whole") {
  const TempFolder temporary;
  if (mount("tmpfs", temporary.path().c_str(), "tmpfs", 0, "size=128k,mode=755") != 0) {
    WARN("no permission to mount a tiny tmpfs");
    return;
  }
  const fs::path folder = temporary / "c";
  {
    Cache cache({.folder = folder});
    int64_t tokens = 1;
    const auto fill = [&] {
      for (; tokens < 1000; ++tokens) keep(cache, tokens);
    };
    const Error full = error_of(ErrorKind::environment, fill);
    CHECK(std::string(full.what()).find("No space left on device") != std::string::npos);
    CHECK(tokens > 2);
    const CacheHealth health = check_cache(folder);
    CHECK(health.damaged() + health.left_over == 0);
    CHECK(static_cast<int64_t>(health.entries.size()) >= tokens - 1);
    // Room can be made on a disk that is full.
    CHECK(prune_cache(folder, 30'000).evicted > 0);
    keep(cache, tokens);
    CHECK(is_there(folder, tokens));
  }
  umount(temporary.path().c_str());
}

}  // namespace
}  // namespace baton
