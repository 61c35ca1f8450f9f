#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "runtime/object/elf_image.h"
#include "tests/runtime/object/test_objects.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using namespace tests;

std::string parse_error(const Bytes& bytes) {
  return user_error([&] { ElfImage::parse(bytes, "x.co"); });
}

std::string parse_hint(const Bytes& bytes) {
  return error_of(ErrorKind::user, [&] { ElfImage::parse(bytes, "x.co"); }).hint();
}

TEST_CASE("a code object of every chip and version is read") {
  const std::map<std::string, std::pair<std::string, int>> expected = {
      {"gfx90a-v4.co", {"gfx90a", 4}},
      {"gfx90a-v5.co", {"gfx90a", 5}},
      {"gfx90a-v6.co", {"gfx90a", 6}},
      {"gfx942-v5.co", {"gfx942", 5}},
      {"gfx950-v5.co", {"gfx950", 5}}};
  for (const auto& [file, chip_and_version] : expected) {
    INFO(file);
    const Bytes bytes = test_object(file);
    const ElfImage image = ElfImage::parse(bytes, file);
    CHECK(image.chip() == chip_and_version.first);
    CHECK(image.abi_version() == chip_and_version.second);
    CHECK(image.kernels().size() == 2);
    CHECK(image.bytes().data() == bytes.data());
  }
}

// The C source says what must be here: argument types, a 256-float LDS tile, a group of 256 lanes.
TEST_CASE("kernels come with arguments, resources and descriptor") {
  const Bytes bytes = test_object("gfx90a-v5.co");
  const ElfImage image = ElfImage::parse(bytes, "x.co");

  const Kernel& scale = image.find_kernel("scale");
  CHECK(scale.symbol == "scale.kd");
  REQUIRE(scale.arguments.size() == 3);
  CHECK(scale.arguments[0].offset == 0);
  CHECK(scale.arguments[0].size == 8);
  CHECK(scale.arguments[0].value_kind == "global_buffer");
  CHECK(scale.arguments[1].offset == 8);
  CHECK(scale.arguments[1].size == 4);
  CHECK(scale.arguments[1].value_kind == "by_value");
  CHECK(scale.arguments[2].offset == 12);
  CHECK(scale.kernarg_bytes == 16);
  CHECK(scale.lds_bytes == 0);
  CHECK(scale.max_workgroup_lanes == 1024);

  const Kernel& reverse = image.find_kernel("reverse");
  CHECK(reverse.lds_bytes == 1024);
  CHECK(reverse.descriptor.group_segment_fixed_size == 1024);
  CHECK(reverse.max_workgroup_lanes == 256);
  CHECK(reverse.wave_lanes == 64);
  CHECK(reverse.scratch_bytes == 0);
  CHECK(reverse.vgpr_spills == 0);
  CHECK(reverse.sgpr_spills == 0);
  CHECK(reverse.agprs == 0);
  CHECK(reverse.vgprs > 0);
  CHECK(reverse.sgprs > 0);
  CHECK(reverse.descriptor.allocated_vgprs() == 8);
  CHECK(reverse.descriptor.accum_offset() == 4);
  CHECK_FALSE(reverse.uses_dynamic_stack);

  // The entry is where the function symbol stands.
  for (const ElfSymbol& symbol : image.symbols()) {
    if (symbol.name == "reverse") CHECK(symbol.vaddr == reverse.entry_vaddr);
    if (symbol.name == "reverse.kd") CHECK(symbol.vaddr == reverse.descriptor_vaddr);
  }
}

TEST_CASE("AGPRs count within the unified registers") {
  const Bytes bytes = test_object("agprs.co");
  const ElfImage image = ElfImage::parse(bytes, "agprs.co");
  // The kernel clobbers v0 .. v20 and a0 .. a9: 21 VGPRs, AGPRs from the next multiple of four on.
  const Kernel& kernel = image.find_kernel("agprs");
  CHECK(kernel.agprs == 10);
  CHECK(kernel.vgprs == 24 + 10);
  CHECK(kernel.descriptor.accum_offset() == 24);
  CHECK(kernel.descriptor.allocated_vgprs() == 40);
}

TEST_CASE("segments hold code and data, and zeros past the file") {
  const Bytes bytes = test_object("gfx90a-v5.co");
  const ElfImage image = ElfImage::parse(bytes, "x.co");
  const Kernel& scale = image.find_kernel("scale");
  int executable = 0;
  bool zeros = false;
  for (const ElfSegment& segment : image.segments()) {
    executable += segment.executable;
    zeros |= segment.memory_bytes > segment.bytes.size();
    CHECK_FALSE((segment.executable && segment.writable));
  }
  CHECK(executable == 1);
  CHECK(zeros);
  CHECK(image.memory_bytes() ==
        image.segments().back().vaddr + image.segments().back().memory_bytes);
  CHECK(image.bytes_at(scale.entry_vaddr, 4).size() == 4);
  CHECK(image.bytes_at(scale.descriptor_vaddr, 64).size() == 64);
  CHECK(image.bytes_at(image.memory_bytes(), 1).empty());
  CHECK(image.bytes_at(~uint64_t{0}, 2).empty());
}

