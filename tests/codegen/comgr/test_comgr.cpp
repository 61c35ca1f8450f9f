// libamd_comgr against LLD and LLVM of this process: what it links, reads and disassembles.
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "codegen/comgr/comgr_link.h"
#include "codegen/comgr/comgr_metadata.h"
#include "codegen/link.h"
#include "codegen/listing/listing.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/object/elf_parts.h"
#include "tests/codegen/test_module.h"
#include "tests/support/environment_variable.h"
#include "tests/support/expect_error.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_folder.h"

namespace baton::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

constexpr std::string_view kChip = "gfx90a";

CodegenResult exchange_by(Backend backend, EmitStage until = EmitStage::code_object) {
  return TestModule(exchange_text(kChip))
      .generate({.until = until, .backend = backend, .sources = exchange_sources()});
}

Bytes exchange_object() { return exchange_by(Backend::lld, EmitStage::object).object; }

/// An object or a code object that clang made of kernels/varied.c.
Bytes varied(std::string_view file) {
  return read_file(fmt::format("{}/varied-{}", BATON_TEST_OBJECTS, file));
}

ByteView section_of(const Bytes& code_object, std::string_view name) {
  const ElfImage image = ElfImage::parse(code_object, "linked");
  for (const ElfSection& section : image.sections()) {
    if (section.name == name) return section.bytes;
  }
  FAIL("no section " << name);
  return {};
}

Bytes note_of(const Bytes& code_object) {
  const elf::Header header = elf::read_header(code_object);
  const ByteView note =
      elf::find_metadata_note(code_object, elf::read_program_headers(code_object, header.raw));
  return {note.begin(), note.end()};
}

void check_same_link(const comgr::Library& library, const Bytes& object) {
  const Bytes by_comgr = comgr::link_shared(library, kChip, object);
  const Bytes by_lld = codegen::link_shared(object);
  for (const std::string_view section : {".text", ".rodata", ".note"}) {
    CAPTURE(section);
    const ByteView ours = section_of(by_lld, section), theirs = section_of(by_comgr, section);
    CHECK(!ours.empty());
    CHECK(std::ranges::equal(ours, theirs));
  }
  CHECK(comgr::metadata_note(library, by_comgr) == note_of(by_lld));
  CHECK(comgr::link_shared(library, kChip, object) == by_comgr);
}

void check_same_listing(const comgr::Library& library, const Bytes& code_object) {
  const Listing ours = disassemble(code_object, "ours");
  const Listing theirs = disassemble(code_object, "theirs", {}, &library);
  CHECK(theirs.decoder == library.title());
  REQUIRE(ours.instructions.size() == theirs.instructions.size());
  for (size_t i = 0; i < ours.instructions.size(); ++i) {
    const ListedInstruction &own = ours.instructions[i], &read = theirs.instructions[i];
    CAPTURE(own.address);
    CHECK(own.text == read.text);
    CHECK(own.address == read.address);
    CHECK(own.label == read.label);
    CHECK(own.stage == read.stage);
    CHECK(own.line == read.line);
  }
}

/// The sum of what `work` returns in several threads and rounds; an error counts as one.
int wrong_in_threads(const std::function<int()>& work) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 4; ++round) {
        try {
          wrong += work();
        } catch (const Error&) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

}  // namespace

TEST_CASE("comgr links what LLD links: code, descriptor and metadata, twice the same bytes") {
  const comgr::Library library;
  check_same_link(library, exchange_object());
  for (const std::string_view version : {"v4", "v5"}) {
    CAPTURE(version);
    check_same_link(library, varied(fmt::format("gfx90a-{}.o", version)));
  }
}

TEST_CASE("a build through comgr has LLD's record, but for the hash") {
  const CodeObject by_comgr = exchange_by(Backend::comgr).code_object;
  Record record = exchange_by(Backend::lld).code_object.record;
  CHECK(record.sha256 != by_comgr.record.sha256);  // each linker leaves its name in the file
  record.sha256 = by_comgr.record.sha256;
  CHECK(record == by_comgr.record);
  const ByteView comment = section_of(by_comgr.bytes, ".comment");
  CHECK_THAT(std::string(comment.begin(), comment.end()), Contains("LLD 1"));
}

