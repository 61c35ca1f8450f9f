// Functions of one number, for the handlers that call them a lane at a time: compiled once. fp32
// results are the double result rounded; a negative argument of a root or logarithm gives the
// hardware's NaN.
#pragma once

#include <cstdint>

namespace baton::emulator {

float exp2_f32(float x);
float log2_f32(float x);
/// The argument counts turns: sin(2 pi x).
float sin_turns_f32(float x);
float cos_turns_f32(float x);

double exp2_f64(double x);
double log2_f64(double x);
double sin_turns_f64(double x);
double cos_turns_f64(double x);
double reciprocal_f64(double x);
double reciprocal_root_f64(double x);
double root_f64(double x);

/// (a b + c) 2^shift, rounded once, also when the result is subnormal.
double scaled_fma(double a, double b, double c, int shift);

/// fp16 bits, rounded to nearest even once.
uint32_t round_to_half(double x);

}  // namespace baton::emulator
