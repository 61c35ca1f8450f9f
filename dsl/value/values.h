// The typed values of the device: I32, U32, I64, F32, BF16, Bool and Vec. Capital is the device,
// lower case the host: an `int` is known at trace time, an `I32` lives in registers.
#pragma once

#include "dsl/value/operators.h"

namespace baton::dsl {

template <class T, int N>
class Vec;

/// A signed 32-bit integer: division and shifts are signed.
class I32 : public detail::TypedInteger<Scalar::i32>, public detail::IntegerOps<I32> {
 public:
  using TypedInteger::TypedInteger;
};

/// An unsigned 32-bit integer, also a raw word.
class U32 : public detail::TypedInteger<Scalar::u32>, public detail::IntegerOps<U32> {
 public:
  using TypedInteger::TypedInteger;
};

/// A signed 64-bit integer, also an address.
class I64 : public detail::TypedInteger<Scalar::i64>, public detail::IntegerOps<I64> {
 public:
  using TypedInteger::TypedInteger;
};

/// fp32. Each operation rounds; nothing is contracted or reassociated. min and max ignore a NaN.
class F32 : public detail::Typed<Scalar::f32>, public detail::NumberOps<F32> {
 public:
  using Typed::Typed;
  template <class Host>
  static constexpr bool accepts = std::same_as<Host, float>;
  static Handle constant(float value, const SourceLocation& at) {
    return detail::constant_float(value, at);
  }
  template <std::same_as<float> Host>  // a double would lose bits
  explicit F32(Host value, SourceLocation at = SourceLocation::current())
      : Typed(constant(value, at)) {}
};

/// A bfloat16 in storage; arithmetic is on F32.
class BF16 : public detail::Typed<Scalar::bf16> {
 public:
  using Typed::Typed;
  template <class Host>
  static constexpr bool accepts = false;
};

/// A host index with the author's line.
struct HostIndex {
  int value;
  SourceLocation at;
  HostIndex(int index, SourceLocation where = SourceLocation::current())
      : value(index), at(where) {}
};

namespace detail {

template <class Self>
struct NoOps {};
/// The operators of a vector: those of its elements.
template <class T, int N>
using VecOps = std::conditional_t<std::derived_from<T, ArithmeticOps<T>>, ArithmeticOps<Vec<T, N>>,
                                  NoOps<Vec<T, N>>>;

}  // namespace detail

/// N elements in adjacent registers; operators work element by element.
template <class T, int N>
class Vec : public detail::VecOps<T, N> {
  static_assert(N >= 2, "one element is no Vec: use the element's type");

 public:
  using Element = T;
  static constexpr int kCount = N;
  template <class Host>
  static constexpr bool accepts = false;

  Vec() = default;
  explicit Vec(Handle handle) : handle_(handle) {}
  /// From exactly N elements.
  explicit Vec(const In<T> (&elements)[N]) {
    Handle handles[N];
    for (int i = 0; i < N; ++i) handles[i] = elements[i].handle;
    handle_ = detail::from_elements(type(), handles, elements[0].at);
  }

  Handle handle() const { return handle_; }
  static constexpr TypeId type() { return {T::type().scalar, N}; }

  /// Element `index`, a host number. Const: a Vec's elements cannot be assigned.
  const T operator[](HostIndex index) const {
    if (index.value < 0 || index.value >= N) {
      detail::misuse(index.at, "element " + std::to_string(index.value) + " of a " + type().name());
    }
    return T(detail::extract(handle_, index.value, index.at));
  }

 private:
  Handle handle_;
};

}  // namespace baton::dsl
