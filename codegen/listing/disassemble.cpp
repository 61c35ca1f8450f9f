#include <elf.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <map>

#include "codegen/comgr/comgr_decoder.h"
#include "codegen/listing/debug_lines.h"
#include "codegen/listing/decoder.h"
#include "codegen/listing/listing.h"
#include "runtime/base/error.h"
#include "runtime/object/elf_parts.h"
#include "runtime/target/target.h"

namespace baton {
namespace {

using codegen::AddressOrigin;
using codegen::DebugLines;
using codegen::DecodedInstruction;
using codegen::Decoder;

/// The index of `name` in `names`, added at the end when it is new; -1 for an empty name.
int intern(std::vector<std::string>& names, const std::string& name) {
  if (name.empty()) return -1;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  names.push_back(name);
  return static_cast<int>(names.size()) - 1;
}

int intern_file(std::vector<ListedFile>& files, const AddressOrigin& origin) {
  if (origin.file.empty()) return -1;
  const auto found = std::ranges::find(files, origin.file, &ListedFile::name);
  if (found != files.end()) return static_cast<int>(found - files.begin());
  files.push_back({origin.file, std::string(origin.source.value_or(""))});
  return static_cast<int>(files.size()) - 1;
}

constexpr const char* kDamagedHint =
    "the file is damaged, or another compiler's: llvm-objdump may tell more";

const Kernel& choose_kernel(const ElfImage& image, std::string_view source,
                            std::string_view wanted) {
  if (!wanted.empty()) return image.find_kernel(wanted);
  if (image.kernels().size() == 1) return image.kernels().front();
  std::string names;
  for (const Kernel& kernel : image.kernels()) names += (names.empty() ? "" : ", ") + kernel.name;
  throw Error(
      ErrorKind::user,
      fmt::format("{}: holds {} kernels, one must be named", source, image.kernels().size()),
      "kernels: " + (names.empty() ? "none" : names));
}

/// The bytes of the kernel's function symbol: the code, without the padding behind it.
ByteView code_of(const ElfImage& image, const Kernel& kernel, std::string_view source) {
  for (const ElfSymbol& symbol : image.symbols()) {
    if (symbol.type != STT_FUNC || symbol.vaddr != kernel.entry_vaddr || symbol.size == 0) continue;
    const ByteView code = image.bytes_at(symbol.vaddr, symbol.size);
    if (!code.empty()) return code;
  }
  throw Error(
      ErrorKind::user,
      fmt::format("{}: no function symbol gives the size of kernel {}", source, kernel.name),
      kDamagedHint);
}

/// What follows the kernel in its section.
ByteView padding_of(const ElfImage& image, const Kernel& kernel, ByteView code) {
  const uint64_t end = kernel.entry_vaddr + code.size();
  for (const ElfSection& section : image.sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0 || section.bytes.empty()) continue;
    const uint64_t section_end = section.vaddr + section.bytes.size();
    if (kernel.entry_vaddr < section.vaddr || kernel.entry_vaddr >= section_end) continue;
    uint64_t next = section_end;  // another kernel's code is no padding
    for (const ElfSymbol& symbol : image.symbols()) {
      if (symbol.type == STT_FUNC && symbol.vaddr >= end) next = std::min(next, symbol.vaddr);
    }
    return end < next ? image.bytes_at(end, next - end) : ByteView();
  }
  return {};
}

std::string metadata_yaml(ByteView code_object) {
  const elf::Header header = elf::read_header(code_object);
  const ByteView note =
      elf::find_metadata_note(code_object, elf::read_program_headers(code_object, header.raw));
  llvm::msgpack::Document document;
  const llvm::StringRef blob(reinterpret_cast<const char*>(note.data()), note.size());
  std::string yaml;
  llvm::raw_string_ostream stream(yaml);
  if (document.readFromBlob(blob, /*Multi=*/false)) document.toYAML(stream);
  return yaml;
}

/// The word at `offset` of the kernel, for a message.
std::string word_at(ByteView code, uint64_t offset) {
  const ByteView rest = code.subspan(offset, std::min<uint64_t>(4, code.size() - offset));
  std::string digits;
  for (auto byte = rest.rbegin(); byte != rest.rend(); ++byte)
    digits += fmt::format("{:02x}", *byte);
  return "0x" + digits;
}

class Disassembly {
 public:
  Disassembly(Listing& listing, std::string_view source, Decoder& decoder)
      : listing_(listing), source_(source), decoder_(decoder) {}

