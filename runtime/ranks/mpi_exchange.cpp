#include "runtime/ranks/mpi_exchange.h"

#include <climits>
#include <exception>
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

/// While it lives, errors on the program's communicator are returned.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
    check(MPI_Comm_get_errhandler(comm, &before_), "tell how it reports errors");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~ReturnedErrors() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }
  ReturnedErrors(const ReturnedErrors&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_;
};

}  // namespace

MpiExchange::MpiExchange(MPI_Comm ranks) : exceptions_(std::uncaught_exceptions()) {
  const ReturnedErrors returned(ranks);  // the duplicate inherits that
  check(MPI_Comm_rank(ranks, &rank_), "tell the rank");
  check(MPI_Comm_size(ranks, &ranks_), "count the ranks");
  check(MPI_Comm_dup(ranks, &comm_), "duplicate the communicator");  // last: nothing is left behind
}

MpiExchange::~MpiExchange() {
  if (std::uncaught_exceptions() == exceptions_) MPI_Comm_free(&comm_);
}

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
