// SHA-256: what content addressing, keys and integrity checks use.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/base/bytes.h"

namespace baton {

struct Digest {
  std::array<uint8_t, 32> bytes;

  std::string hex() const;  ///< 64 lower-case digits
  bool operator==(const Digest&) const = default;
};

Digest sha256(ByteView bytes);

}  // namespace baton
