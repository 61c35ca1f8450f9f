// RUN: baton-opt %s -split-input-file -verify-diagnostics -check-handoffs

//===-- A polled region is put -------------------------------------------------------------------===//

baton.region @ar peer tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  baton.stage "reduce" {
    // expected-error@+1 {{stage 'reduce': polls region 'ar', which nothing puts}}
    %v = baton.poll %h [@ar] at (%i) words [1] : f32
    baton.yield
  }
  return
}

// -----

// Every hanging poll is named, in the order of the declarations.
baton.region @b scratch tagged f32 shape [8]
baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %c: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{outside the stages: polls region 'a', which nothing puts}}
  %v = baton.poll %h [@a] at (%i) words [1] : f32
  scf.if %c {
    baton.stage "late" {
      // expected-error@+1 {{stage 'late': polls region 'b', which nothing puts}}
      %w = baton.poll %h [@b] at (%i) words [1] : f32
      baton.yield
    }
  }
  return
}

// -----

// A put anywhere in the kernel will do, also behind the poll; so will a publish.
baton.region @a scratch tagged f32 shape [8]
baton.region @flag scratch tagged i32 shape [1]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32, %c: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %w:2 = baton.poll %h [@a, @flag] at (%i, %i) words [1, 1] : f32, i32
  scf.if %c {
    baton.put %h @a[%i] = %v : f32
    baton.publish %h @flag[%i]
  }
  return
}

// -----

// A region that is never polled is remarked on, whether it is put or not.
// expected-remark@+1 {{region 'a' is never polled}}
baton.region @a scratch tagged f32 shape [8]
// expected-remark@+1 {{region 'b' is never polled}}
baton.region @b scratch tagged i32 shape [8]
// A flag may serve a later launch.
baton.region @flag scratch tagged i32 shape [1]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put %h @a[%i] = %v : f32
  baton.publish %h @flag[%i]
  return
}

// -----

//===-- Indices ----------------------------------------------------------------------------------===//

baton.region @a scratch tagged f32 shape [2, 4]
func.func @last(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %first = arith.constant 0 : i32
  %last = arith.constant 7 : i32
  baton.put %h @a[%last] = %v : f32
  %pair = arith.constant 6 : i32
  baton.put %h @a[%pair] = %v, %v : f32, f32
  %w:2 = baton.poll %h [@a] at (%first) words [2] : f32, f32
  return
}

// -----

baton.region @a scratch tagged f32 shape [2, 4]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %beyond = arith.constant 8 : i32
  baton.stage "send" {
    // expected-error@+1 {{stage 'send': word 8 of region 'a' is out of bounds: it has 8 words}}
    baton.put %h @a[%beyond] = %v : f32
    baton.yield
  }
  return
}

// -----

// The second word of a pair counts.
baton.region @a scratch tagged f32 shape [2, 4]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %last = arith.constant 7 : i32
  // expected-error@+1 {{outside the stages: words 7 .. 8 of region 'a' are out of bounds: it has 8 words}}
  baton.put %h @a[%last] = %v, %v : f32, f32
  return
}

// -----

baton.region @a scratch tagged f32 shape [2, 4]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %last = arith.constant 7 : i32
  baton.put %h @a[%i] = %v : f32
  // expected-error@+1 {{outside the stages: words 7 .. 8 of region 'a' are out of bounds: it has 8 words}}
  %w:2 = baton.poll %h [@a] at (%last) words [2] : f32, f32
  return
}

// -----

baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %before = arith.constant -1 : i32
  // expected-error@+1 {{outside the stages: word -1 of region 'a' is out of bounds: it has 8 words}}
  baton.put %h @a[%before] = %v : f32
  return
}

// -----

// bf16 words hold two elements: 16 of them are 8 words.
baton.region @a scratch tagged bf16 shape [2, 8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: vector<2xbf16>) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %beyond = arith.constant 8 : i32
  // expected-error@+1 {{outside the stages: word 8 of region 'a' is out of bounds: it has 8 words}}
  baton.put %h @a[%beyond] = %v : vector<2xbf16>
  return
}

// -----

baton.region @flag scratch tagged i32 shape [4]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %beyond = arith.constant 4 : i32
  baton.stage "rows" {
    // expected-error@+1 {{stage 'rows': word 4 of region 'flag' is out of bounds: it has 4 words}}
    baton.publish %h @flag[%beyond]
    baton.yield
  }
  return
}

