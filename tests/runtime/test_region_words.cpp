// A region's words in memory against the logical tensor, by an inverse written for itself.
#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/region_words.h"

namespace baton::tests {
namespace {

RecordRegion region_of(RegionProtocol protocol, const std::string& dtype,
                       const std::vector<int64_t>& shape) {
  RecordRegion region;
  region.name = "r";
  region.protocol = protocol;
  region.dtype = dtype;
  region.shape = shape;
  return region;
}

uint32_t word_at(const Bytes& bytes, size_t word) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + 4 * word, 4);
  return value;
}

uint16_t half_at(const Bytes& bytes, size_t element) {
  uint16_t value = 0;
  std::memcpy(&value, bytes.data() + 2 * element, 2);
  return value;
}

void append(Bytes& bytes, uint32_t word) {
  const auto* data = reinterpret_cast<const uint8_t*>(&word);
  bytes.insert(bytes.end(), data, data + 4);
}

/// Walks a sentinel region as it lies: of a source its blocks of 16 columns, of a block its tokens,
/// of a token its 8 pairs. `visit(word, source, token, column)`.
template <class Visit>
void walk_blocks(const std::vector<int64_t>& shape, const Visit& visit) {
  uint64_t word = 0;
  for (int64_t source = 0; source < shape[0]; ++source) {
    for (int64_t block = 0; block < shape[2]; block += 16) {
      for (int64_t token = 0; token < shape[1]; ++token) {
        for (int64_t column = block; column < block + 16; column += 2) {
          visit(word++, source, token, column);
        }
      }
    }
  }
}

const std::vector<std::vector<int64_t>> kSentinelShapes = {
    {1, 1, 16}, {1, 1, 48}, {8, 3, 32}, {2, 17, 64}, {3, 64, 16}};

TEST_CASE("a tagged word takes 8 bytes, any other 4") {
  CHECK(word_bytes(region_of(RegionProtocol::tagged, "f32", {8})) == 8);
  CHECK(word_bytes(region_of(RegionProtocol::tagged, "bf16", {8})) == 8);
  CHECK(word_bytes(region_of(RegionProtocol::sentinel, "bf16", {1, 1, 16})) == 4);
  CHECK(word_bytes(region_of(RegionProtocol::plain, "i32", {8})) == 4);
}

TEST_CASE("a tagged word is named by its first element") {
  const RecordRegion part = region_of(RegionProtocol::tagged, "f32", {56, 3, 9, 2});
  uint64_t word = 0;
  for (int a = 0; a < 56; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 9; ++c) {
        for (int d = 0; d < 2; ++d) {
          const std::string place = std::to_string(a) + ", " + std::to_string(b) + ", " +
                                    std::to_string(c) + ", " + std::to_string(d);
          REQUIRE(name_of_word(part, word++) == "r[" + place + "]");
        }
      }
    }
  }
  const RecordRegion pairs = region_of(RegionProtocol::tagged, "bf16", {2, 6});
  const char* names[] = {"r[0, 0]", "r[0, 2]", "r[0, 4]", "r[1, 0]", "r[1, 2]", "r[1, 4]"};
  for (uint64_t i = 0; i < 6; ++i) CHECK(name_of_word(pairs, i) == names[i]);
  CHECK(name_of_word(region_of(RegionProtocol::tagged, "i32", {56}), 55) == "r[55]");
}

TEST_CASE("a sentinel word is named by source, token and column") {
  for (const std::vector<int64_t>& shape : kSentinelShapes) {
    const RecordRegion region = region_of(RegionProtocol::sentinel, "bf16", shape);
    walk_blocks(shape, [&](uint64_t word, int64_t source, int64_t token, int64_t column) {
      CAPTURE(shape[0], shape[1], shape[2], word);
      REQUIRE(name_of_word(region, word) == "r[" + std::to_string(source) + ", " +
                                                std::to_string(token) + ", " +
                                                std::to_string(column) + "]");
    });
  }
}

TEST_CASE("the logical tensor of a tagged region has no tags") {
  const RecordRegion words = region_of(RegionProtocol::tagged, "f32", {3, 5});
  const RecordRegion pairs = region_of(RegionProtocol::tagged, "bf16", {3, 10});
  Bytes raw;
  for (uint32_t i = 0; i < 15; ++i) {
    append(raw, 0x01000200 + i);
    append(raw, 0xBAD0BAD0);  // the tag
  }
  const Tensor of_words = logical_tensor(words, raw), of_pairs = logical_tensor(pairs, raw);
  CHECK(of_words.dtype == "f32");
  CHECK(of_words.shape == std::vector<int64_t>{3, 5});
  CHECK(of_pairs.dtype == "bf16");
  CHECK(of_pairs.shape == std::vector<int64_t>{3, 10});
  REQUIRE(of_words.bytes.size() == 60);
  REQUIRE(of_pairs.bytes.size() == 60);
  for (uint32_t i = 0; i < 15; ++i) {
    CHECK(word_at(of_words.bytes, i) == 0x01000200 + i);
    // The low half of a word is the element of the lower index.
    CHECK(half_at(of_pairs.bytes, 2 * i) == 0x0200 + i);
    CHECK(half_at(of_pairs.bytes, 2 * i + 1) == 0x0100);
  }
}

TEST_CASE("the logical tensor of a sentinel region is row-major") {
  for (const std::vector<int64_t>& shape : kSentinelShapes) {
    CAPTURE(shape[0], shape[1], shape[2]);
    const RecordRegion region = region_of(RegionProtocol::sentinel, "bf16", shape);
    Bytes raw;
    walk_blocks(shape, [&](uint64_t, int64_t source, int64_t token, int64_t column) {
      const auto low = static_cast<uint32_t>((source * shape[1] + token) * shape[2] + column);
      append(raw, low | (low + 1) << 16);  // each element holds its row-major number
    });
    const Tensor tensor = logical_tensor(region, raw);
    CHECK(tensor.dtype == "bf16");
    CHECK(tensor.shape == shape);
    REQUIRE(tensor.bytes.size() == raw.size());
    for (size_t element = 0; element < raw.size() / 2; ++element) {
      REQUIRE(half_at(tensor.bytes, element) == element);
    }
  }
}

}  // namespace
}  // namespace baton::tests
