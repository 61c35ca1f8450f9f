// The one reader of AMDGPU code objects: untrusted bytes are verified here, once, and whoever holds
// an ElfImage need not check again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/object/kernel_descriptor.h"
#include "runtime/object/kernel_metadata.h"

namespace baton {

/// What a loader reserves at most for the segments of one code object.
inline constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;

struct ElfSection {
  std::string_view name;
  uint32_t type;   ///< SHT_*
  uint64_t flags;  ///< SHF_*
  uint64_t vaddr;
  uint32_t link;
  uint64_t entry_bytes;
  ByteView bytes;  ///< empty for SHT_NOBITS
};

/// A PT_LOAD: `bytes`, then zeros up to `memory_bytes`, at `vaddr` from the image's base.
struct ElfSegment {
  uint64_t vaddr;
  uint64_t memory_bytes;
  uint64_t align;  ///< a power of two
  bool writable;
  bool executable;
  ByteView bytes;
};

struct ElfSymbol {
  std::string_view name;
  uint64_t vaddr;
  uint64_t size;
  uint8_t type;     ///< STT_*
  uint8_t binding;  ///< STB_*
  bool defined;
};

/// The relocations of the AMDGPU back end that a loader may meet.
enum class RelocationKind : uint32_t {
  none = 0,
  abs32_lo = 1,
  abs32_hi = 2,
  abs64 = 3,
  rel32 = 4,
  rel64 = 5,
  abs32 = 6,
  gotpcrel = 7,
  gotpcrel32_lo = 8,
  gotpcrel32_hi = 9,
  rel32_lo = 10,
  rel32_hi = 11,
  relative64 = 13,
  rel16 = 14,
};

/// "R_AMDGPU_ABS64"; empty for a number that is none.
std::string_view name(RelocationKind kind);

struct ElfRelocation {
  uint64_t vaddr;  ///< of the place to write, inside a segment
  RelocationKind kind;
  uint32_t symbol;  ///< index into ElfImage::symbols
  int64_t addend;
};

struct Kernel : KernelMetadata {
  uint64_t descriptor_vaddr;
  uint64_t entry_vaddr;  ///< 256-byte aligned, in an executable segment
  KernelDescriptor descriptor;
};

/// A verified view of a code object: the bytes must outlive it. Holds for every image: segments
/// ascend, do not overlap and end below kMaxImageBytes; symbols' and relocations' places lie in
/// them; each kernel's descriptor agrees with its metadata.
class ElfImage {
 public:
  /// Throws Error (user), one line that starts with `source` (the path or key the bytes came from).
  static ElfImage parse(ByteView bytes, std::string_view source);

  std::string_view chip() const { return chip_; }   ///< "gfx950"
  uint32_t flags() const { return flags_; }         ///< e_flags: machine, xnack and sramecc
  int abi_version() const { return abi_version_; }  ///< code object version: 4, 5 or 6
  ByteView bytes() const { return bytes_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  /// The dynamic symbols; the first is the undefined one.
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }
  const std::vector<ElfRelocation>& relocations() const { return relocations_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }

  /// End of the last segment: what to reserve.
  uint64_t memory_bytes() const;
  /// The file's bytes behind [vaddr, vaddr + size); empty unless one segment's bytes hold them all.
  ByteView bytes_at(uint64_t vaddr, uint64_t size) const;
  /// The kernel of that name, or null.
  const Kernel* lookup_kernel(std::string_view name) const;
  /// Throws Error (user) that lists the kernels there are.
  const Kernel& find_kernel(std::string_view name) const;

 private:
  friend class ElfParser;
  ElfImage() = default;

  ByteView bytes_;
  std::string_view chip_;
  uint32_t flags_ = 0;
  int abi_version_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSymbol> symbols_;
  std::vector<ElfRelocation> relocations_;
  std::vector<Kernel> kernels_;
};

}  // namespace baton
