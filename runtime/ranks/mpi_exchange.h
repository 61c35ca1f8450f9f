// Ranks that MPI has started. A library of its own, baton_mpi: nothing else of Baton needs MPI.
#pragma once

#include <mpi.h>

#include "runtime/ranks/exchange.h"

namespace baton {

/// MPI must be initialized before it is made and finalized after it has gone. A peer that dies ends
/// the whole job: mpirun sees to that.
class MpiExchange : public Exchange {
 public:
  /// Collective over `ranks`. It talks through a duplicate, so that no message of the program gets
  /// between, and MPI's errors on it are thrown as Error (environment) and abort nothing.
  explicit MpiExchange(MPI_Comm ranks);
  /// Collective; while an exception ends a rank it waits for no peer, and leaves the duplicate to
  /// MPI_Finalize or MPI_Abort.
  ~MpiExchange() override;
  MpiExchange(const MpiExchange&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  /// All ranks together give less than 2 GiB, else each of them throws Error (user).
  std::vector<Bytes> all_gather(ByteView own) override;

 private:
  const int exceptions_;  ///< under way when it was made
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 0;
};

}  // namespace baton
