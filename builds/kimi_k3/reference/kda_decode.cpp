#include "builds/kimi_k3/reference/kda_decode.h"

#include <cmath>

namespace baton::reference {

namespace {

using Head = std::array<double, 128>;

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

double rounded(double value) { return to_float(to_bf16(value)); }

/// Row `row` of a bf16 matrix times a vector of whole eights, rounded to bf16.
double row_times(std::span<const Bf16> matrix, size_t row, std::span<const double> vector) {
  double sums[8] = {};  // side by side: one alone would wait for itself
  const Bf16* weights = matrix.data() + row * vector.size();
  for (size_t first = 0; first < vector.size(); first += 8) {
    for (size_t i = 0; i < 8; ++i) sums[i] += to_float(weights[first + i]) * vector[first + i];
  }
  double total = 0;
  for (double sum : sums) total += sum;
  return rounded(total);
}

/// The causal convolution's output of `channel`, whose history takes up `input`.
double convolved(const KdaWeights& weights, size_t channel, double input, KdaSequence& sequence) {
  std::array<Bf16, 3>& past = sequence.inputs[channel];
  const float* w = weights.conv_w.data() + 4 * channel;
  const double sum = w[0] * static_cast<double>(to_float(past[0])) +
                     w[1] * static_cast<double>(to_float(past[1])) +
                     w[2] * static_cast<double>(to_float(past[2])) + w[3] * input;
  past = {past[1], past[2], to_bf16(input)};
  return rounded(sum * sigmoid(sum));
}

void scale_to_unit(Head& row) {
  double squares = 0;
  for (double value : row) squares += value * value;
  for (double& value : row) value /= std::sqrt(squares + 1e-6);
}

/// S <- S diag(decay); S <- S + beta (v - S k) k^T; returns bf16(S q).
Head delta_rule(std::span<double> state, const Head& q, const Head& k, const Head& v,
                const Head& decay, double beta) {
  Head o;
  for (size_t row = 0; row < 128; ++row) {
    double* s = state.data() + 128 * row;
    double recalled = 0, read = 0;
    for (size_t i = 0; i < 128; ++i) recalled += (s[i] *= decay[i]) * k[i];
    for (size_t i = 0; i < 128; ++i) read += (s[i] += beta * (v[row] - recalled) * k[i]) * q[i];
    o[row] = rounded(read);
  }
  return o;
}

}  // namespace

std::vector<Bf16> decode_token(const KdaWeights& weights, std::span<const Bf16> x,
                               KdaSequence& sequence) {
  std::vector<double> wide(x.size()), proj(6288), conv(4608);
  for (size_t i = 0; i < x.size(); ++i) wide[i] = to_float(x[i]);
  for (size_t row = 0; row < proj.size(); ++row) proj[row] = row_times(weights.w_in, row, wide);
  for (size_t c = 0; c < conv.size(); ++c) conv[c] = convolved(weights, c, proj[c], sequence);
  const std::span<const double> f_a = std::span(proj).subspan(6144, 128);
  std::vector<Bf16> result;
  for (size_t head = 0; head < 12; ++head) {
    Head q, k, v, decay;
    for (size_t i = 0; i < 128; ++i) {
      const size_t column = 128 * head + i;
      q[i] = conv[column];
      k[i] = conv[1536 + column];
      v[i] = conv[3072 + column];
      const double g1 = row_times(weights.w_fb, column, f_a) + weights.dt_bias[column];
      decay[i] = std::exp(weights.lower_bound *
                          sigmoid(std::exp(static_cast<double>(weights.a_log[head])) * g1));
    }
    scale_to_unit(q);
    scale_to_unit(k);
    for (double& value : q) value /= std::sqrt(128.0);
    const std::span<double> state = std::span(sequence.state).subspan(head * 16384, 16384);
    const Head o = delta_rule(state, q, k, v, decay, sigmoid(proj[6272 + head]));
    double squares = 0;
    for (double value : o) squares += value * value;
    for (size_t i = 0; i < 128; ++i) {
      const double normed = o[i] / std::sqrt(squares / 128 + weights.onorm_eps);
      result.push_back(
          to_bf16(normed * to_float(weights.on_w[i]) * sigmoid(proj[4608 + 128 * head + i])));
    }
  }
  return result;
}

}  // namespace baton::reference
