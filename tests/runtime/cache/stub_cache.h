// Stub objects in a cache: the code of `tokens` is the content of the same number.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/cache/cache.h"
#include "runtime/cache/layout.h"
#include "tests/runtime/cache/stub_builder.h"

namespace baton::tests {

inline Digest stub_content(int64_t tokens) { return sha256(as_bytes(std::to_string(tokens))); }

inline CodeName stub_name(const BuildKey& key, std::string_view library = "library") {
  return {.key = key.text(), .chip = key.chip(), .library = sha256(as_bytes(library))};
}
inline CodeName stub_name(int64_t tokens) { return stub_name(stub_key(tokens)); }

inline void keep(Cache& cache, int64_t tokens) {
  cache.store(stub_content(tokens), stub_object(stub_key(tokens)));
  cache.link(stub_name(tokens), stub_content(tokens));
}

inline std::filesystem::path entry_of(const std::filesystem::path& folder, int64_t tokens) {
  return cache_layout::entry(folder, stub_content(tokens));
}
inline std::filesystem::path index_file_of(const std::filesystem::path& folder, int64_t tokens) {
  return cache_layout::index_file(folder, stub_name(tokens).digest());
}

}  // namespace baton::tests
