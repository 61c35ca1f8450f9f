// What kernels, runner and reports agree on: values from the hand-off protocol's text.
#include <catch2/catch.hpp>
#include <cstddef>
#include <set>

#include "runtime/object/handoff_protocol.h"

namespace baton {
namespace {

TEST_CASE("a region's id is the CRC-32 of its name in 31 bits") {
  // The check value of CRC-32 is 0xCBF43926 for "123456789".
  CHECK(region_id("123456789") == 0x4BF43926);
  CHECK(region_id("") == 0);
  CHECK(region_id("a") == 0x68B7BE43);  // 0xE8B7BE43
  CHECK(region_id("abc") == 0x352441C2);
  CHECK(region_id("The quick brown fox jumps over the lazy dog") == 0x414FA339);
}

TEST_CASE("a diagnostics record is eight words in the documented order") {
  CHECK(sizeof(DiagRecord) == 32);
  CHECK(offsetof(DiagRecord, present) == 0);
  CHECK(offsetof(DiagRecord, region) == 4);
  CHECK(offsetof(DiagRecord, index) == 8);
  CHECK(offsetof(DiagRecord, expected_tag) == 12);
  CHECK(offsetof(DiagRecord, seen_tag) == 16);
  CHECK(offsetof(DiagRecord, workgroup) == 20);
  CHECK(offsetof(DiagRecord, clock) == 24);
  CHECK(offsetof(DiagRecord, zero) == 28);
  CHECK(kDiagWaitTicks == int64_t{10} * 100'000'000);  // 10 s at 100 MHz
}

TEST_CASE("the sentinel is two bf16 NaNs, and so is what replaces it") {
  CHECK(kSentinel == 0xFFFFFFFF);
  CHECK(kSentinelPayload == 0xFFFEFFFE);
  for (const uint32_t half : {kSentinelPayload >> 16, kSentinelPayload & 0xFFFF}) {
    CHECK((half & 0x7F80) == 0x7F80);  // exponent all ones
    CHECK((half & 0x007F) != 0);       // a mantissa: no infinity
  }
}

TEST_CASE("the words of a sentinel region are counted without gap or clash") {
  constexpr int64_t kSources = 8;
  const std::pair<int, int> shapes[] = {{1, 16}, {3, 48}, {17, 32}, {64, 128}};
  for (const auto& [tokens, width] : shapes) {
    CAPTURE(tokens, width);
    std::set<int64_t> seen;
    for (int64_t source = 0; source < kSources; ++source) {
      for (int64_t token = 0; token < tokens; ++token) {
        for (int64_t column = 0; column < width; column += 2) {
          seen.insert(sentinel_word(source, token, column, tokens, width));
        }
      }
    }
    const int64_t words = kSources * tokens * width / 2;
    CHECK(static_cast<int64_t>(seen.size()) == words);
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == words - 1);
  }
}

TEST_CASE("eight pairs of a token stand side by side, and the tokens follow") {
  // 16 columns of one token are words 0 .. 7, of the next token 8 .. 15.
  for (int64_t column = 0; column < 16; column += 2) {
    CHECK(sentinel_word<int64_t>(0, 0, column, 4, 64) == column / 2);
    CHECK(sentinel_word<int64_t>(0, 1, column, 4, 64) == 8 + column / 2);
  }
  CHECK(sentinel_word<int64_t>(0, 0, 16, 4, 64) == 32);    // behind the 4 tokens
  CHECK(sentinel_word<int64_t>(1, 0, 0, 4, 64) == 128);    // behind the 4 blocks of columns
  CHECK(sentinel_word<int64_t>(7, 3, 62, 4, 64) == 1023);  // the last
}

}  // namespace
}  // namespace baton
