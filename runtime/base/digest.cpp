#include "runtime/base/digest.h"

#include <fmt/format.h>
#include <nettle/sha2.h>

namespace baton {

static_assert(sizeof(Digest::bytes) == SHA256_DIGEST_SIZE);

std::string Digest::hex() const { return fmt::format("{:02x}", fmt::join(bytes, "")); }

Digest sha256(ByteView bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), bytes.data());
  Digest digest;
  sha256_digest(&context, digest.bytes.size(), digest.bytes.data());
  return digest;
}

}  // namespace baton
