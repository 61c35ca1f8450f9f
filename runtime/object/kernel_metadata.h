// The AMDGPU metadata note: what the compiler says about each kernel, as MessagePack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"

namespace baton {

struct KernelArgument {
  std::string name;        ///< empty where the compiler kept none
  uint32_t offset;         ///< in the kernarg segment
  uint32_t size;           ///< bytes, 0 for what takes no room
  std::string value_kind;  ///< "global_buffer", "by_value", "hidden_block_count_x", ...
};

struct KernelMetadata {
  std::string name;
  std::string symbol;  ///< of the kernel descriptor: NAME.kd
  std::vector<KernelArgument> arguments;
  uint32_t kernarg_bytes;
  uint32_t kernarg_align;
  uint32_t lds_bytes;      ///< fixed, a workgroup
  uint32_t scratch_bytes;  ///< fixed, a lane
  uint32_t vgprs;          ///< unified registers a lane: VGPRs and AGPRs together
  uint32_t agprs;          ///< those of them that are AGPRs
  uint32_t sgprs;
  uint32_t vgpr_spills;
  uint32_t sgpr_spills;
  uint32_t wave_lanes;
  uint32_t max_workgroup_lanes;
  bool uses_dynamic_stack;
};

struct CodeObjectMetadata {
  int major;           ///< amdhsa.version
  int minor;           ///< amdhsa.version: 1 in code object version 4, 2 in 5 and 6
  std::string target;  ///< "amdgcn-amd-amdhsa--gfx90a", with feature suffixes; may be empty
  std::vector<KernelMetadata> kernels;
};

/// Parses the note's descriptor, untrusted bytes. Throws Error (user) naming the kernel and field,
/// or the byte.
CodeObjectMetadata parse_metadata(ByteView message_pack);

}  // namespace baton
