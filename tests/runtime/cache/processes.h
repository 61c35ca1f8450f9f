// Child processes of a test.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>

#include "runtime/base/error.h"

namespace baton::tests {

/// Starts a process that runs `body` and exits with 0 when that returned true. An exception is
/// printed and exits with 2.
inline pid_t start_process(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  BATON_CHECK(child >= 0);
  if (child != 0) return child;
  int code = 2;
  try {
    code = body() ? 0 : 1;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
  }
  ::_exit(code);
}

/// Its exit code, or -1 when a signal ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  BATON_CHECK(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace baton::tests
