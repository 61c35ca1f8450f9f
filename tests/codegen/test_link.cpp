// Linking in the process: what it leaves behind, and how it fails.
#include <catch2/catch.hpp>
#include <filesystem>

#include "codegen/link.h"
#include "codegen/link_files.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "tests/codegen/leaks_expected.h"
#include "tests/codegen/test_module.h"
#include "tests/support/expect_error.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_folder.h"

namespace baton::tests {
namespace {

using Catch::Matchers::Contains;
using codegen::link_shared;

Bytes object_of(const std::string& text) {
  CodegenOptions options;
  options.until = EmitStage::object;
  return TestModule(text).generate(options).object;
}

Bytes exchange_object() { return object_of(exchange_text()); }

/// Without debug information the linked file is the larger one: it has its segments' headers, a
/// dynamic section and hash tables.
Bytes small_object() { return object_of(kernel_text("gfx950", "%n: i32", "")); }

}  // namespace

TEST_CASE("a link leaves nothing in its folder") {
  const TempFolder folder;
  const Bytes code_object = link_shared(exchange_object(), folder.path());
  CHECK(ElfImage::parse(code_object, "linked").lookup_kernel("exchange") != nullptr);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a link removes what a killed process left, and nothing else") {
  const TempFolder folder;
  const std::filesystem::path left = folder / "baton-link-1-0", other = folder / "baton-links";
  std::filesystem::create_directory(left);
  write_file(left / "kernel.co", as_bytes("half"));
  std::filesystem::create_directory(other);
  const WorkFolder in_use = codegen::link_work(folder.path());
  link_shared(exchange_object(), folder.path());
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(std::filesystem::exists(other));
  CHECK(std::filesystem::exists(in_use.path()));
  const auto mode = std::filesystem::status(in_use.path()).permissions();
  CHECK(mode == std::filesystem::perms::owner_all);
}

TEST_CASE("a link that finds no room says so, leaves no file, and the next one works") {
  const TempFolder folder;
  const Bytes object = small_object();
  const Bytes good = link_shared(object, folder.path());
  REQUIRE(good.size() > object.size());
  {
    const FileSizeLimit limit(object.size());
    const Error error =
        error_of(ErrorKind::environment, [&] { link_shared(object, folder.path()); });
    CHECK_THAT(error.what(), Contains(folder.path().string()));
    CHECK_THAT(error.what(), Contains("File too large"));
    CHECK_THAT(error.what(), !Contains("kernel.co"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(link_shared(object, folder.path()) == good);
}

TEST_CASE("a folder that is not there is the environment's fault") {
  const TempFolder folder;
  const Error error =
      error_of(ErrorKind::environment, [&] { link_shared(exchange_object(), folder / "missing"); });
  CHECK_THAT(error.what(), Contains("missing': No such file or directory"));
}

TEST_CASE("bytes that are no object are refused and the linker works on") {
  const TempFolder folder;
  const Bytes junk(100, 0x5a);
  CHECK_THAT(error_of(ErrorKind::failed_check, [&] { link_shared(junk, folder.path()); }).what(),
             Contains("the linker refused the object: "));
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK_FALSE(link_shared(exchange_object(), folder.path()).empty());
}

// LLD says of itself that it cannot run again after this one, so it is the last test here.
TEST_CASE("an object cut in two is refused, and so is every link after it") {
  const TempFolder folder;
  const Bytes object = exchange_object();
  const Bytes half(object.begin(), object.begin() + static_cast<ptrdiff_t>(object.size() / 2));
  const Error crash = error_of(ErrorKind::failed_check, [&] {
    const LeaksExpected leaks;
    link_shared(half, folder.path());
  });
  CHECK_THAT(crash.what(), Contains("the linker crashed: ld.lld: error: "));
  CHECK_THAT(error_of(ErrorKind::failed_check, [&] { link_shared(object, folder.path()); }).what(),
             Contains("the linker crashed earlier in this process"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace baton::tests
