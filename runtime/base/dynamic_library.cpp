#include "runtime/base/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include "runtime/base/environment.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton {
namespace {

/// Whether dlopen found no file of that name, which is no fault of a file that is there.
bool is_absence(std::string_view reason, const std::string& name) {
  return reason == name + ": cannot open shared object file: No such file or directory";
}

}  // namespace

DynamicLibrary::DynamicLibrary(const LibrarySearch& search) : hint_(search.hint) {
  const int mode = RTLD_NOW | RTLD_LOCAL | (search.stays ? RTLD_NODELETE : 0);
  if (const std::optional<std::string> own = environment_variable(search.variable)) {
    name_ = *own;
    handle_ = ::dlopen(own->c_str(), mode);
    if (handle_ != nullptr) return;
    throw Error(ErrorKind::environment,
                fmt::format("cannot open {}: {}", search.variable, printable(::dlerror())), hint_);
  }
  for (const char* known : search.names) {
    name_ = known;
    handle_ = ::dlopen(known, mode);
    if (handle_ != nullptr) return;
    const std::string reason = ::dlerror();
    if (is_absence(reason, known)) continue;
    throw Error(ErrorKind::environment,
                fmt::format("cannot open {}: {}", search.what, printable(reason)), hint_);
  }
  throw Error(ErrorKind::environment,
              fmt::format("no {} is installed: none of {} is there", search.what,
                          fmt::join(search.names, ", ")),
              hint_);
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* DynamicLibrary::address_of(const char* symbol) const {
  void* address = ::dlsym(handle_, symbol);
  if (address != nullptr) return address;
  throw Error(ErrorKind::environment,
              fmt::format("{} has no function {}", printable(name_), symbol), hint_);
}

}  // namespace baton
