#include "passes/lower/poll_loop.h"

#include <cstddef>

namespace baton::ir {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::Value;

PollLoop::PollLoop(HandoffMemory& memory, Launch& launch, llvm::ArrayRef<PollSpec> specs,
                   Location loc)
    : memory_(memory),
      b(memory.b),
      launch_(launch),
      specs_(specs),
      loc_(memory.named("poll", specs.front().region, loc)) {}

/// `value` in a vector register. Lanes that load one address need not see one value while it is
/// written, but LLVM takes such a load for uniform, and would leave a loop as soon as any lane
/// sees what it waits for: a value that it cannot know to be uniform keeps the comparison lane by
/// lane.
Value PollLoop::laneValue(Value value) {
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(b, loc_, value.getType(), value, "", "=v,0",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None, dialect, mlir::ArrayAttr())
      .getResult(0);
}

llvm::SmallVector<PollLoop::Loaded> PollLoop::loadBatch() {
  RegionOp first = specs_.front().region;
  const bool tagged = first.getProtocol() == Protocol::tagged;
  llvm::SmallVector<Value> values;
  for (auto [spec, offset] : llvm::zip(specs_, offsets_)) {
    const int64_t words = (tagged ? 2 : 1) * spec.count;
    mlir::Type type = b.getI32Type();
    if (words > 1) type = mlir::VectorType::get(words, type);
    RegionOp region = spec.region;
    values.push_back(LoadOp::create(b, memory_.named("poll", region, loc_), type,
                                    memory_.bufferOfPoll(launch_, region), offset,
                                    scopeOf(region.getSpace()), /*streaming=*/false));
  }
  llvm::SmallVector<Loaded> batch;
  const auto wrong = tagged ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq;
  for (auto [spec, value] : llvm::zip(specs_, values)) {
    Location loc = value.getLoc();
    for (int64_t i = 0; i < spec.count; ++i) {
      Value word = value, seen = value;
      if (tagged) {
        word = mlir::vector::ExtractOp::create(b, loc, value, 2 * i);
        seen = mlir::vector::ExtractOp::create(b, loc, value, 2 * i + 1);
      }
      Value missing = arith::CmpIOp::create(b, loc, wrong, seen, expected_);
      batch.push_back({word, seen, missing, &spec, i, loc});
    }
  }
  return batch;
}

PollLoop::Missing PollLoop::firstMissing(llvm::ArrayRef<Loaded> batch) {
  Missing first;
  for (const Loaded& loaded : llvm::reverse(batch)) {
    RegionOp region = loaded.spec->region;
    Value id = memory_.i32(loaded.loc, region_id(region.getSymName().str()));
    Value index = memory_.add(loaded.loc, loaded.spec->index, loaded.word_of_spec);
    if (!first.any) {
      first = {loaded.missing, id, index, loaded.seen};
      continue;
    }
    const auto choose = [&](Value value, Value otherwise) -> Value {
      return arith::SelectOp::create(b, loaded.loc, loaded.missing, value, otherwise);
    };
    first.any = arith::OrIOp::create(b, loaded.loc, loaded.missing, first.any);
    first.region = choose(id, first.region);
    first.index = choose(index, first.index);
    first.seen = choose(loaded.seen, first.seen);
  }
  return first;
}

Value PollLoop::clock() {
  return LLVM::CallIntrinsicOp::create(b, loc_, b.getI64Type(),
                                       b.getStringAttr("llvm.amdgcn.s.memrealtime"),
                                       mlir::ValueRange())
      .getResult(0);
}

/// The lanes that still miss a word race for the workgroup's record: the first of the step wins it.
void PollLoop::report(const Missing& missing) {
  auto gave_up = scf::IfOp::create(b, loc_, missing.any, /*withElseRegion=*/false);
  mlir::OpBuilder::InsertionGuard outside(b);
  b.setInsertionPointToStart(gave_up.thenBlock());
  auto module = gave_up->getParentOfType<mlir::ModuleOp>();
  const int64_t grid = module->getAttrOfType<mlir::IntegerAttr>(kGridAttr).getInt();
  Value cta = CtaIdOp::create(b, loc_, b.getI32Type(), static_cast<uint32_t>(grid));
  Value byte = arith::MulIOp::create(b, loc_, cta, memory_.i32(loc_, sizeof(DiagRecord)));
  const auto field = [&](Value base, LLVM::GEPArg offset) -> Value {
    return LLVM::GEPOp::create(b, loc_, base.getType(), b.getI8Type(), base,
                               llvm::ArrayRef<LLVM::GEPArg>{offset});
  };
  Value record = field(launch_.diag, byte);
  Value one = memory_.i32(loc_, 1), zero = memory_.i32(loc_, 0);
  auto taken =
      LLVM::AtomicCmpXchgOp::create(b, loc_, record, zero, one, LLVM::AtomicOrdering::monotonic,
                                    LLVM::AtomicOrdering::monotonic, "agent");
  Value won = LLVM::ExtractValueOp::create(b, loc_, taken, 1);
  auto first = scf::IfOp::create(b, loc_, won, /*withElseRegion=*/false);
  b.setInsertionPointToStart(first.thenBlock());
  Value low_clock = arith::TruncIOp::create(b, loc_, b.getI32Type(), clock());
  const std::pair<size_t, Value> fields[] = {
      {offsetof(DiagRecord, region), missing.region},
      {offsetof(DiagRecord, index), missing.index},
      {offsetof(DiagRecord, expected_tag), launch_.tag},
      {offsetof(DiagRecord, seen_tag), missing.seen},
      {offsetof(DiagRecord, workgroup), cta},
      {offsetof(DiagRecord, clock), low_clock},
      {offsetof(DiagRecord, zero), zero},
  };
  for (auto [offset, value] : fields) {
    LLVM::StoreOp::create(b, loc_, value, field(record, static_cast<int32_t>(offset)), 4);
  }
}

/// The loop is left by the whole wave at once: a ballot keeps its branch scalar.
llvm::SmallVector<Value> PollLoop::emit() {
  for (const PollSpec& spec : specs_) {
    offsets_.push_back(memory_.offsetOf(loc_, spec.region, spec.index));
  }
  RegionOp region = specs_.front().region;
  const bool tagged = region.getProtocol() == Protocol::tagged;
  expected_ = laneValue(tagged ? launch_.tag : memory_.i32(loc_, static_cast<int32_t>(kSentinel)));
  const bool bounded = launch_.diag != nullptr;
  Value end;
  if (bounded) end = arith::AddIOp::create(b, loc_, clock(), memory_.i64(loc_, kDiagWaitTicks));

  size_t words = 0;
  for (const PollSpec& spec : specs_) words += static_cast<size_t>(spec.count);
  llvm::SmallVector<mlir::Type> types(words, b.getI32Type());
  if (bounded) types.append({b.getI1Type(), b.getI32Type(), b.getI32Type(), b.getI32Type()});
  llvm::SmallVector<Location> locations(types.size(), loc_);
  auto loop = scf::WhileOp::create(b, loc_, types, mlir::ValueRange{});
  b.createBlock(&loop.getBefore());
  llvm::SmallVector<Loaded> batch = loadBatch();
  Value missing = batch.front().missing;
  for (const Loaded& loaded : llvm::drop_begin(batch)) {
    missing = arith::OrIOp::create(b, loaded.loc, missing, loaded.missing);
  }
  memory_.pin(loc_);
  Value lanes = mlir::ROCDL::BallotOp::create(b, loc_, b.getI64Type(), missing);
  Value again =
      arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ne, lanes, memory_.i64(loc_, 0));
  llvm::SmallVector<Value> results;
  for (const Loaded& loaded : batch) results.push_back(loaded.word);
  if (bounded) {
    Value early = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::slt, clock(), end);
    again = arith::AndIOp::create(b, loc_, again, early);
    const Missing first = firstMissing(batch);
    results.append({first.any, first.region, first.index, first.seen});
  }
  scf::ConditionOp::create(b, loc_, again, results);
  b.createBlock(&loop.getAfter(), {}, types, locations);
  mlir::ROCDL::SSleepOp::create(b, loc_, b.getI32IntegerAttr(1));
  scf::YieldOp::create(b, loc_);
  b.setInsertionPointAfter(loop);
  mlir::ValueRange left = loop.getResults();
  if (bounded) report({left[words], left[words + 1], left[words + 2], left[words + 3]});
  return llvm::SmallVector<Value>(left.take_front(words));
}

}  // namespace baton::ir
