#include "dsl/memory/memory.h"

#include "dsl/control/control.h"
#include "dsl/lanes/lanes.h"
#include "dsl/trace/open_trace.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/dialect/BatonDialect.h"

namespace baton::dsl {
namespace detail {
namespace {

/// The words that carry a value of `type`: i16, i32, vector<2xi32> or vector<4xi32>.
mlir::Type words_of(OpenTrace& trace, TypeId type, const SourceLocation& at) {
  const int bytes = type.bytes();
  if (type.count == 1 && bytes == 2) return trace.builder.getI16Type();
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    misuse(at, "a " + type.name() + " is " + std::to_string(bytes) + " bytes wide",
           "loads and stores move one BF16, or 1, 2 or 4 words (4, 8 or 16 bytes)");
  }
  mlir::Type word = trace.builder.getI32Type();
  return bytes == 4 ? word : mlir::VectorType::get(bytes / 4, word);
}

/// The value as words_of(type).
mlir::Value to_words(OpenTrace& trace, TypeId type, Handle value, const SourceLocation& at) {
  if (type.count == 1 && type.bytes() == 2) {
    return trace.create<mlir::arith::BitcastOp>(locate(trace, at), trace.builder.getI16Type(),
                                                use(trace, value, at));
  }
  return use(trace, bitcast({Scalar::u32, type.bytes() / 4}, value, at), at);
}

}  // namespace

Handle make_buffer(Handle address, int64_t bytes, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  if (bytes < 1 || bytes > 0xFFFFFFFFLL) {
    misuse(at, "a buffer of " + std::to_string(bytes) + " bytes",
           "a buffer resource spans 1 .. 4294967295 bytes");
  }
  mlir::Value base = use(trace, address, at);
  if (base.getType().isInteger(64)) {
    base = use(trace, read_first_lane({Scalar::i64}, address, at), at);
  }
  return handle_of(ir::BufferOp::create(trace.builder, locate(trace, at),
                                        ir::BufferType::get(trace.context.get()), base,
                                        static_cast<uint64_t>(bytes)));
}

Handle address_of(Handle pointer, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(mlir::LLVM::PtrToIntOp::create(
      trace.builder, locate(trace, at), trace.builder.getI64Type(), use(trace, pointer, at)));
}

Handle load(TypeId type, Handle buffer, Handle byte_offset, LoadOptions options,
            const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  mlir::Value words = ir::LoadOp::create(
      trace.builder, locate(trace, at), words_of(trace, type, at), use(trace, buffer, at),
      use(trace, byte_offset, at), static_cast<ir::ScopeKind>(options.scope), options.streaming);
  return bitcast(type, handle_of(words), at);
}

void store(TypeId type, Handle value, Handle buffer, Handle byte_offset, Scope scope,
           const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  words_of(trace, type, at);
  ir::StoreOp::create(trace.builder, locate(trace, at), to_words(trace, type, value, at),
                      use(trace, buffer, at), use(trace, byte_offset, at),
                      static_cast<ir::ScopeKind>(scope));
}

Handle scalar_load(TypeId type, Handle address, Handle byte_offset, const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  return handle_of(ir::ScalarLoadOp::create(trace.builder, locate(trace, at), type_of(trace, type),
                                            use(trace, address, at), use(trace, byte_offset, at)));
}

Handle lds_load(TypeId type, const std::string& range, Handle byte_offset,
                const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  if (range.empty()) misuse(at, "an LdsArray is used that was never laid out");
  return handle_of(ir::LdsLoadOp::create(trace.builder, locate(trace, at), type_of(trace, type),
                                         range, use(trace, byte_offset, at)));
}

void lds_store(TypeId, Handle value, const std::string& range, Handle byte_offset,
               const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  if (range.empty()) misuse(at, "an LdsArray is used that was never laid out");
  ir::LdsStoreOp::create(trace.builder, locate(trace, at), use(trace, value, at), range,
                         use(trace, byte_offset, at));
}

void declare_lds(const std::string& range, int64_t offset, int64_t bytes,
                 const SourceLocation& at) {
  OpenTrace& trace = open_trace(at);
  check_name("an LDS array", range, at);
  if (trace.module->lookupSymbol(range)) misuse(at, "the name '" + range + "' is taken");
  mlir::OpBuilder::InsertionGuard guard(trace.builder);
  trace.builder.setInsertionPoint(trace.kernel);
  ir::LdsOp::create(trace.builder, locate(trace, at), range, static_cast<uint64_t>(offset),
                    static_cast<uint64_t>(bytes));
}

}  // namespace detail

LdsLayout::LdsLayout(SourceLocation at) {
  detail::OpenTrace& trace = detail::open_trace(at);
  if (trace.has_lds_layout) {
    detail::misuse(at, "a kernel has one LdsLayout, this is its second",
                   "hand the first one on, or lay out alternatives with one_of");
  }
  trace.has_lds_layout = true;
}

std::string LdsLayout::reserve(const std::string& name, int64_t bytes, const SourceLocation& at) {
  constexpr int64_t kAlignment = 16;
  if (bytes < 1) {
    detail::misuse(at, "LDS array '" + name + "' has " + std::to_string(bytes) + " bytes");
  }
  detail::declare_lds(name, next_, bytes, at);
  next_ = (next_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
  return name;
}

WorkgroupSum workgroup_exclusive_sum(In<I32> value, const LdsArray<I32>& wave_totals, int waves) {
  const I32 inclusive = wave_inclusive_sum(value);
  const I32 wave = wave_id(value.at);
  If(lane_id(value.at) == kWaveLanes - 1, [&] { wave_totals.store(wave, inclusive); });
  barrier(value.at);
  I32 before = inclusive - value;
  I32 total = wave_totals.load(0);
  for (int w = 0; w < waves; ++w) {
    const I32 of_wave = wave_totals.load(w);
    before = before + select(wave > w, of_wave, 0);
    if (w > 0) total = total + of_wave;
  }
  return {before, total};
}

}  // namespace baton::dsl
