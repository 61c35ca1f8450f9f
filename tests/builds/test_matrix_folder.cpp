#include <catch2/catch.hpp>
#include <map>

#include "builds/matrix_folder.h"
#include "builds/shipped_check.h"
#include "runtime/base/file.h"
#include "runtime/cache/layout.h"
#include "tests/runtime/cache/stub_builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton::builds {
namespace {

namespace fs = std::filesystem;
using tests::error_of;
using tests::StubBuilder;
using tests::TempFolder;

Matrix matrix_of(const std::string& tokens) {
  return read_matrix(
      "name = 'some'\nchips = ['gfx950']\n[[build]]\nkernel = 'attn_post'\ntokens = " + tokens,
      "m.toml");
}

/// Every path with its contents.
std::map<std::string, Bytes> snapshot(const fs::path& folder) {
  std::map<std::string, Bytes> files;
  for (const fs::path& path : fs::recursive_directory_iterator(folder)) {
    if (fs::is_regular_file(path)) files[path.string()] = read_file(path);
  }
  return files;
}

struct FolderFixture {
  TempFolder temporary;
  fs::path out = temporary / "out";
  std::vector<std::string> reports;
  StubBuilder stub{tests::StubOptions{}};
  MatrixFolder folder{out, stub, [this](const std::string& line) { reports.push_back(line); }};

