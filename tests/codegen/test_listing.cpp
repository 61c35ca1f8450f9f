// Reading a code object back: instructions, stages, hand-offs, source, and the way round through
// an independent assembler.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "codegen/link.h"
#include "codegen/listing/listing.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/target/target.h"
#include "tests/codegen/test_module.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

Bytes exchange_bytes(std::string_view chip, bool with_source = true) {
  CodegenOptions options;
  if (with_source) options.sources = exchange_sources();
  return TestModule(exchange_text(chip)).generate(options).code_object.bytes;
}

Bytes varied_bytes(std::string_view chip) {
  return read_file(fmt::format("{}/varied-{}.co", BATON_TEST_OBJECTS, chip));
}

/// The first instruction whose text begins with `mnemonic`.
const ListedInstruction& find(const Listing& listing, std::string_view mnemonic) {
  for (const ListedInstruction& instruction : listing.instructions) {
    if (instruction.text.starts_with(mnemonic)) return instruction;
  }
  FAIL("no " << mnemonic);
  return listing.instructions.front();
}

std::string stage_of(const Listing& listing, const ListedInstruction& instruction) {
  return instruction.stage < 0 ? "" : listing.stages.at(static_cast<size_t>(instruction.stage));
}

std::string handoff_of(const Listing& listing, const ListedInstruction& instruction) {
  return instruction.handoff < 0 ? ""
                                 : listing.handoffs.at(static_cast<size_t>(instruction.handoff));
}

/// The line of `text` that contains `part`.
std::string line_with(const std::string& text, std::string_view part) {
  const size_t at = text.find(part);
  if (at == std::string::npos) return {};
  const size_t start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

/// `assembly` through LLVM's own assembler program and our link.
Bytes assemble(const std::string& assembly, std::string_view chip) {
  const TempFolder folder;
  write_file(folder / "kernel.s", as_bytes(assembly));
  const std::string command =
      fmt::format("{} -triple=amdgcn-amd-amdhsa -mcpu={} -filetype=obj {} -o {}", BATON_LLVM_MC,
                  chip, (folder / "kernel.s").string(), (folder / "kernel.o").string());
  REQUIRE(std::system(command.c_str()) == 0);
  return codegen::link_shared(read_file(folder / "kernel.o"));
}

void check_round_trip(const Bytes& bytes, std::string_view chip) {
  const Listing listing = disassemble(bytes, "first");
  const Listing again = disassemble(assemble(print_assembly(listing), chip), "again");
  CHECK(again.code == listing.code);
  CHECK(again.padding == listing.padding);
  CHECK(again.metadata_yaml == listing.metadata_yaml);
  KernelDescriptor first = listing.kernel.descriptor;
  KernelDescriptor second = again.kernel.descriptor;
  first.kernel_code_entry_byte_offset = 0;  // depends on where the linker puts the sections
  second.kernel_code_entry_byte_offset = 0;
  CHECK(std::memcmp(&first, &second, sizeof(first)) == 0);
}

}  // namespace

TEST_CASE("instructions know their stage, hand-off and line") {
  for (const Target& target : all_targets()) {
    CAPTURE(target.chip);
    const Bytes bytes = exchange_bytes(target.chip);
    const Listing listing = disassemble(bytes, "exchange.co");
    CHECK(listing.chip == target.chip);
    CHECK(listing.stages == std::vector<std::string>{"o", "reduce"});
    REQUIRE(listing.files.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
      CHECK(listing.files[i].name == exchange_sources()[i].file);
      CHECK(listing.files[i].text == exchange_sources()[i].text);
    }

    const ListedInstruction& load = find(listing, "global_load_dword ");
    CHECK(stage_of(listing, load) == "o");
    CHECK(handoff_of(listing, load) == "");
    CHECK(load.line == 3);
    const ListedInstruction& put = find(listing, "global_store_dwordx2 ");
    CHECK(stage_of(listing, put) == "o");
    CHECK(handoff_of(listing, put) == "put ar");
    CHECK(put.line == 4);
    const ListedInstruction& poll = find(listing, "global_load_dwordx2 ");
    CHECK(stage_of(listing, poll) == "reduce");
    CHECK(handoff_of(listing, poll) == "poll ar");
    CHECK(poll.file == 1);
    CHECK(poll.line == 2);
    CHECK(poll.label == 0);  // the loop's only label, and the target of its only branch
    CHECK(find(listing, "s_cbranch_execnz").text == "s_cbranch_execnz L0");
    const ListedInstruction& end = find(listing, "s_endpgm");
    CHECK(stage_of(listing, end) == "");
    CHECK(end.address + end.size == listing.kernel.entry_vaddr + listing.code.size());
  }
}

