// Sums in fp32 whose order the results depend on.
#pragma once

#include <span>

#include "dsl/dsl.h"

namespace baton::builds::kimi_k3 {

/// parts[0] + parts[1] + ..., in order; at least one.
dsl::F32 sum_in_order(std::span<const dsl::F32> parts);

/// The sum over the 32 threads on one row, in all of them: a butterfly 16 .. 1.
dsl::F32 sum_of_row(const dsl::F32& part);

}  // namespace baton::builds::kimi_k3
