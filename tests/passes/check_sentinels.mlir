// RUN: baton-opt %s -split-input-file -verify-diagnostics -check-sentinels

//===-- Correct kernels stay silent --------------------------------------------------------------===//

// The all-reduce of attn_post, one-shot: a put to each rank, a poll of all sources, the re-arm in a
// later stage, in a loop of its own.
baton.region @ar peer sentinel bf16 shape [8, 4, 64]
func.func @one_shot(%p: !llvm.ptr<1>, %i: i32, %v: vector<2xbf16>, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %t = baton.thread_id below 512
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  baton.stage "o" {
    scf.for %row = %t to %n step %c512 : i32 {
      baton.put_sent %h @ar[%row] of %c0 = %v : vector<2xbf16>
      baton.put_sent %h @ar[%row] of %c1 = %v : vector<2xbf16>
    }
    baton.yield
  }
  baton.stage "reduce" {
    scf.for %item = %t to %n step %c512 : i32 {
      %second = arith.addi %item, %c512 : i32
      %w:2 = baton.poll_sent %h [@ar, @ar] at (%item, %second) : vector<2xbf16>, i32
    }
    baton.yield
  }
  baton.stage "rearm" {
    scf.for %item = %t to %n step %c512 : i32 {
      %second = arith.addi %item, %c512 : i32
      baton.rearm %h @ar[%item]
      baton.rearm %h @ar[%second]
    }
    baton.yield
  }
  return
}

// -----

// Two-shot: the owner of a column polls, sums and puts the sum to the others, which poll that.
baton.region @ar peer sentinel bf16 shape [8, 4, 64]
func.func @two_shot(%p: !llvm.ptr<1>, %i: i32, %rank: i32, %owner: i32, %v: vector<2xbf16>)
    attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %rank
  %t = baton.thread_id below 512
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  baton.stage "o" {
    baton.put_sent %h @ar[%t] of %owner = %v : vector<2xbf16>
    baton.yield
  }
  baton.stage "reduce" {
    %mine = arith.cmpi eq, %owner, %rank : i32
    scf.if %mine {
      %w = baton.poll_sent %h [@ar] at (%t) : vector<2xbf16>
      %next = arith.addi %rank, %c1 : i32
      baton.put_sent %h @ar[%t] of %next = %w : vector<2xbf16>
      %after = arith.addi %rank, %c2 : i32
      baton.put_sent %h @ar[%t] of %after = %w : vector<2xbf16>
    } else {
      %w = baton.poll_sent %h [@ar] at (%t) : vector<2xbf16>
    }
    baton.yield
  }
  baton.stage "rearm" {
    %mine = arith.cmpi eq, %owner, %rank : i32
    scf.if %mine {
      baton.rearm %h @ar[%t]
    } else {
      baton.rearm %h @ar[%t]
    }
    baton.yield
  }
  return
}

// -----

// Re-armed at once, in a loop.
baton.region @ar scratch sentinel bf16 shape [1, 4, 64]
func.func @at_once(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c1 = arith.constant 1 : i32
  baton.put_sent %h @ar[%i] = %v : i32
  scf.for %item = %c1 to %n step %c1 : i32 {
    baton.put_sent %h @ar[%item] = %v : i32
    %w = baton.poll_sent %h [@ar] at (%item) rearm : i32
  }
  return
}

// -----

// Not the same word: another index, another rank, another region, the two arms of one branch, two
// branches that exclude each other.
baton.region @a peer sentinel bf16 shape [1, 4, 64]
baton.region @b peer sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %j: i32, %v: i32, %c: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  baton.put_sent %h @a[%i] of %c0 = %v : i32
  baton.put_sent %h @a[%i] of %c1 = %v : i32
  baton.put_sent %h @a[%j] of %c0 = %v : i32
  baton.put_sent %h @b[%i] of %c0 = %v : i32
  %k = arith.addi %i, %j : i32
  %l = arith.subi %i, %j : i32
  baton.put_sent %h @a[%k] of %c0 = %v : i32
  baton.put_sent %h @a[%l] of %c0 = %v : i32
  scf.if %c {
    baton.put_sent %h @b[%j] of %c0 = %v : i32
  } else {
    baton.put_sent %h @b[%j] of %c0 = %v : i32
  }
  scf.if %c {
    baton.put_sent %h @b[%k] of %c0 = %v : i32
  }
  scf.if %c {
  } else {
    baton.put_sent %h @b[%k] of %c0 = %v : i32
  }
  return
}

// -----

