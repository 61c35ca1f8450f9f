// As much of HTTP/1.1 as a folder behind a web server needs: GET and PUT of whole files.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"

namespace baton {

/// A folder on a server.
class HttpFolder {
 public:
  /// `url` is http://HOST[:PORT][/PATH]. Throws Error (user) for any other.
  explicit HttpFolder(std::string_view url);

  /// The file's bytes; nothing when the server says that it is not there (404, 410). Throws Error
  /// (environment), one line, for everything else: no server, another answer, an answer that is cut
  /// or longer than `max_bytes`, `patience` over.
  std::optional<Bytes> get(const std::string& name, uint64_t max_bytes,
                           std::chrono::milliseconds patience) const;

  /// Replaces the file. Throws Error (environment) like get.
  void put(const std::string& name, ByteView bytes, std::chrono::milliseconds patience) const;

 private:
  std::string host_, port_, path_;
};

}  // namespace baton
