#include <catch2/catch.hpp>
#include <limits>

#include "runtime/base/bytes.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using tests::user_error;

const Bytes kBytes = {0x01, 0x02, 0x03, 0x04, 0x05, 'a', 'b', 0, 'c'};

TEST_CASE("read_at reads little-endian at any alignment") {
  CHECK(read_at<uint32_t>(kBytes, 1, "word") == 0x05040302);
  CHECK(read_at<uint8_t>(kBytes, 8, "byte") == 'c');
}

TEST_CASE("a read past the end names what, where and the end") {
  CHECK(user_error([] { read_at<uint32_t>(kBytes, 6, "section header 3"); }) ==
        "section header 3 needs 4 bytes at byte 6, past the end at byte 9");
  CHECK(user_error([] { slice(kBytes, 10, 0, "x"); }) ==
        "x needs 0 bytes at byte 10, past the end at byte 9");
}

TEST_CASE("offsets and sizes that wrap around are past the end") {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  user_error([] { slice(kBytes, kMax, 2, "x"); });
  user_error([] { slice(kBytes, 2, kMax, "x"); });
  user_error([] { slice(kBytes, kMax, kMax, "x"); });
}

TEST_CASE("a slice up to the very end is within") {
  CHECK(slice(kBytes, 9, 0, "x").empty());
  CHECK(slice(kBytes, 0, 9, "x").size() == 9);
}

TEST_CASE("strings end at their NUL, and must have one") {
  CHECK(read_string_at(kBytes, 5, "name") == "ab");
  CHECK(read_string_at(kBytes, 7, "name").empty());
  CHECK(user_error([] { read_string_at(kBytes, 8, "name"); }) ==
        "name at byte 8 has no terminating NUL before byte 9");
  CHECK(user_error([] { read_string_at(kBytes, 9, "name"); }) ==
        "name at byte 9 has no terminating NUL before byte 9");
  user_error([] { read_string_at(kBytes, 10, "name"); });
}

}  // namespace
}  // namespace baton