// Either guard may hold alone.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %c: i1, %d: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  scf.if %c {
    baton.put_sent %h @a[%i] = %v : i32
  }
  scf.if %d {
    baton.put_sent %h @a[%i] = %v : i32
  }
  return
}

// -----

// A re-arm stands between: one behind the poll, or the poll's own; also from turn to turn of a loop.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  baton.put_sent %h @a[%i] = %v : i32
  %w = baton.poll_sent %h [@a] at (%i) : i32
  baton.rearm %h @a[%i]
  baton.stage "again" {
    baton.put_sent %h @a[%i] = %v : i32
    %x = baton.poll_sent %h [@a] at (%i) rearm : i32
    baton.yield
  }
  baton.put_sent %h @a[%i] = %v : i32
  %y = baton.poll_sent %h [@a] at (%i) rearm : i32
  scf.for %turn = %c0 to %n step %c1 : i32 {
    baton.put_sent %h @a[%i] = %v : i32
    %z = baton.poll_sent %h [@a] at (%i) : i32
    baton.rearm %h @a[%i]
  }
  return
}

// -----

// One turn of a loop: a guard that changes, or bounds that allow no more. No turn at all: no put.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %false = arith.constant false
  scf.for %turn = %c0 to %n step %c1 : i32 {
    %last = arith.cmpi eq, %turn, %i : i32
    scf.if %last {
      baton.put_sent %h @a[%c0] = %v : i32
    }
  }
  scf.for %turn = %c1 to %c4 step %c4 : i32 {
    baton.put_sent %h @a[%c1] = %v : i32
  }
  scf.for %turn = %c4 to %c4 step %c1 : i32 {
    baton.put_sent %h @a[%c1] = %v : i32
  }
  scf.if %false {
    baton.put_sent %h @a[%c1] = %v : i32
  }
  return
}

// -----

// What is loaded anew may differ from turn to turn.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %b: !baton.buffer) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %turn = %c0 to %i step %c1 : i32 {
    %word = baton.load %b[%c0] device : i32
    baton.put_sent %h @a[%word] = %v : i32
    %next = baton.load %b[%c0] device : i32
    baton.put_sent %h @a[%next] = %v : i32
  }
  return
}

// -----

// In a loop the re-arm of one turn may stand before the poll of the next, or in the other arm.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
baton.region @b scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %turn = %c0 to %n step %c1 : i32 {
    %later = arith.cmpi sgt, %turn, %c0 : i32
    scf.if %later {
      %before = arith.subi %turn, %c1 : i32
      baton.rearm %h @a[%before]
    }
    %x = baton.poll_sent %h [@a] at (%turn) : i32
    %bit = arith.andi %turn, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    scf.if %odd {
      baton.rearm %h @b[%i]
    } else {
      %y = baton.poll_sent %h [@b] at (%i) : i32
    }
  }
  return
}

// -----

// A poll that never runs needs no re-arm, and leaves none.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %false = arith.constant false
  scf.if %false {
    %x = baton.poll_sent %h [@a] at (%i) : i32
    %y = baton.poll_sent %h [@a] at (%i) rearm : i32
  }
  return
}

// -----

//===-- A word is put once -----------------------------------------------------------------------===//

baton.region @ar peer sentinel bf16 shape [8, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  baton.stage "o" {
    baton.put_sent %h @ar[%i] of %i = %v : i32
    // expected-error@+1 {{stage 'o': puts a word of sentinel region 'ar' a second time before its re-arm}}
    baton.put_sent %h @ar[%i] of %i = %v : i32
    baton.yield
  }
  return
}

// -----

// From stage to stage; equal constants.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "o" {
    %five = arith.constant 5 : i32
    baton.put_sent %h @a[%five] = %v : i32
    baton.yield
  }
  baton.stage "mix" {
    %five = arith.constant 5 : i32
    // expected-error@+1 {{stage 'mix': puts a word of sentinel region 'a' a second time before its re-arm}}
    baton.put_sent %h @a[%five] = %v : i32
    baton.yield
  }
  return
}

// -----

// The same index and rank, computed twice, of what a stage returned.
baton.region @ar peer sentinel bf16 shape [8, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %c4 = arith.constant 4 : i32
  %c7 = arith.constant 7 : i32
  %t = baton.stage "where" -> i32 {
    %lane = baton.thread_id below 512
    baton.yield %lane : i32
  }
  %first = arith.muli %t, %c4 : i32
  %rank = arith.andi %i, %c7 : i32
  baton.put_sent %h @ar[%first] of %rank = %v : i32
  %lane = baton.thread_id below 512
  %second = arith.muli %lane, %c4 : i32
  %again = arith.andi %i, %c7 : i32
  // expected-error@+1 {{outside the stages: puts a word of sentinel region 'ar' a second time before its re-arm}}
  baton.put_sent %h @ar[%second] of %again = %v : i32
  return
}

