// What a DSL value is underneath: one pointer to an SSA value, and the author's line that made it.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

namespace baton::dsl {

using SourceLocation = std::source_location;

/// "builds/kimi_k3/attn_post.cpp:41", as errors name a line.
std::string describe(const SourceLocation& at);

/// The element types of the DSL. i32 and u32 differ in what division, shifts and comparisons mean.
enum class Scalar : uint8_t { i1, i32, u32, i64, f32, bf16 };

struct TypeId {
  Scalar scalar;
  int count = 1;  ///< elements of a Vec, 1 for a scalar

  bool operator==(const TypeId&) const = default;
  constexpr int bytes() const {
    constexpr int kBytes[] = {1, 4, 4, 8, 4, 2};
    return kBytes[static_cast<int>(scalar)] * count;
  }
  std::string name() const;  ///< "F32", "Vec<BF16, 8>"
};

/// An SSA value of the open trace.
class Handle {
 public:
  Handle() = default;
  explicit Handle(const void* value) : value_(value) {}
  const void* get() const { return value_; }

 private:
  const void* value_ = nullptr;
};

}  // namespace baton::dsl
