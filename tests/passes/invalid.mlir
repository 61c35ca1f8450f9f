// Every message of the dialect's verifiers, whole.
// RUN: baton-opt %s -split-input-file -verify-diagnostics

//===-- Attributes -------------------------------------------------------------------------------===//

// expected-error@+1 {{'baton.chip' must be a string}}
module attributes {baton.chip = 950 : i32} {}

// -----

// expected-error@+1 {{unknown chip 'gfx1100'; known: gfx950 gfx942 gfx90a}}
module attributes {baton.chip = "gfx1100"} {}

// -----

// expected-error@+1 {{'baton.key' must be a string}}
module attributes {baton.key = 1 : i32} {}

// -----

// expected-error@+1 {{'baton.stages' must be an array}}
module attributes {baton.stages = "o"} {}

// -----

// expected-error@+1 {{'baton.timeline' must be an array}}
module attributes {baton.timeline = "o"} {}

// -----

// expected-error@+1 {{'baton.bounded_waits' has no value}}
module attributes {baton.bounded_waits = true} {}

// -----

// expected-error@+1 {{'baton.args' must be an array}}
module attributes {baton.args = {}} {}

// -----

// expected-error@+1 {{'baton.regions' must be an array}}
module attributes {baton.regions = 0 : i32} {}

// -----

// expected-error@+1 {{'baton.scratch_bytes' must be an integer of at least 0}}
module attributes {baton.scratch_bytes = -1 : i64} {}

// -----

// expected-error@+1 {{'baton.peer_half_bytes' must be an integer of at least 0}}
module attributes {baton.peer_half_bytes = "64"} {}

// -----

// expected-error@+1 {{'baton.grid' must be an integer of at least 0}}
module attributes {baton.grid = 1.0 : f32} {}

// -----

// expected-error@+1 {{'baton.workgroup' must be an integer of at least 0}}
module attributes {baton.workgroup = -64 : i64} {}

// -----

// expected-error@+1 {{unknown attribute 'baton.chips'}}
module attributes {baton.chips = "gfx950"} {}

// -----

// expected-error@+1 {{'baton.kernel' belongs on a function}}
module attributes {baton.kernel} {}

// -----

// expected-error@+1 {{'baton.chip' belongs on a module}}
func.func private @f() attributes {baton.chip = "gfx950"}

// -----

// expected-error@+1 {{unknown argument attribute 'baton.uniform'}}
func.func @f(%x: i32 {baton.uniform}) { return }

// -----

//===-- Ids --------------------------------------------------------------------------------------===//

func.func @f() {
  // expected-error@+1 {{'baton.thread_id' op attribute 'count' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %t = baton.thread_id below 0
  return
}

// -----

//===-- Stages -----------------------------------------------------------------------------------===//

func.func @f() {
  // expected-error@+1 {{'baton.stage' op needs a name}}
  baton.stage "" { baton.yield }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'baton.stage' op must end in baton.yield}}
  baton.stage "s" { llvm.unreachable }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.stage' op 's' yields other types than it returns}}
  %r = baton.stage "s" -> f32 { baton.yield %x : i32 }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.stage' op 's' yields other types than it returns}}
  baton.stage "s" { baton.yield %x : i32 }
  return
}

// -----

func.func @f(%c: i1) {
  baton.stage "outer" {
    scf.if %c {
      // expected-error@+1 {{'baton.stage' op 'inner' stands inside stage 'outer': stages do not nest}}
      baton.stage "inner" { baton.yield }
    }
    baton.yield
  }
  return
}

// -----

//===-- Global memory ----------------------------------------------------------------------------===//

func.func @f(%a: i64) {
  // expected-error@+1 {{'baton.buffer' op spans 0 bytes: a buffer resource spans 1 .. 4294967295}}
  %b = baton.buffer %a bytes 0 : i64
  return
}

// -----

func.func @f(%a: i64) {
  // expected-error@+1 {{'baton.buffer' op spans 4294967296 bytes: a buffer resource spans 1 .. 4294967295}}
  %b = baton.buffer %a bytes 4294967296 : i64
  return
}

// -----