// -----

// Whoever passes the guard puts twice: the guard before, the guard behind, twice the same guard.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %c: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  scf.if %c {
    baton.put_sent %h @a[%i] = %v : i32
  }
  // expected-error@+1 {{outside the stages: puts a word of sentinel region 'a' a second time before its re-arm}}
  baton.put_sent %h @a[%i] = %v : i32
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %c: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put_sent %h @a[%i] = %v : i32
  scf.if %c {
    baton.stage "late" {
      // expected-error@+1 {{stage 'late': puts a word of sentinel region 'a' a second time before its re-arm}}
      baton.put_sent %h @a[%i] = %v : i32
      baton.yield
    }
  }
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %c: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "o" {
    scf.if %c {
      baton.put_sent %h @a[%i] = %v : i32
    }
    baton.yield
  }
  baton.stage "up" {
    scf.if %c {
      // expected-error@+1 {{stage 'up': puts a word of sentinel region 'a' a second time before its re-arm}}
      baton.put_sent %h @a[%i] = %v : i32
    }
    baton.yield
  }
  return
}

// -----

// A loop puts one word again and again.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %turn = %c0 to %n step %c1 : i32 {
    baton.stage "o" {
      // expected-error@+1 {{stage 'o': puts a word of sentinel region 'a' a second time before its re-arm}}
      baton.put_sent %h @a[%i] = %v : i32
      baton.yield
    }
  }
  return
}

// -----

// The index is computed in the loop, of nothing that changes; behind a guard that does not change.
baton.region @ar peer sentinel bf16 shape [8, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %turn = %c0 to %n step %c1 : i32 {
    %first = arith.cmpi eq, %i, %c0 : i32
    scf.if %first {
      %word = arith.addi %i, %c1 : i32
      %rank = arith.constant 3 : i32
      // expected-error@+1 {{outside the stages: puts a word of sentinel region 'ar' a second time before its re-arm}}
      baton.put_sent %h @ar[%word] of %rank = %v : i32
    }
  }
  return
}

// -----

// Every turn of the outer loop puts the words of the inner one again.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %turn = %c0 to %n step %c1 : i32 {
    scf.for %word = %c0 to %i step %c1 : i32 {
      // expected-error@+1 {{outside the stages: puts a word of sentinel region 'a' a second time before its re-arm}}
      baton.put_sent %h @a[%word] = %v : i32
    }
  }
  return
}

// -----

// The inner loop's words move with the outer one; a loop over ranks puts to another each turn.
baton.region @ar peer sentinel bf16 shape [8, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i peers %p rank %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  scf.for %turn = %c0 to %n step %c8 : i32 {
    %end = arith.addi %turn, %c8 : i32
    scf.for %word = %turn to %end step %c1 : i32 {
      scf.for %rank = %c0 to %c8 step %c1 : i32 {
        baton.put_sent %h @ar[%word] of %rank = %v : i32
      }
    }
  }
  return
}

// -----

// A re-arm before the first put, behind the second, of another word, or one that never runs: none of
// them stands between.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %false = arith.constant false
  %x = baton.poll_sent %h [@a] at (%c1) rearm : i32
  baton.put_sent %h @a[%c1] = %v : i32
  %y = baton.poll_sent %h [@a] at (%c0) rearm : i32
  scf.if %false {
    %z = baton.poll_sent %h [@a] at (%c1) rearm : i32
  }
  // expected-error@+1 {{outside the stages: puts a word of sentinel region 'a' a second time before its re-arm}}
  baton.put_sent %h @a[%c1] = %v : i32
  %w = baton.poll_sent %h [@a] at (%c1) rearm : i32
  return
}

// -----

// Both in one turn, the re-arm at its end.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %turn = %c0 to %n step %c1 : i32 {
    baton.put_sent %h @a[%i] = %v : i32
    // expected-error@+1 {{outside the stages: puts a word of sentinel region 'a' a second time before its re-arm}}
    baton.put_sent %h @a[%i] = %v : i32
    %w = baton.poll_sent %h [@a] at (%i) rearm : i32
  }
  return
}

// -----

