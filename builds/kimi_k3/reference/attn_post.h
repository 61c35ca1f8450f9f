// What attn_post does before the AttnRes seam, in plain C++: every rounding point of the
// specification, dots accumulated in double. It shares no code with the kernel.
#pragma once

#include <span>
#include <vector>

#include "builds/kimi_k3/reference/bf16.h"

namespace baton::reference {

inline constexpr int kCoreColumns = 1536, kTpRanks = 8;

/// Stage o: bf16 partials [S, 7168] of core [S, 1536] and w_o [7168, 1536].
std::vector<Bf16> partials(int tokens, std::span<const Bf16> core, std::span<const Bf16> w_o);

/// Stage reduce: delta [S, 7168], the 8 ranks' partials [8, S, 7168] summed in rank order in fp32.
std::vector<Bf16> reduce(int tokens, std::span<const Bf16> ar);

}  // namespace baton::reference
