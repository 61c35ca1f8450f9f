#include "builds/kimi_k3/kda_pre.h"

#include "builds/kimi_k3/attn_res.h"
#include "builds/kimi_k3/in_proj.h"
#include "builds/kimi_k3/kda_task.h"
#include "builds/kimi_k3/model.h"
#include "dsl/dsl.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

namespace {

struct Shapes {
  int tokens;  ///< S
  AttnResShape seam;
  KdaShape kda;
  bool debug;
};

Shapes shapes_of(const BuildKey& key) {
  const auto integer = [&](const char* name) { return static_cast<int>(key.integer(name)); };
  const int tokens = integer("tokens"), qlen = integer("qlen");
  return {.tokens = tokens,
          .seam = {.tokens = tokens,
                   .nblocks = integer("nblocks"),
                   .eps = key.number("eps"),
                   .out_eps = key.number("out_eps"),
                   .delta = key.flag("delta") ? Delta::memory : Delta::none,
                   .write_block = integer("write_idx")},
          .kda = {.requests = tokens / qlen,
                  .qlen = qlen,
                  .state_len = integer("state_len"),
                  .onorm_eps = key.number("onorm_eps"),
                  .lower_bound = key.number("lower_bound")},
          .debug = key.flag("debug")};
}

/// The kernel's arguments, in ABI order.
struct Arguments {
  Arguments(Kernel& kernel, const Shapes& shapes);

  AttnResTensors seam;
  InProjTensors in_proj;
  KdaTensors kda;
  Handle scratch, tl, diag;
  I32 layer;
  Table<I32> epoch;
};

Arguments::Arguments(Kernel& kernel, const Shapes& shapes) {
  const int tokens = shapes.tokens;
  const bool adds = shapes.seam.delta == Delta::memory;
  seam.prefix =
      kernel.buffer<BF16>("prefix", {tokens, kHidden}, adds ? Access::read_write : Access::read);
  seam.delta = kernel.buffer<BF16>("delta", {tokens, kHidden});
  seam.blocks = kernel.buffer<BF16>(
      "blocks", {}, shapes.seam.write_block < 0 ? Access::read : Access::read_write);
  seam.blk_sm = kernel.i32("blk_sm");
  seam.blk_sr = kernel.i32("blk_sr");
  seam.nw = kernel.buffer<BF16>("ares_nw", {kHidden});
  seam.qk = kernel.buffer<BF16>("ares_qk", {kHidden});
  seam.in_nw = kernel.buffer<BF16>("in_nw", {kHidden});
  in_proj.w_in = kernel.buffer<BF16>("w_in", {kNProj, kHidden});
  kda.w_fb = kernel.buffer<BF16>("w_fb", {kProj, kHeadDim});
  kda.conv_w = kernel.buffer<F32>("conv_w", {kQkv, kConvTaps});
  kda.conv_st = kernel.pool<BF16>("conv_st", Access::read_write);
  kda.cs_seq = kernel.i32("cs_seq");
  kda.cs_dim = kernel.i32("cs_dim");
  kda.cs_tok = kernel.i32("cs_tok");
  kda.a_log = kernel.buffer<F32>("a_log", {kHeads});
  kda.dt_bias = kernel.buffer<F32>("dt_bias", {kProj});
  kda.on_w = kernel.buffer<BF16>("on_w", {kHeadDim});
  kda.rstate = kernel.pool<F32>("rstate", Access::read_write);
  kda.rs_seq = kernel.i32("rs_seq");
  kda.st_idx = kernel.table<I32>("st_idx");
  kda.st_stride = kernel.i32("st_stride");
  kda.num_acc = kernel.table<I32>("num_acc", shapes.kda.requests);
  kda.core_out = kernel.buffer<BF16>("core_out", {tokens, kProj}, Access::write);
  const auto x_dbg = kernel.buffer<BF16>("x_dbg", {tokens, kHidden}, Access::write);
  const auto proj_dbg = kernel.buffer<F32>("proj_dbg", {tokens, kNProj}, Access::write);
  if (shapes.debug) {
    seam.x_dbg = x_dbg;
    in_proj.proj_dbg = proj_dbg;
  }
  scratch = kernel.memory("scratch");
  layer = kernel.i32("layer");
  epoch = kernel.table<I32>("epoch", 1);
  tl = kernel.memory("tl");
  diag = kernel.memory("diag");
}

}  // namespace

void trace_kda_pre(const BuildKey& key) {
  const Shapes shapes = shapes_of(key);
  Kernel kernel("kda_pre", {.workgroup_lanes = kThreads, .grid_workgroups = kBlocks});
  Arguments arguments(kernel, shapes);
  if (key.flag("timeline")) timeline(arguments.tl);

  // K1's slot is the layer index. All regions lie in this GPU's scratch, and launches of a stream
  // are ordered: the next one writes x and the tagged words when this one has ended.
  const Handoffs handoffs({.scratch = arguments.scratch,
                           .epoch = arguments.epoch,
                           .slot = arguments.layer,
                           .diag = key.flag("diag") ? arguments.diag : Handle()});
  const AttnResRegions seam_regions(handoffs, shapes.seam);
  const KdaRegions kda_regions(handoffs, shapes.kda);
  const auto x = handoffs.rows<BF16>("x", {shapes.tokens, kHidden});
  arguments.seam.x = arguments.in_proj.x = x;
  arguments.in_proj.xrdy = seam_regions.xrdy;
  arguments.in_proj.proj = kda_regions.proj;

  AttnResLds seam_lds;
  std::optional<InProj> in_proj;
  KdaLds kda_lds;
  LdsLayout lds;
  lds.one_of([&] { seam_lds = AttnResLds(lds, shapes.seam); },
             [&] { in_proj.emplace(shapes.tokens, arguments.in_proj, lds); },
             [&] { kda_lds = KdaLds(lds, shapes.kda); });
  KdaTasks tasks(shapes.kda, arguments.kda, kda_regions, kda_lds);

  If(cta_id() < kNa, [&] {
    AttnRes seam(shapes.seam, arguments.seam, seam_regions, seam_lds);
    stage("prefetch", [&] { tasks.issue_first(); });
    stage("slice", [&] {
      seam.issue_loads();
      seam.slice();
    });
    stage("gate", [&] { seam.gate(); });
    stage("mix", [&] { seam.mix(); });
  }).Else([&] {
    If(cta_id() < kNa + kInCtas, [&] {
      stage("in_proj", [&] { in_proj->issue_weights(); });
      reread_arguments();
      stage("prefetch", [&] { tasks.issue_first(); });
      stage("in_proj", [&] { in_proj->run(); });
    }).Else([&] { stage("prefetch", [&] { tasks.issue_first(); }); });
  });
  tasks.run();
  reread_arguments();  // a timeline's stamps are stored behind everything
}

}  // namespace baton::builds::kimi_k3
