// Kernels with a fault built in: what the emulator says of them.
#include <catch2/catch.hpp>
#include <optional>

#include "runtime/base/error.h"
#include "tests/kernels/broken_attn_post.h"
#include "tests/kernels/kernel_run.h"

namespace baton::tests {
namespace {

using Catch::Matchers::Contains;

/// Two tokens and eight blocks: every barrier has writers and readers in different waves.
BuildKey key_of() { return builds::complete_key("attn_post:tokens=2,nblocks=8", "gfx950"); }
constexpr int kTokens = 2, kBlockRows = 2 * 8, kRowBytes = 7168 * 2;

/// What stopped the launch; empty when nothing did.
std::string stop_of(const CodeObject& object, const RunOptions& options = {}) {
  try {
    run_kernel(key_of(), object, options);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed_check);
    return error.what();
  }
  return "";
}

/// The lines of a report that name `device`.
std::string lines_of(const std::string& report, int device) {
  std::string lines;
  for (size_t start = 0; start < report.size();) {
    const size_t end = std::min(report.find('\n', start), report.size());
    const std::string line = report.substr(start, end - start);
    if (line.find(fmt::format("device {}:", device)) != line.npos) lines += line + "\n";
    start = end + 1;
  }
  return lines;
}

TEST_CASE("a put that one rank leaves out: the hang names region, index and waiting rank") {
  const BrokenKernel broken = build_without_on(key_of(), {"baton.put", "slice", "part"}, 3);
  const std::string report = stop_of(broken.object);
  INFO(report);
  CHECK_THAT(report, Contains("the launch hangs"));
  // Gate CTAs of rank 3 wait for their own rank's sums; nobody else waits.
  CHECK_THAT(lines_of(report, 3),
             Contains("stage gate (poll part)") && Contains("= part[") && Contains("of rank 3"));
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != 3) CHECK_THAT(lines_of(report, rank), !Contains("part["));
  }
}

TEST_CASE("a push that one rank leaves out: the hang names the rank that it was for") {
  const OpPlace push{"baton.put", "o", "ar"};
  REQUIRE(count_ops(key_of(), push) % kRanks == 0);
  for (const size_t to : {size_t{0}, size_t{6}}) {
    const BrokenKernel broken =
        build_without_on(key_of(), {push.op, push.stage, push.region, to}, 5);
    const std::string report = stop_of(broken.object, {.threads = 2});
    INFO(report);
    // The receiving rank waits for its buffer's words; its gate and mix wait behind it.
    const std::string waits = lines_of(report, static_cast<int>(to));
    CHECK_THAT(waits, Contains("stage reduce (poll ar)") && Contains("= ar["));
    CHECK_THAT(waits, Contains(fmt::format("of rank {}", to)));
    // The first of what rank 5 left out.
    CHECK_THAT(waits, Contains("words of it have not arrived, the first is ar[5, 0, 0]"));
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank != static_cast<int>(to)) CHECK(lines_of(report, rank).empty());
    }
  }
}

TEST_CASE("an address that is off by a page: the fault names lane, instruction, line, allocation") {
  const BuildKey key = key_of();
  SECTION("one lane of a load") {
    // The first three loads of the stage are weights of a declared size, which the hardware's range
    // check guards; the fourth reads the blocks. Thread 37 reads block 1 of token 0.
    const BrokenKernel broken =
        build_with_offset(key, {"baton.load", "slice", "", 3}, 37, kBlockRows * kRowBytes + 4096);
    const std::string report = stop_of(broken.object);
    INFO(report << "\nexpected at " << broken.where);
    CHECK_THAT(report, Contains("kernel attn_post, device "));
    CHECK_THAT(report, Contains("wave 0, lane 37: load of 8 bytes at "));
    CHECK_THAT(report, Contains("bytes behind the end of buffer") &&
                           Contains(fmt::format("({} bytes, ", kBlockRows * kRowBytes)));
    CHECK_THAT(report,
               Contains("stage slice") && Contains("buffer_load_") && Contains(broken.where));
  }
  SECTION("all lanes of a store") {
    const BrokenKernel broken =
        build_with_address(key, {"baton.store", "mix"}, kTokens * kRowBytes + 4096);
    const std::string report = stop_of(broken.object);
    INFO(report << "\nexpected at " << broken.where);
    CHECK_THAT(report, Contains("lane 0: store of 8 bytes at "));
    CHECK_THAT(report, Contains("bytes behind the end of buffer") &&
                           Contains(fmt::format("({} bytes, ", kTokens * kRowBytes)));
    CHECK_THAT(report,
               Contains("stage mix") && Contains("buffer_store_") && Contains(broken.where));
  }
}

/// The first of 50 seeds under which the kernel's results are wrong, or the launch stops.
std::optional<uint64_t> first_seen(const CodeObject& object) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    try {
      if (!run_kernel(key_of(), object, {.schedule = seed}).failures.empty()) return seed;
    } catch (const Error&) {
      return seed;
    }
  }
  return std::nullopt;
}

TEST_CASE("a missing barrier shows under one of the first 50 seeds") {
  const std::string stage = GENERATE("reduce", "o", "gate");
  const BrokenKernel broken = build_without(key_of(), {"baton.barrier", stage, ""});
  INFO("without the barrier of " << stage << " at " << broken.where);
  const std::optional<uint64_t> seed = first_seen(broken.object);
  REQUIRE(seed.has_value());
  const CodeObject whole = builds::build(key_of()).code_object;
  CHECK(run_kernel(key_of(), whole, {.schedule = *seed}).failures.empty());
}

TEST_CASE("a missing barrier: --check uninit names the LDS that was read before it was written") {
  const BrokenKernel broken = build_without(key_of(), {"baton.barrier", "reduce"});
  std::string report;
  for (uint64_t seed = 0; seed < 50 && report.empty(); ++seed) {
    report = stop_of(broken.object, {.schedule = seed, .check_uninit = true});
  }
  INFO(report);
  CHECK_THAT(report, Contains("uninitialised registers or LDS"));
  CHECK_THAT(report, Contains("it comes from LDS byte ") && Contains("read in stage slice"));
}

}  // namespace
}  // namespace baton::tests
