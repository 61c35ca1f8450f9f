// The rows of the kernel checks, and their common pieces.
#include <catch2/catch.hpp>
#include <cmath>

#include "builds/families.h"
#include "builds/kernel_check.h"
#include "builds/random_tensors.h"
#include "tests/support/expect_error.h"

namespace baton::tests {
namespace {

using builds::RankTensors;

TEST_CASE("every family has a kernel check, in the same order") {
  std::vector<std::string_view> families, checks;
  for (const builds::Family& family : builds::families()) families.push_back(family.name);
  for (const builds::KernelCheck& check : builds::kernel_checks()) checks.push_back(check.family);
  CHECK(checks == families);
}

TEST_CASE("a kernel check's random inputs are those that it requires") {
  for (const builds::KernelCheck& check : builds::kernel_checks()) {
    const BuildKey key = builds::complete_key(check.family, "gfx950");
    INFO(key.text());
    CHECK(&builds::find_kernel_check(key) == &check);
    CHECK((check.ranks >= 1 && check.ranks <= kRanks));
    const RankTensors inputs = check.random_inputs(key, 1);
    check.require_inputs(key, inputs);
    for (int rank = check.ranks; rank < kRanks; ++rank) {
      CHECK(inputs.ranks[static_cast<size_t>(rank)].empty());
    }
    CHECK_THAT(user_error([&] { check.require_inputs(key, {}); }), Catch::Contains("is missing"));
  }
  CHECK(user_error([] { builds::find_kernel_check({"other", {}, "gfx950"}); }) ==
        "there is no check of the kernel 'other'");
}

TEST_CASE("a rank's own tensor wins over the common one, and a missing one is named") {
  RankTensors tensors;
  tensors.common["a"] = {"i32", {1}, Bytes(4)};
  tensors.ranks[2]["a"] = {"i32", {2}, Bytes(8)};
  CHECK(tensors.get(1, "a").shape == std::vector<int64_t>{1});
  CHECK(tensors.get(2, "a").shape == std::vector<int64_t>{2});
  CHECK(tensors.find(2, "b") == nullptr);
  CHECK(user_error([&] { tensors.get(2, "b"); }) == "tensor 'b' is missing for rank 2");
}

TEST_CASE("random tensors have the mean and the deviation that were asked for") {
  const Tensor floats = builds::random_tensor("f32", {100, 100}, 3.0f, 0.5f, 7);
  double sum = 0, squares = 0;
  for (const float value : builds::values_of<float>(floats)) {
    sum += value;
    squares += (value - 3.0) * (value - 3.0);
  }
  // Of 10 000 values: 10 standard errors.
  CHECK(std::fabs(sum / 1e4 - 3.0) < 0.05);
  CHECK(std::fabs(std::sqrt(squares / 1e4) - 0.5) < 0.04);
  const Tensor halves = builds::random_tensor("bf16", {100, 100}, 3.0f, 0.5f, 7);
  CHECK(halves.bytes.size() == 20000);
  for (size_t i = 0; i < 10000; ++i) {  // the same values, rounded to 8 bits
    const float wide = builds::values_of<float>(floats)[i];
    const float half = reference::to_float(builds::values_of<uint16_t>(halves)[i]);
    REQUIRE(std::fabs(wide - half) <= std::ldexp(std::fabs(wide), -8));
  }
  CHECK(builds::random_tensor("f32", {4}, 0, 1, 7).bytes ==
        builds::random_tensor("f32", {4}, 0, 1, 7).bytes);
  CHECK(builds::random_tensor("f32", {4}, 0, 1, 7).bytes !=
        builds::random_tensor("f32", {4}, 0, 1, 8).bytes);
}

}  // namespace
}  // namespace baton::tests
