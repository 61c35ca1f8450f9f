#include "runtime/cache/prune.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/cache/file_lock.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/scan.h"
#include "runtime/cache/upkeep.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using namespace cache_layout;

/// Moves a file or folder aside in one step and then removes it, so that nobody sees half of it.
/// False when it stays: gone already, in use, or not ours to remove.
bool take_away(const fs::path& folder, const fs::path& victim) {
  const fs::path lock_path = locks(folder) / (victim.stem().string() + ".lock");
  const FileLock lock(lock_path, std::chrono::milliseconds(0));
  if (lock.state() == FileLock::State::busy) return false;
  // No folder is made for it: a disk may be too full for that.
  const fs::path aside = WorkFolder::unused_path(work(folder), kWork);
  if (::rename(victim.c_str(), aside.c_str()) != 0) return false;
  std::error_code ignored;  // what stays there is swept later
  fs::remove_all(aside, ignored);
  return true;
}

struct Item {
  fs::path path;
  Usage usage;
  bool is_entry;
};

/// Everything that counts against the bound, the least recently used first.
std::vector<Item> items_of(const fs::path& folder) {
  std::vector<Item> items;
  for (fs::path& path : paths_in(objects(folder))) {
    const Usage usage = usage_of_entry(path);
    items.push_back({.path = std::move(path), .usage = usage, .is_entry = true});
  }
  for (fs::path& path : paths_in(index(folder))) {
    const Usage usage = usage_of_file(path);
    items.push_back({.path = std::move(path), .usage = usage, .is_entry = false});
  }
  for (Item& item : items) {
    if (!is_future(item.usage.last_used_ns)) continue;
    const fs::path stamped = item.is_entry ? item.path / kEntryFile : item.path;
    ::utimensat(AT_FDCWD, stamped.c_str(), nullptr, 0);
    item.usage = item.is_entry ? usage_of_entry(item.path) : usage_of_file(item.path);
  }
  std::ranges::sort(items, {},
                    [](const Item& item) { return std::tie(item.usage.last_used_ns, item.path); });
  return items;
}

}  // namespace

Evicted evict(const fs::path& folder, uint64_t max_bytes) {
  const std::vector<Item> items = items_of(folder);
  Evicted evicted;
  for (const Item& item : items) evicted.bytes_left += item.usage.bytes;
  for (const Item& item : items) {
    if (evicted.bytes_left <= max_bytes) break;
    if (!take_away(folder, item.path)) continue;
    evicted.bytes_left -= item.usage.bytes;
    evicted.entries += item.is_entry;
  }
  return evicted;
}

Pruned prune_cache(const fs::path& folder, uint64_t max_bytes) {
  Pruned pruned;
  std::error_code unreadable;
  if (!fs::exists(root(folder), unreadable)) return pruned;
  std::set<std::string> whole;
  for (const CachedCode& code : list_cache(folder, /*thorough=*/true)) {
    if (code.soundness != Soundness::damaged) {
      whole.insert(code.content);
    } else {
      pruned.damaged += take_away(folder, code.folder);
    }
  }
  for (const fs::path& path : paths_in(index(folder))) {
    try {
      if (whole.contains(read_named_index_file(path).content.hex())) continue;
    } catch (const Error&) {
    }
    pruned.index_files += take_away(folder, path);
  }
  pruned.left_over = static_cast<size_t>(WorkFolder::sweep(work(folder), kWork));
  for (const fs::path& path : paths_in(locks(folder))) {
    const FileLock left(path, std::chrono::milliseconds(0));
    pruned.left_over += left.state() == FileLock::State::held;
  }
  const Evicted evicted = evict(folder, max_bytes);
  pruned.evicted = evicted.entries;
  pruned.bytes_left = evicted.bytes_left;
  return pruned;
}

}  // namespace baton
