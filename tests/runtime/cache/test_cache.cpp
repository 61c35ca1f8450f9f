#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "runtime/cache/prune.h"
#include "runtime/cache/upkeep.h"
#include "tests/runtime/cache/processes.h"
#include "tests/runtime/cache/stub_cache.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using tests::error_of;
using tests::keep;
using tests::stub_content;
using tests::stub_key;
using tests::stub_name;
using tests::stub_object;
using tests::TempFolder;

/// A cache in a folder of its own, and what it complained of.
struct CacheFixture {
  TempFolder temporary;
  fs::path folder = temporary / "cache";
  std::vector<std::string> reports;

  CacheOptions options() {
    return {.folder = folder,
            .report = [this](const std::string& line) { reports.push_back(line); }};
  }
  fs::path entry(int64_t tokens) const { return tests::entry_of(folder, tokens); }
  fs::path index_file(int64_t tokens) const { return tests::index_file_of(folder, tokens); }
  static std::optional<CodeObject> look_up(Cache& cache, int64_t tokens) {
    const CodeName name = stub_name(tokens);
    const std::optional<Digest> content = cache.find(name);
    return content ? cache.load(*content, name) : std::nullopt;
  }
};

TEST_CASE_METHOD(CacheFixture, "what is stored is found again, also by another process's cache") {
  Cache cache(options());
  CHECK_FALSE(look_up(cache, 8));
  keep(cache, 8);
  Cache other(options());
  const std::optional<CodeObject> found = look_up(other, 8);
  REQUIRE(found);
  CHECK(found->bytes == stub_object(stub_key(8)).bytes);
  CHECK(found->record == stub_object(stub_key(8)).record);
  CHECK_FALSE(look_up(other, 9));
  CHECK(reports.empty());
  CHECK(fs::is_empty(cache_layout::work(folder)));
}

TEST_CASE_METHOD(CacheFixture, "key, chip and library build each make another name") {
  Cache cache(options());
  keep(cache, 8);
  const BuildKey key = stub_key(8);
  CHECK(cache.find(stub_name(key)));
  CHECK_FALSE(cache.find(stub_name(80)));
  CHECK_FALSE(cache.find(stub_name(stub_key(8, "gfx942"))));
  CHECK_FALSE(cache.find(stub_name(key, "another library")));
}

TEST_CASE_METHOD(CacheFixture, "an entry holds the files that `baton compile` writes") {
  Cache cache(options());
  keep(cache, 8);
  const CodeObject object = stub_object(stub_key(8));
  CHECK(read_file(entry(8) / "code.co") == object.bytes);
  const Bytes record = read_file(entry(8) / "code.co.json");
  CHECK(std::string(record.begin(), record.end()) == object.record.to_json());
}

TEST_CASE_METHOD(CacheFixture, "one bit changed anywhere in any file is named and never loaded") {
  Cache cache(options());
  keep(cache, 8);
  for (const fs::path& file :
       {entry(8) / "code.co", entry(8) / "code.co.json", entry(8) / "entry.json", index_file(8)}) {
    const Bytes whole = read_file(file);
    const size_t step = std::max<size_t>(1, whole.size() / 97);  // a prime: all bits come up
    for (size_t i = 0; i < whole.size(); i += step) {
      Bytes changed = whole;
      changed[i] = static_cast<uint8_t>(changed[i] ^ (1u << (i % 8)));
      write_file(file, changed);
      reports.clear();
      CAPTURE(file.string(), i);
      CHECK_FALSE(look_up(cache, 8));
      REQUIRE(reports.size() == 1);
      CHECK(reports[0].starts_with("damaged: " + file.string() + ": "));
      CHECK(check_cache(folder).damaged() == 1);
    }
    write_file(file, whole);
    CHECK(look_up(cache, 8));
  }
}

TEST_CASE_METHOD(CacheFixture,
                 "files that are cut, gone, or something else are named and not loaded") {
  Cache cache(options());
  keep(cache, 8);
  for (const fs::path& file :
       {entry(8) / "code.co", entry(8) / "code.co.json", entry(8) / "entry.json", index_file(8)}) {
    const Bytes whole = read_file(file);
    const bool is_index = file == index_file(8);
    CAPTURE(file.string());
    for (size_t size : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 1}) {
      write_file(file, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
      reports.clear();
      CHECK_FALSE(look_up(cache, 8));
      CHECK(reports.size() == 1);
    }
    fs::remove(file);
    reports.clear();
    CHECK_FALSE(look_up(cache, 8));
    CHECK(reports.size() == (is_index ? 0 : 1));
    fs::create_directory(file);
    reports.clear();
    CHECK_FALSE(look_up(cache, 8));
    CHECK(reports.size() == 1);
    fs::remove(file);
    keep(cache, 8);  // repairs what is damaged
    CHECK(look_up(cache, 8));
  }
}

TEST_CASE_METHOD(CacheFixture, "an entry or an index file in another's place is not taken for it") {
  Cache cache(options());
  keep(cache, 8);
  keep(cache, 9);
  fs::remove_all(entry(8));
  fs::rename(entry(9), entry(8));
  CHECK_FALSE(look_up(cache, 8));
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find("moved from there") != std::string::npos);
  CHECK_FALSE(look_up(cache, 9));  // it is not there, which is no damage
  CHECK(reports.size() == 1);
  keep(cache, 8);
  fs::copy_file(index_file(8), index_file(9), fs::copy_options::overwrite_existing);
  CHECK_FALSE(look_up(cache, 9));
  CHECK(reports.size() == 2);
  CHECK(check_cache(folder).damaged_index.size() == 1);
}

TEST_CASE_METHOD(CacheFixture, "a content that belongs to another key is not loaded for this one") {
  Cache cache(options());
  keep(cache, 8);
  CHECK_FALSE(cache.load(stub_content(8), stub_name(9)));
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find("not what was asked for") != std::string::npos);
}

