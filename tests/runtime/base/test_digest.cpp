#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "runtime/base/digest.h"

namespace baton {
namespace {

// FIPS 180-4, the published examples.
TEST_CASE("SHA-256 of the standard's examples") {
  CHECK(sha256({}).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256(as_bytes("abc")).hex() ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).hex() ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("a list of texts is hashed with the length before each, 8 bytes little-endian") {
  const auto of = [](const std::vector<std::string_view>& parts) { return sha256_of(parts).hex(); };
  // Python: sha256(b"".join(struct.pack("<Q", len(p)) + p for p in parts))
  CHECK(of({"ab", "", "c"}) == "fc8c9cb2fcf043eccbb4a1d9db773cf56aac8ccc96cd90987a38a862db532f0b");
  CHECK(of({"ab", "c"}) != of({"a", "bc"}));
  CHECK(of({"abc"}) != of({"abc", ""}));
}

TEST_CASE("a digest reads back from its hex, and from nothing else") {
  const Digest digest = sha256(as_bytes("abc"));
  CHECK(parse_digest(digest.hex()) == digest);
  for (std::string wrong : {digest.hex().substr(1), digest.hex() + "0", std::string(64, 'g'),
                            std::string(64, 'A'), std::string()}) {
    CHECK_FALSE(parse_digest(wrong));
  }
}

}  // namespace
}  // namespace baton