  /// The first pass finds where branches go: their labels are numbered by address.
  void find_labels() {
    for_each([&](const DecodedInstruction& decoded, uint64_t address) {
      starts_.push_back(address);
      if (decoded.branch_target) labels_.emplace(*decoded.branch_target, -1);
    });
    const uint64_t start = listing_.kernel.entry_vaddr;
    std::erase_if(labels_, [&](const auto& label) {
      return label.first < start || label.first >= start + listing_.code.size() ||
             !std::ranges::binary_search(starts_, label.first);
    });
    int next = 0;
    for (auto& [address, label] : labels_) label = next++;
  }

  void list(const DebugLines& lines) {
    for_each([&](const DecodedInstruction& decoded, uint64_t address) {
      const AddressOrigin origin = lines.origin(address);
      ListedInstruction listed{.address = address,
                               .size = decoded.size,
                               .kind = InstructionClass::other,
                               .text = decoder_.text(address, target_label(decoded)),
                               .line = origin.line};
      listed.kind = classify(std::string_view(listed.text).substr(0, listed.text.find(' ')));
      const auto label = labels_.find(address);
      if (label != labels_.end()) listed.label = label->second;
      listed.file = intern_file(listing_.files, origin);
      listed.stage = intern(listing_.stages, origin.stage);
      listed.handoff = intern(listing_.handoffs, origin.handoff);
      listing_.instructions.push_back(std::move(listed));
    });
  }

 private:
  template <typename Visit>
  void for_each(Visit visit) {
    const ByteView code = listing_.code;
    uint64_t offset = 0;
    while (offset < code.size()) {
      const uint64_t address = listing_.kernel.entry_vaddr + offset;
      const DecodedInstruction decoded = decoder_.decode(code.subspan(offset), address);
      if (decoded.size == 0) {
        throw Error(
            ErrorKind::user,
            fmt::format("{}: kernel {}: the word {} at offset {:#x} is no {} instruction", source_,
                        listing_.kernel.name, word_at(code, offset), offset, listing_.chip),
            kDamagedHint);
      }
      visit(decoded, address);
      offset += decoded.size;
    }
  }

  std::string target_label(const DecodedInstruction& decoded) const {
    if (!decoded.branch_target) return {};
    const auto label = labels_.find(*decoded.branch_target);
    return label == labels_.end() ? std::string() : fmt::format("L{}", label->second);
  }

  Listing& listing_;
  std::string_view source_;
  Decoder& decoder_;
  std::map<uint64_t, int> labels_;
  std::vector<uint64_t> starts_;  ///< of instructions, ascending
};

}  // namespace

Listing disassemble(ByteView code_object, std::string_view source, std::string_view kernel,
                    const comgr::Library* comgr) {
  const ElfImage image = ElfImage::parse(code_object, source);
  Listing listing;
  listing.chip = image.chip();
  listing.code_object_version = image.abi_version();
  listing.kernel = choose_kernel(image, source, kernel);
  const ByteView code = code_of(image, listing.kernel, source);
  const ByteView padding = padding_of(image, listing.kernel, code);
  listing.code.assign(code.begin(), code.end());
  listing.padding.assign(padding.begin(), padding.end());
  listing.metadata_yaml = metadata_yaml(code_object);
  listing.occupancy =
      occupancy_of(listing.kernel, find_target(listing.chip), listing.kernel.max_workgroup_lanes);
  if (comgr != nullptr) listing.decoder = comgr->title();
  const std::unique_ptr<Decoder> decoder = comgr == nullptr
                                               ? codegen::make_llvm_decoder(listing.chip)
                                               : comgr::make_decoder(*comgr, listing.chip);
  Disassembly disassembly(listing, source, *decoder);
  disassembly.find_labels();
  disassembly.list(DebugLines(code_object));
  return listing;
}

Occupancy occupancy_of(const Kernel& kernel, const Target& target, uint32_t workgroup_lanes) {
  const auto allocated = static_cast<uint32_t>(kernel.descriptor.allocated_vgprs());
  return occupancy(target, {.vgprs = std::max(kernel.vgprs, allocated),
                            .sgprs = kernel.sgprs,
                            .lds_bytes = kernel.lds_bytes,
                            .workgroup_lanes = workgroup_lanes});
}

ClassCounts count_classes(const Listing& listing, int stage) {
  ClassCounts counts{};
  for (const ListedInstruction& instruction : listing.instructions) {
    if (instruction.stage == stage) ++counts[static_cast<size_t>(instruction.kind)];
  }
  return counts;
}

}  // namespace baton
