// RUN: baton-opt %s -split-input-file -verify-diagnostics -check-lds

//===-- The target's size: 160 KiB on gfx950, 64 KiB on gfx942 and gfx90a -------------------------===//

module attributes {baton.chip = "gfx950"} {
  baton.lds @rows offset 0 bytes 163840
}

// -----

module attributes {baton.chip = "gfx950"} {
  // expected-error@+1 {{LDS takes 163841 bytes up to the end of 'rows', gfx950 has 163840}}
  baton.lds @rows offset 0 bytes 163841
}

// -----

module attributes {baton.chip = "gfx942"} {
  baton.lds @rows offset 0 bytes 65536
}

// -----

module attributes {baton.chip = "gfx942"} {
  // expected-error@+1 {{LDS takes 65537 bytes up to the end of 'rows', gfx942 has 65536}}
  baton.lds @rows offset 0 bytes 65537
}

// -----

module attributes {baton.chip = "gfx90a"} {
  baton.lds @rows offset 0 bytes 65536
}

// -----

module attributes {baton.chip = "gfx90a"} {
  // expected-error@+1 {{LDS takes 65537 bytes up to the end of 'rows', gfx90a has 65536}}
  baton.lds @rows offset 0 bytes 65537
}

// -----

// What is too much for gfx942 fits gfx950.
module attributes {baton.chip = "gfx950"} {
  baton.lds @rows offset 0 bytes 70000
}

// -----

module attributes {baton.chip = "gfx942"} {
  // expected-error@+1 {{LDS takes 70000 bytes up to the end of 'rows', gfx942 has 65536}}
  baton.lds @rows offset 0 bytes 70000
}

// -----

// The range that ends last counts, wherever it is declared; alternatives share their bytes.
module attributes {baton.chip = "gfx942"} {
  baton.lds @head offset 0 bytes 32768
  // expected-error@+1 {{LDS takes 65552 bytes up to the end of 'long', gfx942 has 65536}}
  baton.lds @long offset 32768 bytes 32784
  baton.lds @short offset 32768 bytes 16
}

// -----

module attributes {baton.chip = "gfx942"} {
  baton.lds @a offset 0 bytes 65536
  baton.lds @b offset 0 bytes 65536
}

// -----

// expected-error@+1 {{the module does not say for which chip it is: give it 'baton.chip'}}
module {
  baton.lds @rows offset 0 bytes 64
}

// -----

//===-- Accesses ---------------------------------------------------------------------------------===//

module attributes {baton.chip = "gfx950"} {
  baton.lds @rows offset 0 bytes 64
  func.func @inside(%v: vector<4xi32>, %o: i32) {
    %first = arith.constant 0 : i32
    %last = arith.constant 48 : i32
    baton.lds_store %v, @rows[%first] : vector<4xi32>
    %w = baton.lds_load @rows[%last] : vector<4xi32>
    %unknown = baton.lds_load @rows[%o] : vector<4xi32>
    return
  }
}

// -----

module attributes {baton.chip = "gfx950"} {
  baton.lds @rows offset 0 bytes 64
  func.func @f() {
    %o = arith.constant 52 : i32
    baton.stage "read" {
      // expected-error@+1 {{stage 'read': accesses bytes 52 .. 67 of LDS range 'rows', which has 64}}
      %w = baton.lds_load @rows[%o] : vector<4xi32>
      baton.yield
    }
    return
  }
}

// -----

module attributes {baton.chip = "gfx950"} {
  baton.lds @rows offset 16 bytes 64
  func.func @f(%v: bf16) {
    %o = arith.constant -2 : i32
    // expected-error@+1 {{outside the stages: accesses bytes -2 .. -1 of LDS range 'rows', which has 64}}
    baton.lds_store %v, @rows[%o] : bf16
    return
  }
}