TEST_CASE("relocations name their kind, place and symbol") {
  const Bytes bytes = test_object("gfx90a-v5.co");
  const ElfImage image = ElfImage::parse(bytes, "x.co");
  bool found = false;
  for (const ElfRelocation& relocation : image.relocations()) {
    CHECK(name(relocation.kind) == "R_AMDGPU_ABS64");
    if (image.symbols()[relocation.symbol].name != "counter") continue;
    found = true;
    for (const ElfSymbol& symbol : image.symbols()) {
      if (symbol.name == "counter_address") CHECK(symbol.vaddr == relocation.vaddr);
    }
  }
  CHECK(found);
}

TEST_CASE("an unknown kernel name lists the kernels") {
  const Bytes bytes = test_object("gfx90a-v5.co");
  const ElfImage image = ElfImage::parse(bytes, "x.co");
  const Error error = error_of(ErrorKind::user, [&] { image.find_kernel("scales"); });
  CHECK(error.what() == std::string("no kernel 'scales' in the code object"));
  CHECK(error.hint() == "its kernels: 'scale', 'reverse'");
  CHECK(image.lookup_kernel("scales") == nullptr);
}

TEST_CASE("what is no code object is named for what it is") {
  CHECK(parse_error({}) == "x.co: the file is empty");
  const std::string_view text = "#!/bin/sh\n";
  CHECK(parse_error({text.begin(), text.end()}) ==
        "x.co: not an ELF file: it starts with bytes 23 21 2f 62");
  CHECK(parse_error({0x7f, 'E', 'L'}) ==
        "x.co: the ELF header needs 64 bytes at byte 0, past the end at byte 3");
  CHECK(parse_error(test_object("host.o")) ==
        "x.co: an ELF file for x86-64, not for AMDGPU (e_machine at byte 18 is 62, expected 224)");
  CHECK(parse_error(test_object("relocatable.o")) ==
        "x.co: a relocatable object, not a linked code object");
  CHECK(parse_hint(test_object("relocatable.o")) == "link it: ld.lld -shared IN.o -o OUT.co");
  const std::string_view bundle = "__CLANG_OFFLOAD_BUNDLE__\0\0\0";
  CHECK(parse_error({bundle.begin(), bundle.end()}) ==
        "x.co: not an ELF file but a bundle of several");
}

TEST_CASE("a wrong field of the ELF header is named with value and expectation") {
  const Bytes good = test_object("gfx90a-v5.co");
  CHECK(parse_error(with<uint8_t>(good, EI_CLASS, ELFCLASS32)) ==
        "x.co: not 64-bit: EI_CLASS at byte 4 is 1, expected 2");
  CHECK(parse_error(with<uint8_t>(good, EI_DATA, ELFDATA2MSB)) ==
        "x.co: not little-endian: EI_DATA at byte 5 is 2, expected 1");
  CHECK(parse_error(with<uint8_t>(good, EI_VERSION, 9)) ==
        "x.co: ELF version 9 (EI_VERSION) and 1 (e_version), expected 1");
  CHECK(parse_error(with<uint8_t>(good, EI_OSABI, 65)) ==
        "x.co: EI_OSABI at byte 7 is 65, expected 64 (AMDGPU_HSA)");
  CHECK(parse_error(with<uint8_t>(good, EI_ABIVERSION, 1)) ==
        "x.co: EI_ABIVERSION at byte 8 is 1, known are 2 to 4 (code object 4 to 6)");
  CHECK(parse_error(with<uint8_t>(good, EI_ABIVERSION, 5)).find("EI_ABIVERSION") !=
        std::string::npos);
  CHECK(parse_error(with<uint16_t>(good, 16, ET_EXEC)) ==
        "x.co: e_type at byte 16 is 2, expected 3 (ET_DYN)");
  CHECK(parse_error(with<uint16_t>(good, 18, 999)) ==
        "x.co: an ELF file for machine 999, not for AMDGPU (e_machine at byte 18 is 999, expected "
        "224)");
  CHECK(parse_error(with<uint32_t>(good, 48, 0x541)) ==
        "x.co: e_flags at byte 48 name the unknown chip number 0x041, known are gfx950 (0x04f), "
        "gfx942 (0x04c), gfx90a (0x03f)");
  CHECK(parse_error(with<uint32_t>(good, 48, 0x54c)) ==
        "x.co: e_flags name gfx942, but the metadata's target is 'amdgcn-amd-amdhsa--gfx90a'");
}

