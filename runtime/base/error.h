// The one error type that crosses the library's API.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace baton {

/// Who can mend the error; the value is the CLI's exit code.
enum class ErrorKind : int {
  failed_check = 1,  ///< a comparison, a verification or a launch went wrong
  user = 2,          ///< the input is wrong: a key, a flag, a file
  environment = 3,   ///< the machine lacks something: a library, a device, disk space
};

/// `message` is one line that names the bad thing (which field, which file, which byte);
/// `where` is "file:line" of an author's source or empty; `hint` says what to do, or is empty.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message, std::string hint = {}, std::string where = {})
      : std::runtime_error(where.empty() ? message : where + ": " + message),
        kind_(kind),
        hint_(std::move(hint)),
        where_(std::move(where)) {}

  ErrorKind kind() const { return kind_; }
  const std::string& hint() const { return hint_; }
  const std::string& where() const { return where_; }

 private:
  ErrorKind kind_;
  std::string hint_;
  std::string where_;
};

/// A broken invariant of our own: always checked, never the user's fault.
#define BATON_CHECK(condition, ...)                                                       \
  do {                                                                                    \
    if (!(condition)) ::baton::fail_check(__FILE__, __LINE__, #condition, ##__VA_ARGS__); \
  } while (false)

/// Throws an Error (kind failed_check) that names the invariant and where it stands.
[[noreturn]] void fail_check(const char* file, int line, const char* condition,
                             const std::string& detail = {});

}  // namespace baton