// The inner loop repeats before the outer one re-arms.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32, %n: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %turn = %c0 to %n step %c1 : i32 {
    scf.for %inner = %c0 to %n step %c1 : i32 {
      // expected-error@+1 {{outside the stages: puts a word of sentinel region 'a' a second time before its re-arm}}
      baton.put_sent %h @a[%i] = %v : i32
    }
    %w = baton.poll_sent %h [@a] at (%i) rearm : i32
  }
  return
}

// -----

//===-- A polled word is re-armed ----------------------------------------------------------------===//

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "reduce" {
    // expected-error@+1 {{stage 'reduce': polls sentinel region 'a', but no path from here reaches a re-arm}}
    %w = baton.poll_sent %h [@a] at (%i) : i32
    baton.yield
  }
  return
}

// -----

// Each region of a batch is re-armed for itself.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
baton.region @b scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  // expected-error@+1 {{outside the stages: polls sentinel region 'b', but no path from here reaches a re-arm}}
  %w:2 = baton.poll_sent %h [@a, @b] at (%i, %i) : i32, i32
  baton.rearm %h @a[%i]
  return
}

// -----

// In the other arm of the branch.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %c: i1) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  scf.if %c {
    // expected-error@+1 {{outside the stages: polls sentinel region 'a', but no path from here reaches a re-arm}}
    %w = baton.poll_sent %h [@a] at (%i) : i32
  } else {
    baton.rearm %h @a[%i]
  }
  return
}

// -----

// Two branches that exclude each other.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %j: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "reduce" {
    %mine = arith.cmpi eq, %i, %j : i32
    scf.if %mine {
      // expected-error@+1 {{stage 'reduce': polls sentinel region 'a', but no path from here reaches a re-arm}}
      %w = baton.poll_sent %h [@a] at (%i) : i32
    } else {
      %w = baton.poll_sent %h [@a] at (%i) : i32
    }
    baton.yield
  }
  baton.stage "rearm" {
    %mine = arith.cmpi eq, %i, %j : i32
    scf.if %mine {
    } else {
      baton.rearm %h @a[%i]
    }
    baton.yield
  }
  return
}

// -----

// Of another word.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error@+1 {{outside the stages: polls sentinel region 'a', but no path from here reaches a re-arm}}
  %w:2 = baton.poll_sent %h [@a, @a] at (%c0, %c1) : i32, i32
  baton.rearm %h @a[%c0]
  return
}

// -----

//===-- A re-arm is reached, behind a poll -------------------------------------------------------===//

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %false = arith.constant false
  %w = baton.poll_sent %h [@a] at (%i) rearm : i32
  scf.if %false {
    baton.stage "rearm" {
      // expected-error@+1 {{stage 'rearm': no path reaches this re-arm of sentinel region 'a'}}
      baton.rearm %h @a[%i]
      baton.yield
    }
  }
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %true = arith.constant true
  %w = baton.poll_sent %h [@a] at (%i) rearm : i32
  scf.if %true {
  } else {
    // expected-error@+1 {{outside the stages: no path reaches this re-arm of sentinel region 'a'}}
    baton.rearm %h @a[%i]
  }
  return
}

// -----

baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %c1 = arith.constant 1 : i32
  %w = baton.poll_sent %h [@a] at (%i) rearm : i32
  scf.for %turn = %c1 to %c1 step %c1 : i32 {
    // expected-error@+1 {{outside the stages: no path reaches this re-arm of sentinel region 'a'}}
    baton.rearm %h @a[%i]
  }
  return
}

// -----

// A re-arm that never runs serves no poll.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  %false = arith.constant false
  // expected-error@+1 {{outside the stages: polls sentinel region 'a', but no path from here reaches a re-arm}}
  %w = baton.poll_sent %h [@a] at (%i) : i32
  scf.if %false {
    baton.rearm %h @a[%i]
  }
  return
}

// -----

// Before any poll: nothing has been read yet.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.stage "early" {
    // expected-error@+1 {{stage 'early': re-arms sentinel region 'a' before any poll has read it}}
    baton.rearm %h @a[%i]
    baton.yield
  }
  %w = baton.poll_sent %h [@a] at (%i) rearm : i32
  return
}

// -----

// Nor when nothing polls.
baton.region @a scratch sentinel bf16 shape [1, 4, 64]
func.func @k(%p: !llvm.ptr<1>, %i: i32, %v: i32) attributes {baton.kernel} {
  %h = baton.handoffs scratch %p epoch %p slot %i
  baton.put_sent %h @a[%i] = %v : i32
  // expected-error@+1 {{outside the stages: re-arms sentinel region 'a' before any poll has read it}}
  baton.rearm %h @a[%i]
  return
}
