#include "builds/kimi_k3/in_proj.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

namespace {

/// Chunks of the second group in flight ahead of their use, and when x comes in windows, whose next
/// one is in flight, too. More would not fit the registers.
constexpr int kAhead = 3, kAheadOfWindows = 1;
/// Loads of x in flight, 16 bytes a thread each, while its first group's weights are, too.
constexpr int kPassesInFlight = 14;
/// 4 loads of 16 bytes a thread, and the padding of 32 rows.
constexpr int64_t kNextWindowBytes = 4 * 16 * kThreads + 32 * 2 * kLdsPad;
constexpr int kThreadsOfSum = kTokenTile * kRows / 2;       ///< a thread for a token and a row pair
constexpr int kMostTiles = kThreads / (2 * kThreadsOfSum);  ///< of two groups, summed at once

int64_t bytes_of(int tokens, const XWindow& window) {
  return int64_t{2} * tokens * (window.columns() + kLdsPad);
}

/// All of x at once when it fits; else chunks of a round, halves or quarters of them, of which LDS
/// holds one and the registers the next.
std::vector<XWindow> windows_of(int tokens, int64_t lds_bytes) {
  const XWindow whole{0, kInRounds, 0, kSteps};
  if (bytes_of(tokens, whole) <= lds_bytes) return {whole};
  lds_bytes = std::min(lds_bytes, kNextWindowBytes);
  int steps = kSteps;
  while (bytes_of(tokens, {0, 1, 0, steps}) > lds_bytes) steps /= 2;
  BATON_CHECK(steps > 0, "no window of x fits LDS");
  std::vector<XWindow> windows;
  for (int round = 0; round < kInRounds; ++round) {
    for (int step = 0; step < kSteps; step += steps) windows.push_back({round, 1, step, steps});
  }
  return windows;
}

}  // namespace

InProj::InProj(int tokens, const InProjTensors& tensors, LdsLayout& lds)
    : tokens_(tokens),
      tensors_(tensors),
      w_in_{tensors.w_in, kHidden},
      windows_(windows_of(tokens, current_target().lds_bytes - kLdsReserve - lds.bytes())) {
  BATON_CHECK(tiles() <= kMostTiles, "the workgroup has no threads to sum so many tokens");
  const XWindow& largest = windows_.front();
  lds.one_of(
      [&] { x_rows_ = lds.array<BF16>("x_rows", bytes_of(tokens, largest) / 2); },
      [&] {
        for (int task = 0; task < 2 * tiles(); ++task) {
          sums_.push_back({lds.array<F32>(fmt::format("in_sums_{}", task), WaveSums::kElements)});
        }
      });
}

TokenRows InProj::tile(int index) const {
  return {x_rows_, windows_.front().columns(), std::min(kTokenTile, tokens_ - kTokenTile * index)};
}

void InProj::issue_weights() {
  groups_[0] = cta_id() - kNa;
  groups_[1] = groups_[0] + kInCtas;
  weights_[0] = kimi_k3::issue_weights(w_in_, groups_[0]);
  weights_[1].resize(kInRounds);
}

int InProj::vectors(const XWindow& window) const { return tokens_ * window.columns() / 8; }

/// Where the thread's 16 bytes of a pass lie in the window.
InProj::Place InProj::place(const XWindow& window, int pass) const {
  const I32 vector = min(pass * kThreads + thread_id(), vectors(window) - 1);
  return {vector / (window.columns() / 8), 8 * (vector % (window.columns() / 8))};
}

/// Some passes of 16 bytes a thread, rows in order.
InProj::Values InProj::issue_x(const XWindow& window, Passes some) const {
  const int wave_columns = 32 * window.steps;
  Values values;
  for (int pass = some.first; pass < some.end; ++pass) {
    const auto [token, column] = place(window, pass);
    const I32 k = window.first_round * kLanesOfRound + column / wave_columns * kKch +
                  32 * window.first_step + column % wave_columns;
    values.push_back(tensors_.x.load<8>(token * kHidden + k));
  }
  return values;
}

void InProj::x_to_lds(const XWindow& window, Passes some, const Values& values) const {
  for (int pass = some.first; pass < some.end; ++pass) {
    const auto [token, column] = place(window, pass);
    const auto store = [&] {
      x_rows_.store(token * (window.columns() + kLdsPad) + column,
                    values[static_cast<size_t>(pass - some.first)]);
    };
    if ((pass + 1) * kThreads <= vectors(window)) {
      store();
    } else {
      If(pass * kThreads + thread_id() < vectors(window), store);
    }
  }
}

