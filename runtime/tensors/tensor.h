// Dense host tensors by name, and the safetensors files that hold them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"

namespace baton {

/// A dense, row-major tensor. `dtype` is Baton's name: bf16, f16, f32, i8, u8, i32, u32, i64.
struct Tensor {
  std::string dtype;
  std::vector<int64_t> shape;
  Bytes bytes;

  int64_t elements() const;
};

using TensorMap = std::map<std::string, Tensor>;

/// Bytes of an element of `dtype`, or 0 when there is no such dtype.
int64_t dtype_bytes(std::string_view dtype);

/// "bf16 [8, 1536]".
std::string describe(std::string_view dtype, const std::vector<int64_t>& shape);

/// Parses untrusted bytes. Throws Error (user), one line that starts with `source`: a truncated
/// file, a header that is no JSON or larger than the file, an unknown dtype, offsets that are out
/// of the file, overlap, leave gaps or differ from shape and dtype.
TensorMap parse_safetensors(ByteView bytes, std::string_view source);
TensorMap read_safetensors(const std::filesystem::path& path);

/// The same tensors give the same bytes. Tensors are laid out in the order of their names.
Bytes format_safetensors(const TensorMap& tensors);
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors);

}  // namespace baton