TEST_CASE("the printed listing shows what a reviewer needs") {
  const Listing listing = disassemble(exchange_bytes("gfx950"), "exchange.co");
  PrintOptions options{.key = "exchange:tokens=1", .stage = "", .source = true, .stats = true};
  const std::string text = print_listing(listing, options);
  CHECK_THAT(text, StartsWith("; kernel exchange for gfx950\n; key exchange:tokens=1\n"));
  CHECK_THAT(text, Contains("; occupancy: 2 waves a SIMD, 1 workgroups a CU\n"));
  CHECK_THAT(text, Contains("; LDS: 2048 bytes a workgroup of 512 lanes; kernarg: 28 bytes\n"));
  CHECK_THAT(text, Contains("; kernels/parts/wait.cpp:2: return poll(region, index);\n"));
  CHECK_THAT(line_with(text, "global_store_dwordx2"), Contains(" sc0 sc1") && Contains("; put ar"));
  CHECK_THAT(line_with(text, "global_load_dwordx2"), Contains(" sc0 sc1") && Contains("; poll ar"));
  CHECK_THAT(line_with(text, "global_load_dword "), !Contains(";"));
  CHECK(text.find("; ---- stage o ----") < text.find("; ---- stage reduce ----"));
  CHECK_THAT(text, !Contains("\x1b"));
  options.colour = true;
  CHECK_THAT(print_listing(listing, options), Contains("\x1b["));
}

TEST_CASE("one stage alone is printed and counted") {
  const Listing listing = disassemble(exchange_bytes("gfx950"), "exchange.co");
  PrintOptions options{.key = "", .stage = "reduce", .stats = true};
  const std::string text = print_listing(listing, options);
  CHECK_THAT(text, Contains("s_barrier") && Contains("poll ar") && !Contains("put ar"));
  CHECK(line_with(text, "; stage o") == "");
  options.stage = "mix";
  const Error error = error_of(ErrorKind::user, [&] { print_listing(listing, options); });
  CHECK(std::string(error.what()) == "kernel exchange has no stage 'mix'");
  CHECK(error.hint() == "stages: o, reduce");
}

TEST_CASE("without a source the file and line still stand") {
  const Listing listing = disassemble(exchange_bytes("gfx950", false), "exchange.co");
  CHECK(listing.files.at(0).text.empty());
  const std::string text = print_listing(listing, {.key = "", .stage = "", .source = true});
  CHECK_THAT(text, Contains("; kernels/parts/wait.cpp:2\n"));
}

TEST_CASE("counts by class: every instruction is counted once, in its stage") {
  const Listing listing = disassemble(exchange_bytes("gfx950"), "exchange.co");
  const auto count = [&](int stage, InstructionClass kind) {
    return count_classes(listing, stage)[static_cast<size_t>(kind)];
  };
  uint64_t all = 0;
  for (int stage = -1; stage < 2; ++stage) {
    for (const uint64_t classes : count_classes(listing, stage)) all += classes;
  }
  CHECK(all == listing.instructions.size());
  CHECK(count(0, InstructionClass::load) == 1);
  CHECK(count(0, InstructionClass::store) == 1);
  CHECK(count(0, InstructionClass::lds) == 1);
  CHECK(count(1, InstructionClass::load) == 1);
  CHECK(count(1, InstructionClass::barrier) == 1);
  CHECK(count(1, InstructionClass::branch) == 1);
  CHECK(count(0, InstructionClass::barrier) == 0);
}