func.func @f(%a: i64) {
  // expected-error@+1 {{'baton.buffer' op spans -1 bytes: a buffer resource spans 1 .. 4294967295}}
  %b = baton.buffer %a bytes -1 : i64
  return
}

// -----

func.func @f(%b: !baton.buffer, %o: i32) {
  // expected-error@+1 {{'baton.load' op result #0 must be half a word, or 1, 2 or 4: i16, i32, vector<2xi32> or vector<4xi32>, but got 'vector<3xi32>'}}
  %w = baton.load %b[%o] wave : vector<3xi32>
  return
}

// -----

func.func @f(%b: !baton.buffer, %o: i32, %h: bf16) {
  // expected-error@+1 {{'baton.store' op operand #0 must be half a word, or 1, 2 or 4: i16, i32, vector<2xi32> or vector<4xi32>, but got 'bf16'}}
  baton.store %h, %b[%o] wave : bf16
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %o: i32) {
  // expected-error@+1 {{'baton.scalar_load' op result #0 must be 32-bit signless integer or 64-bit signless integer, but got 'f32'}}
  %w = baton.scalar_load %p[%o] : f32
  return
}

// -----

//===-- LDS --------------------------------------------------------------------------------------===//

// expected-error@+1 {{'baton.lds' op 'rows' starts at byte 8: expected a multiple of 16 that is not negative}}
baton.lds @rows offset 8 bytes 64

// -----

// expected-error@+1 {{'baton.lds' op 'rows' starts at byte -16: expected a multiple of 16 that is not negative}}
baton.lds @rows offset -16 bytes 64

// -----

// expected-error@+1 {{'baton.lds' op 'rows' has 0 bytes}}
baton.lds @rows offset 0 bytes 0

// -----

func.func @f(%o: i32) {
  // expected-error@+1 {{'baton.lds_load' op names 'rows', which is no LDS range}}
  %v = baton.lds_load @rows[%o] : i32
  return
}

// -----

baton.region @rows scratch tagged f32 shape [8]
func.func @f(%o: i32) {
  // expected-error@+1 {{'baton.lds_store' op names 'rows', which is no LDS range}}
  baton.lds_store %o, @rows[%o] : i32
  return
}

// -----

baton.lds @rows offset 0 bytes 64
func.func @f(%o: i32) {
  // expected-error@+1 {{'baton.lds_load' op moves 12 bytes: expected 1, 2, 4, 8 or 16}}
  %v = baton.lds_load @rows[%o] : vector<3xf32>
  return
}

// -----

baton.lds @rows offset 0 bytes 64
func.func @f(%v: vector<8xi32>, %o: i32) {
  // expected-error@+1 {{'baton.lds_store' op moves 32 bytes: expected 1, 2, 4, 8 or 16}}
  baton.lds_store %v, @rows[%o] : vector<8xi32>
  return
}

// -----

baton.lds @rows offset 0 bytes 64
func.func @f(%b: !baton.buffer, %o: i32) {
  // expected-error@+1 {{'baton.lds_store' op moves '!baton.buffer': expected a number or a vector of numbers}}
  baton.lds_store %b, @rows[%o] : !baton.buffer
  return
}

// -----

//===-- Lanes ------------------------------------------------------------------------------------===//

