#include "runtime/cache/upkeep.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/base/descriptor.h"
#include "runtime/base/error.h"
#include "runtime/cache/entry.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/scan.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using namespace cache_layout;

CachedCode describe(const fs::path& folder, bool thorough) {
  const Usage usage = usage_of_entry(folder);
  CachedCode code;
  code.folder = folder;
  code.content = folder.filename().string();
  code.bytes = usage.bytes;
  code.last_used_ns = usage.last_used_ns;
  try {
    const std::optional<Digest> content = parse_digest(code.content);
    if (!content) {
      throw Error(ErrorKind::failed_check,
                  fmt::format("{}: its name is no content", folder.string()));
    }
    const EntrySummary summary = read_entry_summary(folder, *content);
    code.key = summary.key;
    code.chip = summary.chip;
    if (summary.record_format != kRecordFormat) {
      code.soundness = Soundness::other_version;
    } else if (thorough) {
      read_entry(folder, *content);
    }
  } catch (const Error& error) {
    code.soundness = Soundness::damaged;
    code.damage = error.what();
  }
  return code;
}

size_t count_free_locks(const fs::path& folder) {
  return static_cast<size_t>(std::ranges::count_if(paths_in(locks(folder)), [](const auto& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return file.open() && ::flock(file.get(), LOCK_SH | LOCK_NB) == 0;
  }));
}

}  // namespace

size_t CacheHealth::damaged() const {
  const auto is_damaged = [](const CachedCode& code) {
    return code.soundness == Soundness::damaged;
  };
  return static_cast<size_t>(std::ranges::count_if(entries, is_damaged)) + damaged_index.size();
}

std::vector<CachedCode> list_cache(const fs::path& folder, bool thorough) {
  std::vector<CachedCode> list;
  for (const fs::path& entry : paths_in(objects(folder))) {
    CachedCode code = describe(entry, thorough);
    std::error_code ignored;
    // One that was evicted while it was read is not damaged, it is not there.
    if (fs::exists(entry, ignored)) list.push_back(std::move(code));
  }
  std::ranges::sort(
      list, {}, [](const CachedCode& code) { return std::tie(code.key, code.chip, code.content); });
  return list;
}

CacheHealth check_cache(const fs::path& folder) {
  CacheHealth health;
  health.entries = list_cache(folder, /*thorough=*/true);
  std::set<std::string> whole;
  for (const CachedCode& code : health.entries) {
    if (code.soundness != Soundness::damaged) whole.insert(code.content);
    health.future += is_future(code.last_used_ns);
  }
  for (const fs::path& path : paths_in(index(folder))) {
    ++health.index_files;
    try {
      health.dangling += !whole.contains(read_named_index_file(path).content.hex());
    } catch (const Error& error) {
      std::error_code ignored;
      if (fs::exists(path, ignored)) health.damaged_index.push_back(error.what());
    }
  }
  health.left_over = paths_in(work(folder)).size() + count_free_locks(folder);
  return health;
}

}  // namespace baton
