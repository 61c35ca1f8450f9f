// Functions of values: conversions, bits, bf16, approximate and exact math.
#pragma once

#include "dsl/value/values.h"

namespace baton::dsl {

/// `condition` picks a or b, lane by lane; both are computed.
template <class T>
T select(In<Bool> condition, const T& a, std::type_identity_t<In<T>> b) {
  return T(detail::select(condition.handle, a.handle(), b.handle, b.at));
}

/// The same bits as another type of the same size: bitcast<F32>(word).
template <class To, class From>
  requires(To::type().bytes() == From::type().bytes())
To bitcast(const From& value, SourceLocation at = SourceLocation::current()) {
  return To(detail::bitcast(To::type(), value.handle(), at));
}

/// a b + c, rounded once.
inline F32 fma(In<F32> a, In<F32> b, In<F32> c) {
  return F32(detail::fma(F32::type(), a.handle, b.handle, c.handle, c.at));
}

inline F32 abs(In<F32> x) {
  return F32(detail::unary(detail::Unary::abs, F32::type(), x.handle, x.at));
}

/// The hardware's approximations: v_exp_f32 (2^x), v_rcp_f32, v_rsq_f32.
inline F32 exp2_approx(In<F32> x) {
  return F32(detail::unary(detail::Unary::exp2, F32::type(), x.handle, x.at));
}
inline F32 rcp_approx(In<F32> x) {
  return F32(detail::unary(detail::Unary::rcp, F32::type(), x.handle, x.at));
}
inline F32 rsq_approx(In<F32> x) {
  return F32(detail::unary(detail::Unary::rsq, F32::type(), x.handle, x.at));
}

inline I32 popcount(In<U32> x) {
  return I32(detail::unary(detail::Unary::popcount, U32::type(), x.handle, x.at));
}
inline I32 popcount(In<I64> x) {
  Handle wide = detail::unary(detail::Unary::popcount, I64::type(), x.handle, x.at);
  return I32(detail::convert(I64::type(), I32::type(), wide, x.at));
}

/// Reads the same bits as the other signedness.
inline U32 as_unsigned(In<I32> x) { return U32(x.handle); }
inline I32 as_signed(In<U32> x) { return I32(x.handle); }

/// Number conversions. To I64: by sign (I32) or with zeros (U32). To I32: truncation.
inline I64 to_i64(In<I32> x) {
  return I64(detail::convert(I32::type(), I64::type(), x.handle, x.at));
}
inline I64 to_i64(In<U32> x) {
  return I64(detail::convert(U32::type(), I64::type(), x.handle, x.at));
}
inline I32 to_i32(In<I64> x) {
  return I32(detail::convert(I64::type(), I32::type(), x.handle, x.at));
}
inline I32 to_i32(In<F32> x) {
  return I32(detail::convert(F32::type(), I32::type(), x.handle, x.at));
}
inline F32 to_f32(In<I32> x) {
  return F32(detail::convert(I32::type(), F32::type(), x.handle, x.at));
}
inline F32 to_f32(In<BF16> x) {
  return F32(detail::convert(BF16::type(), F32::type(), x.handle, x.at));
}
inline I32 to_i32(In<Bool> x) {
  return I32(detail::convert(Bool::type(), I32::type(), x.handle, x.at));
}

/// To bf16: nearest even, a NaN stays a NaN.
inline BF16 to_bf16(In<F32> x) {
  return BF16(detail::convert(F32::type(), BF16::type(), x.handle, x.at));
}
inline F32 round_bf16(In<F32> x) { return to_f32(In<BF16>(to_bf16(x), x.at)); }

/// N fp32 values, each rounded to bf16, in adjacent halves.
template <int N>
Vec<BF16, N> pack_bf16(const In<F32> (&values)[N]) {
  Handle handles[N];
  for (int i = 0; i < N; ++i) handles[i] = to_bf16(values[i]).handle();
  return Vec<BF16, N>(detail::from_elements(Vec<BF16, N>::type(), handles, values[0].at));
}

}  // namespace baton::dsl