func.func @f() {
  // expected-error@+1 {{'baton.butterfly' op needs at least one value}}
  "baton.butterfly"() <{offsets = array<i32: 1>}> ({ baton.yield }) : () -> ()
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op needs at least one offset}}
  %r = baton.butterfly %x offsets [] : i32 { ^bb0(%a: i32, %b: i32): baton.yield %a : i32 }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op offset 3: expected 1, 2, 4, 8, 16 or 32}}
  %r = baton.butterfly %x offsets [2, 3] : i32 { ^bb0(%a: i32, %b: i32): baton.yield %a : i32 }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op offset 64: expected 1, 2, 4, 8, 16 or 32}}
  %r = baton.butterfly %x offsets [64] : i32 { ^bb0(%a: i32, %b: i32): baton.yield %a : i32 }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op offset 0: expected 1, 2, 4, 8, 16 or 32}}
  %r = baton.butterfly %x offsets [0] : i32 { ^bb0(%a: i32, %b: i32): baton.yield %a : i32 }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op combiner takes 1 values: expected two for each of the 1}}
  %r = baton.butterfly %x offsets [1] : i32 { ^bb0(%a: i32): baton.yield %a : i32 }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op combiner argument 1 is 'f32': expected 'i32'}}
  %r = baton.butterfly %x offsets [1] : i32 { ^bb0(%a: i32, %b: f32): baton.yield %a : i32 }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op combiner must yield one value of each input's type}}
  %r = baton.butterfly %x offsets [1] : i32 { ^bb0(%a: i32, %b: i32): baton.yield }
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{'baton.butterfly' op combiner must yield one value of each input's type}}
  %r = baton.butterfly %x offsets [1] : i32 { ^bb0(%a: i32, %b: i32): llvm.unreachable }
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{'baton.wave_scan' op operand #0 must be 32-bit signless integer, but got 'f32'}}
  %r = "baton.wave_scan"(%x) : (f32) -> f32
  return
}

// -----

//===-- Regions ----------------------------------------------------------------------------------===//

// expected-error@+1 {{'baton.region' op 'r' holds 'f64': expected f32, i32 or bf16}}
baton.region @r scratch tagged f64 shape [8]

// -----

// expected-error@+1 {{'baton.region' op 'r' has no shape}}
baton.region @r scratch tagged f32 shape []

// -----

// expected-error@+1 {{'baton.region' op 'r' has size 0 on axis 1}}
baton.region @r scratch tagged f32 shape [8, 0]

// -----

// expected-error@+1 {{'baton.region' op 'r' has size -2 on axis 0}}
baton.region @r scratch tagged f32 shape [-2, -4]

// -----

// expected-error@+1 {{'baton.region' op 'r' has an odd row of 7 bf16: a word holds two}}
baton.region @r scratch tagged bf16 shape [2, 7]

// -----

// expected-error@+1 {{'baton.region' op 'r' takes 4294967296 bytes: a buffer resource spans at most 4294967295}}
baton.region @r scratch tagged f32 shape [512, 1048576]

// -----

// A sentinel word takes 4 bytes.
// expected-error@+1 {{'baton.region' op 'r' takes 4294967296 bytes: a buffer resource spans at most 4294967295}}
baton.region @r scratch sentinel bf16 shape [8, 16384, 16384]

// -----

// expected-error@+1 {{'baton.region' op 'r' is a sentinel region: expected bf16 of shape [sources, tokens, width], the width a multiple of 16}}
baton.region @r scratch sentinel f32 shape [8, 1, 16]

// -----

// expected-error@+1 {{'baton.region' op 'r' is a sentinel region: expected bf16 of shape [sources, tokens, width], the width a multiple of 16}}
baton.region @r scratch sentinel bf16 shape [8, 16]

// -----

// expected-error@+1 {{'baton.region' op 'r' is a sentinel region: expected bf16 of shape [sources, tokens, width], the width a multiple of 16}}
baton.region @r scratch sentinel bf16 shape [1, 8, 1, 16]

// -----

// expected-error@+1 {{'baton.region' op 'r' is a sentinel region: expected bf16 of shape [sources, tokens, width], the width a multiple of 16}}
baton.region @r scratch sentinel bf16 shape [8, 1, 24]

// -----

// expected-error@+1 {{'baton.region' op 'r' is plain: its rows lie in scratch}}
baton.region @r peer plain bf16 shape [8, 16]

// -----

baton.region @r scratch tagged f32 shape [8]
func.func @f(%p: !llvm.ptr<1>, %s: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %s
  // expected-error@+1 {{'baton.rows' op opens region 'r' as plain, but it is declared tagged}}
  %b = baton.rows %h @r
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %s: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %s
  // expected-error@+1 {{'baton.rows' op names 'r', which is no region}}
  %b = baton.rows %h @r
  return
}

// -----

//===-- Hand-offs --------------------------------------------------------------------------------===//

func.func @f(%p: !llvm.ptr<1>, %s: i32) attributes {baton.kernel} {
  // expected-error@+1 {{'baton.handoffs' op takes peers and rank together}}
  %h = "baton.handoffs"(%p, %p, %s, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}>
      : (!llvm.ptr<1>, !llvm.ptr<1>, i32, !llvm.ptr<1>) -> !baton.handoffs
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %s: i32) attributes {baton.kernel} {
  baton.stage "s" {
    // expected-error@+1 {{'baton.handoffs' op must stand at the top of the kernel, outside stages and branches}}
    %h = baton.handoffs scratch %p epoch %p slot %s
    baton.yield
  }
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %s: i32) {
  // expected-error@+1 {{'baton.handoffs' op must stand at the top of the kernel, outside stages and branches}}
  %h = baton.handoffs scratch %p epoch %p slot %s
  return
}

// -----

baton.region @r scratch tagged f32 shape [8]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put' op puts 0 words: one store holds 1 or 2}}
  "baton.put"(%h, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, region = @r}>
      : (!baton.handoffs, i32) -> ()
  return
}

