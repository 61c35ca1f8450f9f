#include "tests/support/hip_standin/transport.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime/base/descriptor.h"

namespace baton::standin {
namespace {

constexpr hip::Code kUnknown = 999;

bool send_bytes(int socket, const void* from, size_t bytes) {
  const auto* next = static_cast<const char*>(from);
  while (bytes != 0) {
    const ssize_t sent = ::send(socket, next, bytes, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    next += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

Descriptor connect_to(const char* path) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), generic, sizeof address) != 0) return Descriptor();
  return socket;
}

Reply ask(int socket, Call call, ByteView payload, Bytes& answer) {
  call.payload_bytes = payload.size();
  Reply reply;
  if (!send_message(socket, &call, sizeof call, payload) ||
      !receive_bytes(socket, &reply, sizeof reply)) {
    return {.code = kUnknown};
  }
  answer.resize(reply.payload_bytes);
  if (!receive_bytes(socket, answer.data(), answer.size())) return {.code = kUnknown};
  return reply;
}

int own_devices() {
  const char* devices = std::getenv("BATON_STANDIN_DEVICES");
  return devices == nullptr ? 8 : std::atoi(devices);
}

Machine& own_machine() {
  const char* chip = std::getenv("BATON_STANDIN_CHIP");
  static Machine machine(chip == nullptr ? "gfx950" : chip, own_devices());
  return machine;
}

}  // namespace

bool receive_bytes(int socket, void* to, size_t bytes) {
  auto* next = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t received = ::recv(socket, next, bytes, 0);
    if (received <= 0) return false;
    next += received;
    bytes -= static_cast<size_t>(received);
  }
  return true;
}

bool send_message(int socket, const void* header, size_t header_bytes, ByteView payload) {
  return send_bytes(socket, header, header_bytes) &&
         send_bytes(socket, payload.data(), payload.size());
}

Reply perform(const Call& call, ByteView payload, Bytes& answer) {
  const char* path = std::getenv("BATON_STANDIN_SOCKET");
  if (path == nullptr && call.op == Op::count) {
    return {.value = static_cast<uint64_t>(own_devices())};  // also where it can emulate none
  }
  if (path == nullptr) return own_machine().handle(call, payload, answer);
  // One a thread: a wait of one must not hold up the others.
  thread_local const Descriptor socket = connect_to(path);
  if (!socket.open()) return {.code = kUnknown};
  return ask(socket.get(), call, payload, answer);
}

}  // namespace baton::standin
