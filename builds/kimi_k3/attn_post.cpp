#include "builds/kimi_k3/attn_post.h"

#include <algorithm>

#include "builds/kimi_k3/all_reduce.h"
#include "builds/kimi_k3/attn_res.h"
#include "builds/kimi_k3/gemv.h"
#include "builds/kimi_k3/model.h"
#include "dsl/dsl.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

namespace {

constexpr int kOCtas = kBlocks - kNa;                ///< CTAs 56 .. 255
constexpr int kORounds = ceil_div(kOTasks, kOCtas);  ///< row groups of an o CTA
constexpr int kPairs = kRows / 2;                    ///< row pairs of a task

/// What stage o works on.
struct OProj {
  int tokens;         ///< S
  Buffer<BF16> core;  ///< [S, 1536]
  GemvMatrix w_o;     ///< [7168, 1536]
  AllReduce ar;       ///< [8, S, 7168] on every rank
  TokenRows rows;     ///< one tile of core rows
  /// Rounds take turns: with two, one barrier a round. A target with little LDS has one.
  std::vector<WaveSums> sums;
};

/// A tile of core rows on its way to LDS: 16 bytes a thread and pass.
struct CoreTile {
  int first, tokens;
  std::vector<Vec<BF16, 8>> values;
};

constexpr int kRowVectors = kProj / 8;

CoreTile issue_core(const OProj& o, int first) {
  CoreTile tile{first, std::min(kTokenTile, o.tokens - first), {}};
  const int vectors = tile.tokens * kRowVectors;
  for (int start = 0; start < vectors; start += kThreads) {
    const I32 vector = min(start + thread_id(), vectors - 1);
    tile.values.push_back(o.core.load<8>(first * kProj + 8 * vector));
  }
  return tile;
}

void core_to_lds(const OProj& o, const CoreTile& tile) {
  const int vectors = tile.tokens * kRowVectors;
  for (size_t pass = 0; pass < tile.values.size(); ++pass) {
    const I32 vector = static_cast<int>(pass) * kThreads + thread_id();
    If(vector < vectors, [&] {
      const I32 token = vector / kRowVectors, k = 8 * (vector % kRowVectors);
      o.rows.rows.store(token * o.rows.stride() + k, tile.values[pass]);
    });
  }
}

/// Thread (token, row pair) sums the waves, rounds to bf16 and pushes the pair.
void push_partials(const OProj& o, const CoreTile& tile, const WaveSums& sums, const I32& group) {
  const I32 thread = thread_id();
  If(thread < tile.tokens * kPairs, [&] {
    const I32 token = thread / kPairs, pair = thread % kPairs;
    o.ar.push(tile.first + token, kRows * group + 2 * pair, sum_waves(sums, token, pair));
  });
}

/// Row groups g = cta - 56, + 200, + 400 while < 448.
void stage_o(OProj& o) {
  const I32 first_group = cta_id() - kNa;
  // The core rows are issued first: loads retire in order, so waiting for them leaves the weights
  // of all rounds in flight.
  CoreTile tile = issue_core(o, 0);
  std::vector<TaskWeights> weights;
  for (int round = 0; round < kORounds; ++round) {
    weights.push_back(issue_weights(o.w_o, first_group + kOCtas * round));
  }
  keep_order();
  while (true) {
    core_to_lds(o, tile);
    barrier();
    o.rows.tokens = tile.tokens;
    for (int round = 0; round < kORounds; ++round) {
      const I32 group = first_group + kOCtas * round;
      If(group < kOTasks, [&] {
        const WaveSums& sums = o.sums[static_cast<size_t>(round) % o.sums.size()];
        if (round > 0 && o.sums.size() == 1) barrier();  // the last round's sums are read
        multiply(o.w_o, weights[static_cast<size_t>(round)], o.rows, sums);
        barrier();
        push_partials(o, tile, sums, group);
      });
    }
    if (tile.first + tile.tokens == o.tokens) return;
    tile = issue_core(o, tile.first + tile.tokens);
    barrier();  // the last tile's rows and sums are read
  }
}

/// The rounded sums of this CTA's 128 columns -> LDS.
void stage_reduce(const AllReduce& ar, const LdsArray<BF16>& row) {
  ar.reduce(kCols * cta_id(), [&](const I32& token, const I32& pair, const Vec<BF16, 2>& sum) {
    row.store(token * kCols + 2 * pair, sum);
  });
  barrier();
}

/// What stage o takes of LDS.
void lay_out(OProj& o, LdsLayout& lds) {
  const int64_t start = lds.bytes();
  o.rows.rows = lds.array<BF16>("core_rows", std::min(o.tokens, kTokenTile) * o.rows.stride());
  o.sums.push_back({lds.array<F32>("even_sums", WaveSums::kElements)});
  const int64_t sum_bytes = int64_t{4} * WaveSums::kElements;
  if (lds.bytes() - start + sum_bytes > current_target().lds_bytes - kLdsReserve) return;
  o.sums.push_back({lds.array<F32>("odd_sums", WaveSums::kElements)});
}

}  // namespace

