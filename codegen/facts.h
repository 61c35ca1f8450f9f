// What the traced module says of its kernel beside the code: its "baton.*" attributes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace baton::codegen {

struct ArgumentFacts {
  std::string name;
  std::string kind;            ///< "buffer", "i32", "i64", "f32"
  std::string access;          ///< of a buffer: "read", "write", "read_write"; else empty
  std::string dtype;           ///< of a buffer's element: "bf16"; else empty
  std::vector<int64_t> shape;  ///< of a buffer, in elements; else empty
};

struct RegionFacts {
  std::string name;
  std::string space;     ///< "scratch", "peer"
  std::string protocol;  ///< "tagged", "sentinel", ...
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t offset = 0;  ///< bytes from the space's base
  int64_t bytes = 0;
};

struct KernelFacts {
  std::string symbol;
  std::string chip;
  std::string key;  ///< empty for a module that no key made
  std::vector<std::string> stages;
  std::vector<ArgumentFacts> arguments;  ///< in ABI order
  std::vector<RegionFacts> regions;
  int64_t scratch_bytes = 0;
  int64_t peer_half_bytes = 0;
  int64_t grid_workgroups = 0;  ///< 0: the module does not say
  int64_t workgroup_lanes = 0;
};

/// Reads the module's attributes. Throws Error (user) that names an attribute which is missing or
/// of the wrong type, and when the module does not hold exactly one kernel.
KernelFacts read_facts(mlir::ModuleOp module);

}  // namespace baton::codegen
