#include "codegen/link_files.h"

#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "runtime/base/error.h"

namespace baton::codegen {
namespace {

/// LLD maps its output: without room for all of it the process would end by a signal, so there has
/// to be room for twice the object, some pages for the dynamic sections, and a few files.
bool has_room(const std::filesystem::path& folder, uint64_t object_bytes) {
  constexpr uint64_t kSections = 64 * 1024, kFiles = 16;
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return false;
  struct statvfs space = {};
  if (::statvfs(folder.c_str(), &space) != 0) return false;
  const bool has_files = space.f_files == 0 || space.f_favail >= kFiles;
  return has_files && space.f_bavail * space.f_frsize >= 2 * object_bytes + kSections;
}

}  // namespace

void fail_environment(const std::string& what, int error) {
  throw Error(ErrorKind::environment, fmt::format("{}: {}", what, std::strerror(error)), kLinkHint);
}

std::filesystem::path link_folder(uint64_t object_bytes) {
  std::vector<std::filesystem::path> candidates = {"/dev/shm"};
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  candidates.push_back(error ? "/tmp" : temporary);
  for (const std::filesystem::path& folder : candidates) {
    if (has_room(folder, object_bytes)) return folder;
  }
  throw Error(
      ErrorKind::environment,
      fmt::format("no room to link in {} or {}", candidates[0].string(), candidates[1].string()),
      kLinkHint);
}

WorkFolder link_work(const std::filesystem::path& folder) {
  constexpr WorkFolderKind kKind = {.prefix = "baton-link-", .mode = 0700, .hint = kLinkHint};
  WorkFolder::sweep(folder, kKind);
  return WorkFolder(folder, kKind);
}

MemoryFile::MemoryFile(const char* name, ByteView bytes)
    : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail_environment("cannot create a file in memory", errno);
  try {
    write(bytes);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

void MemoryFile::write(ByteView bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_environment("cannot write a file in memory", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace baton::codegen
