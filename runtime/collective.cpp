#include "runtime/collective.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/base/error.h"

namespace baton {
namespace {

/// Takes from `later` the words that had not arrived.
void fill_in(Tensor& kept, const Tensor& later) {
  for (size_t at = 0; at < kept.bytes.size(); at += kWordBytes) {
    if (std::memcmp(&kept.bytes[at], &kSentinel, kWordBytes) != 0) continue;
    std::memcpy(&kept.bytes[at], &later.bytes[at], kWordBytes);
  }
}

void require_ranks(const Record& record, size_t ranks) {
  const size_t least = has_argument(record, "peers") ? kRanks : 1;
  if (ranks >= least && ranks <= kRanks) return;
  throw Error(ErrorKind::user,
              fmt::format("{} runs on {}{} ranks, not on {}", record.kernel,
                          least == 1 ? "1 to " : "", kRanks, ranks),
              "give a device for each rank, or start a process for each");
}

RankShare agreed(Exchange& exchange, const std::function<RankShare()>& bring) {
  std::optional<RankShare> share;
  in_agreement(exchange, [&] { share.emplace(bring()); });
  return *share;
}

}  // namespace

Collective::Collective(std::span<Device* const> devices, const CodeObject& object)
    : object_(object) {
  require_ranks(object.record, devices.size());
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    add_rank(*devices[rank], static_cast<int>(rank));
  }
  if (has_argument(object.record, "peers")) Runner::connect(runners_);
}

Collective::Collective(Exchange& exchange, Device& device, const CodeObject& object)
    : object_(object) {
  in_agreement(exchange, [&] {
    require_ranks(object.record, static_cast<size_t>(exchange.ranks()));
    add_rank(device, exchange.rank());
  });
  if (!has_argument(object.record, "peers")) return;
  runners_.front()->connect(exchange);
  exchange_ = &exchange;
}

Collective::Collective(Exchange& exchange, const std::function<RankShare()>& bring)
    : Collective(exchange, agreed(exchange, bring)) {}

Collective::~Collective() {
  // Of all, before the memory of any is freed: they write to each other's.
  for (const auto& runner : runners_) runner->settle();
}

void Collective::disconnect() {
  if (exchange_ != nullptr) runners_.front()->disconnect(*std::exchange(exchange_, nullptr));
}

void Collective::add_rank(Device& device, int rank) {
  runners_.push_back(std::make_unique<Runner>(device, object_, rank));
  arguments_.push_back(runners_.back()->arguments());
  ranks_.push_back(rank);
}

size_t Collective::index_of(int rank) const {
  const auto found = std::ranges::find(ranks_, rank);
  if (found != ranks_.end()) return static_cast<size_t>(found - ranks_.begin());
  throw Error(ErrorKind::user, fmt::format("rank {} does not live in this process", rank),
              "ranks() are those that do");
}

const RecordArgument& Collective::argument(const std::string& name, std::string_view kind,
                                           bool (*is)(ArgumentKind)) const {
  const std::vector<RecordArgument>& all = object_.record.arguments;
  const RecordArgument& known = all[arguments_.front().index(name)];
  if (is(known.kind)) return known;
  throw Error(ErrorKind::user,
              fmt::format("{} has no {} argument '{}'", object_.record.kernel, kind, name),
              "baton info lists the arguments");
}

const RecordArgument& Collective::buffer_argument(const std::string& name) const {
  return argument(name, "buffer", [](ArgumentKind kind) { return kind == ArgumentKind::buffer; });
}

void Collective::set_tensor(int rank, const std::string& name, const Tensor& tensor) {
  const RecordArgument& known = buffer_argument(name);
  if (known.dtype != tensor.dtype) {
    throw Error(ErrorKind::user,
                fmt::format("{}: argument '{}' is of {}, not of {}", object_.record.kernel, name,
                            known.dtype, tensor.dtype),
                "baton info lists the arguments");
  }
  const Tensor layout{known.dtype, known.shape, {}};
  if (!known.shape.empty() && layout.elements() != tensor.elements()) {
    throw Error(ErrorKind::user,
                fmt::format("{}: argument '{}' is {}, not {}", object_.record.kernel, name,
                            baton::describe(known.dtype, known.shape),
                            baton::describe(tensor.dtype, tensor.shape)),
                "baton info lists the arguments");
  }
  null_.erase(name);
  const size_t index = index_of(rank);
  auto& buffers = buffers_[index];
  Device& device = runners_[index]->device();
  auto found = buffers.find(name);
  if (found == buffers.end()) {
    Buffer buffer{DeviceMemory(device, tensor.bytes.size(), MemoryKind::normal),
                  {tensor.dtype, tensor.shape, {}},
                  tensor.bytes.size()};
    found = buffers.emplace(name, std::move(buffer)).first;
  }
  BATON_CHECK(found->second.bytes == tensor.bytes.size(), "a tensor changed its size: " + name);
  device.write(found->second.memory.address(), tensor.bytes);
  arguments_[index].set(name, found->second.memory.address());
}