void trace_attn_post(const BuildKey& key) {
  const int tokens = static_cast<int>(key.integer("tokens"));
  const AttnResShape shape{.tokens = tokens,
                           .nblocks = static_cast<int>(key.integer("nblocks")),
                           .eps = key.number("eps"),
                           .out_eps = key.number("out_eps"),
                           .delta = Delta::lds,
                           .reset = key.flag("reset")};
  const AllReduceShape ar_shape{tokens, kHidden, key.flag("two_shot"), key.has("sent", "ar")};

  Kernel kernel("attn_post", {.workgroup_lanes = kThreads, .grid_workgroups = kBlocks});
  const auto core = kernel.buffer<BF16>("core", {tokens, kProj});
  const auto w_o = kernel.buffer<BF16>("w_o", {kHidden, kProj});
  const auto prefix = kernel.buffer<BF16>("prefix", {tokens, kHidden},
                                          shape.reset ? Access::write : Access::read_write);
  const auto blocks = kernel.buffer<BF16>("blocks", {});
  const I32 blk_sm = kernel.i32("blk_sm"), blk_sr = kernel.i32("blk_sr");
  const auto ares_nw = kernel.buffer<BF16>("ares_nw", {kHidden});
  const auto ares_qk = kernel.buffer<BF16>("ares_qk", {kHidden});
  const auto in_nw = kernel.buffer<BF16>("in_nw", {kHidden});
  const auto x_out = kernel.buffer<BF16>("x_out", {tokens, kHidden}, Access::write);
  const Handle scratch = kernel.memory("scratch");
  const auto peers = kernel.table<I64>("peers", kTp);
  const I32 rank = kernel.i32("rank");
  const auto epoch = kernel.table<I32>("epoch", 1);
  const I32 layer = kernel.i32("layer");
  const Handle diag = kernel.memory("diag"), tl = kernel.memory("tl");
  if (key.flag("timeline")) timeline(tl);

  const Handoffs handoffs({.scratch = scratch,
                           .epoch = epoch,
                           .slot = kSlotK2 + layer,
                           .peers = peers,
                           .rank = rank,
                           .diag = key.flag("diag") ? diag : Handle()});
  // Why the words of `ar` may be used again: this kernel has no exchange behind the reduce, so a
  // rank may end while a peer still reads. One launch a step uses the region; the next step takes
  // the other half, and a rank reaches the step after that only with every rank's partial of the
  // next step in hand (two-shot: in the sums of all owners), which each pushed after it had read
  // (and, with sentinels, re-armed) this half: launches of a stream are ordered and end with their
  // stores visible. That covers pushes and an owner's broadcasts alike: both come from a rank that
  // is in the step after the next. Two launches in one step would break this.
  const AllReduce ar(handoffs, "ar", ar_shape, rank);
  const AttnResRegions regions(handoffs, shape);

  OProj o{tokens, core, {w_o, kProj}, ar, {{}, kProj, 0}, {}};
  AttnResLds attn_res_lds;
  LdsLayout lds;
  lds.one_of([&] { lay_out(o, lds); }, [&] { attn_res_lds = AttnResLds(lds, shape); });

  If(cta_id() >= kNa, [&] { stage("o", [&] { stage_o(o); }); }).Else([&] {
    AttnRes attn_res(shape, {prefix, blocks, blk_sm, blk_sr, ares_nw, ares_qk, in_nw, Rows(x_out)},
                     regions, attn_res_lds);
    stage("slice", [&] { attn_res.issue_loads(); });
    stage("reduce", [&] { stage_reduce(ar, attn_res_lds.row); });
    stage("slice", [&] { attn_res.slice(); });
    stage("gate", [&] { attn_res.gate(); });
    stage("mix", [&] { attn_res.mix(); });
    if (ar.rearms()) stage("rearm", [&] { ar.rearm(kCols * cta_id()); });
  });
}

}  // namespace baton::builds::kimi_k3