TEST_CASE("mnemonics fall into their classes") {
  using enum InstructionClass;
  const std::pair<std::string_view, InstructionClass> expected[] = {
      {"v_mfma_f32_16x16x32_bf16", mfma},
      {"v_add_f32_e32", valu},
      {"v_accvgpr_read_b32", valu},
      {"v_add_f32_dpp", cross_lane},
      {"v_permlane32_swap_b32_e32", cross_lane},
      {"v_readfirstlane_b32", cross_lane},
      {"s_add_u32", salu},
      {"s_load_dwordx4", smem},
      {"s_memrealtime", smem},
      {"buffer_load_dwordx4", load},
      {"global_load_dword", load},
      {"buffer_store_dwordx2", store},
      {"global_atomic_add", atomic},
      {"ds_read_b128", lds},
      {"ds_bpermute_b32", lds},
      {"s_waitcnt", waitcnt},
      {"s_cbranch_vccnz", branch},
      {"s_branch", branch},
      {"s_barrier", barrier},
      {"s_sleep", sleep},
      {"s_nop", other},
      {"s_endpgm", other},
      {"buffer_wbl2", other},
      {"buffer_inv", other}};
  for (const auto& [mnemonic, kind] : expected) {
    CAPTURE(mnemonic);
    CHECK(classify(mnemonic) == kind);
  }
}

TEST_CASE("plain assembly goes through llvm-mc and gives the same bytes") {
  for (const Target& target : all_targets()) {
    CAPTURE(target.chip);
    check_round_trip(exchange_bytes(target.chip), target.chip);
    check_round_trip(varied_bytes(target.chip), target.chip);
  }
}

TEST_CASE("a word that is no instruction is named with its offset") {
  Bytes bytes = exchange_bytes("gfx950");
  const ElfImage image = ElfImage::parse(bytes, "x");
  const ByteView code = image.bytes_at(image.kernels()[0].entry_vaddr, 8);
  const auto at = static_cast<size_t>(code.data() - bytes.data());
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at) + 8, 4, uint8_t{0xff});
  CHECK(user_error([&] { disassemble(bytes, "bad.co"); }) ==
        "bad.co: kernel exchange: the word 0xffffffff at offset 0x8 is no gfx950 instruction");
}

TEST_CASE("what is no code object, or has no such kernel, is refused") {
  const Bytes bytes = exchange_bytes("gfx950");
  CHECK_THAT(user_error([&] { disassemble(ByteView(bytes).first(100), "cut.co"); }),
             StartsWith("cut.co: "));
  CHECK_THAT(user_error([&] { disassemble(bytes, "e.co", "missing"); }), Contains("missing"));
}

TEST_CASE("damaged debug information costs the annotations, not the listing") {
  Bytes bytes = exchange_bytes("gfx950");
  const Listing whole = disassemble(bytes, "x");
  const ElfImage image = ElfImage::parse(bytes, "x");
  for (const ElfSection& section : image.sections()) {
    if (!section.name.starts_with(".debug_") || section.bytes.empty()) continue;
    CAPTURE(section.name);
    Bytes damaged = bytes;
    const auto at = static_cast<size_t>(section.bytes.data() - bytes.data());
    for (size_t i = 0; i < section.bytes.size(); ++i) {
      damaged[at + i] = static_cast<uint8_t>(damaged[at + i] ^ (0x5a + 31 * i));
    }
    CHECK(disassemble(damaged, "x").instructions.size() == whole.instructions.size());
  }
}

}  // namespace baton::tests
