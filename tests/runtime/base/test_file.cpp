#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "runtime/base/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using tests::error_of;
using tests::TempFolder;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

std::string text_of(const fs::path& path) {
  const Bytes bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("what is written is read back, and no temporary file stays") {
  const TempFolder folder;
  Bytes bytes(3'000'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 31 + (i >> 9));
  write_file(folder / "a.co", bytes);
  CHECK(read_file(folder / "a.co") == bytes);
  write_file(folder / "a.co", as_bytes("short"));
  CHECK(text_of(folder / "a.co") == "short");
  write_file(folder / "empty", {});
  CHECK(read_file(folder / "empty").empty());
  CHECK(entries(folder.path()) == 2);
}

TEST_CASE("a relative path is written in the current folder") {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file("x", as_bytes("1"));
  fs::current_path(before);
  CHECK(text_of(folder / "x") == "1");
}

TEST_CASE("a symbolic link keeps standing, its target is replaced") {
  const TempFolder folder;
  write_file(folder / "target", as_bytes("old"));
  fs::create_symlink("target", folder / "link");
  write_file(folder / "link", as_bytes("new"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(text_of(folder / "target") == "new");
}

TEST_CASE("a symbolic link to nothing keeps standing, its target is made") {
  const TempFolder folder;
  fs::create_directory(folder / "far");
  fs::create_symlink("far/second", folder / "first");
  fs::create_symlink("target", folder / "far/second");
  write_file(folder / "first", as_bytes("new"));
  CHECK(fs::is_symlink(folder / "first"));
  CHECK(fs::is_symlink(folder / "far/second"));
  CHECK(text_of(folder / "far/target") == "new");
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  CHECK(error_of(ErrorKind::user, [&] { write_file(folder / "a", {}); }).what() ==
        "cannot write '" + (folder / "a").string() + "': Too many levels of symbolic links");
}

TEST_CASE("a pipe is written through; one that nobody reads is refused and not waited for") {
  const TempFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error_of(ErrorKind::user, [&] { write_file(pipe, as_bytes("x")); }).what() ==
        "cannot write '" + pipe + "': nobody reads this pipe");
  // More than the pipe holds: the write has to wait for the reader.
  const Bytes bytes(300'000, 7);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  fcntl(reader, F_SETFL, 0);
  std::thread writer([&] { write_file(pipe, bytes); });
  Bytes seen(bytes.size());
  size_t filled = 0;
  while (filled < seen.size()) {
    const ssize_t count = read(reader, seen.data() + filled, seen.size() - filled);
    if (count <= 0 && filled != 0) break;
    filled += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  writer.join();
  close(reader);
  CHECK(seen == bytes);
}

TEST_CASE("paths that cannot be written are the user's errors and name the path") {
  const TempFolder folder;
  const std::string base = folder.path().string();
  const Error missing = error_of(ErrorKind::user, [&] { write_file(base + "/no/x", {}); });
  CHECK(missing.what() == "cannot write '" + base + "/no/x': No such file or directory");
  CHECK(missing.hint() == "check the path: every folder on it must exist");
  const Error is_folder = error_of(ErrorKind::user, [&] { write_file(base, {}); });
  CHECK(is_folder.what() == "cannot write '" + base + "': Is a directory");
  write_file(base + "/file", {});
  const Error through = error_of(ErrorKind::user, [&] { write_file(base + "/file/x", {}); });
  CHECK(through.what() == "cannot write '" + base + "/file/x': Not a directory");
  error_of(ErrorKind::user, [&] { write_file("", {}); });
  error_of(ErrorKind::user, [&] { write_file(base + "/" + std::string(300, 'n'), {}); });
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("paths that cannot be read are errors and name the path") {
  const TempFolder folder;
  const std::string base = folder.path().string();
  const Error missing = error_of(ErrorKind::user, [&] { read_file(base + "/x"); });
  CHECK(missing.what() == "cannot read '" + base + "/x': No such file or directory");
  CHECK(error_of(ErrorKind::user, [&] { read_file(base); }).what() ==
        "cannot read '" + base + "': Is a directory");
  CHECK(error_of(ErrorKind::user, [] { read_file("/dev/zero"); }).what() ==
        std::string("cannot read '/dev/zero': not a regular file"));
  REQUIRE(mkfifo((base + "/pipe").c_str(), 0600) == 0);
  CHECK(error_of(ErrorKind::user, [&] { read_file(base + "/pipe"); }).what() ==
        "cannot read '" + base + "/pipe': not a regular file");
  write_file(base + "/big", Bytes(11));
  CHECK(error_of(ErrorKind::user, [&] { read_file(base + "/big", 10); }).what() ==
        "cannot read '" + base + "/big': 11 bytes, over the limit of 10");
  CHECK(read_file(base + "/big", 11).size() == 11);
}

TEST_CASE("a full device is an environment error, and the device stays") {
  const Error full =
      error_of(ErrorKind::environment, [] { write_file("/dev/full", as_bytes("x")); });
  CHECK(full.what() == std::string("cannot write '/dev/full': No space left on device"));
  CHECK(full.hint() == "free some space or choose another disk");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a write that breaks off keeps the old file and leaves nothing beside it") {
  const TempFolder folder;
  write_file(folder / "a.co", as_bytes("old"));
  // The file-size limit stops the write half way, on any disk and for any user.
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight = {4096, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const Error cut =
      error_of(ErrorKind::environment, [&] { write_file(folder / "a.co", Bytes(10'000)); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(cut.what() == "cannot write '" + (folder / "a.co").string() + "': File too large");
  CHECK(text_of(folder / "a.co") == "old");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("files that belong together are replaced together, or not at all") {
  const TempFolder folder;
  const FileToWrite both[] = {{folder / "a", as_bytes("new a")}, {folder / "b", as_bytes("new b")}};
  write_files(both);
  CHECK(text_of(folder / "a") == "new a");
  CHECK(text_of(folder / "b") == "new b");
  const FileToWrite half[] = {{folder / "a", as_bytes("newer")}, {folder / "no/b", as_bytes("x")}};
  const Error missing = error_of(ErrorKind::user, [&] { write_files(half); });
  CHECK(missing.what() ==
        "cannot write '" + (folder / "no/b").string() + "': No such file or directory");
  const FileToWrite device[] = {{folder / "a", as_bytes("newer")}, {"/dev/null", {}}};
  CHECK(error_of(ErrorKind::environment, [&] { write_files(device); }).what() ==
        std::string("cannot write '/dev/null': Invalid argument"));
  CHECK(text_of(folder / "a") == "new a");
  CHECK(entries(folder.path()) == 2);
}

/// Runs `body` in a child that is not root, so that permissions count; true when it returned true.
bool as_nobody(const std::function<bool()>& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(2);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("folders are made down to the last, or none") {
  const TempFolder folder;
  CHECK(make_folders(folder / "a/b/c") == 0);
  CHECK(make_folders(folder / "a/b/c/") == 0);
  CHECK(fs::is_directory(folder / "a/b/c"));
  CHECK(make_folders(folder / ("a/d/e/" + std::string(300, 'n'))) == ENAMETOOLONG);
  CHECK_FALSE(fs::exists(folder / "a/d"));
  write_file(folder / "file", as_bytes("kept"));
  CHECK(make_folders(folder / "file/x") == ENOTDIR);
  CHECK(make_folders(folder / "file") == EEXIST);
}

TEST_CASE("a folder without write permission refuses, and says so") {
  const TempFolder folder;
  REQUIRE(chmod(folder.path().c_str(), 0555) == 0);
  CHECK(as_nobody([&] {
    try {
      write_file(folder / "x", as_bytes("x"));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::user &&
             std::string(error.what()).ends_with("/x': Permission denied") &&
             error.hint() == "choose a path that this user may use, or change its permissions";
    }
    return false;
  }));
  CHECK(entries(folder.path()) == 0);
  chmod(folder.path().c_str(), 0755);
}

TEST_CASE("a full disk keeps the old file and leaves nothing beside it") {
  const TempFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    WARN("no permission to mount a tiny tmpfs: the file-size limit case covers the same path");
    return;
  }
  write_file(folder / "a.co", as_bytes("old"));
  const Error full =
      error_of(ErrorKind::environment, [&] { write_file(folder / "a.co", Bytes(200'000)); });
  CHECK(full.what() ==
        "cannot write '" + (folder / "a.co").string() + "': No space left on device");
  CHECK(text_of(folder / "a.co") == "old");
  CHECK(entries(folder.path()) == 1);
  umount(folder.path().c_str());
}

}  // namespace
}  // namespace baton