TEST_CASE_METHOD(CacheFixture, "a read-only cache is only read") {
  {
    Cache cache(options());
    keep(cache, 8);
  }
  const auto stamp = [](const fs::path& path) { return fs::last_write_time(path); };
  const fs::path seal = entry(8) / "entry.json";
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, seal.c_str(), old, 0);
  const auto before = stamp(seal);
  CacheOptions read_only = options();
  read_only.read_only = true;
  Cache cache(read_only);
  CHECK(look_up(cache, 8));
  CHECK(stamp(seal) == before);
  read_only.folder = temporary / "no such folder";
  Cache absent(read_only);
  CHECK_FALSE(look_up(absent, 8));
  CHECK_FALSE(fs::exists(temporary / "no such folder"));
  CHECK(reports.empty());
}

TEST_CASE_METHOD(CacheFixture,
                 "a folder of another user, or that everybody may write, is refused") {
  {
    Cache cache(options());
    keep(cache, 8);
  }
  fs::path foreign = "/";
  if (geteuid() == 0) {
    REQUIRE(chown(folder.c_str(), 12345, 12345) == 0);
    foreign = folder;
  }
  CacheOptions other = options();
  other.folder = foreign;
  const Error error = error_of(ErrorKind::environment, [&] { Cache cache(other); });
  CHECK(std::string(error.what())
            .starts_with("the cache folder '" + foreign.string() + "' belongs to user "));
  CHECK(error.hint().find("BATON_CACHE_DIR") != std::string::npos);
  if (geteuid() == 0) {
    other.read_only = true;
    Cache cache(other);
    CHECK(look_up(cache, 8));
    REQUIRE(chown(folder.c_str(), 0, 0) == 0);
  }
  REQUIRE(chmod(folder.c_str(), 0777) == 0);
  const Error open = error_of(ErrorKind::environment, [&] { Cache cache(options()); });
  CHECK(std::string(open.what()).starts_with("every user may write the cache folder"));
}

TEST_CASE_METHOD(CacheFixture, "no part of a cache may be every user's to write") {
  {
    Cache cache(options());
  }
  for (const fs::path& part :
       {cache_layout::root(folder), cache_layout::objects(folder), cache_layout::index(folder),
        cache_layout::locks(folder), cache_layout::work(folder)}) {
    REQUIRE(chmod(part.c_str(), 0757) == 0);
    for (const bool read_only : {false, true}) {
      CacheOptions wanted = options();
      wanted.read_only = read_only;
      CHECK_THAT(error_of(ErrorKind::environment, [&] { Cache cache(wanted); }).what(),
                 Catch::Contains("may write the cache folder '" + part.string() + "'"));
    }
    REQUIRE(chmod(part.c_str(), 0755) == 0);
  }
  Cache cache(options());
}

TEST_CASE_METHOD(CacheFixture, "whatever the umask, only the owner may write what a cache makes") {
  folder = temporary / "above/cache";
  const mode_t before = umask(0);
  {
    Cache cache(options());
    keep(cache, 8);
  }
  Cache cache(options());
  umask(before);
  CHECK(look_up(cache, 8));
  size_t files = 0;
  for (const fs::path& path : fs::recursive_directory_iterator(temporary / "above")) {
    CAPTURE(path.string());
    CHECK((fs::status(path).permissions() & (fs::perms::group_write | fs::perms::others_write)) ==
          fs::perms::none);
    files += fs::is_regular_file(path);
  }
  CHECK(files == 4);
}

TEST_CASE_METHOD(CacheFixture, "a place where no folder can be made is named") {
  write_file(temporary / "file", as_bytes("x"));
  CacheOptions wrong = options();
  wrong.folder = temporary / "file";
  CHECK(std::string(error_of(ErrorKind::environment, [&] { Cache cache(wrong); }).what()) ==
        "the cache '" + wrong.folder.string() + "' is no folder");
  wrong.folder = temporary / "file/below";
  CHECK(std::string(error_of(ErrorKind::environment, [&] { Cache cache(wrong); }).what())
            .starts_with("cannot "));
}

TEST_CASE_METHOD(CacheFixture,
                 "what a killed process left is swept, what a live one makes is not") {
  {
    Cache cache(options());
  }
  const fs::path left = cache_layout::work(folder) / "1-0";
  fs::create_directories(left / "entry");
  write_file(left / "entry/code.co", as_bytes("half"));
  int ready[2], done[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe(done) == 0);
  const pid_t child = tests::start_process([&] {
    const WorkFolder mine(cache_layout::work(folder), cache_layout::kWork);
    char byte = 'x';
    if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1) return false;
    return fs::exists(mine.path());
  });
  char byte;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  Cache cache(options());
  CHECK_FALSE(fs::exists(left));
  CHECK(std::distance(fs::directory_iterator(cache_layout::work(folder)), {}) == 1);
  REQUIRE(write(done[1], "x", 1) == 1);
  CHECK(tests::wait_for(child) == 0);
  for (int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST_CASE("the cache's place comes from the environment") {
  const auto with = [](const char* own, const char* xdg, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    };
    set("BATON_CACHE_DIR", own);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    return default_cache_folder().string();
  };
  CHECK(with("/own", "/xdg", "/home") == "/own");
  CHECK(with("", "/xdg", "/home") == "/xdg/baton");
  CHECK(with(nullptr, nullptr, "/home") == "/home/.cache/baton");
  error_of(ErrorKind::user, [&] { with("own", "/xdg", "/home"); });
  error_of(ErrorKind::environment, [&] { with(nullptr, nullptr, nullptr); });
}

}  // namespace
}  // namespace baton
