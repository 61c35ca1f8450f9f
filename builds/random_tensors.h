// Tensors of random values, drawn the same way on every machine.
#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/tensors/tensor.h"

namespace baton::builds {

/// Equal bits in, equal bits out, every bit of which depends on all of the input's.
uint64_t mix_bits(uint64_t x);

/// bf16 or f32 values of a mean and a deviation, near enough to normal ones; element i depends on
/// `stream` + i alone.
Tensor random_tensor(std::string_view dtype, std::vector<int64_t> shape, float mean,
                     float deviation, uint64_t stream);

template <class T>
std::span<const T> values_of(const Tensor& tensor) {
  return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

/// `T` is what holds an element of `dtype`.
template <class T>
Tensor tensor_of(std::string_view dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  Tensor tensor{std::string(dtype), std::move(shape), Bytes(values.size() * sizeof(T))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace baton::builds
