#include "runtime/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"

namespace baton {

bool has_argument(const Record& record, std::string_view name) {
  return std::ranges::find(record.arguments, name, &RecordArgument::name) != record.arguments.end();
}

KernelArguments::KernelArguments(const Record& record, const ArgumentValues& fixed,
                                 const void* owner)
    : record_(&record),
      owner_(owner),
      packed_(record.resources.kernarg_bytes),
      states_(record.arguments.size(), State::missing),
      missing_(record.arguments.size()) {
  for (const auto& [name, value] : fixed) {
    if (has_argument(record, name)) {
      const size_t own = index(name);
      pack(own, value);
      states_[own] = State::fixed;
    }
    fixed_.push_back(name);
  }
}

void KernelArguments::refuse(std::string_view name) const {
  throw Error(ErrorKind::user,
              fmt::format("{}: argument '{}' is the runner's own", record_->kernel, name),
              "give no value for it: the runner does");
}

size_t KernelArguments::index(std::string_view name) const {
  if (std::ranges::find(fixed_, name) != fixed_.end()) refuse(name);
  const auto found = std::ranges::find(record_->arguments, name, &RecordArgument::name);
  if (found == record_->arguments.end()) {
    throw Error(ErrorKind::user, fmt::format("{} has no argument '{}'", record_->kernel, name),
                "baton info lists the arguments in ABI order");
  }
  return static_cast<size_t>(found - record_->arguments.begin());
}

void KernelArguments::pack(size_t index, uint64_t value) {
  const RecordArgument& argument = record_->arguments[index];
  if (states_[index] == State::missing) --missing_;
  states_[index] = State::given;
  std::memcpy(packed_.data() + argument.offset, &value, argument.size);
}

void KernelArguments::set(size_t index, uint64_t value) {
  if (index >= states_.size()) {
    throw Error(
        ErrorKind::user,
        fmt::format("{} has {} arguments, none at {}", record_->kernel, states_.size(), index),
        "index() tells the place of a name");
  }
  if (states_[index] == State::fixed) refuse(record_->arguments[index].name);
  pack(index, value);
}

ByteView KernelArguments::packed() const {
  if (missing_ == 0) return packed_;
  const auto first = std::ranges::find(states_, State::missing) - states_.begin();
  throw Error(ErrorKind::user, fmt::format("{}: argument '{}' is not given", record_->kernel,
                                           record_->arguments[static_cast<size_t>(first)].name));
}

}  // namespace baton