// -----

baton.region @r scratch tagged i32 shape [8]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put' op puts 3 words: one store holds 1 or 2}}
  baton.put %h @r[%i] = %i, %i, %i : i32, i32, i32
  return
}

// -----

baton.lds @r offset 0 bytes 64
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put' op names 'r', which is no region}}
  baton.put %h @r[%i] = %i : i32
  return
}

// -----

baton.region @r scratch tagged f32 shape [8]
func.func @f(%p: !llvm.ptr<1>, %i: i32, %f: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  // expected-error@+1 {{'baton.put' op names a rank, but region 'r' lies in the scratch space}}
  baton.put %h @r[%i] of %i = %f : f32
  return
}

// -----

baton.region @r peer tagged f32 shape [8]
func.func @f(%p: !llvm.ptr<1>, %i: i32, %f: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  // expected-error@+1 {{'baton.put' op needs a rank: region 'r' lies in the peer space}}
  baton.put %h @r[%i] = %f : f32
  return
}

// -----

baton.region @r scratch tagged bf16 shape [8]
func.func @f(%p: !llvm.ptr<1>, %i: i32, %f: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put' op puts 'f32' into region 'r': expected 'vector<2xbf16>'}}
  baton.put %h @r[%i] = %f : f32
  return
}

// -----

baton.region @r scratch tagged f32 shape [8]
func.func @f(%p: !llvm.ptr<1>, %i: i32, %f: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put' op puts 'f32' into region 'r': expected 'i32'}}
  baton.put %h @r[%i] raw = %f : f32
  return
}

// -----

baton.region @r peer tagged f32 shape [8]
func.func @f(%p: !llvm.ptr<1>, %i: i32, %f: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put' op uses peer region 'r', but its hand-offs were opened without peers}}
  baton.put %h @r[%i] of %i = %f : f32
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op has 0 specs: a batch holds 1 .. 12}}
  "baton.poll"(%h) <{regions = [], counts = array<i32>}> : (!baton.handoffs) -> ()
  return
}

// -----

baton.region @r scratch tagged i32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op has 13 specs: a batch holds 1 .. 12}}
  %w:13 = baton.poll %h [@r, @r, @r, @r, @r, @r, @r, @r, @r, @r, @r, @r, @r]
      at (%i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i)
      words [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
      : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  return
}

// -----

baton.region @r scratch tagged i32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op has 2 regions, 1 indices and 2 counts: expected as many of each}}
  %w:2 = baton.poll %h [@r, @r] at (%i) words [1, 1] : i32, i32
  return
}

// -----

baton.region @r scratch tagged i32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op has 2 regions, 2 indices and 1 counts: expected as many of each}}
  %w = baton.poll %h [@r, @r] at (%i, %i) words [1] : i32
  return
}

// -----

baton.region @r scratch tagged i32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op polls 3 words: expected 1 or 2}}
  %w:3 = baton.poll %h [@r] at (%i) words [3] : i32, i32, i32
  return
}

// -----

baton.region @r scratch tagged i32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op returns 1 words of 2}}
  %w = baton.poll %h [@r] at (%i) words [2] : i32
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op names 'r', which is no region}}
  %w = baton.poll %h [@r] at (%i) words [1] : i32
  return
}

// -----

baton.region @r peer tagged i32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op uses peer region 'r', but its hand-offs were opened without peers}}
  %w = baton.poll %h [@r] at (%i) words [1] : i32
  return
}

// -----

