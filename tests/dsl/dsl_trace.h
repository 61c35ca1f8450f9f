// Tracing small kernels in tests, without MLIR in the tests' own files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dsl/dsl.h"
#include "runtime/base/error.h"

namespace baton {
struct CodeObject;
}

namespace baton::tests {

using KernelBody = std::function<void(dsl::Kernel&)>;

inline constexpr const char* kChips[] = {"gfx950", "gfx942", "gfx90a"};

/// The verified module that `body` traces to, as text: a kernel "k" of 512 lanes and 4 workgroups.
std::string traced(const KernelBody& body, const std::string& chip = "gfx950");

/// The same behind every pass: in the llvm and rocdl dialects.
std::string lowered(const KernelBody& body, const std::string& chip = "gfx950");

/// The optimised kernel's assembly.
std::string assembly(const KernelBody& body, const std::string& chip = "gfx950");

/// The kernel's code object and its record.
CodeObject code_object(const KernelBody& body, const std::string& chip);

/// Compiles the kernel for every chip; throws what codegen refuses.
void compile_everywhere(const KernelBody& body);

/// The Error that `body` is refused with, in a trace of its own.
Error refused(const KernelBody& body);

/// A body with a wrong statement; it sets `line` to that statement's, on the line above it.
using WrongBody = std::function<void(dsl::Kernel& kernel, int& line)>;

/// Checks the whole line that `body` is refused with, "FILE:LINE: message", and the hint. The file
/// is the caller's.
void expect_misuse(const std::string& message, const std::string& hint, const WrongBody& body,
                   dsl::SourceLocation at = dsl::SourceLocation::current());

/// The bits of a value that the trace folded to a constant; fails the test for any other.
uint64_t constant_bits(dsl::Handle value);

/// How often `part` stands in `text`.
int count_of(const std::string& text, const std::string& part);

/// Whether the parts stand in the text in this order.
bool has_in_order(const std::string& text, const std::vector<std::string>& parts);

}  // namespace baton::tests
