// Any bytes are tensors or one clear error; tensors survive the way through a file.
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/tensors/tensor.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

bool same(const baton::TensorMap& a, const baton::TensorMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    const auto found = b.find(name);
    if (found == b.end() || found->second.dtype != tensor.dtype ||
        found->second.shape != tensor.shape || found->second.bytes != tensor.bytes) {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const baton::TensorMap tensors = baton::parse_safetensors({data, size}, "fuzz");
    for (const auto& [name, tensor] : tensors) {
      require(static_cast<uint64_t>(tensor.elements() * baton::dtype_bytes(tensor.dtype)) ==
              tensor.bytes.size());
    }
    require(same(baton::parse_safetensors(baton::format_safetensors(tensors), "again"), tensors));
  } catch (const baton::Error& error) {
    require(error.kind() == baton::ErrorKind::user);
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
