// SHA-256: what content addressing, keys and integrity checks use.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"

namespace baton {

struct Digest {
  std::array<uint8_t, 32> bytes;

  std::string hex() const;  ///< 64 lower-case digits
  auto operator<=>(const Digest&) const = default;
};

Digest sha256(ByteView bytes);

/// Of several texts, each behind its length: no two lists of texts run together.
Digest sha256_of(std::span<const std::string_view> parts);

/// Reads what hex() wrote; nothing for any other text.
std::optional<Digest> parse_digest(std::string_view hex);

}  // namespace baton
