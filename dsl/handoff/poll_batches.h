// A poll's list of specs, cut into the batches that one poll op holds. Only the .cpp files of
// dsl/handoff include this.
#pragma once

#include "dsl/handoff/handoff.h"
#include "dsl/trace/open_trace.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::dsl::detail {

/// Calls `make(batch, regions, indices)` for each batch: it creates the poll op of the specs
/// `batch`, whose regions and word indices are given. Returns all ops' words, in order.
template <class Make>
std::vector<Handle> poll_in_batches(OpenTrace& trace, std::span<const SpecHandle> specs,
                                    const SourceLocation& at, const Make& make) {
  constexpr size_t kMost = ir::PollOp::kMaxSpecs;
  std::vector<Handle> words;
  for (size_t first = 0; first < specs.size(); first += kMost) {
    const auto batch = specs.subspan(first).first(std::min(specs.size() - first, kMost));
    llvm::SmallVector<mlir::Attribute> regions;
    llvm::SmallVector<mlir::Value> indices;
    for (const SpecHandle& spec : batch) {
      regions.push_back(mlir::FlatSymbolRefAttr::get(trace.builder.getContext(), spec.region));
      indices.push_back(use(trace, spec.index, at));
    }
    auto op = make(batch, trace.builder.getArrayAttr(regions), indices);
    for (mlir::Value value : op.getWords()) words.push_back(handle_of(value));
  }
  return words;
}

}  // namespace baton::dsl::detail
