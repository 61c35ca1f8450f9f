#include "runtime/ranks/mpi_exchange.h"

#include <climits>
#include <numeric>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton {
namespace {

void check(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorKind::environment, fmt::format("MPI cannot {}: {}", doing,
                                                  printable({text, static_cast<size_t>(length)})));
}

}  // namespace

MpiExchange::MpiExchange(MPI_Comm ranks) {
  check(MPI_Comm_dup(ranks, &comm_), "duplicate the communicator");
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "set how it reports errors");
  check(MPI_Comm_rank(comm_, &rank_), "tell the rank");
  check(MPI_Comm_size(comm_, &ranks_), "count the ranks");
}

MpiExchange::~MpiExchange() { MPI_Comm_free(&comm_); }

std::vector<Bytes> MpiExchange::all_gather(ByteView own) {
  const uint64_t own_bytes = own.size();
  std::vector<uint64_t> sizes(static_cast<size_t>(ranks_));
  check(MPI_Allgather(&own_bytes, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm_),
        "exchange sizes");
  const uint64_t total = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  if (total > INT_MAX) {
    throw Error(ErrorKind::user,
                fmt::format("{} bytes of all ranks: MPI exchanges at most {}", total, INT_MAX),
                "give less at once");
  }
  const std::vector<int> counts(sizes.begin(), sizes.end());
  std::vector<int> starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  Bytes together(total);
  check(MPI_Allgatherv(own.data(), static_cast<int>(own_bytes), MPI_BYTE, together.data(),
                       counts.data(), starts.data(), MPI_BYTE, comm_),
        "exchange bytes");
  std::vector<Bytes> all;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    const auto start = together.begin() + starts[rank];
    all.emplace_back(start, start + counts[rank]);
  }
  return all;
}

}  // namespace baton
