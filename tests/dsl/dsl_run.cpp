#include "tests/dsl/dsl_run.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/emulator/emulator.h"
#include "runtime/object/code_object.h"

namespace baton::tests {
namespace {

constexpr uint64_t kHandoffBytes = 1 << 20;
constexpr uint64_t kOutBytes = 4 * kOutputs * kThreads;
constexpr uint64_t kDiagBytes = kWorkgroups * sizeof(DiagRecord);

CodeObject compile_bench(const RunOptions& options, const std::string& chip, size_t inputs,
                         const BenchBody& body) {
  return code_object(
      [&](dsl::Kernel& kernel) {
        const auto input = kernel.buffer<dsl::U32>("in", {static_cast<int64_t>(inputs)});
        const auto output =
            kernel.buffer<dsl::U32>("out", {kOutputs * kThreads}, dsl::Access::write);
        const dsl::Handle scratch = kernel.memory("scratch");
        const auto epoch = kernel.table<dsl::I32>("epoch", 1);
        const auto peers = kernel.table<dsl::I64>("peers", 8);
        const dsl::I32 rank = kernel.i32("rank"), slot = kernel.i32("slot");
        const dsl::Handle diag = kernel.memory("diag"), stamps = kernel.memory("tl");
        if (options.timeline) dsl::timeline(stamps);
        const dsl::Handoffs handoffs({.scratch = scratch,
                                      .epoch = epoch,
                                      .slot = slot,
                                      .peers = peers,
                                      .rank = rank,
                                      .diag = options.diag ? diag : dsl::Handle()});
        body({input, output, handoffs, rank, epoch[0]});
      },
      chip);
}

template <class T>
std::span<uint8_t> bytes_of(std::vector<T>& values) {
  return {reinterpret_cast<uint8_t*>(values.data()), sizeof(T) * values.size()};
}

template <class T>
void append(Bytes& arguments, T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  arguments.insert(arguments.end(), bytes, bytes + sizeof value);
}

/// The device memory of one bench: what a runner would allocate.
class Memory {
 public:
  Memory(Device& device, const Record& record, std::vector<uint32_t> in)
      : device_(device), record_(record) {
    in_ = upload(in);
    out_ = device.allocate(kOutBytes, MemoryKind::normal);
    scratch_ = handoff_memory(MemoryKind::normal);
    for (int rank = 0; rank < kRanks; ++rank) {
      peers_.push_back(handoff_memory(MemoryKind::fine_grained));
    }
    table_ = upload(peers_);
    arm();
    epoch_ = device.allocate(sizeof(uint32_t), MemoryKind::normal);
    diag_ = device.allocate(kDiagBytes, MemoryKind::normal);
    stamps_ = device.allocate(stamp_count() * sizeof(int64_t) + 8, MemoryKind::normal);
  }

  Bytes arguments() const {
    Bytes packed;
    for (DeviceAddress address : {in_, out_, scratch_, epoch_, table_}) append(packed, address);
    append(packed, int32_t{kRank});
    append(packed, int32_t{kSlot});
    for (DeviceAddress address : {diag_, stamps_}) append(packed, address);
    return packed;
  }

  /// Clears what a launch leaves; stamps are garbage until they are written.
  void begin(uint32_t epoch) {
    std::vector<uint32_t> value{epoch};
    device_.write(epoch_, bytes_of(value));
    device_.write(out_, Bytes(kOutBytes));
    device_.write(diag_, Bytes(kDiagBytes));
    device_.write(stamps_, Bytes(stamp_count() * sizeof(int64_t) + 8, 0xEE));
  }

  LaunchResult result() const {
    return {read<uint32_t>(out_, kOutputs * kThreads), read<DiagRecord>(diag_, kWorkgroups),
            read<int64_t>(stamps_, stamp_count())};
  }
  Bytes scratch() const { return read<uint8_t>(scratch_, kHandoffBytes); }
  Bytes peer() const { return read<uint8_t>(peers_[kRank], kHandoffBytes); }

 private:
  template <class T>
  DeviceAddress upload(std::vector<T>& values) {
    const DeviceAddress address = device_.allocate(sizeof(T) * values.size(), MemoryKind::normal);
    device_.write(address, bytes_of(values));
    return address;
  }

  template <class T>
  std::vector<T> read(DeviceAddress address, size_t count) const {
    std::vector<T> values(count);
    device_.read(address, bytes_of(values));
    return values;
  }

  /// Memory that nobody has written a valid tag to.
  DeviceAddress handoff_memory(MemoryKind kind) {
    REQUIRE(record_.totals.scratch_bytes <= kHandoffBytes);
    REQUIRE(2 * record_.totals.peer_half_bytes <= kHandoffBytes);
    const DeviceAddress address = device_.allocate(kHandoffBytes, kind);
    device_.write(address, Bytes(kHandoffBytes, 0));
    return address;
  }

  void arm() {
    for (const RecordRegion& region : record_.regions) {
      if (region.protocol != RegionProtocol::sentinel) continue;
      const Bytes armed(region.bytes, 0xFF);
      if (region.space == RegionSpace::scratch) {
        device_.write(scratch_ + region.offset, armed);
        continue;
      }
      for (DeviceAddress peer : peers_) {
        device_.write(peer + region.offset, armed);
        device_.write(peer + record_.totals.peer_half_bytes + region.offset, armed);
      }
    }
  }

  size_t stamp_count() const { return kWorkgroups * 2 * record_.timeline.size(); }

  Device& device_;
  const Record& record_;
  DeviceAddress in_, out_, scratch_, table_, epoch_, diag_, stamps_;
  std::vector<DeviceAddress> peers_;
};

}  // namespace

std::vector<uint32_t> RunResult::words_of(const std::string& name, uint32_t epoch) const {
  for (const RecordRegion& region : record.regions) {
    if (region.name != name) continue;
    const bool far = region.space == RegionSpace::peer;
    const uint64_t half = far ? epoch % 2 * record.totals.peer_half_bytes : 0;
    std::vector<uint32_t> words(region.bytes / 4);
    std::memcpy(words.data(), (far ? peer : scratch).data() + half + region.offset, region.bytes);
    return words;
  }
  FAIL("no region " << name);
  return {};
}

RunResult run_with(const RunOptions& options, const std::string& chip,
                   const std::vector<uint32_t>& in, const BenchBody& body) {
  const CodeObject code = compile_bench(options, chip, in.size(), body);
  emulator::Emulator emulator({.chip = chip, .seed = 1});
  Device& device = emulator.device(0);
  Memory memory(device, code.record, in);
  const std::unique_ptr<Module> module = device.load(code.bytes);
  const std::unique_ptr<Stream> stream = device.create_stream();
  RunResult result{.launches = {}, .record = code.record, .scratch = {}, .peer = {}};
  for (const uint32_t epoch : options.epochs) {
    memory.begin(epoch);
    device.launch(
        module->function("k"),
        {.grid = {kWorkgroups, 1, 1}, .workgroup = {kLanes, 1, 1}, .dynamic_lds_bytes = 0},
        memory.arguments(), *stream);
    device.synchronize(*stream);
    result.launches.push_back(memory.result());
  }
  result.scratch = memory.scratch();
  result.peer = memory.peer();
  return result;
}

std::vector<uint32_t> run_on(const std::string& chip, const std::vector<uint32_t>& in,
                             const BenchBody& body) {
  return run_with({}, chip, in, body).launches.front().out;
}

}  // namespace baton::tests
