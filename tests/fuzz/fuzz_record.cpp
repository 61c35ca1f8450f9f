// Any text is a record or one clear error; a record survives the way through its JSON.
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/object/record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const baton::Record record = baton::Record::from_json(text, "fuzz");
    const std::string json = record.to_json();
    if (!(baton::Record::from_json(json, "fuzz") == record)) __builtin_trap();
  } catch (const baton::Error& error) {
    if (error.kind() != baton::ErrorKind::user) __builtin_trap();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
  return 0;
}
