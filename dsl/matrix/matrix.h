// Matrix steps.
#pragma once

#include "dsl/value/values.h"

namespace baton::dsl {

/// c + a b over 16 rows, 16 columns and 32 k. Lane l holds of a: row l % 16, of b: column l % 16,
/// both at k = 8 (l / 16) .. + 7; of c and of the result: column l % 16, rows 4 (l / 16) .. + 3.
Vec<F32, 4> mfma_16x16x32(const Vec<BF16, 8>& a, const Vec<BF16, 8>& b, const Vec<F32, 4>& c,
                          SourceLocation at = SourceLocation::current());

/// An accumulator of zeros.
Vec<F32, 4> zero_accumulator(SourceLocation at = SourceLocation::current());

}  // namespace baton::dsl