TEST_CASE("wrong tables are named") {
  const Bytes good = test_object("gfx90a-v5.co");
  const Elf64_Ehdr header = header_of(good);
  CHECK(parse_error(with<uint16_t>(good, offsetof(Elf64_Ehdr, e_phentsize), 32)) ==
        "x.co: e_phentsize is 32, expected 56");
  CHECK(parse_error(with<uint16_t>(good, offsetof(Elf64_Ehdr, e_shentsize), 40)) ==
        "x.co: e_shentsize is 40, expected 64");
  CHECK(parse_error(with<uint16_t>(good, offsetof(Elf64_Ehdr, e_phnum), 0)) ==
        "x.co: no program headers (e_phnum is 0)");
  CHECK(parse_error(with<uint16_t>(good, offsetof(Elf64_Ehdr, e_shnum), 0)) ==
        "x.co: no section headers (e_shnum is 0)");
  CHECK(parse_error(with<uint16_t>(good, offsetof(Elf64_Ehdr, e_shstrndx), 77)) ==
        fmt::format("x.co: e_shstrndx is 77, but there are {} sections", header.e_shnum));
  CHECK(
      parse_error(with<uint64_t>(good, offsetof(Elf64_Ehdr, e_shoff), 1 << 20)) ==
      fmt::format("x.co: the section header table needs {} bytes at byte 1048576, past the end at "
                  "byte {}",
                  header.e_shnum * 64, good.size()));
  CHECK(parse_error(with<uint64_t>(good, offsetof(Elf64_Ehdr, e_phoff), ~uint64_t{0}))
            .starts_with("x.co: the program header table needs"));
}

TEST_CASE("wrong segments are named") {
  const Bytes good = test_object("gfx90a-v5.co");
  const uint64_t second = program_header_at(good, PT_LOAD, 1);
  const size_t index = (second - header_of(good).e_phoff) / sizeof(Elf64_Phdr);
  const std::string what = fmt::format("x.co: segment {} ", index);
  CHECK(parse_error(with<uint64_t>(good, second + offsetof(Elf64_Phdr, p_memsz), 1))
            .ends_with("bytes in the file but 1 in memory"));
  CHECK(parse_error(with<uint64_t>(good, second + offsetof(Elf64_Phdr, p_filesz), 1 << 24))
            .starts_with(what + "needs 16777216 bytes"));
  CHECK(parse_error(with<uint64_t>(good, second + offsetof(Elf64_Phdr, p_vaddr), 0x100))
            .starts_with(what + "at 0x100 overlaps the one before it"));
  CHECK(parse_error(with<uint64_t>(good, second + offsetof(Elf64_Phdr, p_memsz), 1 << 30))
            .find("past the limit of 0x40000000") != std::string::npos);
  CHECK(parse_error(with<uint64_t>(good, second + offsetof(Elf64_Phdr, p_align), 24)) ==
        what + "has the alignment 24, not a power of two");
  Bytes none = good;
  for (int i = 0; program_header_at(none, PT_LOAD) != ~uint64_t{0} && i < 20; ++i) {
    none = with<uint32_t>(none, program_header_at(none, PT_LOAD), PT_NULL);
  }
  CHECK(parse_error(none) == "x.co: no segment to load (no PT_LOAD)");
  // Code that lies in no executable segment is no entry.
  CHECK(parse_error(with<uint32_t>(good, second + offsetof(Elf64_Phdr, p_flags), PF_R))
            .find("is not a multiple of 256 in an executable segment") != std::string::npos);
}

