// Ranks that reach each other's memory by handles: all do, or none, whatever fails where.
#include <catch2/catch.hpp>

#include "runtime/base/digest.h"
#include "runtime/collective.h"
#include "runtime/emulator/emulator.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/runtime/ranks/sharing_device.h"
#include "tests/runtime/ranks/thread_exchange.h"

namespace baton::tests {
namespace {

/// Every rank puts `factor` times its number plus the lane to all ranks, and sums what came.
CodeObject sum_of_ranks(int factor) {
  const auto body = [&](dsl::Kernel& kernel) {
    using namespace dsl;
    const auto out = kernel.buffer<I32>("out", {64}, Access::write);
    const Handle scratch = kernel.memory("scratch");
    const auto epoch = kernel.table<I32>("epoch", 1);
    const auto peers = kernel.table<I64>("peers", kRanks);
    const I32 rank = kernel.i32("rank");
    const Handoffs handoffs(
        {.scratch = scratch, .epoch = epoch, .slot = I32(0), .peers = peers, .rank = rank});
    const auto words = handoffs.peer<I32>("words", {kRanks, 64});
    const I32 t = thread_id();
    If((cta_id() == 0) & (t < 64), [&] {
      stage("push", [&] {
        for (int to = 0; to < kRanks; ++to) put(words.to(to), rank * 64 + t, factor * rank + t);
      });
      stage("sum", [&] {
        std::vector<PollSpec<I32>> all;
        for (int source = 0; source < kRanks; ++source) all.push_back(words.at(source * 64 + t));
        I32 sum(0);
        for (const I32& word : poll<I32>(all)) sum = sum + word;
        out.store(t, sum);
      });
    });
  };
  return code_object(body, "gfx950");
}

const CodeObject& object() {
  static const CodeObject object = sum_of_ranks(100);
  return object;
}

/// 8 devices that share memory, a thread a rank.
struct Machine {
  Machine() {
    for (int rank = 0; rank < kRanks; ++rank) {
      devices.push_back(std::make_unique<SharingDevice>(
          emulator.device(rank), openings,
          [this](int ordinal) -> Device& { return emulator.device(ordinal); }));
    }
  }
  SharingDevice& device(int rank) { return *devices[static_cast<size_t>(rank)]; }

  /// Connects all ranks, runs two steps and ends.
  std::vector<std::optional<Error>> run(const std::function<const CodeObject&(int)>& code) {
    return run_ranks(kRanks, [&](Exchange& exchange) {
      const int rank = exchange.rank();
      Collective collective(exchange, device(rank), code(rank));
      for (int step = 0; step < 2; ++step) {
        collective.step();
        const Bytes out = collective.outputs(rank).at("out").bytes;
        for (int t = 0; t < 64; ++t) {  // 100 (0 + .. + 7) and 8 times the lane
          BATON_CHECK(read_at<int32_t>(out, static_cast<uint64_t>(4 * t), "out") == 2800 + 8 * t);
        }
      }
      collective.disconnect();
    });
  }
  std::vector<std::optional<Error>> run() {
    return run([](int) -> const CodeObject& { return object(); });
  }

  /// Nothing is open, nothing allocated, and nobody freed what a peer had open.
  void check_nothing_left() {
    CHECK(openings.open.empty());
    CHECK(openings.freed_while_open == 0);
    for (const auto& device : devices) CHECK(device->live.empty());
  }

