#include "runtime/object/elf_image.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/object/elf_parts.h"

namespace baton {
namespace {

using SymbolIndex = std::unordered_map<std::string_view, const ElfSymbol*>;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::user, message); }

ByteView file_bytes_at(const std::vector<ElfSegment>& segments, uint64_t vaddr, uint64_t size) {
  const ElfSegment* segment = elf::segment_at(segments, vaddr, size);
  if (segment == nullptr) return {};
  const uint64_t offset = vaddr - segment->vaddr;
  const bool in_file = offset <= segment->bytes.size() && size <= segment->bytes.size() - offset;
  return in_file ? segment->bytes.subspan(offset, size) : ByteView{};
}

void check_equal(const std::string& what, const char* field, uint64_t metadata,
                 uint64_t descriptor) {
  if (metadata != descriptor) {
    fail(fmt::format("{}: its metadata says {} {}, its descriptor {}", what, field, metadata,
                     descriptor));
  }
}

void check_at_most(const std::string& what, const char* field, uint64_t value, int limit) {
  if (value > static_cast<uint64_t>(limit)) {
    fail(fmt::format("{}: {} {} are over the chip's {}", what, value, field, limit));
  }
}

void check_resources(const Kernel& kernel, const Target& target, const std::string& what) {
  check_equal(what, "LDS bytes", kernel.lds_bytes, kernel.descriptor.group_segment_fixed_size);
  check_equal(what, "scratch bytes", kernel.scratch_bytes,
              kernel.descriptor.private_segment_fixed_size);
  check_equal(what, "kernarg bytes", kernel.kernarg_bytes, kernel.descriptor.kernarg_size);
  check_at_most(what, "LDS bytes", kernel.lds_bytes, target.lds_bytes);
  check_at_most(what, "registers", kernel.vgprs, target.max_vgprs_per_wave);
  if (kernel.agprs > kernel.vgprs) {
    fail(fmt::format("{}: {} AGPRs of only {} registers", what, kernel.agprs, kernel.vgprs));
  }
  if (kernel.wave_lanes != static_cast<uint32_t>(target.wave_lanes)) {
    fail(fmt::format("{}: waves of {} lanes, but {} has {}", what, kernel.wave_lanes, target.chip,
                     target.wave_lanes));
  }
  constexpr int kMaxWorkgroupLanes = 1024;
  check_at_most(what, "lanes a workgroup", kernel.max_workgroup_lanes, kMaxWorkgroupLanes);
}

Kernel read_kernel(const KernelMetadata& metadata, const SymbolIndex& symbols,
                   const std::vector<ElfSegment>& segments, const Target& target) {
  const std::string what = "kernel " + quote(metadata.name);
  const auto found = symbols.find(metadata.symbol);
  if (found == symbols.end() || !found->second->defined) {
    fail(fmt::format("{} has no kernel descriptor: no dynamic symbol {}", what,
                     quote(metadata.symbol)));
  }
  const uint64_t at = found->second->vaddr;
  const ByteView bytes = file_bytes_at(segments, at, sizeof(KernelDescriptor));
  if (bytes.empty() || at % alignof(KernelDescriptor) != 0) {
    fail(fmt::format("{}: its descriptor at 0x{:x} is not {} aligned bytes of a segment", what, at,
                     sizeof(KernelDescriptor)));
  }
  Kernel kernel{metadata, at, 0, read_at<KernelDescriptor>(bytes, 0, what)};
  kernel.entry_vaddr = at + static_cast<uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);
  constexpr uint64_t kEntryAlign = 256;
  constexpr uint64_t kShortestCode = 4;  // s_endpgm
  const ElfSegment* code = elf::segment_at(segments, kernel.entry_vaddr, kShortestCode);
  if (code == nullptr || !code->executable || kernel.entry_vaddr % kEntryAlign != 0 ||
      file_bytes_at(segments, kernel.entry_vaddr, kShortestCode).empty()) {
    fail(fmt::format("{}: its entry 0x{:x} is not a multiple of {} in an executable segment", what,
                     kernel.entry_vaddr, kEntryAlign));
  }
  check_resources(kernel, target, what);
  return kernel;
}