baton.region @a scratch tagged f32 shape [16]
baton.region @b scratch tagged bf16 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll' op reads region 'b' as 'f32': expected 'vector<2xbf16>' or i32}}
  %w:3 = baton.poll %h [@a, @b] at (%i, %i) words [2, 1] : f32, f32, f32
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.publish' op names 'r', which is no region}}
  baton.publish %h @r[%i]
  return
}

// -----

baton.region @r peer tagged i32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  // expected-error@+1 {{'baton.publish' op raises a flag in region 'r': a flag lies in the scratch space}}
  baton.publish %h @r[%i]
  return
}

// -----

baton.region @r scratch tagged f32 shape [16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.publish' op raises a flag in region 'r': a flag region holds i32}}
  baton.publish %h @r[%i]
  return
}

// -----

//===-- Sentinel words ---------------------------------------------------------------------------===//

baton.lds @r offset 0 bytes 64
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put_sent' op names 'r', which is no region}}
  baton.put_sent %h @r[%i] = %i : i32
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  // expected-error@+1 {{'baton.put_sent' op names a rank, but region 'r' lies in the scratch space}}
  baton.put_sent %h @r[%i] of %i = %i : i32
  return
}

// -----

baton.region @r peer sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  // expected-error@+1 {{'baton.put_sent' op needs a rank: region 'r' lies in the peer space}}
  baton.put_sent %h @r[%i] = %i : i32
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32, %f: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put_sent' op puts 'f32' into region 'r': expected 'vector<2xbf16>' or i32}}
  baton.put_sent %h @r[%i] = %f : f32
  return
}

// -----

baton.region @r peer sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.put_sent' op uses peer region 'r', but its hand-offs were opened without peers}}
  baton.put_sent %h @r[%i] of %i = %i : i32
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%h: !baton.handoffs, %i: i32) attributes {baton.kernel} {
  // expected-error@+1 {{'baton.put_sent' op uses hand-offs that no baton.handoffs opened}}
  baton.put_sent %h @r[%i] = %i : i32
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll_sent' op has 0 specs: a batch holds 1 .. 12}}
  "baton.poll_sent"(%h) <{regions = []}> : (!baton.handoffs) -> ()
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll_sent' op has 13 specs: a batch holds 1 .. 12}}
  %w:13 = baton.poll_sent %h [@r, @r, @r, @r, @r, @r, @r, @r, @r, @r, @r, @r, @r]
      at (%i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i)
      : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll_sent' op has 2 regions, 1 indices and 2 words: expected as many of each}}
  %w:2 = baton.poll_sent %h [@r, @r] at (%i) : i32, i32
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll_sent' op has 2 regions, 2 indices and 1 words: expected as many of each}}
  %w = baton.poll_sent %h [@r, @r] at (%i, %i) : i32
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll_sent' op names 's', which is no region}}
  %w:2 = baton.poll_sent %h [@r, @s] at (%i, %i) : i32, i32
  return
}

// -----

baton.region @r peer sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll_sent' op uses peer region 'r', but its hand-offs were opened without peers}}
  %w = baton.poll_sent %h [@r] at (%i) : i32
  return
}

// -----

baton.region @r scratch sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.poll_sent' op reads region 'r' as 'f32': expected 'vector<2xbf16>' or i32}}
  %w:2 = baton.poll_sent %h [@r, @r] at (%i, %i) : i32, f32
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.rearm' op names 'r', which is no region}}
  baton.rearm %h @r[%i]
  return
}

// -----

baton.region @r peer sentinel bf16 shape [1, 1, 16]
func.func @f(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.rearm' op uses peer region 'r', but its hand-offs were opened without peers}}
  baton.rearm %h @r[%i]
  return
}

// -----

//===-- Timeline ---------------------------------------------------------------------------------===//

func.func @f(%p: !llvm.ptr<1>) attributes {baton.kernel} {
  baton.stage "s" {
    // expected-error@+1 {{'baton.timeline' op must stand at the top of the kernel, outside stages and branches}}
    baton.timeline %p
    baton.yield
  }
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>) {
  // expected-error@+1 {{'baton.timeline' op must stand at the top of the kernel, outside stages and branches}}
  baton.timeline %p
  return
}
