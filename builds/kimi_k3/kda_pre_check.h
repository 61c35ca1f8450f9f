// The verdict on what a launch of kda_pre left behind.
//
// What a reader of the specification may ask, and what this checker holds a kernel to:
//  - prefix: with delta bf16(prefix + delta), without as it was. With write_idx >= 0 it is also
//  that
//    block row of every token; all other block rows keep their bytes.
//  - QK holds the conv outputs of q (part 0) and k (part 1), PROJ the projections, as floats that
//    are bf16 values. The conv output v (part 2) is in no region: stages that read it get the
//    reference's, of the dumped PROJ.
//  - A request's recurrent state starts from slot st_idx[q][num_acc - 1], as zeros when that is
//    padding. Then o is 0 and no state is stored; the conv state still is, when st_idx[q][0] > 0.
//  - Whole pools are compared: a byte that no rule writes has the input's value.
#pragma once

#include <vector>

#include "builds/kernel_check.h"

namespace baton::builds::kimi_k3 {

/// Compares each stage with the reference fed with that stage's own dumped inputs, then the end
/// with the reference run from `inputs`. `outputs` holds conv_st, rstate and core_out, prefix and
/// blocks where the key has them written, with debug x_dbg and proj_dbg; `regions` the dumped
/// regions; both of rank 0.
std::vector<CheckRow> check_kda_pre(const BuildKey& key, const RankTensors& inputs,
                                    const RankMaps& outputs, const RankMaps& regions);

}  // namespace baton::builds::kimi_k3
