#include "runtime/cache/http.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

#include "runtime/base/descriptor.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

/// The addresses of a host: those of a name are looked up on a thread of its own, which nothing can
/// hold to a time and which is left behind when that is over.
class Lookup {
 public:
  /// Nothing when it has not ended at `end`.
  static std::shared_ptr<const Lookup> of(const std::string& host, const std::string& port,
                                          Clock::time_point end) {
    const auto lookup = std::make_shared<Lookup>();
    if (lookup->ask(host, port, AI_NUMERICHOST) != EAI_NONAME) return lookup;
    std::promise<void> promise;
    const std::future<void> ended = promise.get_future();
    try {
      std::thread([lookup, host, port, promise = std::move(promise)]() mutable {
        lookup->ask(host, port, 0);
        promise.set_value();
      }).detach();
    } catch (const std::system_error&) {
      return nullptr;  // no thread is to be had
    }
    return ended.wait_until(end) == std::future_status::ready ? lookup : nullptr;
  }
  Lookup() = default;
  Lookup(const Lookup&) = delete;
  ~Lookup() {
    if (found_ != nullptr) ::freeaddrinfo(found_);
  }

  int code() const { return code_; }  ///< of getaddrinfo
  const addrinfo* found() const { return found_; }

 private:
  int ask(const std::string& host, const std::string& port, int flags) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    return code_ = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found_);
  }

  int code_ = 0;
  addrinfo* found_ = nullptr;
};

/// One request and its answer on a connection of its own, with an end to its patience.
class HttpExchange {
 public:
  HttpExchange(const std::string& host, const std::string& port, std::chrono::milliseconds patience)
      : place_(host + ":" + port), end_(Clock::now() + patience) {
    const std::shared_ptr<const Lookup> lookup = Lookup::of(host, port, end_);
    if (!lookup) fail("the name takes too long to look up");
    if (lookup->code() != 0) fail(::gai_strerror(lookup->code()));
    int code = ECONNREFUSED;
    for (const addrinfo* address = lookup->found(); address != nullptr;
         address = address->ai_next) {
      code = connect_to(*address);
      if (code == 0) return;
    }
    fail(std::strerror(code));
  }

  void send(ByteView bytes) {
    while (!bytes.empty()) {
      wait(POLLOUT);
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes = bytes.subspan(static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
    }
  }

  /// Appends what has come to `to`; false at the end.
  bool receive(Bytes& to) {
    uint8_t buffer[16384];
    for (;;) {
      wait(POLLIN);
      const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (got >= 0) {
        to.insert(to.end(), buffer, buffer + got);
        return got > 0;
      }
      if (errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
    }
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(ErrorKind::environment, fmt::format("the server {}: {}", place_, why),
                "check that it runs and answers; all works without it");
  }

 private:
  int connect_to(const addrinfo& address) {
    socket_ =
        Descriptor(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_.open()) return errno;
    if (::connect(socket_.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    wait(POLLOUT);
    int code = 0;
    socklen_t size = sizeof code;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &code, &size);
    return code;
  }

  void wait(short events) {
    pollfd waiting = {socket_.get(), events, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    const int ready = left.count() <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready == 0) fail("it takes too long");
    if (ready < 0 && errno != EINTR) fail(std::strerror(errno));
  }

  std::string place_;
  Clock::time_point end_;
  Descriptor socket_;
};

struct Answer {
  int status = 0;
  std::optional<uint64_t> length;
  size_t body = 0;  ///< where it begins
};

/// The head of an answer, or nothing while it is not whole.
std::optional<Answer> parse_head(const Bytes& bytes, const HttpExchange& exchange) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kEnd = "\r\n\r\n";
  constexpr size_t kMostHeadBytes = 65536;
  const size_t end = text.find(kEnd);
  if (end == text.npos && text.size() > kMostHeadBytes) exchange.fail("its answer has no end");
  if (end == text.npos) return std::nullopt;
  Answer answer{.status = 0, .length = {}, .body = end + kEnd.size()};
  constexpr size_t kStatusAt = 9, kStatusChars = 3;  // "HTTP/1.1 200 OK"
  if (!text.starts_with("HTTP/1.") || end < kStatusAt + kStatusChars) {
    exchange.fail("its answer is no HTTP");
  }
  answer.status = parse_number<int>(text.substr(kStatusAt, kStatusChars)).value_or(0);
  std::string head(text.substr(0, end));
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return std::tolower(c); });
  if (head.find("\r\ntransfer-encoding:") != head.npos) exchange.fail("it answers in chunks");
  constexpr std::string_view kLength = "\r\ncontent-length:";
  if (const size_t at = head.find(kLength); at != head.npos) {
    std::string_view value = std::string_view(head).substr(at + kLength.size());
    value = value.substr(0, value.find('\r'));
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    answer.length = parse_number<uint64_t>(value);
  }
  return answer;
}

