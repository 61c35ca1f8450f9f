// hip_standin_server SOCKET CHIP DEVICES: one machine for the stand-ins of several processes.
// Prints "ready" and serves until its standard input ends; then prints what was left.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/support/hip_standin/transport.h"

namespace baton::standin {
namespace {

void serve(Machine& machine, int socket) {
  Call call;
  while (receive_bytes(socket, &call, sizeof call)) {
    Bytes payload(call.payload_bytes), answer;
    if (!receive_bytes(socket, payload.data(), payload.size())) break;
    const Reply reply = machine.handle(call, payload, answer);
    if (!send_message(socket, &reply, sizeof reply, answer)) break;
  }
  ::close(socket);
}

int run(const char* path, const char* chip, int devices) {
  Machine machine(chip, devices);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  constexpr int kBacklog = 64;
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, kBacklog) != 0) {
    std::perror(path);
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  pollfd waiting[] = {{STDIN_FILENO, POLLIN, 0}, {listener, POLLIN, 0}};
  while (::poll(waiting, 2, -1) > 0 && waiting[0].revents == 0) {
    std::thread(serve, std::ref(machine), ::accept(listener, nullptr, nullptr)).detach();
  }
  ::signal(SIGPIPE, SIG_IGN);  // nobody need listen
  std::puts(machine.leftovers().c_str());
  std::fflush(stdout);
  std::_Exit(0);  // clients that are still connected have threads in the machine
}

}  // namespace
}  // namespace baton::standin

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return baton::standin::run(argv[1], argv[2], std::atoi(argv[3]));
}