// -----

// An index of the lane that no lane computes in bounds: 8 + thread, thread in 0 .. 63.
baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %t = baton.thread_id below 64
  %c8 = arith.constant 8 : i32
  %index = arith.addi %t, %c8 : i32
  // expected-error@+1 {{outside the stages: words 8 .. 71 of region 'a' are out of bounds: it has 8 words}}
  baton.put %h @a[%index] = %v : f32
  return
}

// -----

// Below 0 on every lane, of the workgroup's number: 3 cta - 12, cta in 0 .. 3.
baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %cta = baton.cta_id below 4
  %c3 = arith.constant 3 : i32
  %c12 = arith.constant 12 : i32
  %scaled = arith.muli %cta, %c3 : i32
  %index = arith.subi %scaled, %c12 : i32
  // expected-error@+1 {{outside the stages: words -12 .. -3 of region 'a' are out of bounds: it has 8 words}}
  baton.put %h @a[%index] = %v : f32
  return
}

// -----

// An index that some lanes compute out of bounds is the guards' business.
baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %t = baton.thread_id below 64
  %c8 = arith.constant 8 : i32
  %inside = arith.cmpi ult, %t, %c8 : i32
  scf.if %inside {
    baton.put %h @a[%t] = %v : f32
  }
  %w = baton.poll %h [@a] at (%i) words [1] : f32
  return
}

// -----

//===-- Ranks ------------------------------------------------------------------------------------===//

baton.region @a peer tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %c7 = arith.constant 7 : i32
  baton.put %h @a[%i] of %c7 = %v : f32
  %c8 = arith.constant 8 : i32
  baton.stage "push" {
    // expected-error@+1 {{stage 'push': puts to rank 8: ranks are 0 .. 7}}
    baton.put %h @a[%i] of %c8 = %v : f32
    baton.yield
  }
  return
}

// -----

baton.region @a peer tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %t = baton.thread_id below 8
  %c8 = arith.constant 8 : i32
  baton.put %h @a[%i] of %t = %v : f32
  %rank = arith.subi %t, %c8 : i32
  // expected-error@+1 {{outside the stages: puts to rank -8 .. -1: ranks are 0 .. 7}}
  baton.put %h @a[%i] of %rank = %v : f32
  return
}

// -----

//===-- One space a batch ------------------------------------------------------------------------===//

baton.region @near scratch tagged f32 shape [8]
baton.region @far peer tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  baton.put %h @near[%i] = %v : f32
  baton.put %h @far[%i] of %i = %v : f32
  baton.stage "mixed" {
    // expected-error@+1 {{stage 'mixed': one poll over two spaces: 'near' is scratch, 'far' is peer}}
    %w:3 = baton.poll %h [@near, @near, @far] at (%i, %i, %i) words [1, 1, 1] : f32, f32, f32
    baton.yield
  }
  return
}

// -----

//===-- Loads in flight --------------------------------------------------------------------------===//

baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32, %b: !baton.buffer) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put %h @a[%i] = %v : f32
  %w1 = baton.load %b[%i] wave streaming : vector<4xi32>
  %w2 = baton.load %b[%i] wave streaming : vector<4xi32>
  %plain = baton.load %b[%i] wave : vector<4xi32>
  baton.stage "wait" {
    // expected-remark@+1 {{stage 'wait': polls behind 2 streaming loads in flight}}
    %x = baton.poll %h [@a] at (%i) words [1] : f32
    baton.yield
  }
  // A use waits: only the second load is in flight still.
  baton.store %w1, %b[%i] wave : vector<4xi32>
  // expected-remark@+1 {{outside the stages: polls behind 1 streaming loads in flight}}
  %y = baton.poll %h [@a] at (%i) words [1] : f32
  baton.store %w2, %b[%i] wave : vector<4xi32>
  // Nothing is in flight.
  %z = baton.poll %h [@a] at (%i) words [1] : f32
  return
}

// -----

// A poll that is meant to wait behind loads; the next one is not.
baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32, %b: !baton.buffer) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put %h @a[%i] = %v : f32
  %w = baton.load %b[%i] wave streaming : vector<4xi32>
  %x = baton.poll %h [@a] at (%i) words [1] behind_loads : f32
  // expected-remark@+1 {{outside the stages: polls behind 1 streaming loads in flight}}
  %y = baton.poll %h [@a] at (%i) words [1] : f32
  return
}