/// Sends the request; the status, and the body of an answer that has one.
int ask(HttpExchange& exchange, std::string_view head, ByteView payload, Bytes& body,
        uint64_t max_bytes) {
  exchange.send(as_bytes(head));
  exchange.send(payload);
  Bytes bytes;
  std::optional<Answer> answer;
  while (!(answer = parse_head(bytes, exchange))) {
    if (!exchange.receive(bytes)) exchange.fail("its answer was cut");
  }
  // A length that is not told would leave a cut answer looking whole.
  const bool has_body = answer->status == 200 && payload.empty();
  if (!has_body) return answer->status;
  if (!answer->length) exchange.fail("its answer tells no length");
  if (*answer->length > max_bytes) exchange.fail("its answer is too long");
  const size_t end = answer->body + *answer->length;
  while (bytes.size() < end) {
    if (!exchange.receive(bytes)) exchange.fail("its answer was cut");
  }
  body.assign(bytes.begin() + static_cast<ptrdiff_t>(answer->body),
              bytes.begin() + static_cast<ptrdiff_t>(end));
  return answer->status;
}

}  // namespace

HttpFolder::HttpFolder(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const auto fail = [&] {
    throw Error(ErrorKind::user, fmt::format("{} is no URL of a shared cache", quote(url)),
                "http://HOST:PORT/PATH; https and logins are a proxy's work");
  };
  if (!url.starts_with(kScheme)) fail();
  std::string_view rest = url.substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view place = rest.substr(0, slash);
  path_ = rest.substr(slash);
  while (path_.ends_with('/')) path_.pop_back();
  const size_t colon = std::min(place.rfind(':'), place.size());
  host_ = place.substr(0, colon);
  port_ = colon == place.size() ? "80" : place.substr(colon + 1);
  constexpr std::string_view kOutside = " \r\n\t?#@";
  if (host_.empty() || !parse_number<uint16_t>(port_) || url.find_first_of(kOutside) != url.npos) {
    fail();
  }
}

std::optional<Bytes> HttpFolder::get(const std::string& name, uint64_t max_bytes,
                                     std::chrono::milliseconds patience) const {
  HttpExchange exchange(host_, port_, patience);
  Bytes body;
  const int status =
      ask(exchange,
          fmt::format("GET {}/{} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\n\r\n", path_, name,
                      host_, port_),
          {}, body, max_bytes);
  if (status == 404 || status == 410) return std::nullopt;
  if (status != 200) exchange.fail(fmt::format("it answers {}", status));
  return body;
}

void HttpFolder::put(const std::string& name, ByteView bytes,
                     std::chrono::milliseconds patience) const {
  HttpExchange exchange(host_, port_, patience);
  Bytes ignored;
  const int status = ask(
      exchange,
      fmt::format(
          "PUT {}/{} HTTP/1.1\r\nHost: {}:{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
          path_, name, host_, port_, bytes.size()),
      bytes, ignored, 0);
  if (status < 200 || status > 299) exchange.fail(fmt::format("it answers {}", status));
}

}  // namespace baton
