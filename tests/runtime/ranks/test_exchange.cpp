// What ranks agree on when some of them fail.
#include <catch2/catch.hpp>

#include "tests/runtime/ranks/thread_exchange.h"

namespace baton::tests {
namespace {

TEST_CASE("every rank gets what each made, by rank") {
  const auto errors = run_ranks(5, [](Exchange& exchange) {
    for (size_t round = 1; round <= 50; ++round) {
      const auto own = static_cast<size_t>(exchange.rank());
      const std::vector<Bytes> all = gather_in_agreement(
          exchange, [&] { return Bytes(own * round, static_cast<uint8_t>(own)); });
      BATON_CHECK(all.size() == 5);
      for (size_t rank = 0; rank < 5; ++rank) {
        BATON_CHECK(all[rank] == Bytes(rank * round, static_cast<uint8_t>(rank)));
      }
    }
  });
  for (const auto& error : errors) CHECK_FALSE(error.has_value());
}

TEST_CASE("when ranks fail, all get the error of the first of them, and can go on") {
  std::atomic<int> went_on = 0;
  const auto errors = run_ranks(6, [&](Exchange& exchange) {
    try {
      in_agreement(exchange, [&] {
        if (exchange.rank() == 4) throw Error(ErrorKind::user, "later");
        if (exchange.rank() == 2) throw Error(ErrorKind::environment, "no room", "make some");
      });
    } catch (const Error&) {
      in_agreement(exchange, [&] { ++went_on; });
      throw;
    }
  });
  CHECK(went_on == 6);
  for (const auto& error : errors) {
    REQUIRE(error.has_value());
    CHECK(std::string(error->what()) == "rank 2: no room");
    CHECK(error->hint() == "make some");
    CHECK(error->kind() == ErrorKind::environment);
  }
}

TEST_CASE("an error that is not ours counts too") {
  const auto errors = run_ranks(2, [](Exchange& exchange) {
    in_agreement(exchange, [&] {
      if (exchange.rank() == 1) throw std::runtime_error("from elsewhere");
    });
  });
  for (const auto& error : errors) {
    REQUIRE(error.has_value());
    CHECK(std::string(error->what()) == "rank 1: from elsewhere");
    CHECK(error->hint().empty());
    CHECK(error->kind() == ErrorKind::failed_check);
  }
}

TEST_CASE("a rank without memory is the machine's fault, and one that throws anything else fails") {
  const auto thrown = [](int kind) {
    if (kind == 0) throw std::bad_alloc();
    throw kind;
  };
  for (const int kind : {0, 1}) {
    const auto errors = run_ranks(2, [&](Exchange& exchange) {
      in_agreement(exchange, [&] {
        if (exchange.rank() == 1) thrown(kind);
      });
    });
    for (const auto& error : errors) {
      REQUIRE(error.has_value());
      CHECK(std::string(error->what()) ==
            (kind == 0 ? "rank 1: out of memory" : "rank 1: an exception without a text"));
      CHECK(error->kind() == (kind == 0 ? ErrorKind::environment : ErrorKind::failed_check));
    }
  }
}

}  // namespace
}  // namespace baton::tests
