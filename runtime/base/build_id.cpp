#include "runtime/base/build_id.h"

#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <span>
#include <string_view>

namespace baton {
namespace {

struct Search {
  uintptr_t address;
  std::optional<std::string> found = {};
};

size_t aligned(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

/// The descriptor of the build id among the notes of one segment, or nothing.
std::optional<std::string> find_note(std::span<const uint8_t> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    const size_t name = sizeof(header), value = name + aligned(header.n_namesz);
    const size_t end = value + aligned(header.n_descsz);
    if (end > notes.size()) break;
    constexpr std::string_view kGnu("GNU", sizeof("GNU"));  // with its NUL
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == kGnu.size() &&
        std::memcmp(notes.data() + name, kGnu.data(), kGnu.size()) == 0) {
      return fmt::format("{:02x}", fmt::join(notes.subspan(value, header.n_descsz), ""));
    }
    notes = notes.subspan(end);
  }
  return std::nullopt;
}

/// Called for each module; 1 ends the walk.
int look_into(dl_phdr_info* module, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const std::span segments(module->dlpi_phdr, module->dlpi_phnum);
  bool holds = false;
  for (const ElfW(Phdr) & segment : segments) {
    const uintptr_t start = module->dlpi_addr + segment.p_vaddr;
    holds |= segment.p_type == PT_LOAD && search.address - start < segment.p_memsz;
  }
  if (!holds) return 0;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE || search.found) continue;
    const auto* notes = reinterpret_cast<const uint8_t*>(module->dlpi_addr + segment.p_vaddr);
    search.found = find_note({notes, segment.p_memsz});
  }
  return 1;
}

}  // namespace

std::optional<std::string> build_id_at(const void* address) {
  Search search{.address = reinterpret_cast<uintptr_t>(address)};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

}  // namespace baton
