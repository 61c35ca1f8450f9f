#include "dsl/handoff/sentinel.h"

#include "dsl/handoff/poll_batches.h"

namespace baton::dsl::detail {

void put_sent(Handle handoffs, const std::string& region, Handle rank, Handle index, Handle word,
              const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::Value to = rank.get() ? use(trace, rank, at) : mlir::Value();
  ir::PutSentOp::create(trace.builder, locate(trace, at), use(trace, handoffs, at), region,
                        use(trace, index, at), use(trace, word, at), to);
}

std::vector<Handle> poll_sent(Handle handoffs, std::span<const SpecHandle> specs, TypeId word,
                              bool rearm, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return poll_in_batches(trace, specs, at, [&](auto batch, auto regions, auto& indices) {
    const llvm::SmallVector<mlir::Type> types(batch.size(), type_of(trace, word));
    return ir::PollSentOp::create(trace.builder, locate(trace, at), types, use(trace, handoffs, at),
                                  regions, indices, rearm);
  });
}

void rearm(Handle handoffs, const std::string& region, Handle index, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  ir::RearmOp::create(trace.builder, locate(trace, at), use(trace, handoffs, at), region,
                      use(trace, index, at));
}

}  // namespace baton::dsl::detail