// -----

// Plain rows are neither put nor polled; their flag is.
baton.region @rows scratch plain bf16 shape [2, 8]
baton.region @ready scratch tagged i32 shape [2]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %b = baton.rows %h @rows
  baton.publish %h @ready[%i]
  %x = baton.poll %h [@ready] at (%i) words [1] : i32
  return
}

// -----

baton.region @rows scratch plain f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{outside the stages: puts region 'rows' as tagged, but it is declared plain}}
  baton.put %h @rows[%i] = %v : f32
  return
}

// -----

baton.region @rows scratch plain f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{outside the stages: polls region 'rows' as tagged, but it is declared plain}}
  %x = baton.poll %h [@rows] at (%i) words [1] : f32
  return
}

// -----

// What leaves a stage, or is seen as another type, is in flight still.
baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32, %b: !baton.buffer) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put %h @a[%i] = %v : f32
  %weights = baton.stage "issue" -> vector<8xbf16> {
    %w = baton.load %b[%i] wave streaming : vector<4xi32>
    %bits = vector.bitcast %w : vector<4xi32> to vector<8xbf16>
    baton.yield %bits : vector<8xbf16>
  }
  // expected-remark@+1 {{outside the stages: polls behind 1 streaming loads in flight}}
  %x = baton.poll %h [@a] at (%i) words [1] : f32
  %low = vector.extract %weights[0] : bf16 from vector<8xbf16>
  // expected-remark@+1 {{outside the stages: polls behind 1 streaming loads in flight}}
  %y = baton.poll %h [@a] at (%i) words [1] : f32
  %wide = arith.extf %low : bf16 to f32
  %z = baton.poll %h [@a] at (%i) words [1] : f32
  return
}

// -----

// Loads of one branch are not in flight in the other, and are behind both.
baton.region @a scratch tagged f32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: f32, %b: !baton.buffer, %c: i1)
    attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put %h @a[%i] = %v : f32
  scf.if %c {
    %w = baton.load %b[%i] wave streaming : i32
    // expected-remark@+1 {{outside the stages: polls behind 1 streaming loads in flight}}
    %x = baton.poll %h [@a] at (%i) words [1] : f32
  } else {
    %x = baton.poll %h [@a] at (%i) words [1] : f32
  }
  // expected-remark@+1 {{outside the stages: polls behind 1 streaming loads in flight}}
  %y = baton.poll %h [@a] at (%i) words [1] : f32
  return
}

// -----

//===-- One protocol a region --------------------------------------------------------------------===//

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: vector<2xbf16>) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "o" {
    // expected-error@+1 {{stage 'o': puts region 'a' as tagged, but it is declared sentinel}}
    baton.put %h @a[%i] = %v : vector<2xbf16>
    baton.yield
  }
  return
}

// -----

baton.region @a scratch tagged bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: vector<2xbf16>) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "o" {
    // expected-error@+1 {{stage 'o': puts region 'a' as sentinel, but it is declared tagged}}
    baton.put_sent %h @a[%i] = %v : vector<2xbf16>
    baton.yield
  }
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put_sent %h @a[%i] = %v : i32
  baton.stage "reduce" {
    // expected-error@+1 {{stage 'reduce': polls region 'a' as tagged, but it is declared sentinel}}
    %w = baton.poll %h [@a] at (%i) words [1] : i32
    baton.yield
  }
  return
}

// -----

baton.region @a scratch tagged i32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put %h @a[%i] = %v : i32
  baton.stage "reduce" {
    // expected-error@+1 {{stage 'reduce': polls region 'a' as sentinel, but it is declared tagged}}
    %w = baton.poll_sent %h [@a] at (%i) : i32
    baton.yield
  }
  return
}

// -----

// Every spec of a batch counts.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
baton.region @b scratch tagged i32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put_sent %h @a[%i] = %v : i32
  baton.put %h @b[%i] = %v : i32
  // expected-error@+1 {{outside the stages: polls region 'b' as sentinel, but it is declared tagged}}
  %w:2 = baton.poll_sent %h [@a, @b] at (%i, %i) rearm : i32, i32
  return
}

// -----

