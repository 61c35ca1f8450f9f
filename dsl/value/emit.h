// How the header-only half of the DSL reaches the trace. Kernel authors do not call these.
#pragma once

#include <span>
#include <vector>

#include "dsl/value/handle.h"

namespace baton::dsl::detail {

enum class Binary : uint8_t {
  add,
  sub,
  mul,
  div,
  rem,
  bit_and,
  bit_or,
  bit_xor,
  shl,
  shr,
  min,
  max
};
enum class Compare : uint8_t { eq, ne, lt, le, gt, ge };
enum class Unary : uint8_t { neg, bit_not, abs, exp2, rcp, rsq, popcount };

Handle constant_int(TypeId type, int64_t value, const SourceLocation& at);
Handle constant_float(float value, const SourceLocation& at);
Handle binary(Binary op, TypeId type, Handle a, Handle b, const SourceLocation& at);
Handle compare(Compare op, TypeId type, Handle a, Handle b, const SourceLocation& at);
Handle unary(Unary op, TypeId type, Handle a, const SourceLocation& at);
Handle fma(TypeId type, Handle a, Handle b, Handle c, const SourceLocation& at);
Handle select(Handle condition, Handle a, Handle b, const SourceLocation& at);
/// Number conversion; f32 to bf16 rounds to nearest even, f32 to integers truncates and saturates
/// not.
Handle convert(TypeId from, TypeId to, Handle a, const SourceLocation& at);
/// The same bits as another type of the same size.
Handle bitcast(TypeId to, Handle a, const SourceLocation& at);
Handle extract(Handle vector, int index, const SourceLocation& at);
Handle from_elements(TypeId type, std::span<const Handle> elements, const SourceLocation& at);

/// Storage of a Var, its reads and writes.
Handle make_variable(TypeId type, Handle initial, const SourceLocation& at);
Handle read_variable(TypeId type, Handle variable, const SourceLocation& at);
void write_variable(Handle variable, Handle value, const SourceLocation& at);

/// Throws the Error of a misuse at the author's line.
[[noreturn]] void misuse(const SourceLocation& at, const std::string& message,
                         const std::string& hint = {});

}  // namespace baton::dsl::detail
