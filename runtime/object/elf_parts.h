// The pieces that ElfImage::parse puts together, each verified as it is read.
#pragma once

#include <elf.h>

#include <string_view>
#include <vector>

#include "runtime/object/elf_image.h"
#include "runtime/target/target.h"

namespace baton::elf {

struct Header {
  Elf64_Ehdr raw;
  const Target* target;
  int abi_version;  ///< code object version
};

/// Throws Error (user) on anything but a linked 64-bit AMDGPU code object of a known chip.
Header read_header(ByteView bytes);

std::vector<ElfSection> read_sections(ByteView bytes, const Elf64_Ehdr& header);

std::vector<Elf64_Phdr> read_program_headers(ByteView bytes, const Elf64_Ehdr& header);

/// The PT_LOADs, ascending and apart.
std::vector<ElfSegment> read_segments(ByteView bytes, const std::vector<Elf64_Phdr>& headers);

/// The segment whose memory holds [vaddr, vaddr + size), or null.
const ElfSegment* segment_at(const std::vector<ElfSegment>& segments, uint64_t vaddr,
                             uint64_t size);

std::vector<ElfSymbol> read_dynamic_symbols(const std::vector<ElfSection>& sections,
                                            const std::vector<ElfSegment>& segments);

std::vector<ElfRelocation> read_relocations(const std::vector<ElfSection>& sections,
                                            const std::vector<ElfSegment>& segments,
                                            size_t symbol_count);

/// The descriptor of the first NT_AMDGPU_METADATA note.
ByteView find_metadata_note(ByteView bytes, const std::vector<Elf64_Phdr>& headers);

}  // namespace baton::elf
