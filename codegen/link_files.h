// Where a link reads and writes: places that nobody else sees and that go away with it.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/work_folder.h"

namespace baton::codegen {

/// What to do when a link finds no room.
inline constexpr char kLinkHint[] = "set TMPDIR to a folder with room, or free some";

/// Throws Error (environment): `what`, and what errno `error` says.
[[noreturn]] void fail_environment(const std::string& what, int error);

/// A folder for a linker's output, which must be a real path, with room for a link of
/// `object_bytes`: in memory where the machine has /dev/shm, else TMPDIR. Throws Error
/// (environment) when neither has.
std::filesystem::path link_folder(uint64_t object_bytes);

/// A folder in `folder`, of its own name, that goes away with all it holds. What killed processes
/// left there goes first. Throws Error (environment).
WorkFolder link_work(const std::filesystem::path& folder);

/// A file in memory, which has a path and no name in any folder.
class MemoryFile {
 public:
  /// Throws Error (environment).
  explicit MemoryFile(const char* name, ByteView bytes = {});
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string path() const;
  /// Appends. Throws Error (environment).
  void write(ByteView bytes) const;

 private:
  int descriptor_;
};

/// A linker's messages down to the end of the first.
std::string first_line(const std::string& text);

}  // namespace baton::codegen
