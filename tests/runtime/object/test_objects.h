// The code objects that the test build compiles from kernels.c, and ways to spoil them.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>

#include "runtime/base/file.h"

namespace baton::tests {

/// "gfx90a-v5.co", "relocatable.o", "host.o".
inline Bytes test_object(const std::string& name) {
  return read_file(std::string(BATON_TEST_OBJECTS) + "/" + name);
}

template <typename T>
Bytes with(Bytes bytes, uint64_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
  return bytes;
}

inline Elf64_Ehdr header_of(const Bytes& bytes) { return read_at<Elf64_Ehdr>(bytes, 0, "header"); }

/// File offset of the first section header of that type.
inline uint64_t section_header_at(const Bytes& bytes, uint32_t type) {
  const Elf64_Ehdr header = header_of(bytes);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    if (read_at<Elf64_Shdr>(bytes, at, "section").sh_type == type) return at;
  }
  return ~uint64_t{0};
}

/// File offset of the n-th program header of that type.
inline uint64_t program_header_at(const Bytes& bytes, uint32_t type, int n = 0) {
  const Elf64_Ehdr header = header_of(bytes);
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    if (read_at<Elf64_Phdr>(bytes, at, "segment").p_type == type && n-- == 0) return at;
  }
  return ~uint64_t{0};
}

/// `bytes` with the first `from` replaced by `to`, of the same length.
inline Bytes replaced(const Bytes& bytes, std::string_view from, std::string_view to) {
  std::string text(bytes.begin(), bytes.end());
  text.replace(text.find(from), from.size(), to);
  return {text.begin(), text.end()};
}

}  // namespace baton::tests
