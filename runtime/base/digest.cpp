#include "runtime/base/digest.h"

#include <fmt/format.h>
#include <nettle/sha2.h>

namespace baton {
namespace {

Digest finish(sha256_ctx& context) {
  Digest digest;
  sha256_digest(&context, digest.bytes.size(), digest.bytes.data());
  return digest;
}

}  // namespace

static_assert(sizeof(Digest::bytes) == SHA256_DIGEST_SIZE);

std::string Digest::hex() const { return fmt::format("{:02x}", fmt::join(bytes, "")); }

Digest sha256(ByteView bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), bytes.data());
  return finish(context);
}

Digest sha256_of(std::span<const std::string_view> parts) {
  sha256_ctx context;
  sha256_init(&context);
  for (std::string_view part : parts) {
    uint8_t length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(uint64_t{part.size()} >> (8 * i));
    sha256_update(&context, sizeof(length), length);
    const ByteView bytes = as_bytes(part);
    sha256_update(&context, bytes.size(), bytes.data());
  }
  return finish(context);
}

std::optional<Digest> parse_digest(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (size_t i = 0; i < hex.size(); ++i) {
    const size_t value = std::string_view("0123456789abcdef").find(hex[i]);
    if (value == std::string_view::npos) return std::nullopt;
    uint8_t& byte = digest.bytes[i / 2];
    byte = static_cast<uint8_t>(i % 2 == 0 ? value << 4 : byte | value);
  }
  return digest;
}

}  // namespace baton
