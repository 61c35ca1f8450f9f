// A disk that fills up, for one test.
#pragma once

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>

namespace baton::tests {

/// No file may grow past `bytes` while this lives: what a full disk does to a writer.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace baton::tests
