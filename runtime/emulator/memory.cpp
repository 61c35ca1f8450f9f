#include "runtime/emulator/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/error.h"

namespace baton::emulator {
namespace {

constexpr uint64_t kPage = 4096;

uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::string describe_allocation(const Allocation& a) {
  return fmt::format("{}{} 0x{:x} ({} bytes, device {})", a.freed ? "freed " : "", a.label, a.base,
                     a.bytes, a.device);
}

}  // namespace

AddressSpace::~AddressSpace() {
  for (Allocation& a : allocations_) {
    if (!a.freed) munmap(a.host, round_up(a.bytes, kPage));
  }
}

const Allocation& AddressSpace::allocate(int device, uint64_t bytes, std::string label) {
  const std::lock_guard lock(mutex_);
  const size_t slot = static_cast<size_t>(device);
  if (next_.size() <= slot) {
    for (size_t d = next_.size(); d <= slot; ++d) next_.push_back((d + 1) << 40);
    used_.resize(slot + 1);
  }
  if (bytes == 0) {
    throw Error(ErrorKind::user, fmt::format("an allocation of 0 bytes on device {}", device));
  }
  if (bytes > kMaxDeviceBytes - used_[slot]) {
    throw Error(ErrorKind::environment,
                fmt::format("device {} has no room for {} bytes: {} of {} are in use", device,
                            bytes, used_[slot], kMaxDeviceBytes));
  }
  void* host = mmap(nullptr, round_up(bytes, kPage), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED) {
    throw Error(ErrorKind::environment,
                fmt::format("the host has no room for {} bytes: {}", bytes, std::strerror(errno)));
  }
  Allocation& a = allocations_.emplace_back();
  a.base = next_[slot];
  a.bytes = bytes;
  a.host = static_cast<uint8_t*>(host);
  a.device = device;
  a.label = std::move(label);
  next_[slot] += round_up(bytes, kPage) + kGap;
  used_[slot] += bytes;

  const Index* current = index_.load();
  auto index = std::make_unique<Index>(current ? *current : Index{});
  index->insert(std::ranges::upper_bound(*index, a.base, {}, &Allocation::base), &a);
  index_.store(index.get());
  if (pins_ == 0) indices_.clear();
  indices_.push_back(std::move(index));
  return a;
}

void AddressSpace::pin() {
  const std::lock_guard lock(mutex_);
  ++pins_;
}

void AddressSpace::unpin() {
  const std::lock_guard lock(mutex_);
  --pins_;
}

void AddressSpace::release(uint64_t address) {
  const std::lock_guard lock(mutex_);
  for (Allocation& a : allocations_) {
    if (a.base != address || a.freed) continue;
    a.freed = true;
    used_[static_cast<size_t>(a.device)] -= a.bytes;
    munmap(a.host, round_up(a.bytes, kPage));
    a.host = nullptr;
    return;
  }
  throw Error(ErrorKind::user,
              fmt::format("0x{:x} is not the start of a live allocation", address));
}

const Allocation* AddressSpace::find(uint64_t address) const {
  const Index* index = index_.load(std::memory_order_acquire);
  if (!index) return nullptr;
  auto above = std::ranges::upper_bound(*index, address, {}, &Allocation::base);
  if (above == index->begin()) return nullptr;
  const Allocation* a = *std::prev(above);
  return a->holds(address, 1) ? a : nullptr;
}

const Allocation* AddressSpace::nearest(uint64_t address) const {
  const Index* index = index_.load(std::memory_order_acquire);
  if (!index || index->empty()) return nullptr;
  auto above = std::ranges::upper_bound(*index, address, {}, &Allocation::base);
  if (above == index->begin()) return *above;
  const Allocation* below = *std::prev(above);
  if (above == index->end()) return below;
  return (*above)->base - address < address - (below->base + below->bytes) ? *above : below;
}

uint8_t* AddressSpace::host(uint64_t address, uint64_t size, const char* purpose) const {
  const std::lock_guard lock(mutex_);
  const Allocation* a = find(address);
  if (!a || a->freed || !a->holds(address, size)) {
    throw Error(ErrorKind::user, fmt::format("{}: {}", purpose, describe(address, size)));
  }
  return a->host + (address - a->base);
}

std::string AddressSpace::describe(uint64_t address, uint64_t size) const {
  const std::string range = fmt::format("{} bytes at 0x{:x}", size, address);
  if (const Allocation* a = find(address)) {
    if (a->freed) return fmt::format("{}: in {}", range, describe_allocation(*a));
    return fmt::format("{}: {} bytes past the end of {}", range,
                       address + size - (a->base + a->bytes), describe_allocation(*a));
  }
  const Allocation* a = nearest(address);
  if (!a) return range + ": nothing is allocated";
  if (address < a->base) {
    return fmt::format("{}: {} bytes before {}", range, a->base - address, describe_allocation(*a));
  }
  return fmt::format("{}: {} bytes behind the end of {}", range, address - (a->base + a->bytes),
                     describe_allocation(*a));
}

}  // namespace baton::emulator
