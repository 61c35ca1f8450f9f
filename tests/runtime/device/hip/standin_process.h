// The server that the stand-ins of several processes share.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "runtime/base/descriptor.h"
#include "tests/runtime/cache/processes.h"
#include "tests/support/temp_folder.h"

namespace baton::tests {

class StandinServer {
 public:
  StandinServer(const std::string& chip, int devices) : chip_(chip) {
    int input[2], output[2];
    BATON_CHECK(::pipe2(input, O_CLOEXEC) == 0 && ::pipe2(output, O_CLOEXEC) == 0);
    const std::string socket = (folder_ / "socket").string();
    server_ = start_process([&] {
      ::dup2(input[0], STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      ::execl(BATON_HIP_SERVER, BATON_HIP_SERVER, socket.c_str(), chip.c_str(),
              std::to_string(devices).c_str(), nullptr);
      return false;
    });
    ::close(input[0]);
    ::close(output[1]);
    stop_ = Descriptor(input[1]);
    const Descriptor ready(output[0]);
    char byte;
    BATON_CHECK(::read(ready.get(), &byte, 1) == 1, "the server does not start");
  }
  ~StandinServer() {
    stop_ = Descriptor();
    int status;
    ::waitpid(server_, &status, 0);
    ::unsetenv("BATON_STANDIN_SOCKET");
    ::unsetenv("BATON_STANDIN_CHIP");
  }

  /// From now on this process and its children use the server's machine.
  void use() const {
    ::setenv("BATON_HIP_LIBRARY", BATON_HIP_STANDIN, 1);
    ::setenv("BATON_STANDIN_CHIP", chip_.c_str(), 1);
    ::setenv("BATON_STANDIN_SOCKET", (folder_ / "socket").c_str(), 1);
  }

 private:
  TempFolder folder_;
  std::string chip_;
  pid_t server_ = -1;
  Descriptor stop_;
};

}  // namespace baton::tests
