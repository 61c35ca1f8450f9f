#include "runtime/base/bytes.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace baton {

ByteView slice(ByteView bytes, uint64_t offset, uint64_t size, std::string_view what) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw Error(ErrorKind::user,
                fmt::format("{} needs {} bytes at byte {}, past the end at byte {}", what, size,
                            offset, bytes.size()));
  }
  return bytes.subspan(offset, size);
}

std::string_view read_string_at(ByteView bytes, uint64_t offset, std::string_view what) {
  const ByteView tail = slice(bytes, offset, 0, what).empty() ? bytes.subspan(offset) : ByteView{};
  const auto end = std::find(tail.begin(), tail.end(), uint8_t{0});
  if (end == tail.end()) {
    throw Error(ErrorKind::user, fmt::format("{} at byte {} has no terminating NUL before byte {}",
                                             what, offset, bytes.size()));
  }
  return {reinterpret_cast<const char*>(tail.data()), static_cast<size_t>(end - tail.begin())};
}

}  // namespace baton
