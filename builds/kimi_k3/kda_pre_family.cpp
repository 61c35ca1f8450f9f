#include "builds/kimi_k3/kda_pre_family.h"

#include "builds/kimi_k3/model.h"
#include "runtime/base/error.h"

namespace baton::builds::kimi_k3 {
namespace {

constexpr int kMostOld = 8;  ///< entries of a slot's conv state that a step keeps: registers
constexpr int kLongestState = 16 + kMostOld;
constexpr int kLastBlock = 8;

void check_kda_pre(const BuildKey& key) {
  const int64_t tokens = key.integer("tokens"), qlen = key.integer("qlen");
  const int64_t nblocks = key.integer("nblocks"), write_idx = key.integer("write_idx");
  if (tokens % qlen != 0) {
    throw Error(
        ErrorKind::user,
        fmt::format("kda_pre: {} tokens are no whole number of requests of qlen={}", tokens, qlen),
        "qlen divides tokens: every request has qlen tokens");
  }
  if (key.integer("state_len") < qlen + kConvHistory - 1) {
    throw Error(
        ErrorKind::user,
        fmt::format("kda_pre: state_len={} is too short for qlen={}", key.integer("state_len"),
                    qlen),
        fmt::format("at least qlen + {}: 3 entries and the speculative tokens", kConvHistory - 1));
  }
  if (key.integer("state_len") > qlen + kMostOld) {
    throw Error(ErrorKind::user,
                fmt::format("kda_pre: state_len={} is too long for qlen={}",
                            key.integer("state_len"), qlen),
                fmt::format("at most qlen + {}", kMostOld));
  }
  if (write_idx >= 0 && write_idx < nblocks) {
    throw Error(ErrorKind::user,
                fmt::format("kda_pre: write_idx={} is a block that is mixed, nblocks={}", write_idx,
                            nblocks),
                "-1 writes no block, else write_idx is nblocks or more");
  }
}

}  // namespace

Family kda_pre_family() {
  constexpr float kRmsNormEps = 1e-5f;
  constexpr float kLargestEps = 1.0f;
  constexpr float kLowestBound = -1000.0f;
  return {
      .name = "kda_pre",
      .title = "one KDA layer from the AttnRes seam to the gated core output, one launch",
      .fields = {{.name = "tokens",
                  .kind = IntegerField{.min = 1, .max = 32, .fallback = 8},
                  .meaning = "rows of the batch (S), qlen a request"},
                 {.name = "qlen",
                  .kind = IntegerField{.min = 1, .max = 16, .fallback = 1},
                  .meaning = "tokens of a request (L), the speculative ones counted"},
                 {.name = "nblocks",
                  .kind = IntegerField{.min = 1, .max = 8, .fallback = 8},
                  .meaning = "block rows the seam mixes, besides the prefix"},
                 {.name = "delta",
                  .kind = FlagField{.fallback = true},
                  .meaning = "the prefix takes up the last layer's delta"},
                 {.name = "state_len",
                  .kind = AutoIntegerField{.min = kConvHistory,
                                           .max = kLongestState,
                                           .rule =
                                               [](const BuildKey& key) {
                                                 return key.integer("qlen") + kConvHistory - 1;
                                               },
                                           .rule_text = "qlen + 2"},
                  .meaning = "entries of a slot's conv state: 3 and the speculative tokens"},
                 {.name = "eps",
                  .kind = NumberField{.max = kLargestEps, .fallback = kRmsNormEps},
                  .meaning = "epsilon of the seam's RMS norm, in the gate"},
                 {.name = "out_eps",
                  .kind = NumberField{.max = kLargestEps, .fallback = kRmsNormEps},
                  .meaning = "epsilon of input_layernorm, on x"},
                 {.name = "onorm_eps",
                  .kind = NumberField{.max = kLargestEps, .fallback = kRmsNormEps},
                  .meaning = "epsilon of the gated norm behind the recurrence"},
                 {.name = "lower_bound",
                  .kind = NumberField{.min = kLowestBound, .max = 0.0f, .fallback = -5.0f},
                  .meaning = "the decay's logarithm is this times a sigmoid"},
                 {.name = "write_idx",
                  .kind = IntegerField{.min = -1, .max = kLastBlock, .fallback = -1},
                  .meaning = "block row that the updated prefix is stored as, -1: none"},
                 {.name = "timeline",
                  .kind = FlagField{.fallback = false},
                  .meaning = "every workgroup stamps the clock at each stage boundary"},
                 {.name = "diag",
                  .kind = FlagField{.fallback = false},
                  .meaning = "every wait ends after 10 s and leaves a record"},
                 {.name = "debug",
                  .kind = FlagField{.fallback = false},
                  .meaning = "also writes x and the projections: x_dbg, proj_dbg"}},
      .check = check_kda_pre,
  };
}

}  // namespace baton::builds::kimi_k3
