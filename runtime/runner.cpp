#include "runtime/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/region_words.h"

namespace baton {
namespace {

uint64_t diag_bytes(const Record& record) {
  return record.bounded_waits ? sizeof(DiagRecord) * record.resources.grid_workgroups : 0;
}

size_t timeline_points(const Record& record) {
  return 2 * record.timeline.size() * record.resources.grid_workgroups;
}

bool has_sentinel_region(const Record& record) {
  return std::ranges::any_of(record.regions, [](const RecordRegion& region) {
    return region.protocol == RegionProtocol::sentinel;
  });
}

LaunchShape shape_of(const Record& record) {
  LaunchShape shape;
  shape.grid[0] = record.resources.grid_workgroups;
  shape.workgroup[0] = record.resources.workgroup_lanes;
  return shape;
}

}  // namespace

uint32_t copies(const RecordRegion& region) { return region.space == RegionSpace::peer ? 2 : 1; }

bool is_runner_argument(std::string_view name) {
  constexpr std::string_view kNames[] = {"scratch", "peers", "rank", "epoch", "diag", "tl"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

Runner::Runner(Device& device, const CodeObject& object, int rank)
    : device_(device), object_(object), rank_(rank) {
  if (rank < 0 || rank >= kRanks) {
    throw Error(ErrorKind::user, fmt::format("rank {} of {}", rank, kRanks));
  }
  const Record& record = object.record;
  module_ = device.load(object.bytes);
  function_ = &module_->function(record.kernel);
  shape_ = shape_of(record);
  require_progress();
  stream_ = device.create_stream();
  scratch_ = allocate_zeroed(record.totals.scratch_bytes, MemoryKind::normal);
  epoch_memory_ = allocate_zeroed(sizeof epoch_, MemoryKind::normal);
  peer_buffer_ = allocate_zeroed(2 * record.totals.peer_half_bytes, MemoryKind::fine_grained);
  peer_table_ = allocate_zeroed(kRanks * sizeof(DeviceAddress), MemoryKind::normal);
  diag_ = allocate_zeroed(diag_bytes(record), MemoryKind::normal);
  timeline_ = allocate_zeroed(timeline_points(record) * sizeof(int64_t), MemoryKind::normal);
  for (const RecordRegion& region : record.regions) arm(region);
}

DeviceMemory Runner::allocate_zeroed(uint64_t bytes, MemoryKind kind) {
  const uint64_t least = std::max<uint64_t>(bytes, kPairBytes);
  DeviceMemory memory(device_, least, kind);
  device_.write(memory.address(), Bytes(least));
  return memory;
}

DeviceAddress Runner::address_of(const RecordRegion& region, uint32_t parity) const {
  if (region.space == RegionSpace::scratch) return scratch_.address() + region.offset;
  return peer_buffer_.address() + parity * object_.record.totals.peer_half_bytes + region.offset;
}

/// Once, at allocation: from then on every reader re-arms what it has read.
void Runner::arm(const RecordRegion& region) {
  if (region.protocol != RegionProtocol::sentinel) return;
  const Bytes armed(region.bytes, 0xFF);
  for (uint32_t parity = 0; parity < copies(region); ++parity) {
    device_.write(address_of(region, parity), armed);
  }
}

Runner::~Runner() {
  settle();  // a launch may still run where an exception unwinds
  if (peers_) peer_buffer_.leave_allocated();
}

void Runner::connect(std::span<const std::unique_ptr<Runner>> ranks) {
  std::vector<DeviceAddress> table;
  for (const auto& runner : ranks) table.push_back(runner->peer_buffer_.address());
  for (const auto& runner : ranks) {
    try {
      for (const auto& peer : ranks) {
        if (peer != runner) runner->device_.enable_peer_access(peer->device_);
      }
      runner->device_.write(
          runner->peer_table_.address(),
          {reinterpret_cast<const uint8_t*>(table.data()), table.size() * sizeof(DeviceAddress)});
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("rank {}: {}", runner->rank_, error.what()),
                  error.hint());
    }
  }
}

void Runner::connect(Exchange& exchange) {
  peers_ = std::make_unique<PeerTable>(exchange, OwnRank{.device = device_,
                                                         .rank = rank_,
                                                         .buffer = peer_buffer_.address(),
                                                         .table = peer_table_.address(),
                                                         .object = object_});
}

void Runner::disconnect(Exchange& exchange) {
  if (!peers_ || disconnected_) return;
  disconnected_ = true;
  in_agreement(exchange, [&] {
    synchronize();
    peers_->close();
  });
  peers_.reset();
}

/// HIP counts the registers that a kernel uses; the record those that its descriptor allocates,
/// which may be more.
uint64_t Runner::resident_workgroups() const {
  const int per_cu = std::min(device_.workgroups_per_cu(*function_, shape_),
                              object_.record.occupancy.workgroups_per_cu);
  return static_cast<uint64_t>(per_cu) * static_cast<uint64_t>(device_.compute_units());
}

bool Runner::fits_chip() const {
  const Record& record = object_.record;
  return record.regions.empty() || resident_workgroups() >= record.resources.grid_workgroups;
}

void Runner::require_progress() const {
  if (device_.holds_every_workgroup() || fits_chip()) return;
  throw Error(ErrorKind::environment,
              fmt::format("a {} of {} CUs keeps {} of the {} workgroups of {} resident: it would "
                          "hang",
                          device_.target().chip, device_.compute_units(), resident_workgroups(),
                          object_.record.resources.grid_workgroups, object_.record.kernel),
              "take whole GPUs with more CUs, or the emulator, which holds every workgroup");
}

void Runner::require_may_go_on() const {
  if (disconnected_) {
    throw Error(
        ErrorKind::user,
        fmt::format("{}: rank {} has let go of its peers' memory", object_.record.kernel, rank_),
        "disconnect behind the last launch");
  }
  if (!gave_up_) return;
  throw Error(ErrorKind::failed_check,
              fmt::format("{}: a wait of rank {} gave up, so that no further step may run: a "
                          "sentinel word that comes late would look fresh",
                          object_.record.kernel, rank_),
              "make every rank's runner anew, or build without sentinel regions to go on");
}

void Runner::step_begin() {
  require_may_go_on();
  ++epoch_;
  device_.fill_words_async(epoch_memory_.address(), epoch_, 1, *stream_);
  const uint64_t records = diag_bytes(object_.record);
  // With sentinel regions they stay for synchronize(), also when the next step has begun by then.
  if (records > 0 && !has_sentinel_region(object_.record))
    device_.fill_async(diag_.address(), 0, records, *stream_);
}

KernelArguments Runner::arguments() const {
  return KernelArguments(object_.record,
                         {{"scratch", scratch_.address()},
                          {"peers", peer_table_.address()},
                          {"rank", static_cast<uint64_t>(rank_)},
                          {"epoch", epoch_memory_.address()},
                          {"diag", diag_.address()},
                          {"tl", timeline_.address()}},
                         this);
}

void Runner::launch(const KernelArguments& arguments) {
  require_may_go_on();
  if (arguments.owner() != this) {
    throw Error(ErrorKind::user,
                fmt::format("{}: the arguments are not those of rank {}'s runner",
                            object_.record.kernel, rank_),
                "launch each runner with what its own arguments() began");
  }
  device_.launch(*function_, shape_, arguments.packed(), *stream_);
}

void Runner::synchronize() {
  device_.synchronize(*stream_);
  if (has_sentinel_region(object_.record)) gave_up_ = gave_up_ || !read_diag().empty();
}

void Runner::settle() noexcept {
  try {
    device_.synchronize(*stream_);
  } catch (const Error&) {
    // The launch's error, which was thrown before or can be thrown no more.
  }
}

std::pair<const RecordRegion*, uint32_t> Runner::region_at(DeviceAddress address) const {
  for (const RecordRegion& region : object_.record.regions) {
    for (uint32_t parity = 0; parity < copies(region); ++parity) {
      const DeviceAddress base = address_of(region, parity);
      if (address >= base && address - base < region.bytes) return {&region, parity};
    }
  }
  return {nullptr, 0};
}

std::string Runner::describe(DeviceAddress address) const {
  const auto [region, parity] = region_at(address);
  if (region == nullptr) return "";
  const uint64_t word = (address - address_of(*region, parity)) / word_bytes(*region);
  return fmt::format("{} of rank {}", name_of_word(*region, word), rank_);
}

std::string Runner::describe_missing(DeviceAddress address,
                                     const std::function<bool(DeviceAddress)>& awaited) {
  const auto [region, parity] = region_at(address);
  if (region == nullptr) return "";
  Bytes raw(region->bytes);
  const DeviceAddress base = address_of(*region, parity);
  device_.read(base, raw);
  std::vector<uint64_t> missing = words_not_arrived(*region, raw, epoch_);
  std::erase_if(missing,
                [&](uint64_t word) { return !awaited(base + word * word_bytes(*region)); });
  if (missing.empty()) return "";
  return fmt::format("{} words of it have not arrived, the first is {}", missing.size(),
                     name_of_word(*region, missing.front()));
}

Tensor Runner::read(const RecordRegion& region) {
  Bytes raw(region.bytes);
  device_.read(address_of(region, epoch_ % 2), raw);
  return logical_tensor(region, raw);
}

Tensor Runner::read_region(const std::string& name) {
  for (const RecordRegion& region : object_.record.regions) {
    if (region.name == name) return read(region);
  }
  throw Error(ErrorKind::user, fmt::format("{} has no region '{}'", object_.record.kernel, name));
}

std::vector<UnarmedWord> Runner::unarmed_words(size_t limit) {
  std::vector<UnarmedWord> unarmed;
  for (const RecordRegion& region : object_.record.regions) {
    if (region.protocol != RegionProtocol::sentinel) continue;
    std::vector<uint32_t> words(region.bytes / kWordBytes);
    for (uint32_t parity = 0; parity < copies(region); ++parity) {
      device_.read(address_of(region, parity),
                   {reinterpret_cast<uint8_t*>(words.data()), region.bytes});
      for (size_t i = 0; i < words.size() && unarmed.size() < limit; ++i) {
        if (words[i] == kSentinel) continue;
        unarmed.push_back({fmt::format("{} of rank {}", name_of_word(region, i), rank_), words[i]});
      }
    }
  }
  return unarmed;
}

std::vector<DiagRecord> Runner::read_diag() {
  const uint64_t bytes = diag_bytes(object_.record);
  std::vector<DiagRecord> records(bytes / sizeof(DiagRecord));
  device_.read(diag_.address(), {reinterpret_cast<uint8_t*>(records.data()), bytes});
  std::erase_if(records, [](const DiagRecord& record) { return record.present == 0; });
  return records;
}

std::vector<int64_t> Runner::read_timeline() {
  std::vector<int64_t> stamps(timeline_points(object_.record));
  device_.read(timeline_.address(),
               {reinterpret_cast<uint8_t*>(stamps.data()), stamps.size() * sizeof(int64_t)});
  return stamps;
}

}  // namespace baton
