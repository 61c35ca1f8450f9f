// RUN: baton-opt %s -split-input-file -lower-handoffs -verify-diagnostics

// expected-error@+1 {{'baton.scratch_bytes' is missing: run layout-regions first}}
module {
}

// -----

// expected-error@+1 {{'baton.peer_half_bytes' is missing: run layout-regions first}}
module attributes {baton.scratch_bytes = 0 : i64} {
}

// -----

module attributes {baton.scratch_bytes = 0 : i64, baton.peer_half_bytes = 0 : i64} {
  // expected-error@+1 {{'baton.region' op 'r' has no offset: run layout-regions first}}
  baton.region @r scratch tagged f32 shape [8]
}

// -----

module attributes {baton.scratch_bytes = 256 : i64, baton.peer_half_bytes = 0 : i64} {
  baton.region @flag scratch tagged i32 shape [1] offset 0
  func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
    %h = baton.handoffs scratch %p epoch %p slot %i
    // expected-error@+1 {{'baton.publish' op needs the module's 'baton.workgroup'}}
    baton.publish %h @flag[%i]
    return
  }
}

// -----

// A bounded wait names its workgroup.
module attributes {baton.scratch_bytes = 256 : i64, baton.peer_half_bytes = 0 : i64} {
  func.func @k(%p: !llvm.ptr<1>, %i: i32) attributes {baton.kernel} {
    // expected-error@+1 {{'baton.handoffs' op needs the module's 'baton.grid'}}
    %h = baton.handoffs scratch %p epoch %p slot %i diag %p
    return
  }
}
