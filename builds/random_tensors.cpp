#include "builds/random_tensors.h"

#include "builds/kimi_k3/reference/bf16.h"
#include "runtime/base/error.h"

namespace baton::builds {
namespace {

/// Near enough to a normal value: four uniform 16-bit numbers, summed and scaled to deviation 1.
float normal(uint64_t bits) {
  const auto sum = static_cast<float>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) +
                                      ((bits >> 32) & 0xFFFF) + (bits >> 48));
  constexpr float kMean = 2.0f * 65535.0f, kDeviation = 37837.2f;  // 65536 sqrt(4 / 12)
  return (sum - kMean) / kDeviation;
}

}  // namespace

uint64_t mix_bits(uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

Tensor random_tensor(std::string_view dtype, std::vector<int64_t> shape, float mean,
                     float deviation, uint64_t stream) {
  BATON_CHECK(dtype == "bf16" || dtype == "f32", "a dtype of random values");
  std::vector<float> values(static_cast<size_t>(Tensor{"", shape, {}}.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = mean + deviation * normal(mix_bits(stream + i));
  }
  if (dtype == "f32") return tensor_of(dtype, std::move(shape), values);
  std::vector<reference::Bf16> rounded(values.size());
  for (size_t i = 0; i < values.size(); ++i) rounded[i] = reference::to_bf16(values[i]);
  return tensor_of(dtype, std::move(shape), rounded);
}

}  // namespace baton::builds
