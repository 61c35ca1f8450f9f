#include "runtime/cache/scan.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/cache/layout.h"

namespace baton {

namespace fs = std::filesystem;
using namespace cache_layout;

namespace {

constexpr int64_t kNanoseconds = 1'000'000'000;  // a second

}  // namespace

std::vector<fs::path> paths_in(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    paths.push_back(it->path());
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw Error(ErrorKind::environment,
                fmt::format("cannot read the folder '{}': {}", folder.string(), failure.message()),
                "check its permissions");
  }
  std::ranges::sort(paths);
  return paths;
}

Usage usage_of_file(const fs::path& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return {};
  return {static_cast<uint64_t>(status.st_size),
          status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

Usage usage_of_entry(const fs::path& folder) {
  Usage usage = usage_of_file(folder / kEntryFile);
  for (const char* file : {kCodeFile, kRecordFile})
    usage.bytes += usage_of_file(folder / file).bytes;
  return usage;
}

bool is_future(int64_t last_used_ns) {
  constexpr int64_t kClocksDiffer = 120;  // seconds
  return last_used_ns / kNanoseconds > std::time(nullptr) + kClocksDiffer;
}

IndexEntry read_named_index_file(const fs::path& path) {
  IndexEntry entry = read_index_file(path);
  if (path.stem() == entry.name.digest().hex()) return entry;
  throw Error(ErrorKind::failed_check,
              fmt::format("{}: it is of {} for {}: moved from there", path.string(),
                          quote(entry.name.key), entry.name.chip));
}

}  // namespace baton
