// The checker is tested too: typical mistakes in a stage of attn_post fail their stage, another
// legal order of a free sum passes.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <random>

#include "builds/kimi_k3/reference/attn_post.h"
#include "builds/kimi_k3/reference/attn_res.h"
#include "builds/kimi_k3/reference/compare.h"

namespace baton::reference {
namespace {

constexpr uint32_t kSeed = 20240611;

std::vector<Bf16> draw(std::mt19937& random, size_t count, float mean, float deviation) {
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<Bf16> values(count);
  for (Bf16& value : values) value = to_bf16(normal(random));
  return values;
}

/// One rank's inputs and every stage's right result.
struct Fixture {
  AttnResShape shape{.tokens = 2, .nblocks = 3, .eps = 1e-5f, .out_eps = 1e-5f};
  std::vector<Bf16> core, w_o, ar, prefix, block_rows, nw, qk, in_nw;
  std::vector<Bf16> next;
  std::vector<float> parts, wgt, mixed, msq;
  std::vector<Bf16> x;

  Fixture() {
    INFO("seed " << kSeed);
    std::mt19937 random(kSeed);
    const size_t row = kHiddenColumns;
    core = draw(random, 2 * kCoreColumns, 0, 1);
    w_o = draw(random, row * kCoreColumns, 0, 0.025f);
    ar = draw(random, kTpRanks * 2 * row, 0, 1);
    // The order of the sum shows where large partials cancel: rank 1's undo rank 0's.
    for (size_t i = 0; i < 2 * row; ++i) {
      ar[i] = to_bf16(std::ldexp(to_float(ar[i]), 20));
      ar[2 * row + i] = ar[i] ^ 0x8000;
    }
    prefix = draw(random, 2 * row, 0, 1);
    block_rows = draw(random, 2 * 3 * row, 0, 1);
    nw = draw(random, row, 1, 0.1f);
    qk = draw(random, row, 0, 0.02f);
    in_nw = draw(random, row, 1, 0.1f);
    next = next_prefix(prefix, reduce(shape.tokens, ar));
    parts = part(shape, next, blocks(), nw, qk);
    wgt = gate(shape, parts);
    mixed = mix(shape, wgt, next, blocks());
    msq = mean_squares(shape, mixed);
    x = normed(shape, mixed, msq, in_nw);
  }
  Blocks blocks() const { return {block_rows, 3 * kHiddenColumns, kHiddenColumns}; }
};

const Fixture& fixture() {
  static const Fixture made;
  return made;
}

/// Partials with fp32 sums, chunk by chunk as `chunk_sum` makes them.
std::vector<Bf16> partials_by(const std::function<float(const float*, const float*)>& dot) {
  const Fixture& f = fixture();
  std::vector<Bf16> result(2 * kHiddenColumns);
  std::vector<float> a(kCoreColumns), b(kCoreColumns);
  for (size_t column = 0; column < kHiddenColumns; ++column) {
    for (size_t k = 0; k < kCoreColumns; ++k) a[k] = to_float(f.w_o[column * kCoreColumns + k]);
    for (size_t t = 0; t < 2; ++t) {
      for (size_t k = 0; k < kCoreColumns; ++k) b[k] = to_float(f.core[t * kCoreColumns + k]);
      result[t * kHiddenColumns + column] = to_bf16(dot(a.data(), b.data()));
    }
  }
  return result;
}

float chain(const float* a, const float* b, int from, int to) {
  float sum = 0;
  for (int k = from; k < to; ++k) sum += a[k] * b[k];
  return sum;
}

bool partials_pass(const std::function<float(const float*, const float*)>& dot) {
  static const std::vector<Bf16> right =
      partials(fixture().shape.tokens, fixture().core, fixture().w_o);
  return compare(Rule::rounded_dot, partials_by(dot), right, kHiddenColumns).passed;
}

TEST_CASE("partials: other legal sum orders pass") {
  CHECK(partials_pass([](const float* a, const float* b) { return chain(a, b, 0, 1536); }));
  CHECK(partials_pass([](const float* a, const float* b) {
    float waves[8] = {};
    for (int chunk = 0; chunk < 12; ++chunk)
      waves[chunk % 8] += chain(a, b, 128 * chunk, 128 * chunk + 128);
    float sum = 0;
    for (float wave : waves) sum += wave;
    return sum;
  }));
}

TEST_CASE("partials: mistakes fail") {
  // A chunk left out, a chunk counted twice, a sum rounded to bf16 on the way, a chunk of the wrong
  // k.
  CHECK_FALSE(partials_pass([](const float* a, const float* b) { return chain(a, b, 0, 1408); }));
  CHECK_FALSE(partials_pass([](const float* a, const float* b) {
    return chain(a, b, 0, 1536) + chain(a, b, 1408, 1536);
  }));
  CHECK_FALSE(partials_pass([](const float* a, const float* b) {
    float sum = 0;
    for (int k = 0; k < 1536; k += 128) sum = to_float(to_bf16(sum + chain(a, b, k, k + 128)));
    return sum;
  }));
  CHECK_FALSE(partials_pass([](const float* a, const float* b) {
    return chain(a, b, 0, 1408) + chain(a + 1408, b + 1280, 0, 128);
  }));
  CHECK_FALSE(partials_pass([](const float* a, const float* b) { return chain(a, b, 1, 1536); }));
}

bool prefix_passes(const std::vector<Bf16>& actual) {
  return compare(Rule::exact, actual, fixture().next, kHiddenColumns).passed;
}

TEST_CASE("reduce and prefix: mistakes fail") {
  const Fixture& f = fixture();
  const size_t elements = f.next.size();
  const auto rank_value = [&](size_t rank, size_t i) {
    return to_float(f.ar[rank * elements + i]);
  };
  std::vector<Bf16> reversed(elements), unrounded(elements), rounded_each(elements),
      seven(elements);
  for (size_t i = 0; i < elements; ++i) {
    float down = rank_value(7, i), up = rank_value(0, i), each = rank_value(0, i);
    for (size_t r = 1; r < 8; ++r) {
      down += rank_value(7 - r, i);
      up += rank_value(r, i);
      each = to_float(to_bf16(each + rank_value(r, i)));
    }
    const float old = to_float(f.prefix[i]);
    reversed[i] = to_bf16(old + to_float(to_bf16(down)));
    unrounded[i] = to_bf16(old + up);  // delta's rounding point left out
    rounded_each[i] = to_bf16(old + each);
    seven[i] = to_bf16(old + to_float(to_bf16(up - rank_value(7, i))));
  }
  CHECK_FALSE(prefix_passes(reversed));
  CHECK_FALSE(prefix_passes(unrounded));
  CHECK_FALSE(prefix_passes(rounded_each));
  CHECK_FALSE(prefix_passes(seven));
  CHECK_FALSE(prefix_passes(reduce(f.shape.tokens, f.ar)));  // the old prefix left out
  CHECK(prefix_passes(next_prefix(f.prefix, reduce(f.shape.tokens, f.ar))));
}

TEST_CASE("part: mistakes fail") {
  const Fixture& f = fixture();
  const auto passes = [&](const std::vector<float>& actual) {
    return compare(Rule::fp32, actual, f.parts).passed;
  };
  CHECK(passes(part(f.shape, f.next, f.blocks(), f.nw, f.qk)));
  CHECK_FALSE(passes(part(f.shape, f.prefix, f.blocks(), f.nw, f.qk)));  // the old prefix
  const std::vector<Bf16> ones(kHiddenColumns, 0x3F80);
  CHECK_FALSE(passes(part(f.shape, f.next, f.blocks(), ones, f.qk)));  // nw left out
  const Blocks wrong_stride{f.block_rows, kHiddenColumns, kHiddenColumns};
  CHECK_FALSE(passes(part(f.shape, f.next, wrong_stride, f.nw, f.qk)));
  std::vector<float> swapped = f.parts;
  for (size_t i = 0; i < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  CHECK_FALSE(passes(swapped));
}

TEST_CASE("gate: mistakes fail") {
  const Fixture& f = fixture();
  const auto passes = [&](AttnResShape shape, const std::vector<float>& parts) {
    return compare(Rule::fp32, gate(shape, parts), f.wgt).passed;
  };
  CHECK(passes(f.shape, f.parts));
  AttnResShape eps = f.shape;
  eps.eps = 1e-3f;
  CHECK_FALSE(passes(eps, f.parts));
  std::vector<float> mean_of_7167 = f.parts, no_log2e = f.parts, one_slice_less = f.parts;
  for (size_t i = 0; i < f.parts.size(); i += 2) {
    mean_of_7167[i] *= 7168.0f / 7167.0f;
    no_log2e[i + 1] *= std::log(2.0f);
  }
  for (size_t i = f.parts.size() / kSlices * (kSlices - 1); i < f.parts.size(); ++i)
    one_slice_less[i] = 0;
  CHECK_FALSE(passes(f.shape, mean_of_7167));
  CHECK_FALSE(passes(f.shape, no_log2e));
  CHECK_FALSE(passes(f.shape, one_slice_less));
}

TEST_CASE("mix: mistakes fail") {
  const Fixture& f = fixture();
  const auto passes = [&](const std::vector<Bf16>& actual) {
    return compare(Rule::rounded_dot, actual, f.x, kHiddenColumns).passed;
  };
  CHECK(passes(normed(f.shape, f.mixed, f.msq, f.in_nw)));
  std::vector<float> wgt = f.wgt;
  std::swap(wgt[0], wgt[1]);  // two sources' weights swapped
  const auto swapped = mix(f.shape, wgt, f.next, f.blocks());
  CHECK_FALSE(passes(normed(f.shape, swapped, mean_squares(f.shape, swapped), f.in_nw)));
  std::vector<float> rounded = f.mixed;  // mixed rounded to bf16 before the norm
  for (float& value : rounded) value = to_float(to_bf16(value));
  CHECK_FALSE(passes(normed(f.shape, rounded, f.msq, f.in_nw)));
  std::vector<float> one_slice_less = f.msq;
  one_slice_less[0] = one_slice_less[1] = 0;
  CHECK_FALSE(passes(normed(f.shape, f.mixed, one_slice_less, f.in_nw)));
  CHECK_FALSE(passes(normed(f.shape, f.mixed, f.msq, f.nw)));  // the wrong norm weight
  CHECK_FALSE(passes(std::vector<Bf16>(f.next.begin(), f.next.end())));
}

TEST_CASE("a NaN source makes its token's row NaN and no other") {
  Fixture f = fixture();
  f.block_rows[0] = 0x7FC0;
  const auto wgt = gate(f.shape, part(f.shape, f.next, f.blocks(), f.nw, f.qk));
  const auto mixed = mix(f.shape, wgt, f.next, f.blocks());
  const auto x = normed(f.shape, mixed, mean_squares(f.shape, mixed), f.in_nw);
  for (size_t c = 0; c < kHiddenColumns; ++c) {
    REQUIRE(std::isnan(to_float(x[c])));
    REQUIRE(x[kHiddenColumns + c] == f.x[kHiddenColumns + c]);
  }
}

TEST_CASE("a sum of squares that overflows gives x = 0") {
  const Fixture& f = fixture();
  std::vector<float> msq = f.msq;
  for (float& value : msq) value = 3e38f;
  for (Bf16 value : normed(f.shape, f.mixed, msq, f.in_nw)) REQUIRE((value & 0x7FFF) == 0);
}

}  // namespace
}  // namespace baton::reference
