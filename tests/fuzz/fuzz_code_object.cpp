// Any bytes are a code object or one clear error; what an image promises, it keeps.
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/object/elf_image.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

/// Reads every byte of a view, so that a sanitizer sees one that leaves the input.
unsigned touch(baton::ByteView bytes) {
  unsigned sum = 0;
  for (const uint8_t byte : bytes) sum += byte;
  return sum;
}

unsigned touch(std::string_view text) { return touch(baton::as_bytes(text)); }

void use(const baton::ElfImage& image) {
  unsigned sum = 0;
  uint64_t end = 0;
  for (const baton::ElfSection& section : image.sections()) {
    sum += touch(section.name) + touch(section.bytes);
  }
  for (const baton::ElfSegment& segment : image.segments()) {
    require(segment.vaddr >= end && segment.bytes.size() <= segment.memory_bytes);
    end = segment.vaddr + segment.memory_bytes;
    sum += touch(segment.bytes);
  }
  require(end == image.memory_bytes() && end <= baton::kMaxImageBytes);
  for (const baton::ElfSymbol& symbol : image.symbols()) sum += touch(symbol.name);
  for (const baton::ElfRelocation& relocation : image.relocations()) {
    require(relocation.symbol < image.symbols().size() && !name(relocation.kind).empty());
  }
  for (const baton::Kernel& kernel : image.kernels()) {
    require(image.lookup_kernel(kernel.name) == &kernel);
    require(image.bytes_at(kernel.descriptor_vaddr, sizeof kernel.descriptor).size() == 64);
    require(!image.bytes_at(kernel.entry_vaddr, 4).empty());
  }
  volatile unsigned keep = sum;
  (void)keep;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    use(baton::ElfImage::parse({data, size}, "fuzz"));
  } catch (const baton::Error& error) {
    require(error.kind() == baton::ErrorKind::user);
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
