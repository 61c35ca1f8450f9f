// Any text is a matrix or one clear error; the keys of a matrix are complete, each once.
#include <set>
#include <string_view>

#include "builds/families.h"
#include "builds/matrix.h"
#include "runtime/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const baton::builds::Matrix matrix = baton::builds::read_matrix(text, "fuzz");
    std::set<std::string> seen;
    for (const baton::BuildKey& key : matrix.keys) {
      if (!seen.insert(key.text() + key.chip()).second) __builtin_trap();
      if (!(baton::builds::complete_key(key.text(), key.chip()) == key)) __builtin_trap();
    }
  } catch (const baton::Error& error) {
    if (error.kind() != baton::ErrorKind::user) __builtin_trap();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
  return 0;
}
