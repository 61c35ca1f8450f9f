#include <dlfcn.h>
#include <netdb.h>

#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/cache/shared_store.h"
#include "runtime/loader.h"
#include "tests/runtime/cache/http_server.h"
#include "tests/runtime/cache/stub_builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace {

constexpr const char* kSlowHost = "slow.invalid";
constexpr const char* kNoHost = "unknown.invalid";

}  // namespace

/// In place of the system's, for this program: a host whose name nobody answers for, and one that
/// nobody has.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** found) {
  const bool is_name = (hints->ai_flags & AI_NUMERICHOST) == 0;
  if (is_name && host == std::string_view(kNoHost)) return EAI_NONAME;
  if (is_name && host == std::string_view(kSlowHost)) {
    std::this_thread::sleep_for(std::chrono::seconds(20));
    return EAI_AGAIN;
  }
  using Lookup = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system = reinterpret_cast<Lookup>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return system(host, port, hints, found);
}

namespace baton {
namespace {

using std::chrono::milliseconds;
using tests::HttpServer;
using tests::stub_key;
using tests::stub_keys;
using tests::stub_object;
using tests::StubBuilder;
using tests::TempFolder;

const Digest kContent = sha256(as_bytes("content"));

/// What an nginx WebDAV location does.
struct Shelf {
  std::map<std::string, std::string> files;
  HttpServer server{[this](const HttpServer::Request& request) {
    if (request.method == "PUT") {
      files[request.path] = request.body;
      return HttpServer::answer("201 Created");
    }
    const auto found = files.find(request.path);
    return found == files.end() ? HttpServer::answer("404 Not Found")
                                : HttpServer::answer("200 OK", found->second);
  }};
};

TEST_CASE("what one machine compiles another takes from the shared cache") {
  Shelf shelf;
  const TempFolder folder;
  const StubBuilder stub({.log = folder / "log"});
  uint64_t compiled = 0;
  for (const char* machine : {"a", "b", "c"}) {
    SharedStore shared({.url = shelf.server.url()});
    Cache cache({.folder = folder / machine});
    Loader loader({.cache = &cache, .shared = &shared, .builder = &stub});
    CHECK(loader.prepare(stub_keys(5), 2).empty());
    for (const BuildKey& key : stub_keys(5)) {
      CHECK(loader.get(key).bytes == stub_object(key).bytes);
      CHECK(loader.get(key).record == stub_object(key).record);
    }
    compiled += loader.counts().compiled;
    CHECK(loader.counts().compiled + loader.counts().shared == 5);
  }
  CHECK(compiled == 5);
  CHECK(shelf.files.size() == 5);
}

TEST_CASE("one bit changed anywhere on the server, and the file is not taken") {
  Shelf shelf;
  {
    SharedStore({.url = shelf.server.url()}).offer(kContent, stub_object(stub_key(1)));
  }
  REQUIRE(shelf.files.size() == 1);
  std::string& file = shelf.files.begin()->second;
  const std::string whole = file;
  std::vector<std::string> reports;
  SharedStore shared({.url = shelf.server.url(),
                      .report = [&](const std::string& line) { reports.push_back(line); }});
  REQUIRE(shared.fetch(kContent));
  for (size_t i = 0; i < whole.size(); i += 1 + whole.size() / 97) {
    file = whole;
    file[i] = static_cast<char>(file[i] ^ (1 << (i % 8)));
    CAPTURE(i);
    CHECK_FALSE(shared.fetch(kContent));
  }
  for (size_t size : {size_t{0}, size_t{3}, whole.size() / 2, whole.size() - 1}) {
    file = whole.substr(0, size);
    CHECK_FALSE(shared.fetch(kContent));
  }
  CHECK(reports.size() > 90);
  for (const std::string& report : reports) CHECK(report.starts_with("damaged: http://"));
  file = whole + "x";
  CHECK_FALSE(shared.fetch(kContent));
  file = whole;
  CHECK(shared.fetch(kContent));
}

TEST_CASE("the file of another content is not taken for this one") {
  Shelf shelf;
  {
    SharedStore({.url = shelf.server.url()}).offer(kContent, stub_object(stub_key(1)));
  }
  const Digest other = sha256(as_bytes("other"));
  shelf.files["/dav/" + other.hex() + ".baton"] = shelf.files.begin()->second;
  CHECK_FALSE(SharedStore({.url = shelf.server.url()}).fetch(other));
}

TEST_CASE("a server that is bad in any way is reported once, and then left alone") {
  const std::string huge = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
  const std::string cut = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
  const std::pair<std::string, const char*> answers[] = {
      {"", "it takes too long"},
      {"nonsense of some length\r\n\r\n", "its answer is no HTTP"},
      {"HTTP/1.1 200 OK\r\n\r\n", "its answer tells no length"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "it answers in chunks"},
      {HttpServer::answer("500 Oh"), "it answers 500"},
      {HttpServer::answer("301 There"), "it answers 301"},
      {huge, "its answer is too long"},
      {cut, "its answer was cut"},
      {"HTTP/1.1 200", "its answer was cut"},
      {std::string(100'000, 'x'), "its answer has no end"},
  };
  for (const auto& [answer, why] : answers) {
    CAPTURE(why);
    std::atomic<int> asked = 0;
    HttpServer server([&, text = answer](const HttpServer::Request&) {
      ++asked;
      return text;
    });
    const TempFolder folder;
    std::vector<std::string> reports;
    SharedStore shared({.url = server.url(),
                        .patience = milliseconds(300),
                        .report = [&](const std::string& line) { reports.push_back(line); }});
    Cache cache({.folder = folder / "c"});
    const StubBuilder stub(tests::StubOptions{});
    Loader loader({.cache = &cache, .shared = &shared, .builder = &stub});
    CHECK(loader.prepare(stub_keys(6), 1).empty());
    CHECK(loader.counts().compiled == 6);
    REQUIRE(reports.size() == 1);
    CHECK_THAT(reports[0],
               Catch::StartsWith("going on without the shared cache: ") && Catch::EndsWith(why));
    CHECK(asked == 1);
  }
}

/// A server that sleeps before each answer.
struct SlowShelf {
  milliseconds pause;
  std::atomic<int> asked = 0;
  std::atomic<int> taken = 0;
  HttpServer server{[this](const HttpServer::Request& request) {
    ++asked;
    std::this_thread::sleep_for(pause);
    taken += request.method == "PUT";
    return HttpServer::answer(request.method == "PUT" ? "201 Created" : "404 Not Found");
  }};
};

struct Reports {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::function<void(const std::string&)> add() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      lines.push_back(line);
    };
  }
};

TEST_CASE("a server whose answers are slow is left alone when they have cost its patience") {
  SlowShelf shelf{.pause = milliseconds(70)};
  Reports reports;
  SharedStore shared({.url = shelf.server.url(),
                      .patience = milliseconds(200),
                      .slow = milliseconds(20),
                      .report = reports.add()});
  for (int i = 0; i < 20; ++i) CHECK_FALSE(shared.fetch(kContent));
  CHECK(shelf.asked <= 4);
  REQUIRE(reports.lines.size() == 1);
  CHECK_THAT(reports.lines[0], Catch::StartsWith("going on without the shared cache: the server"));
}

TEST_CASE("answers that are not slow cost nothing, however many") {
  SlowShelf shelf{.pause = milliseconds(5)};
  Reports reports;
  SharedStore shared(
      {.url = shelf.server.url(), .patience = milliseconds(2000), .report = reports.add()});
  for (int i = 0; i < 100; ++i) shared.fetch(kContent);
  CHECK(shelf.asked == 100);
  CHECK(reports.lines.empty());
}

TEST_CASE("what cannot be sent in time at the end is told once") {
  SlowShelf shelf{.pause = milliseconds(100)};
  Reports reports;
  {
    SharedStore shared(
        {.url = shelf.server.url(), .patience = milliseconds(350), .report = reports.add()});
    for (int i = 0; i < 20; ++i) shared.offer(kContent, stub_object(stub_key(1)));
  }
  CHECK(shelf.taken < 8);
  REQUIRE(reports.lines.size() == 1);
  CHECK_THAT(reports.lines[0], Catch::Contains("code objects were not sent to the shared cache"));
}

TEST_CASE("a name that takes long to look up is within the patience") {
  Reports reports;
  SharedStore shared({.url = "http://" + std::string(kSlowHost),
                      .patience = milliseconds(100),
                      .report = reports.add()});
  CHECK_FALSE(shared.fetch(kContent));
  REQUIRE(reports.lines.size() == 1);
  CHECK_THAT(reports.lines[0], Catch::EndsWith("the name takes too long to look up"));
  SharedStore unknown({.url = "http://" + std::string(kNoHost), .report = reports.add()});
  CHECK_FALSE(unknown.fetch(kContent));
  REQUIRE(reports.lines.size() == 2);
  CHECK_THAT(reports.lines[1], Catch::EndsWith("Name or service not known"));
}

TEST_CASE("where no server is, all goes on") {
  std::string url;
  {
    HttpServer gone([](const HttpServer::Request&) { return std::string(); });
    url = gone.url();
  }
  std::vector<std::string> reports;
  SharedStore shared(
      {.url = url, .report = [&](const std::string& line) { reports.push_back(line); }});
  CHECK_FALSE(shared.fetch(kContent));
  shared.offer(kContent, stub_object(stub_key(1)));
  REQUIRE(reports.size() == 1);
  CHECK_THAT(reports[0], Catch::EndsWith("Connection refused"));
}

TEST_CASE("what is no URL of a folder is refused") {
  for (const char* url : {"", "https://host/x", "ftp://host", "http://", "http:///x",
                          "http://host:0x/", "http://host:99999", "http://a b/", "http://u@host/",
                          "http://host/x?y", "http://host/x\r\nEvil: 1"}) {
    CAPTURE(url);
    tests::user_error([&] { HttpFolder folder{url}; });
  }
  CHECK_NOTHROW(HttpFolder("http://host"));
  CHECK_NOTHROW(HttpFolder("http://host.example:8080/a/b/"));
}

}  // namespace
}  // namespace baton
