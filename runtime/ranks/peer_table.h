// The peer buffers of all ranks where each rank is in a process of its own, through IPC handles.
#pragma once

#include <vector>

#include "runtime/device/device.h"
#include "runtime/object/code_object.h"
#include "runtime/ranks/exchange.h"

namespace baton {

/// What this process brings to the table. `buffer` and `table`, of kRanks addresses, are in memory
/// of `device`.
struct OwnRank {
  Device& device;
  int rank;
  DeviceAddress buffer;
  DeviceAddress table;
  const CodeObject& object;
};

/// While it lives, this process has the buffers of its peers open. No rank may free its own buffer
/// before all peers have closed it.
class PeerTable {
 public:
  /// Collective: exports the own buffer, imports the peers' and writes where they are to the table.
  /// When a step of it fails on any rank, every rank throws the same Error, which names the rank,
  /// and nothing is open any more on any of them. So it is for ranks that are not kRanks, or that
  /// have not all the same code object.
  PeerTable(Exchange& exchange, const OwnRank& own);
  /// Closes what is open. Tells nobody.
  ~PeerTable();
  PeerTable(const PeerTable&) = delete;

  /// Closes what is open: no kernel of this rank may still run. Throws Error.
  void close();

 private:
  void close_quietly() noexcept;

  Device& device_;
  std::vector<DeviceAddress> imported_;
};

}  // namespace baton
