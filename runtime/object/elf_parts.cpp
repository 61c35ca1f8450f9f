#include "runtime/object/elf_parts.h"

#include <algorithm>
#include <bit>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::elf {
namespace {

[[noreturn]] void fail(const std::string& message, const std::string& hint = {}) {
  throw Error(ErrorKind::user, message, hint);
}

void check_entry_bytes(const std::string& field, uint64_t value, uint64_t expected) {
  if (value != expected) fail(fmt::format("{} is {}, expected {}", field, value, expected));
}

/// How many entries of `entry_bytes` the table holds.
uint64_t entry_count(const ElfSection& table, uint64_t entry_bytes) {
  const std::string what = quote(table.name);
  check_entry_bytes("the entry size of section " + what, table.entry_bytes, entry_bytes);
  if (table.bytes.size() % entry_bytes != 0) {
    fail(fmt::format("section {} has {} bytes, not a multiple of its entries' {}", what,
                     table.bytes.size(), entry_bytes));
  }
  return table.bytes.size() / entry_bytes;
}

/// Bytes that a relocation writes.
uint64_t width_of(RelocationKind kind) {
  switch (kind) {
    case RelocationKind::none:
      return 0;
    case RelocationKind::rel16:
      return 2;
    case RelocationKind::abs64:
    case RelocationKind::rel64:
    case RelocationKind::relative64:
      return 8;
    default:
      return 4;
  }
}

}  // namespace

std::vector<ElfSection> read_sections(ByteView bytes, const Elf64_Ehdr& header) {
  if (header.e_shnum == 0)
    fail("no section headers (e_shnum is 0)", "do not strip the code object");
  check_entry_bytes("e_shentsize", header.e_shentsize, sizeof(Elf64_Shdr));
  slice(bytes, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr),
        "the section header table");
  std::vector<Elf64_Shdr> headers;
  std::vector<ElfSection> sections;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const std::string what = fmt::format("section {}", i);
    const auto raw = read_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), what);
    const bool has_bytes = raw.sh_type != SHT_NOBITS && raw.sh_type != SHT_NULL;
    headers.push_back(raw);
    sections.push_back(
        {.name = {},
         .type = raw.sh_type,
         .flags = raw.sh_flags,
         .vaddr = raw.sh_addr,
         .link = raw.sh_link,
         .entry_bytes = raw.sh_entsize,
         .bytes = has_bytes ? slice(bytes, raw.sh_offset, raw.sh_size, what) : ByteView{}});
  }
  if (header.e_shstrndx >= sections.size()) {
    fail(fmt::format("e_shstrndx is {}, but there are {} sections", header.e_shstrndx,
                     sections.size()));
  }
  const ByteView names = sections[header.e_shstrndx].bytes;
  for (size_t i = 0; i < sections.size(); ++i) {
    sections[i].name = read_string_at(names, headers[i].sh_name,
                                      fmt::format("the name of section {}, in the name table,", i));
  }
  return sections;
}

std::vector<Elf64_Phdr> read_program_headers(ByteView bytes, const Elf64_Ehdr& header) {
  if (header.e_phnum == 0) fail("no program headers (e_phnum is 0)");
  check_entry_bytes("e_phentsize", header.e_phentsize, sizeof(Elf64_Phdr));
  slice(bytes, header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr),
        "the program header table");
  std::vector<Elf64_Phdr> headers;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    headers.push_back(read_at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr),
                                          fmt::format("program header {}", i)));
  }
  return headers;
}

std::vector<ElfSegment> read_segments(ByteView bytes, const std::vector<Elf64_Phdr>& headers) {
  std::vector<ElfSegment> segments;
  uint64_t end = 0;
  for (size_t i = 0; i < headers.size(); ++i) {
    const Elf64_Phdr& raw = headers[i];
    if (raw.p_type != PT_LOAD) continue;
    const std::string what = fmt::format("segment {}", i);
    const ByteView file_bytes = slice(bytes, raw.p_offset, raw.p_filesz, what);
    if (raw.p_filesz > raw.p_memsz) {
      fail(fmt::format("{} has {} bytes in the file but {} in memory", what, raw.p_filesz,
                       raw.p_memsz));
    }
    if (raw.p_vaddr > kMaxImageBytes || raw.p_memsz > kMaxImageBytes - raw.p_vaddr) {
      fail(fmt::format("{} takes 0x{:x} bytes at 0x{:x}, past the limit of 0x{:x}", what,
                       raw.p_memsz, raw.p_vaddr, kMaxImageBytes));
    }
    if (raw.p_vaddr < end) {
      fail(fmt::format("{} at 0x{:x} overlaps the one before it, which ends at 0x{:x}", what,
                       raw.p_vaddr, end));
    }
    const uint64_t align = std::max<uint64_t>(raw.p_align, 1);
    if (!std::has_single_bit(align)) {
      fail(fmt::format("{} has the alignment {}, not a power of two", what, align));
    }
    end = raw.p_vaddr + raw.p_memsz;
    segments.push_back({.vaddr = raw.p_vaddr,
                        .memory_bytes = raw.p_memsz,
                        .align = align,
                        .writable = (raw.p_flags & PF_W) != 0,
                        .executable = (raw.p_flags & PF_X) != 0,
                        .bytes = file_bytes});
  }
  if (segments.empty()) fail("no segment to load (no PT_LOAD)");
  return segments;
}

