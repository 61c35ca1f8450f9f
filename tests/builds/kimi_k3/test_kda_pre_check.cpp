// The checker of kda_pre is tested too: typical mistakes in a stage fail that stage and none before
// it, other legal orders of free sums pass, a byte out of place is seen.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "builds/families.h"
#include "builds/kimi_k3/kda_pre_check.h"
#include "builds/kimi_k3/kda_pre_inputs.h"
#include "tests/builds/kimi_k3/fake_kda_launch.h"

namespace baton::tests {
namespace {

using namespace reference;
using builds::kimi_k3::check_kda_pre;
using builds::kimi_k3::random_kda_pre_inputs;
using Launch = FakeKdaLaunch;

const BuildKey& key() {
  static const BuildKey made =
      builds::complete_key("kda_pre:tokens=6,qlen=2,nblocks=2,state_len=5,write_idx=3", "gfx950");
  return made;
}

/// Three requests; the last one is padding.
const builds::RankTensors& inputs() {
  static const builds::RankTensors made = random_kda_pre_inputs(
      key(), 11, {.row_padding = 1, .spare_blocks = 1, .padded = {2}, .num_acc = {2, 1, 2}});
  return made;
}

const Launch& right() {
  static const Launch made(key(), inputs());
  return made;
}

bool is_end_to_end(const builds::CheckRow& row) {
  return row.tensor.find("end to end") != std::string::npos;
}

/// The stage rows that fail, in the checker's order.
std::vector<std::string> failures(const Launch& launch) {
  std::vector<std::string> failed;
  for (const auto& row : check_kda_pre(key(), inputs(), launch.outputs(), launch.regions())) {
    if (!row.comparison.passed && !is_end_to_end(row)) failed.push_back(row.tensor);
  }
  return failed;
}

/// `mistake` changes what a stage made and runs what comes behind it.
std::string first_failure(const std::function<void(Launch&)>& mistake) {
  Launch launch = right();
  mistake(launch);
  const auto failed = failures(launch);
  return failed.empty() ? "none" : failed.front();
}

const std::vector<std::string> kNone;

TEST_CASE("what the reference makes passes, in every row") {
  const auto rows = check_kda_pre(key(), inputs(), right().outputs(), right().regions());
  CHECK(rows.size() == 19);
  for (const auto& row : rows) {
    INFO(row.tensor << " (" << row.rule << ")");
    CHECK(row.comparison.passed);
    CHECK(row.comparison.elements > 0);
  }
}

/// in_proj with fp32 sums, as `dot` makes them of 7168 weights and values.
void project_by(Launch& launch, const std::function<float(const float*, const float*)>& dot) {
  std::vector<float> weights(kHiddenColumns), values(launch.x.size());
  std::ranges::transform(launch.x, values.begin(), [](Bf16 v) { return to_float(v); });
  const auto w_in = launch.input<Bf16>("w_in");
  for (size_t column = 0; column < kProjColumns; ++column) {
    for (size_t k = 0; k < kHiddenColumns; ++k) {
      weights[k] = to_float(w_in[column * kHiddenColumns + k]);
    }
    for (size_t t = 0; t < 6; ++t) {
      launch.proj[t * kProjColumns + column] =
          to_bf16(dot(weights.data(), values.data() + t * kHiddenColumns));
    }
  }
  launch.run_from(Launch::conv);
}

float chain(const float* a, const float* b, int from, int to) {
  float sum = 0;
  for (int k = from; k < to; ++k) sum += a[k] * b[k];
  return sum;
}

/// Waves of K chunks w, w + 8, ... of 128, summed in order.
float eight_waves(const float* a, const float* b) {
  float total = 0;
  for (int wave = 0; wave < 8; ++wave) {
    float sum = 0;
    for (int chunk = wave; chunk < 56; chunk += 8) {
      sum += chain(a, b, 128 * chunk, 128 * chunk + 128);
    }
    total += sum;
  }
  return total;
}

TEST_CASE("other legal orders of free sums pass") {
  Launch launch = right();
  project_by(launch, eight_waves);
  CHECK(launch.proj != right().proj);
  CHECK(failures(launch) == kNone);

  launch = right();  // a butterfly over a slice's columns, in fp32
  for (int slice = 0; slice < kSlices; ++slice) {
    for (int t = 0; t < 6; ++t) {
      float lanes[64];
      for (int i = 0; i < 64; ++i) {
        const float* mixed = launch.mixed.data() + t * kHiddenColumns + slice * 128;
        lanes[i] = mixed[i] * mixed[i] + mixed[64 + i] * mixed[64 + i];
      }
      for (int width = 32; width > 0; width /= 2) {
        for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
      }
      launch.msq[static_cast<size_t>(slice * 6 + t)] = lanes[0];
    }
  }
  launch.x = normed(launch.seam_shape, launch.mixed, launch.msq, launch.input<Bf16>("in_nw"));
  launch.run_from(Launch::project);
  CHECK(launch.msq != right().msq);
  CHECK(failures(launch) == kNone);
}

TEST_CASE("mistakes of the seam fail where they are made") {
  CHECK(first_failure([](Launch& f) {  // delta left out
          const auto old = f.input<Bf16>("prefix");
          f.prefix.assign(old.begin(), old.end());
        }) == "prefix");
  CHECK(first_failure([](Launch& f) {  // block write_idx - 1 written
          std::swap_ranges(f.blocks.begin() + 2 * kHiddenColumns,
                           f.blocks.begin() + 3 * kHiddenColumns,
                           f.blocks.begin() + 3 * kHiddenColumns);
        }) == "blocks");
  CHECK(first_failure([](Launch& f) {  // the old prefix among the sources
          f.part = part(f.seam_shape, f.input<Bf16>("prefix"), f.block_rows(),
                        f.input<Bf16>("ares_nw"), f.input<Bf16>("ares_qk"));
          f.run_from(Launch::weights);
        }) == "part");
  CHECK(first_failure([](Launch& f) {
          f.seam_shape.eps = 1e-3f;
          f.run_from(Launch::weights);
        }) == "wgt");
  CHECK(first_failure([](Launch& f) {
          f.seam_shape.out_eps = 0.1f;
          f.run_from(Launch::mix);
        }) == "x");
}

TEST_CASE("mistakes of in_proj fail where they are made") {
  CHECK(first_failure([](Launch& f) {  // the last chunk left out
          project_by(f, [](const float* a, const float* b) { return chain(a, b, 0, 7040); });
        }) == "proj");
  CHECK(first_failure([](Launch& f) {  // rounded to bf16 on the way
          project_by(f, [](const float* a, const float* b) {
            float sum = 0;
            for (int k = 0; k < 7168; k += 128) {
              sum = to_float(to_bf16(sum + chain(a, b, k, k + 128)));
            }
            return sum;
          });
        }) == "proj");
  CHECK(first_failure([](Launch& f) {  // two rows of a tile swapped
          for (size_t t = 0; t < 6; ++t) std::swap(f.proj[t * 6288 + 16], f.proj[t * 6288 + 17]);
          f.run_from(Launch::conv);
        }) == "proj");
  auto regions = right().regions();  // not rounded
  Tensor& proj = regions[0].at("proj");
  proj.bytes[4 * 100] ^= 1;
  const auto rows = check_kda_pre(key(), inputs(), right().outputs(), regions);
  const auto row = std::ranges::find(rows, "proj in bf16", &builds::CheckRow::tensor);
  REQUIRE(row != rows.end());
  CHECK_FALSE(row->comparison.passed);
}

/// The convolution with other weights, slots or accepted counts.
void convolve_with(Launch& f, std::span<const float> weights, const SlotTable& table) {
  f.conv_out = convolve(f.shape, f.proj, weights, table,
                        f.conv_pool_of<const Bf16>(f.input<Bf16>("conv_st")));
  f.run_from(Launch::gates);
}

TEST_CASE("mistakes of the convolution fail where they are made") {
  const auto w = right().input<float>("conv_w");
  CHECK(first_failure([&](Launch& f) {  // taps backwards
          std::vector<float> reversed(w.begin(), w.end());
          for (size_t c = 0; c < reversed.size(); c += 4) {
            std::reverse(reversed.begin() + static_cast<std::ptrdiff_t>(c),
                         reversed.begin() + static_cast<std::ptrdiff_t>(c) + 4);
          }
          convolve_with(f, reversed, f.table);
        }) == "qk");
  CHECK(first_failure([&](Launch& f) {  // the window starts at entry 0
          const int32_t one[] = {1, 1, 1};
          convolve_with(f, w, {f.table.slots, f.table.stride, one});
        }) == "qk");
  CHECK(first_failure([&](Launch& f) {  // the window of another slot of the request
          std::vector<int32_t> slots(f.table.slots.begin(), f.table.slots.end());
          std::swap(slots[0], slots[1]);
          convolve_with(f, w, {slots, f.table.stride, f.table.accepted});
        }) == "qk");
  CHECK(first_failure([&](Launch& f) {  // a padding slot's window read from slot 0
          const auto pool = f.conv_pool_of<const Bf16>(f.input<Bf16>("conv_st"));
          for (size_t c = 0; c < kConvChannels; ++c) {
            const float x = to_float(f.proj[4 * kProjColumns + c]);
            float sum = w[4 * c + 3] * x;
            for (int tap = 0; tap < 3; ++tap) {
              sum += w[4 * c + static_cast<size_t>(tap)] *
                     to_float(pool.at(0, static_cast<int64_t>(c), 1 + tap));
            }
            f.conv_out[4 * kConvChannels + c] = to_bf16(sum / (1 + std::exp(-sum)));
          }
          f.run_from(Launch::gates);
        }) == "qk");
  CHECK(first_failure([&](Launch& f) {  // sigmoid for silu
          for (Bf16& value : f.conv_out) value = to_bf16(1 / (1 + std::exp(-to_float(value))));
          f.run_from(Launch::gates);
        }) == "qk");
  CHECK(first_failure([&](Launch& f) {  // q and k change places
          for (size_t t = 0; t < 6; ++t) {
            const auto row = f.conv_out.begin() + static_cast<std::ptrdiff_t>(t) * kConvChannels;
            std::swap_ranges(row, row + kPartColumns, row + kPartColumns);
          }
          f.run_from(Launch::gates);
        }) == "qk");
}

/// The conv pool written by `write`, from the input's.
std::string conv_pool_failure(const std::function<void(Launch&, ConvPool<Bf16>)>& write) {
  return first_failure([&](Launch& f) {
    const auto before = f.input<Bf16>("conv_st");
    f.conv_pool.assign(before.begin(), before.end());
    write(f, f.conv_pool_of(std::span(f.conv_pool)));
  });
}

TEST_CASE("mistakes of the conv state fail where they are made") {
  CHECK(conv_pool_failure([](Launch& f, ConvPool<Bf16> pool) {  // entries from acc, not acc + 1
          std::vector<int32_t> fewer = {1, 0, 1};
          update_conv_pool(f.shape, f.proj, {f.table.slots, f.table.stride, fewer}, pool);
        }) == "conv_st");
  CHECK(conv_pool_failure([](Launch& f, ConvPool<Bf16> pool) {  // channels and entries swapped
          std::swap(pool.channel_stride, pool.entry_stride);
          update_conv_pool(f.shape, f.proj, f.table, pool);
        }) == "conv_st");
  CHECK(conv_pool_failure([](Launch& f, ConvPool<Bf16> pool) {  // the conv outputs kept
          std::vector<Bf16> outputs = f.proj;
          for (size_t t = 0; t < 6; ++t) {
            std::copy_n(f.conv_out.begin() + static_cast<std::ptrdiff_t>(t) * kConvChannels,
                        kConvChannels,
                        outputs.begin() + static_cast<std::ptrdiff_t>(t) * kProjColumns);
          }
          update_conv_pool(f.shape, outputs, f.table, pool);
        }) == "conv_st");
  CHECK(conv_pool_failure([](Launch& f, ConvPool<Bf16> pool) {  // a slot for each token
          for (int j = 0; j < 2; ++j) {
            const int32_t slots[] = {f.table.slot(0, j), 0, f.table.slot(1, j), 0, 0, 0};
            update_conv_pool(f.shape, f.proj, {slots, 2, f.table.accepted}, pool);
          }
        }) == "conv_st");
  CHECK(conv_pool_failure([](Launch& f, ConvPool<Bf16> pool) {  // padding written to slot 0
          update_conv_pool(f.shape, f.proj, f.table, pool);
          pool.at(0, 4607, 4) ^= 1;
        }) == "conv_st");
  CHECK(conv_pool_failure([](Launch& f, ConvPool<Bf16> pool) {  // behind a channel's entries
          update_conv_pool(f.shape, f.proj, f.table, pool);
          pool.at(f.table.conv_slot(0), 17, 5) ^= 1;
        }) == "conv_st");
}

std::string recurrence_failure(const std::function<void(Launch&)>& mistake) {
  return first_failure([&](Launch& f) {
    mistake(f);
    f.run_from(Launch::recur);
  });
}

TEST_CASE("mistakes of the gates fail in the recurrent state") {
  CHECK(recurrence_failure([](Launch& f) {  // the bias left out
          const std::vector<float> none(kPartColumns);
          f.decay = decays(f.shape, f.proj, f.input<Bf16>("w_fb"), f.input<float>("a_log"), none);
        }) == "rstate");
  CHECK(recurrence_failure([](Launch& f) {  // e^x and 2^x confused
          for (float& decay : f.decay)
            decay = std::log2(decay) < -126 ? 0 : std::exp(std::log2(decay));
        }) == "rstate");
  CHECK(recurrence_failure([](Launch& f) {  // a_log of the next head
          std::vector<float> a_log(f.input<float>("a_log").begin(), f.input<float>("a_log").end());
          std::ranges::rotate(a_log, a_log.begin() + 1);
          f.decay =
              decays(f.shape, f.proj, f.input<Bf16>("w_fb"), a_log, f.input<float>("dt_bias"));
        }) == "rstate");
  CHECK(recurrence_failure([](Launch& f) {  // the gate's logarithm not bounded by -5
          f.shape.lower_bound = -4;
          f.decay = decays(f.shape, f.proj, f.input<Bf16>("w_fb"), f.input<float>("a_log"),
                           f.input<float>("dt_bias"));
        }) == "rstate");
  CHECK(recurrence_failure([](Launch& f) {  // f_a from one column on
          std::vector<Bf16> shifted(f.proj.begin() + 1, f.proj.end());
          shifted.push_back(0);
          f.decay = decays(f.shape, shifted, f.input<Bf16>("w_fb"), f.input<float>("a_log"),
                           f.input<float>("dt_bias"));
        }) == "rstate");
  CHECK(recurrence_failure([](Launch& f) {  // beta not squashed
          for (size_t t = 0; t < 6; ++t) {
            for (size_t h = 0; h < kHeads; ++h) {
              f.beta[t * kHeads + h] = to_float(f.proj[t * kProjColumns + kBetaColumn + h]);
            }
          }
        }) == "rstate");
}

/// One token of a head as the launch has it, for a recurrence gone wrong.
struct HeadToken {
  const float *q, *k, *decay;
  float beta;
  const Bf16* v;
};

/// The recurrence with `step` for the right one of a head's token; slots as in the table.
void recur_by(Launch& f, const std::function<void(float* state, const HeadToken&, Bf16* o)>& step) {
  const auto before = f.input<float>("rstate");
  f.states.assign(before.begin(), before.end());
  for (int request = 0; request < 2; ++request) {  // the third is padding
    const auto first = f.state_pool().slot(f.table.first_slot(request));
    std::vector<float> state(first.begin(), first.end());
    for (int j = 0; j < 2; ++j) {
      const size_t t = static_cast<size_t>(2 * request + j);
      for (size_t head = 0; head < kHeads; ++head) {
        const size_t column = head * kHeadDim;
        const HeadToken token{f.qk.data() + 2 * t * kPartColumns + column,
                              f.qk.data() + (2 * t + 1) * kPartColumns + column,
                              f.decay.data() + t * kPartColumns + column, f.beta[t * kHeads + head],
                              f.conv_out.data() + t * kConvChannels + 2 * kPartColumns + column};
        step(state.data() + head * kStateOfHead, token, f.o.data() + t * kPartColumns + column);
      }
      std::ranges::copy(state, f.state_pool().slot(f.table.slot(request, j)).begin());
    }
  }
  f.onrm = chunk_squares(f.shape, f.o);
  f.run_from(Launch::norm);
}

/// A row of 128 state values and its value, as `advance` changes and `read` reads them.
void each_row(float* state, const HeadToken& t, Bf16* o,
              const std::function<float(float*, float)>& row_step) {
  for (int row = 0; row < kHeadDim; ++row) {
    o[row] = to_bf16(row_step(state + row * kHeadDim, to_float(t.v[row])));
  }
}

float dot(const float* a, const float* b) { return chain(a, b, 0, kHeadDim); }

TEST_CASE("a recurrence with dots in another order and fused multiply-adds passes") {
  Launch launch = right();
  recur_by(launch, [](float* state, const HeadToken& t, Bf16* o) {
    each_row(state, t, o, [&](float* s, float v) {
      for (int i = 0; i < kHeadDim; ++i) s[i] *= t.decay[i];
      const float u = (v - dot(s, t.k)) * t.beta;
      for (int i = 0; i < kHeadDim; ++i) s[i] = std::fma(u, t.k[i], s[i]);
      return dot(s, t.q);
    });
  });
  CHECK(launch.states != right().states);
  CHECK(failures(launch) == kNone);
}

TEST_CASE("mistakes of the recurrence fail where they are made") {
  const auto failure = [](const std::function<void(float*, const HeadToken&, Bf16*)>& step) {
    return first_failure([&](Launch& f) { recur_by(f, step); });
  };
  CHECK(failure([](float* state, const HeadToken& t, Bf16* o) {  // recalled before the decay
          each_row(state, t, o, [&](float* s, float v) {
            const float u = (v - dot(s, t.k)) * t.beta;
            for (int i = 0; i < kHeadDim; ++i) s[i] = s[i] * t.decay[i] + u * t.k[i];
            return dot(s, t.q);
          });
        }) == "rstate");
  CHECK(failure([](float* state, const HeadToken& t, Bf16* o) {  // the decay of v's row, not k's
          each_row(state, t, o, [&](float* s, float v) {
            const auto row = (s - state) / kHeadDim;
            for (int i = 0; i < kHeadDim; ++i) s[i] *= t.decay[row];
            const float u = (v - dot(s, t.k)) * t.beta;
            for (int i = 0; i < kHeadDim; ++i) s[i] += u * t.k[i];
            return dot(s, t.q);
          });
        }) == "rstate");
  CHECK(failure([](float* state, const HeadToken& t, Bf16* o) {  // beta on v alone
          each_row(state, t, o, [&](float* s, float v) {
            for (int i = 0; i < kHeadDim; ++i) s[i] *= t.decay[i];
            const float u = v * t.beta - dot(s, t.k);
            for (int i = 0; i < kHeadDim; ++i) s[i] += u * t.k[i];
            return dot(s, t.q);
          });
        }) == "rstate");
  CHECK(failure([](float* state, const HeadToken& t, Bf16* o) {  // k and v change places
          each_row(state, t, o, [&](float* s, float) {
            const auto row = (s - state) / kHeadDim;
            for (int i = 0; i < kHeadDim; ++i) s[i] *= t.decay[i];
            const float u = (t.k[row] - dot(s, t.k)) * t.beta;
            for (int i = 0; i < kHeadDim; ++i) s[i] += u * to_float(t.v[i]);
            return dot(s, t.q);
          });
        }) == "rstate");
  CHECK(failure([](float* state, const HeadToken& t, Bf16* o) {  // o read before the update
          each_row(state, t, o, [&](float* s, float v) {
            for (int i = 0; i < kHeadDim; ++i) s[i] *= t.decay[i];
            const float read = dot(s, t.q);
            const float u = (v - dot(s, t.k)) * t.beta;
            for (int i = 0; i < kHeadDim; ++i) s[i] += u * t.k[i];
            return read;
          });
        }) == "onrm");
}

TEST_CASE("mistakes of q, k and of the slots fail where they are made") {
  CHECK(recurrence_failure([](Launch& f) {  // q not scaled by 128^-0.5
          for (size_t t = 0; t < 6; ++t) {
            for (size_t i = 0; i < kPartColumns; ++i) f.qk[2 * t * kPartColumns + i] *= 11.3137f;
          }
        }) == "onrm");
  CHECK(recurrence_failure([](Launch& f) {  // the mean of squares for their sum
          for (float& value : f.qk) value *= 11.3137f;
        }) == "rstate");
  CHECK(first_failure([](Launch& f) {  // the state of the first slot taken
          const int32_t one[] = {1, 1, 1};
          f.table.accepted = one;
          f.run_from(Launch::recur);
        }) == "rstate");
  CHECK(first_failure([](Launch& f) {  // only the last token's state stored
          const auto before = f.input<float>("rstate");
          const auto first = f.table.slot(1, 0) * f.state_pool().slot_stride;
          std::copy_n(before.begin() + first, kStateOfSlot, f.states.begin() + first);
        }) == "rstate");
  CHECK(first_failure([](Launch& f) {  // a padding request stores at slot 0
          f.states[12345] += 1;
        }) == "rstate elsewhere");
  CHECK(first_failure([](Launch& f) {  // one element behind a slot's state
          const auto slot = f.table.slot(0, 1) * f.state_pool().slot_stride;
          f.states[static_cast<size_t>(slot) + kStateOfSlot] = 0;
        }) == "rstate elsewhere");
  CHECK(first_failure([](Launch& f) {  // a padding request reads its state as slot 0's
          std::fill_n(f.o.begin() + 4 * kPartColumns, kHeadDim, Bf16{0x3F80});
          f.onrm = chunk_squares(f.shape, f.o);
          f.run_from(Launch::norm);
        }) == "onrm");
}

TEST_CASE("mistakes of the norm fail where they are made") {
  CHECK(first_failure([](Launch& f) {  // o not rounded before it is squared
          for (size_t i = 0; i < f.onrm.size(); ++i) f.onrm[i] *= 1 + (i % 2 == 0 ? 1e-3f : -1e-3f);
        }) == "onrm");
  CHECK(first_failure([](Launch& f) {  // one chunk left out
          std::vector<float> onrm = f.onrm;
          for (size_t i = 7; i < onrm.size(); i += kChunks) onrm[i] = 0;
          f.core = gated_norm(f.shape, f.o, onrm, f.proj, f.input<Bf16>("on_w"));
        }) == "core_out");
  CHECK(first_failure([](Launch& f) {  // the epsilon left out
          f.shape.onorm_eps = 0;
          f.run_from(Launch::norm);
        }) == "core_out");
  CHECK(first_failure([](Launch& f) {  // the norm's weight left out
          const std::vector<Bf16> ones(kHeadDim, 0x3F80);
          f.core = gated_norm(f.shape, f.o, f.onrm, f.proj, ones);
        }) == "core_out");
  CHECK(first_failure([](Launch& f) {  // silu for sigmoid
          for (size_t t = 0; t < 6; ++t) {
            for (size_t i = 0; i < kPartColumns; ++i) {
              Bf16& core = f.core[t * kPartColumns + i];
              core = to_bf16(to_float(core) * to_float(f.proj[t * kProjColumns + kG2Column + i]));
            }
          }
        }) == "core_out");
  CHECK(first_failure([](Launch& f) {  // two requests' rows swapped
          std::swap_ranges(f.core.begin(), f.core.begin() + 2 * kPartColumns,
                           f.core.begin() + 2 * kPartColumns);
        }) == "core_out");
}

}  // namespace
}  // namespace baton::tests