TEST_CASE("wrong symbols and relocations are named") {
  const Bytes good = test_object("gfx90a-v5.co");
  const uint64_t dynsym = section_header_at(good, SHT_DYNSYM);
  const uint64_t symbols = read_at<Elf64_Shdr>(good, dynsym, "").sh_offset;
  CHECK(parse_error(with<uint32_t>(good, dynsym + offsetof(Elf64_Shdr, sh_type), SHT_PROGBITS)) ==
        "x.co: no dynamic symbol table (no SHT_DYNSYM section)");
  CHECK(parse_error(with<uint64_t>(good, dynsym + offsetof(Elf64_Shdr, sh_entsize), 16)) ==
        "x.co: the entry size of section '.dynsym' is 16, expected 24");
  const uint64_t dynsym_bytes = read_at<Elf64_Shdr>(good, dynsym, "").sh_size;
  CHECK(
      parse_error(with<uint64_t>(good, dynsym + offsetof(Elf64_Shdr, sh_size), dynsym_bytes - 1)) ==
      fmt::format("x.co: section '.dynsym' has {} bytes, not a multiple of its entries' 24",
                  dynsym_bytes - 1));
  CHECK(parse_error(with<uint32_t>(good, dynsym + offsetof(Elf64_Shdr, sh_link), 500))
            .starts_with("x.co: the dynamic symbols' name table is section 500"));
  CHECK(parse_error(with<uint32_t>(good, symbols + 24, 1 << 20))
            .starts_with("x.co: the name of dynamic symbol 1, in the name table, "));
  CHECK(parse_error(with<uint64_t>(good, symbols + 24 + offsetof(Elf64_Sym, st_value), 1 << 28))
            .find("bytes at 0x10000000 lie in no segment") != std::string::npos);

  const uint64_t rela = read_at<Elf64_Shdr>(good, section_header_at(good, SHT_RELA), "").sh_offset;
  CHECK(parse_error(with<uint32_t>(good, rela + 8, 12)) ==
        "x.co: relocation 0 of '.rela.dyn' has the unknown type 12");
  CHECK(parse_error(with<uint32_t>(good, rela + 12, 99))
            .starts_with("x.co: relocation 0 of '.rela.dyn' names symbol 99, but there are"));
  CHECK(parse_error(with<uint64_t>(good, rela, 1 << 28)) ==
        "x.co: relocation 0 of '.rela.dyn' writes 8 bytes at 0x10000000, which lie in no segment");
  CHECK(parse_error(with<uint32_t>(good, section_header_at(good, SHT_RELA) + 4, SHT_REL)) ==
        "x.co: section '.rela.dyn' holds relocations without addends, which AMDGPU does not use");
}

TEST_CASE("missing and contradicting metadata is named") {
  const Bytes good = test_object("gfx90a-v5.co");
  const uint64_t note = program_header_at(good, PT_NOTE);
  CHECK(parse_error(with<uint32_t>(good, note, PT_NULL)) ==
        "x.co: no AMDGPU metadata note (NT_AMDGPU_METADATA)");
  CHECK(parse_error(replaced(good, "scale.kd", "scale.kx")) ==
        "x.co: kernel 'scale' has no kernel descriptor: no dynamic symbol 'scale.kx'");
  CHECK(parse_error(replaced(good, ".vgpr_count", ".vgpr_other")) ==
        "x.co: AMDGPU metadata: kernel 'scale' has no .vgpr_count");
  CHECK(parse_error(replaced(good, "amdhsa.version", "amdhsa.VERSION")) ==
        "x.co: AMDGPU metadata: amdhsa.version is not two unsigned integers");

  const ElfImage image = ElfImage::parse(good, "x.co");
  const auto offset_of = [&](uint64_t vaddr) {
    return static_cast<uint64_t>(image.bytes_at(vaddr, 1).data() - good.data());
  };
  const uint64_t descriptor = offset_of(image.find_kernel("reverse").descriptor_vaddr);
  CHECK(parse_error(with<uint32_t>(good, descriptor, 2048)) ==
        "x.co: kernel 'reverse': its metadata says LDS bytes 1024, its descriptor 2048");
  CHECK(parse_error(with<uint32_t>(good, descriptor + 4, 16)) ==
        "x.co: kernel 'reverse': its metadata says scratch bytes 0, its descriptor 16");
  CHECK(parse_error(with<uint32_t>(good, descriptor + 8, 24)) ==
        "x.co: kernel 'reverse': its metadata says kernarg bytes 16, its descriptor 24");
  CHECK(parse_error(with<int64_t>(good, descriptor + 16, 4))
            .find("is not a multiple of 256 in an executable segment") != std::string::npos);
  CHECK(parse_error(with<int64_t>(good, descriptor + 16, INT64_MIN))
            .find("in an executable segment") != std::string::npos);
}

TEST_CASE("a code object cut at any byte is an error") {
  const Bytes good = test_object("gfx90a-v5.co");
  for (size_t size = 0; size < good.size(); ++size) {
    INFO("cut to " << size << " of " << good.size() << " bytes");
    // A fresh allocation of just that size, so that a read past its end is seen by a sanitizer.
    const Bytes cut(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    CHECK(parse_error(cut).starts_with("x.co: "));
  }
}

TEST_CASE("a code object with any bit flipped is read or refused, nothing else") {
  const Bytes good = test_object("gfx90a-v5.co");
  int refused = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes flipped = good;
    flipped[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    try {
      const ElfImage image = ElfImage::parse(flipped, "x.co");
      CHECK(image.kernels().size() <= 2);
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind() == ErrorKind::user);
    }
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace baton