std::vector<Kernel> read_kernels(const CodeObjectMetadata& metadata,
                                 const std::vector<ElfSymbol>& symbols,
                                 const std::vector<ElfSegment>& segments, const Target& target) {
  SymbolIndex by_name;
  for (const ElfSymbol& symbol : symbols) by_name.emplace(symbol.name, &symbol);
  std::vector<Kernel> kernels;
  std::unordered_map<std::string_view, size_t> seen;
  for (const KernelMetadata& kernel : metadata.kernels) {
    const auto [first, fresh] = seen.emplace(kernel.name, kernels.size());
    if (!fresh) {
      fail(fmt::format("kernels {} and {} have the same name {}", first->second, kernels.size(),
                       quote(kernel.name)));
    }
    kernels.push_back(read_kernel(kernel, by_name, segments, target));
  }
  return kernels;
}

/// "amdgcn-amd-amdhsa--gfx90a:xnack+" names gfx90a.
void check_target_text(std::string_view text, std::string_view chip) {
  if (text.empty()) return;
  const size_t dashes = text.rfind("--");
  std::string_view named = dashes == text.npos ? text : text.substr(dashes + 2);
  named = named.substr(0, named.find(':'));
  if (named != chip) {
    fail(fmt::format("e_flags name {}, but the metadata's target is {}", chip, quote(text)));
  }
}

}  // namespace

std::string_view name(RelocationKind kind) {
  constexpr std::array<std::string_view, 15> kNames = {"R_AMDGPU_NONE",
                                                       "R_AMDGPU_ABS32_LO",
                                                       "R_AMDGPU_ABS32_HI",
                                                       "R_AMDGPU_ABS64",
                                                       "R_AMDGPU_REL32",
                                                       "R_AMDGPU_REL64",
                                                       "R_AMDGPU_ABS32",
                                                       "R_AMDGPU_GOTPCREL",
                                                       "R_AMDGPU_GOTPCREL32_LO",
                                                       "R_AMDGPU_GOTPCREL32_HI",
                                                       "R_AMDGPU_REL32_LO",
                                                       "R_AMDGPU_REL32_HI",
                                                       "",
                                                       "R_AMDGPU_RELATIVE64",
                                                       "R_AMDGPU_REL16"};
  const auto number = static_cast<size_t>(kind);
  return number < kNames.size() ? kNames[number] : std::string_view{};
}

ElfImage ElfImage::parse(ByteView bytes, std::string_view source) {
  try {
    const elf::Header header = elf::read_header(bytes);
    const std::vector<Elf64_Phdr> program_headers = elf::read_program_headers(bytes, header.raw);
    ElfImage image;
    image.bytes_ = bytes;
    image.chip_ = header.target->chip;
    image.flags_ = header.raw.e_flags;
    image.abi_version_ = header.abi_version;
    image.sections_ = elf::read_sections(bytes, header.raw);
    image.segments_ = elf::read_segments(bytes, program_headers);
    image.symbols_ = elf::read_dynamic_symbols(image.sections_, image.segments_);
    image.relocations_ =
        elf::read_relocations(image.sections_, image.segments_, image.symbols_.size());
    const CodeObjectMetadata metadata =
        parse_metadata(elf::find_metadata_note(bytes, program_headers));
    check_target_text(metadata.target, image.chip_);
    image.kernels_ = read_kernels(metadata, image.symbols_, image.segments_, *header.target);
    return image;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", source, error.what()), error.hint());
  }
}

uint64_t ElfImage::memory_bytes() const {
  return segments_.back().vaddr + segments_.back().memory_bytes;
}

ByteView ElfImage::bytes_at(uint64_t vaddr, uint64_t size) const {
  return file_bytes_at(segments_, vaddr, size);
}

const Kernel* ElfImage::lookup_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels_, name, &Kernel::name);
  return found == kernels_.end() ? nullptr : &*found;
}

const Kernel& ElfImage::find_kernel(std::string_view name) const {
  if (const Kernel* kernel = lookup_kernel(name)) return *kernel;
  std::string known;
  for (const Kernel& kernel : kernels_) known += (known.empty() ? "" : ", ") + quote(kernel.name);
  throw Error(ErrorKind::user, fmt::format("no kernel {} in the code object", quote(name)),
              known.empty() ? "it holds no kernel" : "its kernels: " + known);
}

}  // namespace baton
