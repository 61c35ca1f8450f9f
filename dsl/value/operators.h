// Operators of the value classes, found by argument-dependent look-up.
#pragma once

#include <concepts>
#include <utility>

#include "dsl/value/emit.h"

namespace baton::dsl {

template <class T>
class Var;

/// An operand: a device value, a Var or a host constant, with the author's line.
template <class T>
struct In {
  Handle handle;
  SourceLocation at;

  In(const T& value, SourceLocation where = SourceLocation::current())
      : handle(value.handle()), at(where) {}
  In(const Var<T>& variable, SourceLocation where = SourceLocation::current())
      : handle(variable.get(where).handle()), at(where) {}
  template <class Host>
    requires(T::template accepts<Host>)
  In(Host value, SourceLocation where = SourceLocation::current())
      : handle(T::constant(value, where)), at(where) {}

  T value() const { return T(handle); }
};

namespace detail {

/// The handle and the type of a value class.
template <Scalar S>
class Typed {
 public:
  Typed() = default;
  explicit Typed(Handle handle) : handle_(handle) {}
  Handle handle() const { return handle_; }
  static constexpr TypeId type() { return {S, 1}; }

 private:
  Handle handle_;
};

}  // namespace detail

/// A truth value of a lane. It has no conversion to the host's bool: a host `if` cannot branch on
/// it; use If, or select.
class Bool : public detail::Typed<Scalar::i1> {
 public:
  using Typed::Typed;
  template <class Host>
  static constexpr bool accepts = std::same_as<Host, bool>;
  static Handle constant(bool value, const SourceLocation& at) {
    return detail::constant_int(type(), value, at);
  }
  friend Bool operator&(In<Bool> a, In<Bool> b) { return apply(detail::Binary::bit_and, a, b); }
  friend Bool operator|(In<Bool> a, In<Bool> b) { return apply(detail::Binary::bit_or, a, b); }
  friend Bool operator^(In<Bool> a, In<Bool> b) { return apply(detail::Binary::bit_xor, a, b); }
  friend Bool operator!(In<Bool> a) {
    return Bool(detail::unary(detail::Unary::bit_not, type(), a.handle, a.at));
  }

 private:
  static Bool apply(detail::Binary op, const In<Bool>& a, const In<Bool>& b) {
    return Bool(detail::binary(op, type(), a.handle, b.handle, b.at));
  }
};

namespace detail {

template <class Self>
Self apply(Binary op, const In<Self>& a, const In<Self>& b) {
  return Self(binary(op, Self::type(), a.handle, b.handle, b.at));
}

/// Operators of numbers and of vectors of numbers.
template <class Self>
struct ArithmeticOps {
  friend Self operator+(In<Self> a, In<Self> b) { return apply(Binary::add, a, b); }
  friend Self operator-(In<Self> a, In<Self> b) { return apply(Binary::sub, a, b); }
  friend Self operator*(In<Self> a, In<Self> b) { return apply(Binary::mul, a, b); }
  friend Self operator/(In<Self> a, In<Self> b) { return apply(Binary::div, a, b); }
  friend Self operator-(In<Self> a) {
    return Self(unary(Unary::neg, Self::type(), a.handle, a.at));
  }
  friend Self min(In<Self> a, In<Self> b) { return apply(Binary::min, a, b); }
  friend Self max(In<Self> a, In<Self> b) { return apply(Binary::max, a, b); }
};

/// The same, and comparisons, which give a Bool.
template <class Self>
struct NumberOps : ArithmeticOps<Self> {
  friend Bool operator==(In<Self> a, In<Self> b) { return compared(Compare::eq, a, b); }
  friend Bool operator!=(In<Self> a, In<Self> b) { return compared(Compare::ne, a, b); }
  friend Bool operator<(In<Self> a, In<Self> b) { return compared(Compare::lt, a, b); }
  friend Bool operator<=(In<Self> a, In<Self> b) { return compared(Compare::le, a, b); }
  friend Bool operator>(In<Self> a, In<Self> b) { return compared(Compare::gt, a, b); }
  friend Bool operator>=(In<Self> a, In<Self> b) { return compared(Compare::ge, a, b); }

 private:
  static Bool compared(Compare op, const In<Self>& a, const In<Self>& b) {
    return Bool(compare(op, Self::type(), a.handle, b.handle, b.at));
  }
};

template <class Self>
struct IntegerOps : NumberOps<Self> {
  friend Self operator%(In<Self> a, In<Self> b) { return apply(Binary::rem, a, b); }
  friend Self operator&(In<Self> a, In<Self> b) { return apply(Binary::bit_and, a, b); }
  friend Self operator|(In<Self> a, In<Self> b) { return apply(Binary::bit_or, a, b); }
  friend Self operator^(In<Self> a, In<Self> b) { return apply(Binary::bit_xor, a, b); }
  friend Self operator<<(In<Self> a, In<Self> b) { return apply(Binary::shl, a, b); }
  friend Self operator>>(In<Self> a, In<Self> b) { return apply(Binary::shr, a, b); }
  friend Self operator~(In<Self> a) {
    return Self(unary(Unary::bit_not, Self::type(), a.handle, a.at));
  }
};

/// Throws a misuse when an integer constant does not fit its type.
void check_fits(Scalar scalar, int64_t value, bool beyond_i64, const SourceLocation& at);

/// Integer host constants, checked to fit.
template <Scalar S>
class TypedInteger : public Typed<S> {
 public:
  using Typed<S>::Typed;
  template <class Host>
  static constexpr bool accepts = std::integral<Host> && !std::same_as<Host, bool>;
  template <class Host>
  static Handle constant(Host value, const SourceLocation& at) {
    check_fits(S, static_cast<int64_t>(value), std::cmp_greater(value, INT64_MAX), at);
    return constant_int({S, 1}, static_cast<int64_t>(value), at);
  }
  template <class Host>
    requires(accepts<Host>)
  explicit TypedInteger(Host value, SourceLocation at = SourceLocation::current())
      : Typed<S>(constant(value, at)) {}
};

}  // namespace detail
}  // namespace baton::dsl
