// A shared library of the machine that is opened when it is wanted.
#pragma once

#include <span>
#include <string>

namespace baton {

/// Which library to open, and what its errors say.
struct LibrarySearch {
  const char* what;                    ///< "HIP runtime"
  const char* variable;                ///< of the environment: names the library to open instead
  std::span<const char* const> names;  ///< tried in order
  const char* hint;
  bool stays = false;  ///< it is not built to be unloaded: it stays in the process
};

class DynamicLibrary {
 public:
  /// Opens the library that the variable names, else the first of the names that is there. Its
  /// symbols are seen by nobody else. Throws Error (environment), one line.
  explicit DynamicLibrary(const LibrarySearch& search);
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;

  /// As it was opened: "libamdhip64.so.5", or what the variable says.
  const std::string& name() const { return name_; }

  /// Finds `symbol`. Throws Error (environment) when the library has none.
  template <typename Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
  }

 private:
  void* address_of(const char* symbol) const;

  std::string name_;
  const char* hint_;
  void* handle_ = nullptr;
};

}  // namespace baton
