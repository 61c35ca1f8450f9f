#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>

#include "runtime/base/build_id.h"

namespace baton {
namespace {

TEST_CASE("a build id is the module's that holds the address") {
  static const int here = 0;
  const std::optional<std::string> program = build_id_at(&here);
  REQUIRE(program);
  CHECK(program->size() == 40);  // a SHA-1 in hex: what linkers write
  CHECK(program->find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(build_id_at(reinterpret_cast<const void*>(&build_id_at)) == program);
  const std::optional<std::string> libc = build_id_at(reinterpret_cast<const void*>(&std::abort));
  REQUIRE(libc);
  CHECK(libc != program);
}

TEST_CASE("an address of no module has none") {
  const auto heap = std::make_unique<int>(1);
  CHECK_FALSE(build_id_at(heap.get()));
  CHECK_FALSE(build_id_at(nullptr));
}

}  // namespace
}  // namespace baton
