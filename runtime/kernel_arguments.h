// The kernarg segment of one kernel's launches: packed once, launched any number of times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/object/record.h"

namespace baton {

/// Values by argument name: an address for a buffer, the number for an integer.
using ArgumentValues = std::map<std::string, uint64_t, std::less<>>;

bool has_argument(const Record& record, std::string_view name);

/// Names the ABI once, in the kernel's record. index() is for before the first launch; set() of an
/// index and packed() take no memory.
class KernelArguments {
 public:
  /// Packed at the offsets of `record`, which must outlive this. `fixed` are values that nobody may
  /// change, also of names that the kernel lacks; `owner` is whose they are.
  explicit KernelArguments(const Record& record, const ArgumentValues& fixed = {},
                           const void* owner = nullptr);

  /// The argument's place in the record. Throws Error (user) for a name whose value is fixed, or
  /// that the kernel lacks.
  size_t index(std::string_view name) const;
  /// Throws Error (user) for an argument whose value is fixed, or an index past the last one.
  void set(size_t index, uint64_t value);
  void set(std::string_view name, uint64_t value) { set(index(name), value); }

  /// The segment's explicit part. Throws Error (user) that names an argument without a value.
  ByteView packed() const;
  const Record& record() const { return *record_; }
  const void* owner() const { return owner_; }

 private:
  enum class State : uint8_t { missing, given, fixed };
  [[noreturn]] void refuse(std::string_view name) const;
  void pack(size_t index, uint64_t value);

  const Record* record_;
  const void* owner_;
  std::vector<std::string> fixed_;  ///< names, also those that the kernel lacks
  Bytes packed_;
  std::vector<State> states_;  ///< of the record's arguments
  size_t missing_;
};

}  // namespace baton
