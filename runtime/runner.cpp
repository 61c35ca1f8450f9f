#include "runtime/runner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"

namespace baton {
namespace {

constexpr uint64_t kPairBytes = 8, kWordBytes = 4;

ByteView bytes_of(const auto& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

/// The value words of tagged pairs.
Bytes strip_tags(const Bytes& pairs) {
  Bytes words(pairs.size() / kPairBytes * kWordBytes);
  for (size_t i = 0; i < words.size() / kWordBytes; ++i) {
    std::memcpy(words.data() + i * kWordBytes, pairs.data() + i * kPairBytes, kWordBytes);
  }
  return words;
}

/// "3, 0, 512": the place of element `index` in a row-major `shape`.
std::string place_of(int64_t index, const std::vector<int64_t>& shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return fmt::format("{}", fmt::join(place, ", "));
}

LaunchShape shape_of(const Record& record) {
  LaunchShape shape;
  shape.grid[0] = record.resources.grid_workgroups;
  shape.workgroup[0] = record.resources.workgroup_lanes;
  return shape;
}

}  // namespace

Bytes pack_arguments(const Record& record, const ArgumentValues& values) {
  Bytes packed(record.resources.kernarg_bytes);
  for (const RecordArgument& argument : record.arguments) {
    const auto value = values.find(argument.name);
    if (value == values.end()) {
      throw Error(ErrorKind::user,
                  fmt::format("{}: argument '{}' is not given", record.kernel, argument.name));
    }
    std::memcpy(packed.data() + argument.offset, &value->second, argument.size);
  }
  for (const auto& [name, value] : values) {
    const bool known = std::any_of(record.arguments.begin(), record.arguments.end(),
                                   [&](const RecordArgument& a) { return a.name == name; });
    if (!known) {
      throw Error(ErrorKind::user, fmt::format("{} has no argument '{}'", record.kernel, name),
                  "baton info lists the arguments in ABI order");
    }
  }
  return packed;
}

Runner::Runner(Device& device, const CodeObject& object, int rank)
    : device_(device), object_(object), rank_(rank) {
  if (rank < 0 || rank >= kRanks) {
    throw Error(ErrorKind::user, fmt::format("rank {} of {}", rank, kRanks));
  }
  const Record& record = object.record;
  module_ = device.load(object.bytes);
  stream_ = device.create_stream();
  scratch_ = allocate_zeroed(record.totals.scratch_bytes, MemoryKind::normal);
  epoch_address_ = allocate_zeroed(sizeof epoch_, MemoryKind::normal);
  peer_buffer_ = allocate_zeroed(2 * record.totals.peer_half_bytes, MemoryKind::fine_grained);
  peer_table_ = allocate_zeroed(kRanks * sizeof(DeviceAddress), MemoryKind::normal);
}

Runner::~Runner() {
  stream_.reset();
  module_.reset();
  for (DeviceAddress address : {scratch_, epoch_address_, peer_buffer_, peer_table_}) {
    try {
      device_.release(address);
    } catch (const Error&) {
      // The device has failed and said so already; it frees its memory when it goes.
    }
  }
}

DeviceAddress Runner::allocate_zeroed(uint64_t bytes, MemoryKind kind) {
  const DeviceAddress address = device_.allocate(std::max<uint64_t>(bytes, kPairBytes), kind);
  device_.write(address, Bytes(std::max<uint64_t>(bytes, kPairBytes)));
  return address;
}

void Runner::connect(std::span<const std::unique_ptr<Runner>> ranks) {
  std::vector<DeviceAddress> table;
  for (const auto& runner : ranks) table.push_back(runner->peer_buffer_);
  for (const auto& runner : ranks) {
    for (const auto& peer : ranks) {
      if (peer != runner) runner->device_.enable_peer_access(peer->device_);
    }
    runner->device_.write(runner->peer_table_, {reinterpret_cast<const uint8_t*>(table.data()),
                                                table.size() * sizeof(DeviceAddress)});
  }
}

bool Runner::fits_chip() const {
  const Record& record = object_.record;
  const int per_cu = device_.workgroups_per_cu(module_->function(record.kernel), shape_of(record));
  return per_cu * device_.target().cus >= static_cast<int>(record.resources.grid_workgroups);
}

void Runner::step_begin() {
  ++epoch_;
  device_.write_async(epoch_address_, bytes_of(epoch_), *stream_);
}

void Runner::launch(const ArgumentValues& values) {
  ArgumentValues all = values;
  all.insert({{"scratch", scratch_},
              {"peers", peer_table_},
              {"rank", static_cast<uint64_t>(rank_)},
              {"epoch", epoch_address_},
              {"diag", 0},
              {"tl", 0}});
  const Record& record = object_.record;
  device_.launch(module_->function(record.kernel), shape_of(record), pack_arguments(record, all),
                 *stream_);
}

void Runner::synchronize() { device_.synchronize(*stream_); }

std::string Runner::describe(DeviceAddress address) const {
  const uint64_t half = object_.record.totals.peer_half_bytes;
  for (const RecordRegion& region : object_.record.regions) {
    const bool peer = region.space == RegionSpace::peer;
    DeviceAddress base = (peer ? peer_buffer_ : scratch_) + region.offset;
    if (peer && address >= peer_buffer_ + half) base += half;
    if (address < base || address - base >= region.bytes) continue;
    const int64_t elements_a_word = static_cast<int64_t>(kWordBytes) / dtype_bytes(region.dtype);
    const auto word = static_cast<int64_t>((address - base) / kPairBytes);
    return fmt::format("{}[{}] of rank {}", region.name,
                       place_of(word * elements_a_word, region.shape), rank_);
  }
  return "";
}

TensorMap Runner::read_regions() {
  TensorMap regions;
  for (const RecordRegion& region : object_.record.regions) {
    DeviceAddress base = scratch_;
    if (region.space == RegionSpace::peer) {
      base = peer_buffer_ + (epoch_ % 2) * object_.record.totals.peer_half_bytes;
    }
    Bytes raw(region.bytes);
    device_.read(base + region.offset, raw);
    regions.emplace(region.name, Tensor{region.dtype, region.shape, strip_tags(raw)});
  }
  return regions;
}

}  // namespace baton
