// Kimi-K3 decode at tensor-parallel width 8: constants of the model and of the kernels' geometry.
#pragma once

#include "runtime/object/handoff_protocol.h"

namespace baton::builds::kimi_k3 {

inline constexpr int kTp = kRanks;    ///< tensor-parallel ranks, one GPU each
inline constexpr int kHidden = 7168;  ///< hidden columns
inline constexpr int kLayers = 93;    ///< decoder layers
inline constexpr int kHeads = 12;     ///< heads a rank
inline constexpr int kHeadDim = 128;
inline constexpr int kProj = kHeads * kHeadDim;  ///< 1536, o_proj's K on a rank

inline constexpr int kQkv = 3 * kProj;              ///< 4608 channels of the causal convolution
inline constexpr int kNProj = 6288;                 ///< in_proj rows a rank
inline constexpr int kG2Row = kQkv;                 ///< in_proj's rows of the output gate: 1536
inline constexpr int kFaRow = 6144;                 ///< of the decay's low-rank half f_a: 128
inline constexpr int kBetaRow = 6272;               ///< of beta: 12; 4 rows of padding follow
inline constexpr int kConvTaps = 4;                 ///< CONV_W
inline constexpr int kConvHistory = kConvTaps - 1;  ///< entries of the window before a token

inline constexpr int kThreads = 512;  ///< lanes of a CTA: 8 waves of 64
inline constexpr int kWaves = 8;
inline constexpr int kBlocks = 256;  ///< CTAs, one a CU; all co-resident, they spin on each other
inline constexpr int kNa = 56;       ///< attention CTAs 0 .. 55, one for each kCols hidden columns
inline constexpr int kCols = 128;    ///< columns of a slice
inline constexpr int kQc = 32;       ///< threads on one (token, source) row of a slice
inline constexpr int kQcCols = kCols / kQc;  ///< 4 columns a thread
inline constexpr int kGsl = 7;               ///< slices that one gate / norm thread sums
inline constexpr int kGroups = kNa / kGsl;   ///< 8 groups of slices
inline constexpr int kRows = 16;             ///< weight rows of one GEMV task: one MFMA tile's M
inline constexpr int kKch = 128;             ///< K of one GEMV chunk: 4 MFMA steps of K 32
inline constexpr int kLdsPad = 8;            ///< bf16 of padding after a token row in LDS
inline constexpr int kLdsReserve = 1024;     ///< bytes of LDS for what a build adds: stamps
inline constexpr int kOTasks = kHidden / kRows;    ///< 448 o_proj row groups
inline constexpr int kOwnColumns = kHidden / kTp;  ///< columns of a rank in the two-shot reduce
inline constexpr int kTokenTile = 16;              ///< tokens of one MFMA tile: its N

/// K2's slot is this plus the layer index, K1's the layer index.
inline constexpr int kSlotK2 = kKernelSlots;

inline constexpr float kLog2e = 1.44269504088896340736f;

constexpr int ceil_div(int items, int each) { return (items + each - 1) / each; }

static_assert(kLayers <= kKernelSlots);  // a layer has a slot of each kernel
static_assert(kNa * kCols == kHidden && kQcCols == 4 && kNa == kGroups * kGsl);

}  // namespace baton::builds::kimi_k3
