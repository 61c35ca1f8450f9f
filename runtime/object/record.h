// The record beside a code object: all that a loader, a runner or a reviewer needs to know of it
// without reading its machine code. Written as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/object/occupancy.h"

namespace baton {

/// The layout of the JSON. Rises when a field changes its meaning, appears or goes.
inline constexpr uint32_t kRecordFormat = 2;

enum class ArgumentKind : uint8_t { buffer, i32, i64, f32 };
enum class ArgumentAccess : uint8_t { read, write, read_write };
enum class RegionSpace : uint8_t { scratch, peer };
enum class RegionProtocol : uint8_t { tagged, sentinel, plain };

std::string_view name(ArgumentKind kind);
std::string_view name(ArgumentAccess access);
std::string_view name(RegionSpace space);
std::string_view name(RegionProtocol protocol);

struct RecordArgument {
  std::string name;
  ArgumentKind kind = ArgumentKind::buffer;
  ArgumentAccess access = ArgumentAccess::read;  ///< of a buffer's contents; read for plain values
  std::string dtype;           ///< "bf16", "f32", "i32", ...: of the elements, or of the value
  std::vector<int64_t> shape;  ///< in elements; empty for a value, or where strides decide
  uint32_t offset = 0;         ///< bytes into the kernarg segment
  uint32_t size = 0;           ///< bytes there: 8 for a buffer

  bool operator==(const RecordArgument&) const = default;
};

/// Where an argument of 4 or 8 bytes lies in the kernarg segment, behind one that ends at `end`.
constexpr uint32_t argument_offset(uint32_t end, uint32_t bytes) {
  return (end + bytes - 1) / bytes * bytes;
}

struct RecordResources {
  uint32_t vgprs = 0;  ///< unified registers a lane: VGPRs and AGPRs together
  uint32_t agprs = 0;  ///< those of them that are AGPRs
  uint32_t sgprs = 0;
  uint32_t lds_bytes = 0;      ///< a workgroup
  uint32_t scratch_bytes = 0;  ///< a lane
  uint32_t vgpr_spills = 0;
  uint32_t sgpr_spills = 0;
  uint32_t kernarg_bytes = 0;
  uint32_t workgroup_lanes = 0;
  uint32_t grid_workgroups = 0;

  bool operator==(const RecordResources&) const = default;
};

struct RecordRegion {
  std::string name;
  RegionSpace space = RegionSpace::scratch;
  RegionProtocol protocol = RegionProtocol::tagged;
  std::string dtype;
  std::vector<int64_t> shape;  ///< logical, in elements
  uint64_t offset = 0;  ///< bytes into the scratch buffer, or into one half of the peer buffer
  uint64_t bytes = 0;

  bool operator==(const RecordRegion&) const = default;
};

struct RecordTotals {
  uint64_t scratch_bytes = 0;    ///< of the scratch buffer
  uint64_t peer_half_bytes = 0;  ///< of one half of the peer buffer

  bool operator==(const RecordTotals&) const = default;
};

struct Record {
  std::string baton_version;
  std::string llvm_version;
  std::string key;     ///< canonical text
  std::string chip;    ///< "gfx950"
  std::string kernel;  ///< name in the code object; its descriptor is the symbol NAME.kd
  std::string sha256;  ///< of the code object's bytes, in hex
  RecordResources resources;
  Occupancy occupancy;
  std::vector<RecordArgument> arguments;  ///< in ABI order
  std::vector<RecordRegion> regions;
  std::vector<std::string> stages;  ///< in program order
  /// The stages that a timeline build stamps, a pair of stamps each; empty for other builds.
  std::vector<std::string> timeline;
  bool bounded_waits = false;  ///< a diagnostics build: waits give up, and leave records in `diag`
  RecordTotals totals;

  /// Pretty JSON with a final newline: fields always in the same order, so equal records are equal
  /// text.
  std::string to_json() const;

  /// Parses untrusted text. Throws Error (user), one line that starts with `source`: broken JSON,
  /// an unknown format, a missing, unknown or ill-typed field by its path, an argument outside the
  /// kernarg segment, a region outside its buffer or of another size than its shape takes.
  static Record from_json(std::string_view text, std::string_view source);

  bool operator==(const Record&) const = default;
};

}  // namespace baton