InProj::Passes InProj::first_passes(const XWindow& window) const {
  return {0, std::min(kPassesInFlight / 2, passes(window))};
}

/// All of a window, whose first passes are in flight; the next ones follow before these land.
void InProj::land_x(const XWindow& window, Values values) const {
  Passes landing = first_passes(window);
  while (landing.first < landing.end) {
    const Passes next = {landing.end, std::min(landing.end + kPassesInFlight / 2, passes(window))};
    Values following = issue_x(window, next);
    x_to_lds(window, landing, values);
    landing = next;
    values = std::move(following);
  }
}

/// The steps of this wave's chunk of `round` that the window holds, all tiles.
void InProj::multiply(const XWindow& window, int round, int group) {
  const ChunkWeights& chunk = weights_[static_cast<size_t>(group)][static_cast<size_t>(round)];
  const auto weights = std::span(chunk).subspan(static_cast<size_t>(window.first_step),
                                                static_cast<size_t>(window.steps));
  const int wave_columns = 32 * window.steps;
  const I32 start = (kWaves * (round - window.first_round) + wave_id()) * wave_columns;
  for (int t = 0; t < tiles(); ++t) {
    const TokenRows rows = tile(t);
    const I32 first_row = kTokenTile * t * rows.stride() + start;
    Vec<F32, 4>& sum = accumulators_[static_cast<size_t>(group)][static_cast<size_t>(t)];
    sum = add_steps(sum, weights, rows, first_row);
  }
}

void InProj::run() {
  If(thread_id() < kNa,
     [&] { poll(std::vector{tensors_.xrdy.at(thread_id())}, {.behind_loads = true}); });
  barrier();
  for (Sums& sums : accumulators_) {
    for (int t = 0; t < tiles(); ++t) sums.push_back(zero_accumulator());
  }
  const int ahead = windows_.size() > 1 ? kAheadOfWindows : kAhead;
  auto issue_second = [&](int round) {
    if (round < kInRounds) {
      weights_[1][static_cast<size_t>(round)] = issue_chunk(w_in_, groups_[1], round);
    }
  };
  Values x = issue_x(windows_.front(), first_passes(windows_.front()));
  for (size_t w = 0; w < windows_.size(); ++w) {
    const XWindow& window = windows_[w];
    land_x(window, std::move(x));
    barrier();
    if (w == 0) {
      for (int round = 0; round < ahead; ++round) issue_second(round);
    }
    if (w + 1 < windows_.size()) x = issue_x(windows_[w + 1], first_passes(windows_[w + 1]));
    keep_order();
    for (int round = window.first_round; round < window.first_round + window.rounds; ++round) {
      multiply(window, round, 0);
      multiply(window, round, 1);
      if (window.first_step + window.steps == kSteps) issue_second(round + ahead);
    }
    barrier();  // the window's rows are read
  }
  keep_sums();
  barrier();
  put_rows();
}

void InProj::keep_sums() {
  for (size_t group = 0; group < 2; ++group) {
    for (int t = 0; t < tiles(); ++t) {
      keep_sum(accumulators_[group][static_cast<size_t>(t)], tile(t),
               sums_[group * static_cast<size_t>(tiles()) + static_cast<size_t>(t)]);
    }
  }
}

/// 128 threads for a group and a tile: thread (token, row pair) sums the waves and puts the pair as
/// bf16-rounded floats.
void InProj::put_rows() {
  const I32 thread = thread_id() % kThreadsOfSum, task_of_thread = thread_id() / kThreadsOfSum;
  const I32 token = thread / (kRows / 2), pair = thread % (kRows / 2);
  for (int task = 0; task < 2 * tiles(); ++task) {
    const int t = task % tiles();
    const I32& group = groups_[static_cast<size_t>(task / tiles())];
    If((task_of_thread == task) & (token < tile(t).tokens) & (group < kInGroups), [&] {
      const auto [low, high] = sum_waves(sums_[static_cast<size_t>(task)], token, pair);
      const I32 place = (kTokenTile * t + token) * kNProj + kRows * group + 2 * pair;
      const F32 first = round_bf16(low), second = round_bf16(high);
      put(tensors_.proj, place, {first, second});
      if (tensors_.proj_dbg) tensors_.proj_dbg->store(place, Vec<F32, 2>({first, second}));
    });
  }
}

}  // namespace baton::builds::kimi_k3
