// What `check_uninit` knows of a workgroup: which bits of its registers, its LDS and its private
// memory nobody has written. A set bit is undefined.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/emulator/instruction.h"

namespace baton::emulator {

struct Wave;
struct Workgroup;

/// Where undefined bits come from: an entry of UninitLog, 0 when nothing has moved them yet.
using Origin = uint32_t;

class WaveShadow {
 public:
  /// Registers behind the wave's own through which undefined bits pass: at most two data operands
  /// of 4 words.
  static constexpr uint32_t kSpareRows = 8;

  /// `vgprs`, `agprs`: rows of the wave's two files.
  WaveShadow(uint32_t vgprs, uint32_t agprs);

  /// Number of a register's row.
  uint32_t row(const Operand& o, int word = 0) const {
    return (o.kind == OperandKind::agpr ? vgprs_ : 0) + o.index + static_cast<uint32_t>(word);
  }
  uint32_t spare_row() const { return rows_; }
  uint32_t* bits(uint32_t row) { return &bits_[size_t{row} * kLanes]; }
  /// Lanes of the row with an undefined bit.
  uint64_t lanes(uint32_t row) const { return lanes_[row]; }
  Origin& origin(uint32_t row) { return origins_[row]; }
  /// After bits(row) was written.
  void refresh(uint32_t row);
  /// The lanes of the row have been written with a value that is wholly known.
  void define(uint32_t row, uint64_t lanes);

  std::array<uint32_t, kSgprs> sgpr;
  std::array<Origin, kSgprs> sgpr_origin{};
  bool scc = true;
  Origin scc_origin = 0;
  std::vector<uint32_t> scratch;  ///< private memory, in the layout of Wave::scratch

 private:
  uint32_t vgprs_, rows_;
  std::vector<uint32_t> bits_;
  std::vector<uint64_t> lanes_;
  std::vector<Origin> origins_;
};

struct GroupShadow {
  explicit GroupShadow(uint32_t lds_bytes);

  std::vector<uint8_t> lds;
  std::vector<Origin> lds_origin;  ///< of each word
};

}  // namespace baton::emulator
