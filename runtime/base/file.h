// Whole files, read and written with errors that name the path.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>

#include "runtime/base/bytes.h"

namespace baton {

/// What read_file accepts: no code object, record or key list comes near it.
inline constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

/// The whole of a regular file of at most `max_bytes`. Throws Error: user when the path is missing,
/// unreadable, not a regular file or too large; environment when reading fails.
Bytes read_file(const std::filesystem::path& path, uint64_t max_bytes = kMaxFileBytes);

/// Replaces the file, or leaves everything as it was: a temporary file in the same folder is
/// written, synced and renamed. A path that exists and is a device or a pipe is written through.
/// A symbolic link keeps standing, its target is replaced or made. Throws Error: user when the path
/// cannot be a file (missing folder, a folder, no permission, a pipe that nobody reads),
/// environment when the disk refuses. A new file gets `mode`, less the umask.
void write_file(const std::filesystem::path& path, ByteView bytes, mode_t mode = 0666);

struct FileToWrite {
  std::filesystem::path path;
  ByteView bytes;
};

/// Replaces regular files that belong together: each is whole on the disk before the first takes
/// its name, so a disk that fills up leaves all of them as they were. Throws Error like write_file;
/// EINVAL for a device or a pipe.
void write_files(std::span<const FileToWrite> files);

/// Makes a folder and those above it that are not there; whatever the umask says, nobody but their
/// owner may write them. 0, or an errno and then none is made.
int make_folders(const std::filesystem::path& folder);

/// `path` from the root. Throws Error (environment) when it is relative and the working folder has
/// gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace baton
