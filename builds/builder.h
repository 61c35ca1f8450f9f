// The whole path of a key, in one room: trace, check, lower, generate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "runtime/key/build_key.h"

namespace baton::builds {

/// Where to stop on the one path. The order is the order of the work.
enum class Emit : uint8_t {
  baton,        ///< the trace, as text
  mlir,         ///< after the passes, as text
  llvm,         ///< LLVM IR before optimisation, as text
  assembly,     ///< text
  object,       ///< relocatable ELF
  code_object,  ///< linked ELF with its record
};

struct BuildTimes {
  double trace_ms = 0;
  double passes_ms = 0;
  PhaseTimes codegen;
};

/// Only the product that was asked for is filled.
struct Build {
  std::string text;                  ///< baton, mlir, llvm, assembly
  Bytes object;                      ///< object
  CodeObject code_object;            ///< code_object
  std::vector<std::string> remarks;  ///< of the checks and of LLVM, one line each
  BuildTimes times;
};

/// A key whose kernel has been traced, and nothing more.
class TracedBuild {
 public:
  /// Throws Error.
  explicit TracedBuild(const BuildKey& key);
  TracedBuild(TracedBuild&&) noexcept;
  ~TracedBuild();

  /// The traced module in the baton dialect, with its source locations.
  std::string module_text() const;
  /// The rest of the way, once. Throws Error.
  Build finish(Emit until = Emit::code_object, Backend backend = Backend::lld);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Compiles `key` for its chip. The same key and backend give the same product, from any thread and
/// process. Throws Error, before any work when the backend does not serve the chip; nothing is
/// written anywhere.
Build build(const BuildKey& key, Emit until = Emit::code_object, Backend backend = Backend::lld);

}  // namespace baton::builds