TEST_CASE("comgr disassembles as LLVM does, instruction for instruction") {
  const comgr::Library library;
  check_same_listing(library, exchange_by(Backend::lld).code_object.bytes);
  check_same_listing(library, varied("gfx90a.co"));
}

TEST_CASE("a word that is no instruction is refused as LLVM refuses it") {
  const comgr::Library library;
  Bytes damaged = exchange_by(Backend::lld).code_object.bytes;
  const ByteView text = section_of(damaged, ".text");
  std::fill_n(damaged.begin() + (text.data() - damaged.data()) + 8, 4, uint8_t{0xff});
  const auto refusal = [&](const comgr::Library* reader) {
    return user_error([&] { disassemble(damaged, "damaged", {}, reader); });
  };
  CHECK_THAT(refusal(&library), Contains("the word 0xffffffff at offset 0x8 is no gfx90a"));
  CHECK(refusal(&library) == refusal(nullptr));
}

TEST_CASE("chips that this comgr does not know are refused before any work") {
  for (const std::string_view chip : {"gfx950", "gfx942"}) {
    CAPTURE(chip);
    const Error error =
        error_of(ErrorKind::environment, [&] { require_backend(Backend::comgr, chip); });
    CHECK(std::string(error.what()) ==
          fmt::format("comgr 2.4 (libamd_comgr.so.2) does not know {}", chip));
    CHECK_THAT(error.hint(), Contains("take --backend lld") && Contains(" gfx908, ") &&
                                 Contains(" gfx90a, ") && !Contains("gfx94"));
    const TestModule module(exchange_text(chip));
    CHECK(error_of(ErrorKind::environment, [&] {
            module.generate({.backend = Backend::comgr, .sources = {}});
          }).what() == std::string(error.what()));
  }
  CHECK_NOTHROW(require_backend(Backend::comgr, kChip));
  CHECK_NOTHROW(require_backend(Backend::lld, "gfx950"));
}

TEST_CASE("a damaged object is refused with comgr's words; nothing stays and the next link works") {
  const comgr::Library library;
  const TempFolder folder;
  const Bytes object = exchange_object();
  const Bytes junk(100, 0x5a);
  // Of this one LLD makes a fatal error, which ends the process that it runs in.
  const Bytes half(object.begin(), object.begin() + static_cast<ptrdiff_t>(object.size() / 2));
  const std::pair<Bytes, std::string_view> cases[] = {{junk, "lld: error: kernel.o:1: "},
                                                      {half, "lld: error: kernel.o: "},
                                                      {{}, "INVALID_ARGUMENT (status 2)"}};
  for (const auto& [damaged, reason] : cases) {
    CAPTURE(damaged.size());
    const auto refusal = [&]() -> std::string {
      return error_of(ErrorKind::failed_check,
                      [&] { comgr::link_shared(library, kChip, damaged, folder.path()); })
          .what();
    };
    const std::string message = refusal();
    CHECK_THAT(message, StartsWith("the linker of comgr 2.4 (libamd_comgr.so.2) refused the "
                                   "object: " +
                                   std::string(reason)));
    CHECK(refusal() == message);  // no folder's name is in it
    CHECK(std::filesystem::is_empty(folder.path()));
  }
  CHECK(comgr::link_shared(library, kChip, object, folder.path()) ==
        comgr::link_shared(library, kChip, object));
}

TEST_CASE("a link that has nowhere to write says so") {
  const comgr::Library library;
  const TempFolder folder;
  const Error error = error_of(ErrorKind::environment, [&] {
    comgr::link_shared(library, kChip, exchange_object(), folder / "missing");
  });
  CHECK_THAT(error.what(), Contains("missing': No such file or directory"));
}

