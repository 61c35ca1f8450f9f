// AttnRes: the softmax mix over a token's sources (its block rows, and the prefix as the last one)
// and the norm behind it. CTAs 0 .. 55 each hold a slice of 128 columns; stages slice, gate and
// mix.
#pragma once

#include <optional>
#include <vector>

#include "builds/kimi_k3/model.h"
#include "dsl/dsl.h"

namespace baton::builds::kimi_k3 {

/// Where the prefix takes delta from.
enum class Delta : uint8_t {
  none,    ///< nowhere: the prefix stays as it is
  memory,  ///< the tensor `delta`
  lds      ///< AttnResLds::row, which an earlier stage has filled
};

struct AttnResShape {
  int tokens;   ///< S
  int nblocks;  ///< block rows a token
  float eps, out_eps;
  Delta delta;
  bool reset = false;    ///< the prefix restarts at delta
  int write_block = -1;  ///< the new prefix is also stored as this block row, which is not mixed

  int sources() const { return nblocks + 1; }  ///< NS
};

/// The tensors, as the kernels' arguments.
struct AttnResTensors {
  dsl::Buffer<dsl::BF16> prefix;  ///< [S, 7168], read (not when reset) and written
  dsl::Buffer<dsl::BF16> blocks;  ///< element (t, b, c) at t blk_sm + b blk_sr + c
  dsl::I32 blk_sm, blk_sr;
  dsl::Buffer<dsl::BF16> nw, qk;      ///< [7168], the seam's norm weight and score query
  dsl::Buffer<dsl::BF16> in_nw;       ///< [7168], the norm weight behind the mix
  dsl::Rows<dsl::BF16> x;             ///< [S, 7168], written
  dsl::Buffer<dsl::BF16> delta = {};  ///< [S, 7168], with Delta::memory
  std::optional<dsl::Buffer<dsl::BF16>> x_dbg = {};  ///< a second x
};

struct AttnResRegions {
  AttnResRegions(const dsl::Handoffs& handoffs, const AttnResShape& shape);

  dsl::Region<dsl::F32> part;  ///< [56, S, NS, 2]: sq, dt of a slice
  dsl::Region<dsl::F32> wgt;   ///< [S, NS + 1]: e_src, then their sum
  dsl::Region<dsl::F32> msq;   ///< [56, S]: sum of squares of a slice of the mix
  dsl::Region<dsl::I32> xrdy;  ///< [56]: the slice of x is written
};

struct AttnResLds {
  AttnResLds() = default;
  /// The values of all sources stay in LDS for the mix when they fit the target's; else only the
  /// prefix row stays, and the mix re-reads the blocks.
  AttnResLds(dsl::LdsLayout& lds, const AttnResShape& shape);

  bool keeps_blocks = false;
  dsl::LdsArray<dsl::BF16> row;       ///< [S, 128]: the new prefix; before, with Delta::lds, delta
  dsl::LdsArray<dsl::BF16> blocks;    ///< [S, nblocks, 128], when they are kept
  dsl::LdsArray<dsl::F32> gate_sums;  ///< [NS, 8, 2]: sq, dt of a group of slices
  dsl::LdsArray<dsl::F32> msq_sums;   ///< [S, 8]
};

class AttnRes {
 public:
  AttnRes(const AttnResShape& shape, const AttnResTensors& tensors, const AttnResRegions& regions,
          const AttnResLds& lds);

  /// The loads that need no hand-off: to be issued before anything waits.
  void issue_loads();
  /// Stage slice: sources, the new prefix, the slice's partial sums. A delta in LDS is complete.
  void slice();
  /// Stage gate: token t's weights on CTA t, looping past 56.
  void gate();
  /// Stage mix: the weighted mean, its norm, x and the slice's flag.
  void mix();

 private:
  /// A (token, source) row of this thread in one pass; 16 rows a pass, 32 threads a row.
  struct Row {
    dsl::I32 index;   ///< clamped to the last row
    dsl::Bool valid;  ///< the pass reaches this far
  };
  Row row_of_pass(int pass, int rows) const;
  dsl::Vec<dsl::BF16, 4> new_prefix(size_t pass, const dsl::I32& place) const;
  void store_prefix(const dsl::I32& token, const dsl::Vec<dsl::BF16, 4>& prefix) const;
  void finish_row(const dsl::I32& token, const dsl::I32& source, const dsl::Bool& valid,
                  const dsl::Vec<dsl::BF16, 4>& value);
  dsl::Vec<dsl::BF16, 4> load_block(const dsl::I32& token, const dsl::I32& block) const;
  std::vector<dsl::Vec<dsl::BF16, 4>> values_of_sources(const dsl::I32& token) const;
  void gate_token(const dsl::I32& token);
  void gate_weights(const dsl::I32& token);
  dsl::Vec<dsl::F32, 4> mixed(const dsl::I32& token);
  dsl::F32 mean_square(const dsl::I32& token, const dsl::Bool& valid);

  AttnResShape shape_;
  AttnResTensors tensors_;
  AttnResRegions regions_;
  AttnResLds lds_;
  dsl::I32 cta_, thread_;
  dsl::I32 quad_;    ///< thread % 32: which 4 columns of the slice
  dsl::I32 column_;  ///< first of the thread's 4 hidden columns
  std::vector<dsl::Vec<dsl::BF16, 4>> block_values_, old_prefix_, delta_;  ///< one a pass
  dsl::Vec<dsl::BF16, 4> nw_, qk_, in_nw_;
};

}  // namespace baton::builds::kimi_k3
