// A kernel's name, launch shape, ABI and stages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dsl/memory/memory.h"

namespace baton::dsl {

/// What the kernel does to the memory behind an argument.
enum class Access : uint8_t { read, write, read_write };

struct LaunchShape {
  int workgroup_lanes;
  int grid_workgroups;
};

namespace detail {

void open_kernel(const std::string& name, LaunchShape shape, const SourceLocation& at);
Handle pointer_argument(const std::string& name, Scalar element, const std::vector<int64_t>& shape,
                        Access access, const SourceLocation& at);
Handle i32_argument(const std::string& name, const SourceLocation& at);
void ask_timeline(Handle stamps, const SourceLocation& at);
void begin_stage(const std::string& name, const SourceLocation& at);
void end_stage();

}  // namespace detail

/// Opens the kernel of the current trace. Each call below names the next argument: their order is
/// the ABI, which travels with the code object and is checked at launch.
class Kernel {
 public:
  Kernel(const std::string& name, LaunchShape shape,
         SourceLocation at = SourceLocation::current()) {
    detail::open_kernel(name, shape, at);
  }

  /// A dense tensor. An empty shape: the extents are known at launch only, nothing is
  /// range-checked.
  template <class T>
  Buffer<T> buffer(const std::string& name, const std::vector<int64_t>& shape,
                   Access access = Access::read, SourceLocation at = SourceLocation::current()) {
    Handle address = detail::pointer_argument(name, T::type().scalar, shape, access, at);
    int64_t bytes = T::type().bytes();
    for (int64_t size : shape) bytes *= size;
    return Buffer<T>(detail::make_buffer(address, shape.empty() ? kWholeSpace : bytes, at));
  }

  /// Memory that may be larger than a buffer spans.
  template <class T>
  Pool<T> pool(const std::string& name, Access access = Access::read,
               SourceLocation at = SourceLocation::current()) {
    Handle pointer = detail::pointer_argument(name, T::type().scalar, {}, access, at);
    return Pool<T>(I64(detail::address_of(pointer, at)));
  }

  /// A table of I32 or I64 that nobody writes during the launch.
  template <class T>
  Table<T> table(const std::string& name, int64_t elements,
                 SourceLocation at = SourceLocation::current()) {
    return Table<T>(detail::pointer_argument(name, T::type().scalar, {elements}, Access::read, at));
  }
  /// The same, of an extent that is known at launch only.
  template <class T>
  Table<T> table(const std::string& name, SourceLocation at = SourceLocation::current()) {
    return Table<T>(detail::pointer_argument(name, T::type().scalar, {}, Access::read, at));
  }

  /// Memory that only the hand-offs (or a diagnostics build) use.
  Handle memory(const std::string& name, SourceLocation at = SourceLocation::current()) {
    return detail::pointer_argument(name, Scalar::i32, {}, Access::read_write, at);
  }

  I32 i32(const std::string& name, SourceLocation at = SourceLocation::current()) {
    return I32(detail::i32_argument(name, at));
  }
};

/// Names a piece of the kernel: stage("reduce", [&] { ... }). Values of a stage may be used after
/// it.
template <class Body>
void stage(const std::string& name, Body&& body, SourceLocation at = SourceLocation::current()) {
  detail::begin_stage(name, at);
  std::forward<Body>(body)();
  detail::end_stage();
}

/// Asks for a time stamp at every stage boundary; `stamps` holds an i64 array
/// [workgroups, 2 x stages], which the record's `timeline` describes. At the kernel's head.
inline void timeline(Handle stamps, SourceLocation at = SourceLocation::current()) {
  detail::ask_timeline(stamps, at);
}

/// What follows, to the end of the branch or loop that this stands in, reads the kernel's arguments
/// anew, rather than to keep them in SGPRs (2 an address) from the kernel's start on. Outside
/// stages.
void reread_arguments(SourceLocation at = SourceLocation::current());

/// The target that the open trace is for.
const Target& current_target();

}  // namespace baton::dsl
