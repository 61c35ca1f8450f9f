// in_proj of a KDA layer: proj = x w_in^T, rounded to bf16. CTAs 56 .. 252 have two row groups
// each. The first group's weights are in flight before x is waited for, the second's follow as x
// lands. When LDS cannot hold x, it is walked in windows of K.
#pragma once

#include <optional>
#include <vector>

#include "builds/kimi_k3/gemv.h"

namespace baton::builds::kimi_k3 {

inline constexpr int kInGroups = kNProj / kRows;           ///< 393
inline constexpr int kInCtas = ceil_div(kInGroups, 2);     ///< 197, from CTA 56
inline constexpr int kLanesOfRound = kWaves * kKch;        ///< 1024 k: a chunk of every wave
inline constexpr int kInRounds = kHidden / kLanesOfRound;  ///< 7

struct InProjTensors {
  dsl::Buffer<dsl::BF16> w_in;                    ///< [6288, 7168]
  dsl::Rows<dsl::BF16> x;                         ///< [S, 7168]
  dsl::Region<dsl::I32> xrdy;                     ///< [56]: flags of the slices of x
  dsl::Region<dsl::F32> proj;                     ///< [S, 6288]
  std::optional<dsl::Buffer<dsl::F32>> proj_dbg;  ///< a second proj
};

/// The part of x in LDS at one time: of each of `rounds` rounds from `first_round`, of every wave's
/// chunk, the MFMA steps `first_step` .. + `steps`. Only whole chunks go with several rounds.
struct XWindow {
  int first_round, rounds, first_step, steps;

  int columns() const { return rounds * kWaves * steps * 32; }
};

class InProj {
 public:
  InProj(int tokens, const InProjTensors& tensors, dsl::LdsLayout& lds);

  /// The first row group's weights: to be issued before anything waits.
  void issue_weights();
  /// Waits for x, multiplies, and puts the rows of both groups.
  void run();

 private:
  using Sums = std::vector<dsl::Vec<dsl::F32, 4>>;     ///< [tile]
  using Values = std::vector<dsl::Vec<dsl::BF16, 8>>;  ///< [pass], 16 bytes a thread

  int tiles() const { return ceil_div(tokens_, kTokenTile); }
  TokenRows tile(int index) const;
  struct Passes {
    int first, end;
  };
  struct Place {
    dsl::I32 token, column;
  };
  int vectors(const XWindow& window) const;  ///< of 16 bytes
  int passes(const XWindow& window) const { return ceil_div(vectors(window), kThreads); }
  Passes first_passes(const XWindow& window) const;
  Place place(const XWindow& window, int pass) const;
  Values issue_x(const XWindow& window, Passes some) const;
  void x_to_lds(const XWindow& window, Passes some, const Values& values) const;
  void land_x(const XWindow& window, Values values) const;
  void multiply(const XWindow& window, int round, int group);
  void keep_sums();
  void put_rows();

  int tokens_;
  InProjTensors tensors_;
  GemvMatrix w_in_;
  std::vector<XWindow> windows_;
  dsl::LdsArray<dsl::BF16> x_rows_;
  std::vector<WaveSums> sums_;  ///< [group][tile], where x was
  std::array<dsl::I32, 2> groups_;
  std::array<TaskWeights, 2> weights_;
  std::array<Sums, 2> accumulators_;
};

}  // namespace baton::builds::kimi_k3