void Collective::set_null(const std::string& name) {
  buffer_argument(name);
  null_.insert(name);
  for (KernelArguments& arguments : arguments_) arguments.set(name, 0);
}

void Collective::set_value(const std::string& name, uint64_t value) {
  argument(name, "integer", [](ArgumentKind kind) {
    return kind == ArgumentKind::i32 || kind == ArgumentKind::i64;
  });
  for (KernelArguments& arguments : arguments_) arguments.set(name, value);
}

void Collective::allocate_outputs() {
  for (const RecordArgument& known : object_.record.arguments) {
    const bool only_written =
        known.kind == ArgumentKind::buffer && known.access == ArgumentAccess::write;
    if (!only_written || null_.contains(known.name) || is_runner_argument(known.name)) continue;
    if (buffers_[0].contains(known.name)) continue;
    if (known.shape.empty()) {
      throw Error(ErrorKind::user,
                  fmt::format("{}: the record gives no shape of the output '{}'",
                              object_.record.kernel, known.name),
                  "set a tensor for it, which says how large it is");
    }
    Tensor unwritten{known.dtype, known.shape, {}};
    unwritten.bytes.assign(static_cast<size_t>(unwritten.elements() * dtype_bytes(known.dtype)),
                           0xFF);
    for (const int rank : ranks_) set_tensor(rank, known.name, unwritten);
  }
}

void Collective::launch() {
  for (const auto& runner : runners_) runner->require_may_go_on();
  allocate_outputs();
  kept_regions_ = {};
  for (size_t rank = 0; rank < runners_.size(); ++rank) {
    if (left_out_[rank]) continue;
    runners_[rank]->step_begin();
    runners_[rank]->launch(arguments_[rank]);
  }
}

void Collective::synchronize() {
  for (const auto& runner : runners_) runner->synchronize();
}

void Collective::keep_region(const std::string& name) {
  for (size_t rank = 0; rank < runners_.size(); ++rank) {
    Tensor now = runners_[rank]->read_region(name);
    const auto [kept, first] = kept_regions_[rank].try_emplace(name, std::move(now));
    if (!first) fill_in(kept->second, now);
  }
}

TensorMap Collective::regions(int rank) {
  const size_t index = index_of(rank);
  TensorMap regions = kept_regions_[index];
  for (const RecordRegion& region : object_.record.regions) {
    if (regions.contains(region.name) || region.protocol == RegionProtocol::sentinel) continue;
    regions.emplace(region.name, runners_[index]->read_region(region.name));
  }
  return regions;
}

std::vector<UnarmedWord> Collective::unarmed_words(size_t limit) {
  std::vector<UnarmedWord> all;
  for (const auto& runner : runners_) {
    for (UnarmedWord& word : runner->unarmed_words(limit - all.size())) {
      all.push_back(std::move(word));
    }
  }
  return all;
}

std::string Collective::describe_missing(DeviceAddress address,
                                         const std::function<bool(DeviceAddress)>& awaited) const {
  for (const auto& runner : runners_) {
    std::string missing = runner->describe_missing(address, awaited);
    if (!missing.empty()) return missing;
  }
  return "";
}

std::string Collective::describe(DeviceAddress address) const {
  for (const auto& runner : runners_) {
    if (std::string place = runner->describe(address); !place.empty()) return place;
  }
  return "";
}

TensorMap Collective::outputs(int rank) {
  TensorMap outputs;
  for (const RecordArgument& known : object_.record.arguments) {
    if (known.kind != ArgumentKind::buffer || known.access == ArgumentAccess::read) continue;
    const auto& buffers = buffers_[index_of(rank)];
    const auto found = buffers.find(known.name);
    // Without a buffer are the runner's own: scratch, diag, tl.
    if (found == buffers.end() || null_.contains(known.name)) continue;
    Tensor tensor = found->second.layout;
    tensor.bytes.resize(found->second.bytes);
    this->rank(rank).device().read(found->second.memory.address(), tensor.bytes);
    outputs.emplace(known.name, std::move(tensor));
  }
  return outputs;
}

}  // namespace baton