  static constexpr int kOthersMayTakeMs = 100'000;  // the other threads are still to launch
  emulator::Emulator emulator{
      {.chip = "gfx950", .devices = kRanks, .stall_grace_ms = kOthersMayTakeMs}};
  Openings openings;
  std::vector<std::unique_ptr<SharingDevice>> devices;
};

/// Of the Error that `body` throws: on any thread, where Catch's own macros may not be used.
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void check_all_are(const std::vector<std::optional<Error>>& errors, const std::string& message,
                   ErrorKind kind) {
  CHECK(errors.size() > 0);
  for (const auto& error : errors) {
    REQUIRE(error.has_value());
    CHECK(std::string(error->what()) == message);
    CHECK(error->kind() == kind);
  }
}

TEST_CASE("ranks that have connected run, and leave nothing behind") {
  Machine machine;
  for (const auto& error : machine.run()) {
    CAPTURE(error ? error->what() : "");
    CHECK_FALSE(error.has_value());
  }
  machine.check_nothing_left();
}

TEST_CASE("when one rank fails, whatever at, all get its error and nothing stays open") {
  Machine well;
  well.run();
  // Before the first step a rank zeroes its allocations, then writes the table.
  const int allocations = 6, writes = allocations + 1;
  CHECK(well.device(0).writes() >= writes);
  struct Fault {
    std::string reason;
    ErrorKind kind;
    std::function<void(SharingDevice&)> set;
  };
  std::vector<Fault> faults = {
      {"no handle", ErrorKind::environment, [](SharingDevice& d) { d.refuses_export = true; }},
      {"a gfx950 of 0 CUs keeps 0 of the 4 workgroups of k resident: it would hang",
       ErrorKind::environment, [](SharingDevice& d) { d.cus = 0; }}};
  for (int i = 0; i < allocations; ++i) {
    faults.push_back(
        {"no room", ErrorKind::environment, [=](SharingDevice& d) { d.refused_allocation = i; }});
  }
  for (int i = 0; i < kRanks - 1; ++i) {
    faults.push_back(
        {"no import", ErrorKind::failed_check, [=](SharingDevice& d) { d.refused_import = i; }});
  }
  for (int i = 0; i < writes; ++i) {
    faults.push_back(
        {"no write", ErrorKind::failed_check, [=](SharingDevice& d) { d.refused_write = i; }});
  }
  for (const int rank : {0, 3, 7}) {
    for (const Fault& fault : faults) {
      Machine machine;
      fault.set(machine.device(rank));
      CAPTURE(rank, fault.reason, &fault - faults.data());
      check_all_are(machine.run(), fmt::format("rank {}: {}", rank, fault.reason), fault.kind);
      machine.check_nothing_left();
    }
  }
}

TEST_CASE("ranks with different code objects do not connect") {
  const CodeObject other = sum_of_ranks(200);
  Machine machine;
  const auto errors =
      machine.run([&](int rank) -> const CodeObject& { return rank == 5 ? other : object(); });
  check_all_are(errors,
                fmt::format("rank 5 has another code object than rank 0: {} (SHA-256 {:.12}...), "
                            "not {} (SHA-256 {:.12}...)",
                            other.record.key, sha256(other.bytes).hex(), object().record.key,
                            sha256(object().bytes).hex()),
                ErrorKind::user);
  machine.check_nothing_left();
}

TEST_CASE("another number of ranks, or a runner of another rank, does not connect") {
  Machine machine;
  for (const int ranks : {1, 3, 9}) {
    const auto errors = run_ranks(ranks, [&](Exchange& exchange) {
      Collective(exchange, machine.device(exchange.rank() % kRanks), object());
    });
    check_all_are(errors, fmt::format("rank 0: k runs on 8 ranks, not on {}", ranks),
                  ErrorKind::user);
  }
  const auto three = run_ranks(3, [&](Exchange& exchange) {
    Runner(machine.device(exchange.rank()), object(), exchange.rank()).connect(exchange);
  });
  check_all_are(three, "k runs on 8 ranks, not on 3", ErrorKind::user);
  const auto swapped = run_ranks(kRanks, [&](Exchange& exchange) {
    const int rank = exchange.rank() == 6 ? 1 : exchange.rank();
    Runner(machine.device(exchange.rank()), object(), rank).connect(exchange);
  });
  check_all_are(swapped, "rank 6: the runner is that of rank 1", ErrorKind::user);
  machine.check_nothing_left();
}

TEST_CASE("a rank that does not disconnect keeps its buffer for its peers") {
  Machine machine;
  const auto errors = run_ranks(kRanks, [&](Exchange& exchange) {
    Collective(exchange, machine.device(exchange.rank()), object());
  });
  for (const auto& error : errors) CHECK_FALSE(error.has_value());
  CHECK(machine.openings.open.empty());
  CHECK(machine.openings.freed_while_open == 0);
  for (const auto& device : machine.devices) CHECK(device->live.size() == 1);
}

TEST_CASE("a rank that finds no device or no code fails in agreement") {
  Machine machine;
  const auto errors = run_ranks(kRanks, [&](Exchange& exchange) {
    Collective(exchange, [&]() -> RankShare {
      if (exchange.rank() == 6) throw Error(ErrorKind::environment, "no such device");
      return {machine.device(exchange.rank()), object()};
    });
  });
  check_all_are(errors, "rank 6: no such device", ErrorKind::environment);
  const auto well = run_ranks(kRanks, [&](Exchange& exchange) {
    Collective collective(
        exchange, [&]() -> RankShare { return {machine.device(exchange.rank()), object()}; });
    collective.step();
    collective.disconnect();
  });
  for (const auto& error : well) CHECK_FALSE(error.has_value());
  machine.check_nothing_left();
}

TEST_CASE("when one rank cannot let go, all hear of it") {
  Machine machine;
  machine.device(4).refused_closing = 2;
  check_all_are(machine.run(), "rank 4: no closing", ErrorKind::failed_check);
  CHECK(machine.openings.freed_while_open == 0);
  CHECK(machine.openings.open.size() == 1);
  for (const auto& device : machine.devices) CHECK(device->live.size() == 1);
}

TEST_CASE("who is not connected, or no more, disconnects from nothing") {
  Machine machine;
  const auto errors = run_ranks(kRanks, [&](Exchange& exchange) {
    SharingDevice& device = machine.device(exchange.rank());
    Runner runner(device, object(), exchange.rank());
    runner.disconnect(exchange);
    runner.connect(exchange);
    device.refused_closing = exchange.rank() == 2 ? 0 : -1;
    BATON_CHECK(message_of([&] { runner.disconnect(exchange); }) == "rank 2: no closing");
    runner.disconnect(exchange);
    BATON_CHECK(message_of([&] { runner.step_begin(); }) != "");
  });
  for (const auto& error : errors) {
    CAPTURE(error ? error->what() : "");
    CHECK_FALSE(error.has_value());
  }
  CHECK(machine.openings.freed_while_open == 0);
  for (const auto& device : machine.devices) CHECK(device->live.size() == 1);
}

TEST_CASE("one rank's collective knows its own rank alone") {
  Machine machine;
  const auto errors = run_ranks(kRanks, [&](Exchange& exchange) {
    const int rank = exchange.rank(), other = (rank + 1) % kRanks;
    Collective collective(exchange, machine.device(rank), object());
    BATON_CHECK(std::ranges::equal(collective.ranks(), std::vector{rank}));
    BATON_CHECK(collective.rank(rank).rank() == rank);
    collective.disconnect();
    collective.disconnect();  // does nothing
    BATON_CHECK(message_of([&] { collective.launch(); }) ==
                fmt::format("k: rank {} has let go of its peers' memory", rank));
    collective.outputs(other);
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto& error = errors[static_cast<size_t>(rank)];
    REQUIRE(error.has_value());
    CHECK(error->what() ==
          fmt::format("rank {} does not live in this process", (rank + 1) % kRanks));
  }
}

TEST_CASE("a kernel without peers runs on any number of ranks that agree to start") {
  const CodeObject lone = code_object(
      [](dsl::Kernel& kernel) {
        using namespace dsl;
        const auto out = kernel.buffer<I32>("out", {64}, Access::write);
        const I32 factor = kernel.i32("factor");
        If(cta_id() == 0, [&] { If(thread_id() < 64, [&] { out.store(thread_id(), factor); }); });
      },
      "gfx950");
  Machine machine;
  machine.device(1).cus = 0;  // enough: no workgroup waits for another
  const auto errors = run_ranks(3, [&](Exchange& exchange) {
    const int rank = exchange.rank();
    Collective collective(exchange, machine.device(rank), lone);
    collective.set_value("factor", static_cast<uint64_t>(rank + 5));
    collective.step();
    const Bytes out = collective.outputs(rank).at("out").bytes;
    BATON_CHECK(read_at<int32_t>(out, 4 * 63, "out") == rank + 5);
    collective.disconnect();
  });
  for (const auto& error : errors) {
    CAPTURE(error ? error->what() : "");
    CHECK_FALSE(error.has_value());
  }
  machine.check_nothing_left();
}

TEST_CASE("in one process the error names the rank that cannot reach a peer") {
  Machine machine;
  std::vector<Device*> devices;
  for (const auto& device : machine.devices) devices.push_back(device.get());
  machine.device(5).refused_write = 6;  // behind those of its allocations: the table
  try {
    Collective(devices, object());
    FAIL("connected");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "rank 5: no write");
  }
  machine.check_nothing_left();
}

}  // namespace
}  // namespace baton::tests
