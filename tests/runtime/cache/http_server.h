// A web server in this process, as bad as a test wants it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::tests {

class HttpServer {
 public:
  struct Request {
    std::string method, path, body;
  };
  /// The whole answer, head and body; empty: none, and the connection stays open until the end.
  using Handler = std::function<std::string(const Request&)>;

  explicit HttpServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    constexpr int kBacklog = 64;
    BATON_CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, kBacklog) == 0 &&
                ::getsockname(listener_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    ending_ = true;
    thread_.join();
    ::close(listener_);
  }

  std::string url() const { return fmt::format("http://127.0.0.1:{}/dav", port_); }

  static std::string answer(const std::string& status, const std::string& body = "") {
    return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
  }

 private:
  void serve() {
    std::vector<int> open;
    while (!ending_) {
      pollfd waiting = {listener_, POLLIN, 0};
      constexpr int kLookAgainMs = 10;
      if (::poll(&waiting, 1, kLookAgainMs) <= 0) continue;
      const int client = ::accept(listener_, nullptr, nullptr);
      const std::string text = handler_(read_request(client));
      if (text.empty()) {
        open.push_back(client);
        continue;
      }
      size_t sent = 0;
      while (sent < text.size()) {
        const ssize_t count = ::send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) break;
        sent += static_cast<size_t>(count);
      }
      ::close(client);
    }
    for (int client : open) ::close(client);
  }

  static Request read_request(int client) {
    std::string text;
    char buffer[65536];
    size_t head = std::string::npos, wanted = 0;
    while (head == std::string::npos || text.size() < head + 4 + wanted) {
      const ssize_t count = ::recv(client, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      text.append(buffer, static_cast<size_t>(count));
      head = text.find("\r\n\r\n");
      const size_t length = text.find("Content-Length: ");
      if (length < head) wanted = std::stoul(text.substr(length + 16));
    }
    const size_t space = text.find(' '), end = text.find(' ', space + 1);
    return {text.substr(0, space), text.substr(space + 1, end - space - 1), text.substr(head + 4)};
  }

  Handler handler_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace baton::tests
