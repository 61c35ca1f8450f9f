#include "runtime/region_words.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "runtime/object/handoff_protocol.h"

namespace baton {
namespace {

int64_t elements_a_word(const RecordRegion& region) {
  return kWordBytes / dtype_bytes(region.dtype);
}

/// The first element of word `word`, counted row-major through the logical shape: the inverse of
/// sentinel_word() for a sentinel region.
int64_t element_of_word(const RecordRegion& region, int64_t word) {
  if (region.protocol != RegionProtocol::sentinel) return word * elements_a_word(region);
  const int64_t tokens = region.shape[1], width = region.shape[2];
  constexpr int64_t kBlockWords = kSentinelBlockColumns / 2;
  const int64_t pair = word % kBlockWords, token = word / kBlockWords % tokens;
  const int64_t block = word / kBlockWords / tokens, blocks = width / kSentinelBlockColumns;
  const int64_t source = block / blocks, first = block % blocks * kSentinelBlockColumns;
  return (source * tokens + token) * width + first + 2 * pair;
}

}  // namespace

uint64_t word_bytes(const RecordRegion& region) {
  return region.protocol == RegionProtocol::tagged ? kPairBytes : kWordBytes;
}

std::string name_of_word(const RecordRegion& region, uint64_t word) {
  int64_t element = element_of_word(region, static_cast<int64_t>(word));
  std::vector<int64_t> place(region.shape.size());
  for (size_t axis = place.size(); axis-- > 0;) {
    place[axis] = element % region.shape[axis];
    element /= region.shape[axis];
  }
  return fmt::format("{}[{}]", region.name, fmt::join(place, ", "));
}

std::vector<uint64_t> words_not_arrived(const RecordRegion& region, ByteView raw, uint32_t epoch) {
  if (region.protocol == RegionProtocol::plain) return {};  // its flag says so, no word of its own
  const uint64_t stride = word_bytes(region);
  const uint32_t turn = epoch % kTagEpochs;
  std::vector<uint64_t> missing;
  for (uint64_t word = 0; word < raw.size() / stride; ++word) {
    uint32_t last = 0;  // the tag of a pair, or the word itself
    std::memcpy(&last, raw.data() + (word + 1) * stride - kWordBytes, kWordBytes);
    const bool arrived = region.protocol == RegionProtocol::tagged
                             ? last != 0 && (last - 1) / kTagSlots == turn
                             : last != kSentinel;
    if (!arrived) missing.push_back(word);
  }
  std::ranges::sort(missing, {}, [&](uint64_t word) {
    return element_of_word(region, static_cast<int64_t>(word));
  });
  return missing;
}

Tensor logical_tensor(const RecordRegion& region, ByteView raw) {
  Tensor tensor{region.dtype, region.shape, {}};
  const uint64_t stride = word_bytes(region), words = raw.size() / stride;
  tensor.bytes.resize(words * kWordBytes);
  for (uint64_t word = 0; word < words; ++word) {
    const auto element = static_cast<uint64_t>(element_of_word(region, static_cast<int64_t>(word)));
    std::memcpy(tensor.bytes.data() + element * static_cast<uint64_t>(dtype_bytes(region.dtype)),
                raw.data() + word * stride, kWordBytes);
  }
  return tensor;
}

}  // namespace baton
