// How the ranks of a launch agree when each lives in a process of its own. A server gives an
// Exchange over the process group that it has; mpi_exchange.h is one over MPI.
#pragma once

#include <functional>
#include <vector>

#include "runtime/base/bytes.h"

namespace baton {

/// Every rank makes the same calls in the same order, one at a time.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual int rank() const = 0;  ///< 0 .. ranks() - 1
  virtual int ranks() const = 0;

  /// What each rank gave, by rank; sizes may differ and be 0. Returns once all ranks have called
  /// it. When a peer is gone it must not wait for ever: it throws Error (environment), or whoever
  /// started the processes ends this one too.
  virtual std::vector<Bytes> all_gather(ByteView own) = 0;
};

/// Runs `work` on every rank and returns what each made, by rank. When it threw on any of them,
/// every rank throws the same Error instead: the reason, kind and hint of the first one that
/// failed, with "rank 3: " before it. Collective, like all_gather(), also where `work` throws.
std::vector<Bytes> gather_in_agreement(Exchange& exchange, const std::function<Bytes()>& work);

/// The same for work that makes nothing: it succeeds on all ranks or on none.
void in_agreement(Exchange& exchange, const std::function<void()>& work);

}  // namespace baton
