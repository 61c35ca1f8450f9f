#include "tests/dsl/dsl_run.h"

#include <cstring>

#include "runtime/emulator/emulator.h"

namespace baton::tests {
namespace {

constexpr uint64_t kHandoffBytes = 1 << 20;

template <class T>
DeviceAddress upload(Device& device, const std::vector<T>& values) {
  const DeviceAddress address = device.allocate(sizeof(T) * values.size(), MemoryKind::normal);
  device.write(address,
               {reinterpret_cast<const uint8_t*>(values.data()), sizeof(T) * values.size()});
  return address;
}

/// Memory that nobody has written a valid tag to.
DeviceAddress handoff_memory(Device& device, MemoryKind kind) {
  const DeviceAddress address = device.allocate(kHandoffBytes, kind);
  device.write(address, Bytes(kHandoffBytes, 0));
  return address;
}

template <class T>
void append(Bytes& arguments, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  arguments.insert(arguments.end(), bytes, bytes + sizeof value);
}

}  // namespace

std::vector<uint32_t> run_on(const std::string& chip, const std::vector<uint32_t>& in,
                             const BenchBody& body) {
  const Bytes code = code_object(
      [&](dsl::Kernel& kernel) {
        const auto input = kernel.buffer<dsl::U32>("in", {static_cast<int64_t>(in.size())});
        const auto output =
            kernel.buffer<dsl::U32>("out", {kOutputs * kThreads}, dsl::Access::write);
        const dsl::Handle scratch = kernel.memory("scratch");
        const auto epoch = kernel.table<dsl::I32>("epoch", 1);
        const auto peers = kernel.table<dsl::I64>("peers", 8);
        const dsl::I32 rank = kernel.i32("rank"), slot = kernel.i32("slot");
        const dsl::Handoffs handoffs(
            {.scratch = scratch, .epoch = epoch, .slot = slot, .peers = peers, .rank = rank});
        body({input, output, handoffs, rank});
      },
      chip);

  emulator::Emulator emulator({.chip = chip, .seed = 1});
  Device& device = emulator.device(0);
  std::vector<uint64_t> peers;
  for (int rank = 0; rank < 8; ++rank) {
    peers.push_back(handoff_memory(device, MemoryKind::fine_grained));
  }
  std::vector<uint32_t> out(kOutputs * kThreads);
  const DeviceAddress results = upload(device, out);
  Bytes arguments;
  append(arguments, upload(device, in));
  append(arguments, results);
  append(arguments, handoff_memory(device, MemoryKind::normal));
  append(arguments, upload(device, std::vector<uint32_t>{kEpoch}));
  append(arguments, upload(device, peers));
  append(arguments, int32_t{kRank});
  append(arguments, int32_t{7});
  const std::unique_ptr<Module> module = device.load(code);
  const std::unique_ptr<Stream> stream = device.create_stream();
  device.launch(module->function("k"),
                {.grid = {kWorkgroups, 1, 1}, .workgroup = {kLanes, 1, 1}, .dynamic_lds_bytes = 0},
                arguments, *stream);
  device.synchronize(*stream);
  device.read(results, {reinterpret_cast<uint8_t*>(out.data()), 4 * out.size()});
  return out;
}

}  // namespace baton::tests
