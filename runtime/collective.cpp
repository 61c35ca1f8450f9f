#include "runtime/collective.h"

#include "runtime/base/error.h"

namespace baton {

Collective::Collective(std::span<Device* const> devices, const CodeObject& object)
    : object_(object) {
  if (devices.size() != kRanks) {
    throw Error(ErrorKind::user,
                fmt::format("{} devices: a collective runs on {} ranks", devices.size(), kRanks));
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    runners_.push_back(std::make_unique<Runner>(*devices[static_cast<size_t>(rank)], object, rank));
  }
  Runner::connect(runners_);
}

Collective::~Collective() = default;

const RecordArgument& Collective::argument(const std::string& name, ArgumentKind kind) const {
  for (const RecordArgument& known : object_.record.arguments) {
    if (known.name == name && known.kind == kind) return known;
  }
  throw Error(ErrorKind::user,
              fmt::format("{} has no argument '{}' of kind {}", object_.record.kernel, name,
                          baton::name(kind)),
              "baton info lists the arguments");
}

void Collective::set_tensor(int rank, const std::string& name, const Tensor& tensor) {
  argument(name, ArgumentKind::buffer);
  auto& buffers = buffers_.at(static_cast<size_t>(rank));
  Device& device = runners_.at(static_cast<size_t>(rank))->device();
  auto found = buffers.find(name);
  if (found == buffers.end()) {
    const DeviceAddress address = device.allocate(tensor.bytes.size(), MemoryKind::normal);
    found =
        buffers
            .emplace(name, Buffer{address, {tensor.dtype, tensor.shape, {}}, tensor.bytes.size()})
            .first;
  }
  BATON_CHECK(found->second.bytes == tensor.bytes.size(), "a tensor changed its size: " + name);
  device.write(found->second.address, tensor.bytes);
}

void Collective::set_value(const std::string& name, uint64_t value) {
  argument(name, ArgumentKind::i32);
  values_[name] = value;
}

void Collective::allocate_outputs() {
  for (const RecordArgument& known : object_.record.arguments) {
    const bool only_written =
        known.kind == ArgumentKind::buffer && known.access == ArgumentAccess::write;
    if (!only_written || buffers_[0].contains(known.name)) continue;
    Tensor unwritten{known.dtype, known.shape, {}};
    unwritten.bytes.assign(static_cast<size_t>(unwritten.elements() * dtype_bytes(known.dtype)),
                           0xFF);
    for (int rank = 0; rank < kRanks; ++rank) set_tensor(rank, known.name, unwritten);
  }
}

void Collective::launch() {
  allocate_outputs();
  kept_regions_ = {};
  for (int rank = 0; rank < kRanks; ++rank) {
    if (left_out_[static_cast<size_t>(rank)]) continue;
    ArgumentValues values = values_;
    for (const auto& [name, buffer] : buffers_[static_cast<size_t>(rank)]) {
      values[name] = buffer.address;
    }
    runners_[static_cast<size_t>(rank)]->step_begin();
    runners_[static_cast<size_t>(rank)]->launch(values);
  }
}

void Collective::synchronize() {
  for (const auto& runner : runners_) runner->synchronize();
}

void Collective::keep_region(const std::string& name) {
  for (size_t rank = 0; rank < runners_.size(); ++rank) {
    kept_regions_[rank][name] = runners_[rank]->read_region(name);
  }
}

TensorMap Collective::regions(int rank) {
  const auto index = static_cast<size_t>(rank);
  TensorMap regions = kept_regions_.at(index);
  regions.merge(runners_.at(index)->read_regions());
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

std::string Collective::describe_missing(DeviceAddress address) const {
  for (const auto& runner : runners_) {
    if (std::string missing = runner->describe_missing(address); !missing.empty()) return missing;
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
    const auto& buffers = buffers_.at(static_cast<size_t>(rank));
    const auto found = buffers.find(known.name);
    if (found == buffers.end()) continue;  // the runner's own: scratch, diag, tl
    Tensor tensor = found->second.layout;
    tensor.bytes.resize(found->second.bytes);
    runners_[static_cast<size_t>(rank)]->device().read(found->second.address, tensor.bytes);
    outputs.emplace(known.name, std::move(tensor));
  }
  return outputs;
}

}  // namespace baton