baton.region @a scratch tagged i32 shape [8]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put %h @a[%i] = %v : i32
  %w = baton.poll %h [@a] at (%i) words [1] : i32
  baton.stage "rearm" {
    // expected-error@+1 {{stage 'rearm': re-arms region 'a' as sentinel, but it is declared tagged}}
    baton.rearm %h @a[%i]
    baton.yield
  }
  return
}

// -----

// A flag holds i32 and a sentinel region bf16: a publish into one is refused by the op itself.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{'baton.publish' op raises a flag in region 'a': a flag region holds i32}}
  baton.publish %h @a[%i]
  return
}

// -----

//===-- Sentinel words ---------------------------------------------------------------------------===//

// 2 sources x 2 tokens x 32 columns are 64 words.
baton.region @a scratch sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %first = arith.constant 0 : i32
  %last = arith.constant 63 : i32
  baton.put_sent %h @a[%first] = %v : i32
  baton.put_sent %h @a[%last] = %v : i32
  %w:2 = baton.poll_sent %h [@a, @a] at (%first, %last) : i32, i32
  baton.rearm %h @a[%first]
  baton.rearm %h @a[%last]
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %beyond = arith.constant 64 : i32
  baton.stage "o" {
    // expected-error@+1 {{stage 'o': word 64 of region 'a' is out of bounds: it has 64 words}}
    baton.put_sent %h @a[%beyond] = %v : i32
    baton.yield
  }
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %last = arith.constant 63 : i32
  %t = baton.thread_id below 64
  %beyond = arith.subi %t, %i : i32
  %before = arith.constant -1 : i32
  baton.put_sent %h @a[%last] = %v : i32
  baton.stage "reduce" {
    // expected-error@+1 {{stage 'reduce': word -1 of region 'a' is out of bounds: it has 64 words}}
    %w:2 = baton.poll_sent %h [@a, @a] at (%beyond, %before) rearm : i32, i32
    baton.yield
  }
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %t = baton.thread_id below 32
  %c64 = arith.constant 64 : i32
  %beyond = arith.addi %t, %c64 : i32
  baton.put_sent %h @a[%i] = %v : i32
  %w = baton.poll_sent %h [@a] at (%i) : i32
  baton.stage "rearm" {
    // expected-error@+1 {{stage 'rearm': words 64 .. 95 of region 'a' are out of bounds: it has 64 words}}
    baton.rearm %h @a[%beyond]
    baton.yield
  }
  return
}

// -----

baton.region @a peer sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %c7 = arith.constant 7 : i32
  baton.put_sent %h @a[%i] of %c7 = %v : i32
  %c8 = arith.constant 8 : i32
  baton.stage "push" {
    // expected-error@+1 {{stage 'push': puts to rank 8: ranks are 0 .. 7}}
    baton.put_sent %h @a[%i] of %c8 = %v : i32
    baton.yield
  }
  return
}

// -----

// One space a batch, a put for every poll, and a poll for every put.
baton.region @near scratch sentinel bf16 shape [2, 2, 32]
baton.region @far peer sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  baton.put_sent %h @near[%i] = %v : i32
  baton.put_sent %h @far[%i] of %i = %v : i32
  baton.stage "mixed" {
    // expected-error@+1 {{stage 'mixed': one poll over two spaces: 'near' is scratch, 'far' is peer}}
    %w:2 = baton.poll_sent %h [@near, @far] at (%i, %i) rearm : i32, i32
    baton.yield
  }
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "reduce" {
    // expected-error@+1 {{stage 'reduce': polls region 'a', which nothing puts}}
    %w = baton.poll_sent %h [@a] at (%i) rearm : i32
    baton.yield
  }
  return
}

// -----

// A re-arm is no poll.
// expected-remark@+1 {{region 'a' is never polled}}
baton.region @a scratch sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put_sent %h @a[%i] = %v : i32
  baton.rearm %h @a[%i]
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [2, 2, 32]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %b: !baton.buffer) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put_sent %h @a[%i] = %v : i32
  %weights = baton.load %b[%i] wave streaming : vector<4xi32>
  baton.stage "wait" {
    // expected-remark@+1 {{stage 'wait': polls behind 1 streaming loads in flight}}
    %x = baton.poll_sent %h [@a] at (%i) rearm : i32
    baton.yield
  }
  baton.store %weights, %b[%i] wave : vector<4xi32>
  return
}
