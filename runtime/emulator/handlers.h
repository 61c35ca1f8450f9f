// The table of all instructions for the host's vector level.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/emulator/instruction.h"

namespace baton::emulator {

/// Levels of x86-64 that the lane loops are compiled for.
enum class HostLevel : uint8_t { baseline, avx2, avx512 };

std::string_view name(HostLevel level);

/// Whether this CPU runs the level, and the library was compiled for it.
bool runs_here(HostLevel level);

/// The highest level that runs here.
HostLevel best_host_level();

class HandlerTable {
 public:
  /// The table of a level; built on first use, lives for ever.
  static const HandlerTable& of(HostLevel level);

  /// The row of a mnemonic without its encoding's suffix, or null.
  const OpRow* find(std::string_view name) const;
  /// All rows, in the families' order.
  const std::vector<const OpRow*>& rows() const { return rows_; }

 private:
  explicit HandlerTable(HostLevel level);

  std::vector<const OpRow*> rows_;
  std::unordered_map<std::string_view, const OpRow*> by_name_;
};

}  // namespace baton::emulator
