// Expecting a baton::Error: its kind and what its one line says.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "runtime/base/error.h"

namespace baton::tests {

/// Runs `body`, which must throw a baton::Error of that kind on one line, and returns it.
inline Error error_of(ErrorKind kind, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(error.kind() == kind);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    CHECK(error.hint().find('\n') == std::string::npos);
    return error;
  }
  FAIL("expected a baton::Error, nothing was thrown");
  return {ErrorKind::failed_check, ""};
}

inline std::string user_error(const std::function<void()>& body) {
  return error_of(ErrorKind::user, body).what();
}

}  // namespace baton::tests
