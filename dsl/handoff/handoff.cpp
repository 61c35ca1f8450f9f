#include "dsl/handoff/handoff.h"

#include "dsl/handoff/poll_batches.h"
#include "mlir/IR/Matchers.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::dsl::detail {

Handle open_handoffs(const OpenedMemory& memory, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  if (trace.builder.getInsertionBlock() != &trace.kernel.getBody().front()) {
    misuse(at, "hand-offs are opened inside a stage, branch or loop",
           "open them at the kernel's head, before the first stage");
  }
  if ((memory.peers.get() == nullptr) != (memory.rank.get() == nullptr)) {
    misuse(at, "hand-offs take peers and rank together");
  }
  llvm::APInt slot;
  if (mlir::matchPattern(use(trace, memory.slot, at), mlir::m_ConstantInt(&slot)) &&
      slot.uge(kTagSlots)) {
    misuse(at, "hand-offs of slot " + std::to_string(slot.getSExtValue()),
           "a slot is 0 .. 255: layers of one step do not share a tag");
  }
  if (!trace.kernel.getOps<ir::HandoffsOp>().empty()) {
    misuse(at, "a kernel opens its hand-offs once, this is the second time",
           "declare every region on the first");
  }
  const auto given = [&](Handle handle) {
    return handle.get() ? use(trace, handle, at) : mlir::Value();
  };
  return handle_of(ir::HandoffsOp::create(
      trace.builder, locate(trace, at), ir::HandoffsType::get(trace.context.get()),
      use(trace, memory.scratch, at), use(trace, memory.epoch, at), use(trace, memory.slot, at),
      given(memory.peers), given(memory.rank), given(memory.diag)));
}

void declare_region(const std::string& name, RegionKind kind, Scalar element,
                    const std::vector<int64_t>& shape, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  check_name("a region", name, at);
  if (trace.module->lookupSymbol(name)) misuse(at, "the name '" + name + "' is taken");
  mlir::OpBuilder::InsertionGuard guard(trace.builder);
  trace.builder.setInsertionPoint(trace.kernel);
  if (shape.empty()) misuse(at, "region '" + name + "' has no shape");
  for (int64_t size : shape) {
    if (size < 1) misuse(at, "region '" + name + "' has size " + std::to_string(size));
  }
  ir::RegionOp::create(trace.builder, locate(trace, at), name,
                       kind.peer ? ir::Space::peer : ir::Space::scratch,
                       kind.plain      ? ir::Protocol::plain
                       : kind.sentinel ? ir::Protocol::sentinel
                                       : ir::Protocol::tagged,
                       shape, type_of(trace, {element}), mlir::IntegerAttr());
}

void put(Handle handoffs, const std::string& region, Handle rank, Handle index,
         std::span<const Handle> words, bool raw, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  if (words.empty() || words.size() > ir::PutOp::kMaxWords) {
    misuse(at, "a put of " + std::to_string(words.size()) + " words", "one store holds 1 or 2");
  }
  llvm::SmallVector<mlir::Value> values;
  for (Handle word : words) values.push_back(use(trace, word, at));
  mlir::Value to = rank.get() ? use(trace, rank, at) : mlir::Value();
  ir::PutOp::create(trace.builder, locate(trace, at), use(trace, handoffs, at), region,
                    use(trace, index, at), values, to, raw);
}

Handle open_rows(Handle handoffs, const std::string& region, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(ir::RowsOp::create(trace.builder, locate(trace, at),
                                      ir::BufferType::get(trace.context.get()),
                                      use(trace, handoffs, at), region));
}

std::vector<Handle> poll(Handle handoffs, std::span<const SpecHandle> specs, TypeId word,
                         bool behind_loads, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return poll_in_batches(trace, specs, at, [&](auto batch, auto regions, auto& indices) {
    llvm::SmallVector<int32_t> counts;
    llvm::SmallVector<mlir::Type> types;
    for (const SpecHandle& spec : batch) {
      if (spec.words != 1 && spec.words != 2) {
        misuse(at, "a poll spec of " + std::to_string(spec.words) + " words", "1 or 2");
      }
      counts.push_back(spec.words);
      types.append(static_cast<size_t>(spec.words), type_of(trace, word));
    }
    return ir::PollOp::create(trace.builder, locate(trace, at), types, use(trace, handoffs, at),
                              regions, indices, trace.builder.getDenseI32ArrayAttr(counts),
                              behind_loads);
  });
}

void publish(Handle handoffs, const std::string& region, Handle index, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  ir::PublishOp::create(trace.builder, locate(trace, at), use(trace, handoffs, at), region,
                        use(trace, index, at));
}

}  // namespace baton::dsl::detail
