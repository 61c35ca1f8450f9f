// Any text is a key or one clear error; a complete key's text completes to the same key.
#include <string_view>

#include "builds/families.h"
#include "runtime/base/error.h"
#include "runtime/target/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const baton::BuildKey key = baton::builds::complete_key(text, "gfx950");
    const baton::BuildKey again = baton::builds::complete_key(key.text(), key.chip());
    if (!(again == key) || !(again.digest() == key.digest())) __builtin_trap();
  } catch (const baton::Error& error) {
    if (error.kind() != baton::ErrorKind::user) __builtin_trap();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
  return 0;
}
