// RUN: baton-opt %s -split-input-file -layout-regions -verify-diagnostics | FileCheck %s

// Each space is laid out from 0 in the order of the declarations; every region starts at a multiple
// of 256 bytes. A tagged word takes 8 bytes: 72 f32 are 576 bytes, 57344 bf16 are 28672 words.
// CHECK: module attributes {
// CHECK-SAME: baton.peer_half_bytes = 229632 : i64
// CHECK-SAME: baton.regions = [
// CHECK-SAME: {bytes = 576 : i64, dtype = "f32", name = "sums", offset = 0 : i64, protocol = "tagged", shape = array<i64: 8, 9>, space = "scratch"},
// CHECK-SAME: {bytes = 229376 : i64, dtype = "bf16", name = "ar", offset = 0 : i64, protocol = "tagged", shape = array<i64: 8, 1, 7168>, space = "peer"},
// CHECK-SAME: {bytes = 8 : i64, dtype = "i32", name = "flag", offset = 768 : i64, protocol = "tagged", shape = array<i64: 1>, space = "scratch"},
// CHECK-SAME: {bytes = 8 : i64, dtype = "f32", name = "tail", offset = 229376 : i64, protocol = "tagged", shape = array<i64: 1>, space = "peer"}]
// CHECK-SAME: baton.scratch_bytes = 1024 : i64}
module {
  // CHECK: baton.region @sums scratch tagged f32 shape [8, 9] offset 0
  baton.region @sums scratch tagged f32 shape [8, 9]
  // CHECK: baton.region @ar peer tagged bf16 shape [8, 1, 7168] offset 0
  baton.region @ar peer tagged bf16 shape [8, 1, 7168]
  // CHECK: baton.region @flag scratch tagged i32 shape [1] offset 768
  baton.region @flag scratch tagged i32 shape [1]
  // CHECK: baton.region @tail peer tagged f32 shape [1] offset 229376
  baton.region @tail peer tagged f32 shape [1]
}

// -----

// A region that fills its last 256 bytes leaves no gap.
// CHECK: baton.scratch_bytes = 512 : i64
module {
  // CHECK: baton.region @a scratch tagged i32 shape [32] offset 0
  baton.region @a scratch tagged i32 shape [32]
  // CHECK: baton.region @b scratch tagged i32 shape [32] offset 256
  baton.region @b scratch tagged i32 shape [32]
}

// -----

// A sentinel word takes 4 bytes: 8 x 3 x 7168 bf16 are 86016 words, 344064 bytes, and 1 x 2 x 16 are
// 16 words; what follows starts at the next multiple of 256.
// CHECK: module attributes {
// CHECK-SAME: baton.peer_half_bytes = 344320 : i64
// CHECK-SAME: {bytes = 344064 : i64, dtype = "bf16", name = "ar", offset = 0 : i64, protocol = "sentinel", shape = array<i64: 8, 3, 7168>, space = "peer"},
// CHECK-SAME: {bytes = 64 : i64, dtype = "bf16", name = "near", offset = 0 : i64, protocol = "sentinel", shape = array<i64: 1, 2, 16>, space = "scratch"},
// CHECK-SAME: {bytes = 64 : i64, dtype = "i32", name = "tagged", offset = 256 : i64, protocol = "tagged", shape = array<i64: 8>, space = "scratch"},
// CHECK-SAME: {bytes = 32 : i64, dtype = "bf16", name = "tail", offset = 344064 : i64, protocol = "sentinel", shape = array<i64: 1, 1, 16>, space = "peer"}]
// CHECK-SAME: baton.scratch_bytes = 512 : i64}
module {
  baton.region @ar peer sentinel bf16 shape [8, 3, 7168]
  baton.region @near scratch sentinel bf16 shape [1, 2, 16]
  baton.region @tagged scratch tagged i32 shape [8]
  baton.region @tail peer sentinel bf16 shape [1, 1, 16]
}

// -----

// No region: no memory.
// CHECK: module attributes {baton.peer_half_bytes = 0 : i64, baton.regions = [], baton.scratch_bytes = 0 : i64}
module {
}

// -----

// One buffer resource spans a space.
module {
  baton.region @a scratch tagged i32 shape [300000000]
  // expected-error@+1 {{the scratch regions take 4800000000 bytes up to the end of 'b': a buffer resource spans at most 4294967295}}
  baton.region @b scratch tagged i32 shape [300000000]
}
