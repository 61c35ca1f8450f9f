#include "runtime/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"

namespace baton {

bool has_argument(const Record& record, std::string_view name) {
  return std::ranges::find(record.arguments, name, &RecordArgument::name) != record.arguments.end();
}

KernelArguments::KernelArguments(const Record& record, const ArgumentValues& fixed)
    : record_(&record),
      packed_(record.resources.kernarg_bytes),
      given_(record.arguments.size()),
      missing_(record.arguments.size()) {
  for (const auto& [name, value] : fixed) {
    if (has_argument(record, name)) set(index(name), value);
    fixed_.insert(name);
  }
}

size_t KernelArguments::index(std::string_view name) const {
  if (fixed_.contains(name)) {
    throw Error(ErrorKind::user,
                fmt::format("{}: argument '{}' is the runner's own", record_->kernel, name),
                "give no value for it: the runner does");
  }
  const auto found = std::ranges::find(record_->arguments, name, &RecordArgument::name);
  if (found == record_->arguments.end()) {
    throw Error(ErrorKind::user, fmt::format("{} has no argument '{}'", record_->kernel, name),
                "baton info lists the arguments in ABI order");
  }
  return static_cast<size_t>(found - record_->arguments.begin());
}

void KernelArguments::set(size_t index, uint64_t value) {
  const RecordArgument& argument = record_->arguments.at(index);
  if (!given_[index]) --missing_;
  given_[index] = true;
  std::memcpy(packed_.data() + argument.offset, &value, argument.size);
}

ByteView KernelArguments::packed() const {
  if (missing_ == 0) return packed_;
  const auto first = std::ranges::find(given_, false) - given_.begin();
  throw Error(ErrorKind::user, fmt::format("{}: argument '{}' is not given", record_->kernel,
                                           record_->arguments[static_cast<size_t>(first)].name));
}

}  // namespace baton