TEST_CASE("a link that finds no room says so, leaves no file, and the next one works") {
  const comgr::Library library;
  const TempFolder folder;
  // Without debug information the linked file is the larger one.
  const Bytes object = TestModule(kernel_text(kChip, "%n: i32", ""))
                           .generate({.until = EmitStage::object, .sources = {}})
                           .object;
  const Bytes good = comgr::link_shared(library, kChip, object, folder.path());
  REQUIRE(good.size() > object.size());
  {
    const FileSizeLimit limit(object.size());
    const Error error = error_of(
        ErrorKind::environment, [&] { comgr::link_shared(library, kChip, object, folder.path()); });
    CHECK_THAT(error.what(), Contains(folder.path().string()) && Contains("File too large"));
    CHECK_THAT(error.what(), !Contains("a.so"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(comgr::link_shared(library, kChip, object, folder.path()) == good);
}

TEST_CASE("comgr's debugging aids leave nothing and change nothing") {
  const comgr::Library library;
  const TempFolder folder, redirected;
  const Bytes object = exchange_object();
  const Bytes quiet = comgr::link_shared(library, kChip, object, folder.path());
  const EnvironmentVariable save("AMD_COMGR_SAVE_TEMPS", "1");
  const EnvironmentVariable verbose("AMD_COMGR_EMIT_VERBOSE_LOGS", "1");
  const EnvironmentVariable log("AMD_COMGR_REDIRECT_LOGS", (redirected / "log").string());
  const EnvironmentVariable temporary("TMPDIR", redirected.path().string());
  CHECK(comgr::link_shared(library, kChip, object, folder.path()) == quiet);
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(std::filesystem::is_empty(redirected.path()));
}

TEST_CASE("metadata that comgr reads otherwise is refused by the field's name") {
  const comgr::Library library;
  const Bytes code_object = exchange_by(Backend::lld).code_object.bytes;
  const Bytes note = note_of(code_object);
  CHECK_NOTHROW(comgr::require_same_metadata(note, note, "comgr"));
  CHECK(comgr::read_metadata(library, code_object).kernels.at(0).name == "exchange");
  const std::string_view name = ".wavefront_size";
  Bytes other = note;
  const auto field = std::ranges::search(other, name).end();
  REQUIRE(field != other.end());
  REQUIRE(*field == 64);
  *field = 32;
  CHECK(std::string(error_of(ErrorKind::failed_check,
                             [&] { comgr::require_same_metadata(note, other, "comgr"); })
                        .what()) ==
        "comgr reads the metadata otherwise than Baton: amdhsa.kernels/0/.wavefront_size");
}

TEST_CASE("fields of names that nobody knows are compared as text") {
  using nlohmann::json;
  const auto same = [](const json& own, const char* text) {
    const Bytes ours = json::to_msgpack({{"a/b", {{"zz", {own}}}}});
    const Bytes theirs = json::to_msgpack({{"a/b", {{"zz", {text}}}}});
    try {
      comgr::require_same_metadata(ours, theirs, "comgr");
      return true;
    } catch (const Error& error) {
      CHECK(error.what() == std::string("comgr reads the metadata otherwise than Baton: a/b/zz/0"));
      return false;
    }
  };
  for (const auto& [own, text] :
       std::vector<std::pair<json, const char*>>{{true, "true"},
                                                 {false, "0"},
                                                 {-1, "-1"},
                                                 {1.5, "1.500000e+00"},
                                                 {nullptr, ""},
                                                 {"007", "007"},
                                                 {UINT64_MAX, "18446744073709551615"},
                                                 {std::nan(""), "nan"}}) {
    CAPTURE(own, text);
    CHECK(same(own, text));
  }
  for (const auto& [own, text] : std::vector<std::pair<json, const char*>>{{true, "false"},
                                                                           {false, "1"},
                                                                           {-1, "1"},
                                                                           {1.5, "1.6"},
                                                                           {1.5, "1.5x"},
                                                                           {nullptr, "0"},
                                                                           {"007", "7"},
                                                                           {json::array(), ""},
                                                                           {json::object(), ""}}) {
    CAPTURE(own, text);
    CHECK_FALSE(same(own, text));
  }
}

TEST_CASE("comgr, its LLVM and ours work side by side, from any thread") {
  const comgr::Library library;
  const Bytes object = exchange_object();
  const Bytes by_comgr = comgr::link_shared(library, kChip, object);
  const Bytes by_lld = exchange_by(Backend::lld).code_object.bytes;
  const size_t instructions = disassemble(by_lld, "one").instructions.size();
  CHECK(wrong_in_threads([&] {
          const comgr::Library own;
          int wrong = comgr::link_shared(own, kChip, object) != by_comgr;
          wrong += exchange_by(Backend::lld).code_object.bytes != by_lld;
          wrong += exchange_by(Backend::comgr).code_object.bytes != by_comgr;
          wrong += disassemble(by_comgr, "one", {}, &own).instructions.size() != instructions;
          return wrong + (comgr::metadata_note(own, by_comgr) != note_of(by_lld));
        }) == 0);
}

TEST_CASE("one thread at a time is inside comgr") {
  const EnvironmentVariable variable("BATON_COMGR_LIBRARY", BATON_COMGR_STANDIN);
  const EnvironmentVariable fault("BATON_STANDIN_COMGR", "alone");
  const comgr::Library library;
  const Bytes code_object = exchange_by(Backend::lld).code_object.bytes;
  const Bytes note = note_of(code_object);
  CHECK(wrong_in_threads([&] { return comgr::metadata_note(library, code_object) != note; }) == 0);
}

TEST_CASE("a library that is none says so in one line") {
  const auto refusal = [](const std::string& path) {
    const EnvironmentVariable variable("BATON_COMGR_LIBRARY", path);
    const Error error = error_of(ErrorKind::environment, [] { comgr::Library(); });
    CHECK_THAT(error.hint(), Contains("libamd-comgr2") && Contains("--backend lld"));
    return std::string(error.what());
  };
  CHECK_THAT(refusal("/no/lib.so"), StartsWith("cannot open BATON_COMGR_LIBRARY: /no/lib.so: "));
  CHECK(refusal("libm.so.6") == "libm.so.6 has no function amd_comgr_status_string");
  const EnvironmentVariable fault("BATON_STANDIN_COMGR", "version=4");
  CHECK(refusal(BATON_COMGR_STANDIN) ==
        fmt::format("comgr 4.0 ({}): Baton knows versions 2 and 3 of its interface",
                    BATON_COMGR_STANDIN));
}

TEST_CASE("version 3 of the interface links under its own number") {
  const Bytes object = exchange_object();
  const Bytes by_two = comgr::link_shared(comgr::Library(), kChip, object);
  const EnvironmentVariable variable("BATON_COMGR_LIBRARY", BATON_COMGR_STANDIN);
  const EnvironmentVariable fault("BATON_STANDIN_COMGR", "version=3");
  const comgr::Library library;
  CHECK_THAT(library.title(), StartsWith("comgr 3.0 ("));
  CHECK(comgr::link_shared(library, kChip, object) == by_two);
}

TEST_CASE("a comgr that crashes or misreads fails the build, and the process lives") {
  const EnvironmentVariable variable("BATON_COMGR_LIBRARY", BATON_COMGR_STANDIN);
  const auto failure = [](const char* fault) {
    const EnvironmentVariable set("BATON_STANDIN_COMGR", fault);
    return std::string(
        error_of(ErrorKind::failed_check, [] { exchange_by(Backend::comgr); }).what());
  };
  CHECK_THAT(failure("crash"),
             StartsWith("the linker of comgr 2.4 (") && Contains(") crashed: Killed: "));
  CHECK_THAT(failure("vgpr_count"),
             Contains("reads the metadata otherwise than Baton: amdhsa.kernels/0/.vgpr_count"));
}

}  // namespace baton::tests
