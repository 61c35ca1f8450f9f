// attn_post with a fault built in: the trace of the kernel as it is, one op changed before the
// passes.
#pragma once

#include <string>

#include "runtime/key/build_key.h"
#include "runtime/object/code_object.h"

namespace baton::tests {

/// An op by where it stands: the `index`-th of its kind in its stage, in program order.
struct OpPlace {
  std::string op;           ///< "baton.put"
  std::string stage;        ///< "slice"
  std::string region = {};  ///< of a hand-off; empty: any
  size_t index = 0;
};

struct BrokenKernel {
  CodeObject object;
  std::string where;  ///< the changed op's "file:line"
};

/// How many ops stand at such a place, `place.index` aside.
size_t count_ops(const BuildKey& key, const OpPlace& place);

/// Without the op, which has no results.
BrokenKernel build_without(const BuildKey& key, const OpPlace& place);

/// With the op, which has no results, left out on one rank.
BrokenKernel build_without_on(const BuildKey& key, const OpPlace& place, int rank);

/// With the byte offset of a `baton.load` or `baton.store` raised on one thread of each workgroup.
BrokenKernel build_with_offset(const BuildKey& key, const OpPlace& place, int thread, int bytes);

/// With the address of the buffer behind a `baton.load` or `baton.store` raised for it alone.
BrokenKernel build_with_address(const BuildKey& key, const OpPlace& place, int bytes);

}  // namespace baton::tests
