#include "dsl/handoff/sentinel.h"

#include "dsl/trace/open_trace.h"
#include "passes/dialect/BatonDialect.h"

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
  mlir::OpBuilder& b = trace.builder;
  std::vector<Handle> words;
  for (size_t first = 0; first < specs.size(); first += ir::PollOp::kMaxSpecs) {
    const auto batch =
        specs.subspan(first).first(std::min(specs.size() - first, ir::PollOp::kMaxSpecs));
    llvm::SmallVector<mlir::Attribute> regions;
    llvm::SmallVector<mlir::Value> indices;
    for (const SpecHandle& spec : batch) {
      regions.push_back(mlir::FlatSymbolRefAttr::get(b.getContext(), spec.region));
      indices.push_back(use(trace, spec.index, at));
    }
    const llvm::SmallVector<mlir::Type> types(batch.size(), type_of(trace, word));
    auto op = ir::PollSentOp::create(b, locate(trace, at), types, use(trace, handoffs, at),
                                     b.getArrayAttr(regions), indices, rearm);
    for (mlir::Value value : op.getWords()) words.push_back(handle_of(value));
  }
  return words;
}

void rearm(Handle handoffs, const std::string& region, Handle index, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  ir::RearmOp::create(trace.builder, locate(trace, at), use(trace, handoffs, at), region,
                      use(trace, index, at));
}

}  // namespace baton::dsl::detail
