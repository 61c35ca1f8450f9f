#include "tools/baton/output_path.h"

#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view flag, const fs::path& path, const std::string& what,
                       const char* hint) {
  throw Error(ErrorKind::user, fmt::format("{} {}: {}", flag, quote(path.string()), what), hint);
}

void require_writable(std::string_view flag, const fs::path& path, const fs::path& folder) {
  std::error_code unreachable;
  if (!fs::is_directory(folder, unreachable)) {
    fail(flag, path, fmt::format("there is no folder {}", quote(folder.string())),
         "create the folder first");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    fail(flag, path, fmt::format("the folder {} may not be written", quote(folder.string())),
         "name another folder, or change its permissions");
  }
}

/// What `path` is to be made in.
fs::path folder_of(const fs::path& path) {
  const fs::path named = path.has_filename() ? path : path.parent_path();  // "out/" is "out"
  return named.has_parent_path() ? named.parent_path() : fs::path(".");
}

}  // namespace

void require_output_file(std::string_view flag, const fs::path& file) {
  if (file.empty()) fail(flag, file, "the name is empty", "name a file for the output");
  std::error_code unreachable;
  const fs::file_status status = fs::status(file, unreachable);
  if (fs::is_directory(status)) fail(flag, file, "it is a folder", "name a file for the output");
  const bool replaced = !fs::exists(status) || fs::is_regular_file(status);
  if (replaced) require_writable(flag, file, folder_of(file));
}

void require_output_folder(std::string_view flag, const fs::path& folder) {
  if (folder.empty()) fail(flag, folder, "the name is empty", "name a folder for the outputs");
  std::error_code unreachable;
  const fs::file_status status = fs::status(folder, unreachable);
  if (!fs::exists(status)) return require_writable(flag, folder, folder_of(folder));
  if (!fs::is_directory(status)) fail(flag, folder, "it is no folder", "name another folder");
  require_writable(flag, folder, folder);
}

bool is_same_path(const fs::path& one, const fs::path& other) {
  std::error_code unreachable;
  const fs::path a = fs::weakly_canonical(fs::absolute(one, unreachable) / "", unreachable);
  const fs::path b = fs::weakly_canonical(fs::absolute(other, unreachable) / "", unreachable);
  return a == b;
}

}  // namespace baton::cli
