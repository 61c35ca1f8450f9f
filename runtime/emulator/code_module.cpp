#include "runtime/emulator/code_module.h"

#include <cstring>

#include "runtime/base/error.h"

namespace baton::emulator {
namespace {

/// With kernel arguments preloaded, execution starts behind the code for firmware that cannot.
constexpr uint64_t kPreloadEntryBytes = 256;

uint64_t entry_vaddr(const Kernel& kernel) {
  return kernel.entry_vaddr + (kernel.descriptor.kernarg_preload & 0x7f ? kPreloadEntryBytes : 0);
}

/// What a relocation writes: the value and its size; 0 bytes for one that writes nothing.
struct Patch {
  uint64_t value;
  uint32_t bytes;
};

Patch patch_of(RelocationKind kind, uint64_t symbol, int64_t addend, uint64_t place,
               uint64_t base) {
  const uint64_t s = symbol + static_cast<uint64_t>(addend);
  switch (kind) {
    case RelocationKind::none:
      return {0, 0};
    case RelocationKind::abs32_lo:
    case RelocationKind::abs32:
      return {s & 0xffffffff, 4};
    case RelocationKind::abs32_hi:
      return {s >> 32, 4};
    case RelocationKind::abs64:
      return {s, 8};
    case RelocationKind::rel32:
    case RelocationKind::rel32_lo:
      return {(s - place) & 0xffffffff, 4};
    case RelocationKind::rel32_hi:
      return {(s - place) >> 32, 4};
    case RelocationKind::rel64:
      return {s - place, 8};
    case RelocationKind::relative64:
      return {base + static_cast<uint64_t>(addend), 8};
    default:
      break;
  }
  throw Error(ErrorKind::user,
              fmt::format("relocation {} is not one that a loader resolves", name(kind)));
}

}  // namespace

CodeModule::CodeModule(AddressSpace& memory, int device, const ElfImage& image,
                       std::shared_ptr<const Program> program)
    : memory_(memory) {
  image_ = &memory.allocate(device, image.memory_bytes(), "code object");
  for (const ElfSegment& segment : image.segments()) {
    std::copy(segment.bytes.begin(), segment.bytes.end(), image_->host + segment.vaddr);
  }
  relocate(image);
  for (const Kernel& kernel : image.kernels()) {
    KernelCode code;
    code.program = program;
    code.code_base = image_->base;
    code.entry = program->index_of(entry_vaddr(kernel));
    code.kernel = kernel;
    if (code.entry == Program::kNowhere) {
      throw Error(ErrorKind::user,
                  fmt::format("kernel {}: no instruction starts at its entry 0x{:x}", kernel.name,
                              entry_vaddr(kernel)));
    }
    functions_.emplace(kernel.name, std::make_unique<CodeFunction>(std::move(code), device));
  }
}

CodeModule::~CodeModule() { memory_.release(image_->base); }

void CodeModule::relocate(const ElfImage& image) {
  for (const ElfRelocation& r : image.relocations()) {
    uint64_t symbol = 0;
    if (r.symbol != 0) {
      const ElfSymbol& s = image.symbols()[r.symbol];
      if (!s.defined) {
        throw Error(ErrorKind::user, fmt::format("symbol {} is not defined", s.name));
      }
      symbol = image_->base + s.vaddr;
    }
    const Patch patch = patch_of(r.kind, symbol, r.addend, image_->base + r.vaddr, image_->base);
    std::memcpy(image_->host + r.vaddr, &patch.value, patch.bytes);
  }
}

const Function& CodeModule::function(std::string_view name) const {
  const auto found = functions_.find(name);
  if (found != functions_.end()) return *found->second;
  std::string known;
  for (const auto& [kernel, function] : functions_) known += (known.empty() ? "" : ", ") + kernel;
  throw Error(ErrorKind::user, fmt::format("no kernel '{}' in the code object", name),
              "kernels: " + known);
}

}  // namespace baton::emulator
