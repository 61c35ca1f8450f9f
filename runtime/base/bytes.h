// Reading untrusted bytes: every access is checked against the end and says what was being read.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace baton {

static_assert(std::endian::native == std::endian::little,
              "on-disk structures are read as they are");

using Bytes = std::vector<uint8_t>;
using ByteView = std::span<const uint8_t>;

/// The bytes of a text, without a terminator.
inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// `bytes[offset, offset + size)`. Throws Error (user) that names `what`, the range and the end.
ByteView slice(ByteView bytes, uint64_t offset, uint64_t size, std::string_view what);

/// A little-endian structure at any alignment. Throws like slice.
template <typename T>
T read_at(ByteView bytes, uint64_t offset, std::string_view what) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, slice(bytes, offset, sizeof(T), what).data(), sizeof(T));
  return value;
}

/// The NUL-terminated string at `offset`, without the NUL. Throws Error (user) when it has no end.
std::string_view read_string_at(ByteView bytes, uint64_t offset, std::string_view what);

}  // namespace baton