  Manifest make(const Matrix& matrix) {
    CHECK(folder.compile(folder.missing(matrix.keys, 2), 2).failures.empty());
    return folder.collect(matrix, 2);
  }
};

TEST_CASE_METHOD(FolderFixture,
                 "a matrix is compiled, collected, whole, and then nothing is missing") {
  const Matrix matrix = matrix_of("[1, 2, 3]");
  CHECK(folder.missing(matrix.keys, 2).size() == 3);
  const Manifest manifest = make(matrix);
  CHECK(manifest.name == "some");
  CHECK(manifest.library == stub.library());
  REQUIRE(manifest.entries.size() == 3);
  CHECK(manifest.entries[1].key == matrix.keys[1].text());
  CHECK(read_file(out / manifest.entries[1].path) == tests::stub_object(matrix.keys[1]).bytes);
  CHECK(Manifest::read(out) == manifest);
  CHECK(check_shipped(out, &matrix).empty());
  CHECK(check_shipped(out, nullptr).empty());
  const auto before = snapshot(out);
  CHECK(folder.missing(matrix.keys, 2).empty());
  folder.collect(matrix, 2);
  CHECK(snapshot(out) == before);
  CHECK(reports.empty());
}

TEST_CASE_METHOD(FolderFixture, "what is shipped runs without a builder") {
  const Matrix matrix = matrix_of("[1, 2]");
  make(matrix);
  Cache shipped({.folder = out, .read_only = true});
  Loader loader({.shipped = {&shipped}, .library = Manifest::read(out).library});
  CHECK(loader.get(matrix.keys[0]).bytes == tests::stub_object(matrix.keys[0]).bytes);
  error_of(ErrorKind::failed_check, [&] { loader.get(matrix_of("3").keys[0]); });
}

TEST_CASE_METHOD(FolderFixture, "a collect names every key that is missing and writes nothing") {
  CHECK(folder.compile(matrix_of("[2]").keys, 1).failures.empty());
  const Error error =
      error_of(ErrorKind::failed_check, [&] { folder.collect(matrix_of("[1, 2, 3]"), 2); });
  CHECK_THAT(error.what(), Catch::StartsWith("2 of 3 keys are not in "));
  CHECK_THAT(error.what(), Catch::Contains("tokens=1,") && Catch::Contains("tokens=3,") &&
                               !Catch::Contains("tokens=2,"));
  CHECK_FALSE(fs::exists(out / "manifest.json"));
}

TEST_CASE_METHOD(FolderFixture, "what the matrix does not list stays until it is pruned") {
  make(matrix_of("[1, 2, 3]"));
  const Manifest manifest = make(matrix_of("[3, 4]"));
  CHECK(manifest.entries.size() == 2);
  const auto count = [](const fs::path& path) {
    return std::distance(fs::directory_iterator(path), {});
  };
  CHECK(count(cache_layout::objects(out)) == 4);
  CHECK(unlisted(out, manifest).size() == 4);  // two code objects, two names
  CHECK(check_shipped(out, nullptr).size() == 4);
  CHECK(folder.missing(matrix_of("[1, 2, 3, 4]").keys, 2).empty());
  CHECK(folder.prune(manifest) == 4);
  CHECK(check_shipped(out, nullptr).empty());
  for (const fs::path& place :
       {cache_layout::objects(out), cache_layout::index(out), times_folder(out)}) {
    CHECK(count(place) == 2);
  }
  CHECK(folder.prune(manifest) == 0);
}

TEST_CASE_METHOD(FolderFixture, "a folder with other keys and no manifest is not to be pruned") {
  const Matrix matrix = matrix_of("[1, 2]");
  folder.require_prunable(matrix);
  CHECK(folder.compile(matrix.keys, 1).failures.empty());
  folder.require_prunable(matrix);  // a run of it that was cut
  const std::string refusal =
      tests::user_error([&] { folder.require_prunable(matrix_of("[2, 3]")); });
  CHECK_THAT(refusal, Catch::StartsWith("'" + out.string() + "' has no manifest.json"));
  folder.collect(matrix, 1);
  folder.require_prunable(matrix_of("[2, 3]"));
}

TEST_CASE_METHOD(FolderFixture, "a check names every file that is nobody's, and a wrong summary") {
  const Manifest manifest = make(matrix_of("[1, 2]"));
  const fs::path object = (out / manifest.entries[0].path).parent_path();
  const fs::path strays[] = {object / "more", cache_layout::index(out) / "zz.json",
                             cache_layout::root(out) / "other", cache_layout::objects(out) / "f"};
  for (const fs::path& stray : strays) {
    write_file(stray, as_bytes("x"));
    CHECK(check_shipped(out, nullptr) ==
          std::vector<std::string>{stray.string() + ": the manifest does not list it"});
    CHECK(folder.prune(manifest) == 1);
    CHECK(check_shipped(out, nullptr).empty());
  }
  const fs::path summary = out / "summary.txt";
  const Bytes whole = read_file(summary);
  const std::string text(whole.begin(), whole.end());
  std::string timed = text;
  const size_t row = timed.find("gfx950");
  constexpr std::string_view kOtherTime = "    12";
  timed.replace(timed.find("  attn_post", row) - kOtherTime.size(), kOtherTime.size(), kOtherTime);
  write_file(summary, as_bytes(timed));
  CHECK(check_shipped(out, nullptr).empty());
  std::string changed = text;
  changed[row + 3] = '8';
  for (const std::string& wrong : {std::string("junk"), text + "x", changed, std::string()}) {
    write_file(summary, as_bytes(wrong));
    REQUIRE(check_shipped(out, nullptr).size() == 1);
    CHECK_THAT(check_shipped(out, nullptr)[0], Catch::StartsWith(summary.string() + ": it is not"));
  }
  fs::remove(summary);
  CHECK_THAT(check_shipped(out, nullptr)[0], Catch::Contains("summary.txt': No such file"));
}

TEST_CASE_METHOD(FolderFixture, "a check names what is damaged, gone, added or not asked for") {
  const Matrix matrix = matrix_of("[1, 2]");
  const Manifest manifest = make(matrix);
  const auto faults = [&](const Matrix* expected = nullptr) {
    std::string all;
    for (const std::string& fault : check_shipped(out, expected)) all += fault + "\n";
    return all;
  };
  const fs::path code = out / manifest.entries[0].path;
  const Bytes whole = read_file(code);
  Bytes changed = whole;
  changed[100] ^= 4;
  write_file(code, changed);
  CHECK_THAT(faults(), Catch::Contains(code.string() + ": its SHA-256 is"));
  fs::remove_all(code.parent_path());
  CHECK_THAT(faults(),
             Catch::Contains("tokens=1,") && Catch::Contains("is not there or not whole"));
  folder.compile(folder.missing(matrix.keys, 2), 1);
  CHECK(faults().empty());
  folder.compile(matrix_of("5").keys, 1);
  CHECK_THAT(faults(), Catch::Contains("the manifest does not list it"));
  folder.prune(folder.collect(matrix, 2));
  const Matrix other = matrix_of("[2, 3]");
  CHECK_THAT(faults(&other),
             Catch::Contains("tokens=1,") && Catch::Contains("the matrix does not ask for it") &&
                 Catch::Contains("tokens=3,") && Catch::Contains("the manifest lacks it"));
  fs::remove_all(cache_layout::index(out));
  CHECK_THAT(faults(), Catch::Contains("its name is not in the index"));
}

TEST_CASE_METHOD(FolderFixture, "one bit of a manifest changed, and it is refused") {
  make(matrix_of("[1]"));
  const fs::path path = out / "manifest.json";
  const Bytes whole = read_file(path);
  for (size_t i = 0; i < whole.size(); i += 7) {
    Bytes changed = whole;
    changed[i] = static_cast<uint8_t>(changed[i] ^ (1u << (i % 8)));
    write_file(path, changed);
    error_of(ErrorKind::failed_check, [&] { check_shipped(out, nullptr); });
  }
}

TEST_CASE_METHOD(FolderFixture, "keys that fail are all told, the others are kept") {
  const StubBuilder refusing({.refused = 2});
  MatrixFolder partial(out, refusing, {});
  const auto compiled = partial.compile(matrix_of("[1, 2, 3]").keys, 2);
  REQUIRE(compiled.failures.size() == 1);
  CHECK(compiled.failures[0].key.integer("tokens") == 2);
  CHECK(compiled.counts.compiled == 2);
  CHECK(folder.missing(matrix_of("[1, 2, 3]").keys, 2).size() == 1);
}

TEST_CASE_METHOD(FolderFixture,
                 "a plan has an edge a content, and escapes what Ninja and a shell read") {
  const Matrix matrix = matrix_of("[1, 2]");
  const std::vector<Digest> contents = folder.contents(matrix.keys, 2);
  CHECK(contents[0] == stub.trace(matrix.keys[0])->content());
  const std::string plan = ninja_plan(matrix.keys, contents,
                                      {.baton = "/opt/it's/baton",
                                       .matrix = "a b$.toml",
                                       .out = "o ut:$",
                                       .arch = "",
                                       .shared = "http://host/it's$"});
  CHECK_THAT(plan, Catch::Contains("baton = '/opt/it'\\''s/baton'\nfolder = 'o ut:$$'\n"));
  CHECK_THAT(plan, Catch::Contains(" --out $folder --shared 'http://host/it'\\''s$$'\n"));
  CHECK_THAT(plan, Catch::Contains("matrix 'a b$$.toml' --out $folder --collect\n"));
  CHECK_THAT(plan, Catch::Contains("build o$ ut$:$$/v1/objects/" + contents[1].hex() +
                                   "/entry.json: compile\n  key = " + matrix.keys[1].text() +
                                   "\n  chip = gfx950\n"));
  CHECK_THAT(plan, Catch::Contains("\nbuild o$ ut$:$$/manifest.json: collect | $\n"));
}

TEST_CASE("a plan refuses what no Ninja file can name") {
  const PlanCommands fine = {
      .baton = "b", .matrix = "a|b.toml", .out = "o", .arch = "", .shared = ""};
  require_plannable(fine);
  for (std::string PlanCommands::* path :
       {&PlanCommands::baton, &PlanCommands::matrix, &PlanCommands::out}) {
    for (const char* text : {"a\nb", "a\rb"}) {
      PlanCommands wrong = fine;
      wrong.*path = text;
      CHECK_THAT(tests::user_error([&] { require_plannable(wrong); }),
                 Catch::StartsWith("a Ninja file cannot name 'a\\x0"));
    }
  }
  PlanCommands wrong = fine;
  wrong.out = "a|b";
  tests::user_error([&] { ninja_plan({}, {}, wrong); });
}

}  // namespace
}  // namespace baton::builds