const ElfSegment* segment_at(const std::vector<ElfSegment>& segments, uint64_t vaddr,
                             uint64_t size) {
  const auto after = std::upper_bound(
      segments.begin(), segments.end(), vaddr,
      [](uint64_t address, const ElfSegment& segment) { return address < segment.vaddr; });
  if (after == segments.begin()) return nullptr;
  const ElfSegment& segment = *std::prev(after);
  const uint64_t offset = vaddr - segment.vaddr;
  const bool inside = offset <= segment.memory_bytes && size <= segment.memory_bytes - offset;
  return inside ? &segment : nullptr;
}

std::vector<ElfSymbol> read_dynamic_symbols(const std::vector<ElfSection>& sections,
                                            const std::vector<ElfSegment>& segments) {
  const auto table = std::find_if(sections.begin(), sections.end(), [](const ElfSection& section) {
    return section.type == SHT_DYNSYM;
  });
  if (table == sections.end()) fail("no dynamic symbol table (no SHT_DYNSYM section)");
  if (table->link >= sections.size()) {
    fail(fmt::format("the dynamic symbols' name table is section {}, but there are {}", table->link,
                     sections.size()));
  }
  const ByteView names = sections[table->link].bytes;
  const uint64_t count = entry_count(*table, sizeof(Elf64_Sym));
  std::vector<ElfSymbol> symbols;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string what = fmt::format("dynamic symbol {}", i);
    const auto raw = read_at<Elf64_Sym>(table->bytes, i * sizeof(Elf64_Sym), what);
    const ElfSymbol symbol = {
        .name = read_string_at(names, raw.st_name,
                               fmt::format("the name of {}, in the name table,", what)),
        .vaddr = raw.st_value,
        .size = raw.st_size,
        .type = static_cast<uint8_t>(ELF64_ST_TYPE(raw.st_info)),
        .binding = static_cast<uint8_t>(ELF64_ST_BIND(raw.st_info)),
        .defined = raw.st_shndx != SHN_UNDEF};
    const bool placed = symbol.defined && raw.st_shndx != SHN_ABS;
    if (placed && segment_at(segments, symbol.vaddr, symbol.size) == nullptr) {
      fail(fmt::format("{} {}: its {} bytes at 0x{:x} lie in no segment", what, quote(symbol.name),
                       symbol.size, symbol.vaddr));
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

std::vector<ElfRelocation> read_relocations(const std::vector<ElfSection>& sections,
                                            const std::vector<ElfSegment>& segments,
                                            size_t symbol_count) {
  std::vector<ElfRelocation> relocations;
  for (const ElfSection& section : sections) {
    // What a linker kept for other tools (--emit-relocs) is not the loader's.
    if ((section.flags & SHF_ALLOC) == 0) continue;
    if (section.type == SHT_REL || section.type == SHT_RELR) {
      fail(fmt::format("section {} holds relocations without addends, which AMDGPU does not use",
                       quote(section.name)));
    }
    if (section.type != SHT_RELA) continue;
    const uint64_t count = entry_count(section, sizeof(Elf64_Rela));
    for (uint64_t i = 0; i < count; ++i) {
      const std::string what = fmt::format("relocation {} of {}", i, quote(section.name));
      const auto raw = read_at<Elf64_Rela>(section.bytes, i * sizeof(Elf64_Rela), what);
      const auto type = static_cast<uint32_t>(ELF64_R_TYPE(raw.r_info));
      const ElfRelocation relocation = {.vaddr = raw.r_offset,
                                        .kind = static_cast<RelocationKind>(type),
                                        .symbol = static_cast<uint32_t>(ELF64_R_SYM(raw.r_info)),
                                        .addend = raw.r_addend};
      if (name(relocation.kind).empty())
        fail(fmt::format("{} has the unknown type {}", what, type));
      if (relocation.symbol >= symbol_count) {
        fail(fmt::format("{} names symbol {}, but there are {}", what, relocation.symbol,
                         symbol_count));
      }
      const uint64_t width = width_of(relocation.kind);
      if (width > 0 && segment_at(segments, relocation.vaddr, width) == nullptr) {
        fail(fmt::format("{} writes {} bytes at 0x{:x}, which lie in no segment", what, width,
                         relocation.vaddr));
      }
      relocations.push_back(relocation);
    }
  }
  return relocations;
}

ByteView find_metadata_note(ByteView bytes, const std::vector<Elf64_Phdr>& headers) {
  constexpr uint32_t kNtAmdgpuMetadata = 32;
  constexpr uint64_t kNoteAlign = 4;
  for (size_t i = 0; i < headers.size(); ++i) {
    if (headers[i].p_type != PT_NOTE) continue;
    const std::string what = fmt::format("the note in segment {}", i);
    const ByteView notes = slice(bytes, headers[i].p_offset, headers[i].p_filesz, what);
    uint64_t at = 0;
    while (at < notes.size()) {
      const auto note = read_at<Elf64_Nhdr>(notes, at, what);
      const uint64_t name_at = at + sizeof(Elf64_Nhdr);
      const uint64_t text_at =
          name_at + (uint64_t{note.n_namesz} + kNoteAlign - 1) / kNoteAlign * kNoteAlign;
      const ByteView owner = slice(notes, name_at, note.n_namesz, what);
      const ByteView text = slice(notes, text_at, note.n_descsz, what);
      constexpr std::string_view kOwner("AMDGPU\0", 7);
      if (note.n_type == kNtAmdgpuMetadata && std::ranges::equal(owner, as_bytes(kOwner)))
        return text;
      at = text_at + (uint64_t{note.n_descsz} + kNoteAlign - 1) / kNoteAlign * kNoteAlign;
    }
  }
  fail("no AMDGPU metadata note (NT_AMDGPU_METADATA)", "do not strip the code object's notes");
}

}  // namespace baton::elf
