#include "runtime/cache/cache.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/prune.h"
#include "runtime/cache/upkeep.h"
#include "tools/baton/command.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct CacheFlags {
  std::string action;
  std::optional<std::string> folder;
  std::optional<std::string> max_size;
  bool json = false;
};

fs::path folder_of(const CacheFlags& flags) {
  return flags.folder ? absolute_path(*flags.folder) : default_cache_folder();
}

/// Refuses a folder that holds something and is no cache.
void require_cache(const fs::path& folder) {
  std::error_code unreadable;
  const bool is_cache = fs::is_directory(cache_layout::objects(folder), unreadable);
  if (is_cache || !fs::exists(folder, unreadable) || fs::is_empty(folder, unreadable)) return;
  if (unreadable) return;  // who reads it says so
  throw Error(ErrorKind::user,
              fmt::format("{} is no cache: it has no v1/objects", quote(folder.string())),
              "`baton cache path` names the cache that loaders use");
}

/// Paths and what damaged files hold need not be UTF-8.
void print_json(const ordered_json& json) {
  print(json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

/// "2026-11-30T16:03:59Z"
std::string time_text(int64_t nanoseconds) {
  const std::time_t seconds = nanoseconds / 1'000'000'000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string_view soundness_text(Soundness soundness) {
  switch (soundness) {
    case Soundness::sound:
      return "whole";
    case Soundness::other_version:
      return "of another version";
    default:
      return "damaged";
  }
}

ordered_json entries_json(const std::vector<CachedCode>& entries) {
  ordered_json list = ordered_json::array();
  for (const CachedCode& code : entries) {
    list.push_back({{"key", code.key},
                    {"chip", code.chip},
                    {"content", code.content},
                    {"path", (code.folder / "code.co").string()},
                    {"bytes", code.bytes},
                    {"last_used", time_text(code.last_used_ns)},
                    {"state", soundness_text(code.soundness)},
                    {"damage", code.damage}});
  }
  return list;
}

uint64_t bytes_of(const std::vector<CachedCode>& entries) {
  uint64_t bytes = 0;
  for (const CachedCode& code : entries) bytes += code.bytes;
  return bytes;
}

int list(const fs::path& folder, bool json) {
  const std::vector<CachedCode> entries = list_cache(folder, /*thorough=*/false);
  if (json) {
    print_json(entries_json(entries));
    return 0;
  }
  for (const CachedCode& code : entries) {
    const bool damaged = code.soundness == Soundness::damaged;
    print(fmt::format("{:<7} {:>9}  {}  {}  {}\n", damaged ? "damaged" : code.chip,
                      size_text(code.bytes), time_text(code.last_used_ns),
                      code.content.substr(0, 12), printable(damaged ? code.damage : code.key)));
  }
  print(fmt::format("{} code objects, {}, in {}\n", entries.size(), size_text(bytes_of(entries)),
                    printable(folder.string())));
  return 0;
}

int verify(const fs::path& folder, bool json) {
  const CacheHealth health = check_cache(folder);
  const size_t damaged = health.damaged();
  if (json) {
    print_json({{"folder", folder.string()},
                {"entries", entries_json(health.entries)},
                {"index_files", health.index_files},
                {"damaged_index", health.damaged_index},
                {"damaged", damaged},
                {"dangling", health.dangling},
                {"left_over", health.left_over},
                {"used_in_the_future", health.future}});
    return damaged == 0 ? 0 : 1;
  }
  for (const CachedCode& code : health.entries) {
    if (code.soundness == Soundness::damaged) {
      print(fmt::format("damaged: {}\n", printable(code.damage)));
    }
  }
  for (const std::string& line : health.damaged_index) {
    print(fmt::format("damaged: {}\n", printable(line)));
  }
  print(fmt::format("{} code objects and {} names checked, {} damaged", health.entries.size(),
                    health.index_files, damaged));
  if (health.dangling != 0) print(fmt::format("; {} names of what has gone", health.dangling));
  if (health.left_over != 0) print(fmt::format("; {} left by killed processes", health.left_over));
  if (health.future != 0)
    print(fmt::format("; {} used in the future: a clock jumped", health.future));
  print(damaged == 0 ? "\n" : "; `baton cache prune` removes them, a loader compiles them again\n");
  return damaged == 0 ? 0 : 1;
}

int prune(const fs::path& folder, const CacheFlags& flags) {
  const std::optional<uint64_t> bound =
      flags.max_size ? parse_size(*flags.max_size) : kDefaultCacheBytes;
  if (!bound) {
    throw Error(ErrorKind::user, fmt::format("--max-size {} is no size", quote(*flags.max_size)),
                "sizes: bytes, or a number with K, M or G behind it");
  }
  Pruned pruned;
  std::error_code unreadable;
  if (fs::exists(cache_layout::objects(folder), unreadable)) {
    const Cache writable({.folder = folder});  // refuses a folder that is not ours
    pruned = prune_cache(folder, *bound);
  }
  if (flags.json) {
    print_json({{"folder", folder.string()},
                {"damaged", pruned.damaged},
                {"index_files", pruned.index_files},
                {"left_over", pruned.left_over},
                {"evicted", pruned.evicted},
                {"bytes_left", pruned.bytes_left}});
    return 0;
  }
  print(
      fmt::format("removed {} damaged and {} least recently used code objects, {} names, {} left "
                  "by killed processes; {} stay in {}\n",
                  pruned.damaged, pruned.evicted, pruned.index_files, pruned.left_over,
                  size_text(pruned.bytes_left), printable(folder.string())));
  return 0;
}

void check_flags(const CacheFlags& flags) {
  constexpr std::string_view kActions[] = {"list", "verify", "prune", "path"};
  if (std::ranges::find(kActions, flags.action) == std::end(kActions)) {
    const std::string_view near = nearest(flags.action, kActions);
    throw Error(
        ErrorKind::user, fmt::format("baton cache knows no action {}", quote(flags.action)),
        fmt::format("{}actions: {}", near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                    fmt::join(kActions, ", ")));
  }
  if (flags.max_size && flags.action != "prune") {
    throw Error(ErrorKind::user,
                fmt::format("baton cache {} has no use for --max-size", flags.action),
                "--max-size SIZE is for `baton cache prune`");
  }
}

int run_cache(const CacheFlags& flags) {
  check_flags(flags);
  if (flags.folder && flags.folder->empty()) {
    throw Error(ErrorKind::user, "--dir '' names no folder", "leave it out for the default cache");
  }
  const fs::path folder = folder_of(flags);
  if (flags.action == "path") {
    if (flags.json) {
      print_json({{"folder", folder.string()}});
    } else {
      print(folder.string() + "\n");
    }
    return 0;
  }
  const Cache readable({.folder = folder, .read_only = true});  // refuses what is no folder
  require_cache(folder);
  if (flags.action == "prune") return prune(folder, flags);
  if (flags.action == "list") return list(folder, flags.json);
  return verify(folder, flags.json);
}

}  // namespace

Command add_cache(CLI::App& app) {
  auto flags = std::make_shared<CacheFlags>();
  CLI::App* parser = app.add_subcommand("cache", "Look after the code objects that loaders keep");
  parser->add_option("ACTION", flags->action, "list, verify, prune or path")
      ->required()
      ->type_name("");
  parser
      ->add_option("--dir", flags->folder,
                   "The cache folder (default: BATON_CACHE_DIR, else `baton` in XDG_CACHE_HOME or "
                   "~/.cache)")
      ->type_name("FOLDER");
  parser
      ->add_option("--max-size", flags->max_size,
                   "prune: what may stay, the least recently used goes first (default: 4G)")
      ->type_name("SIZE");
  parser->add_flag("--json", flags->json, "Print JSON");
  parser->footer(
      "list    every code object: chip, size on disk, last use, content, key\n"
      "verify  reads and checks every byte; exit code 1 when anything is damaged\n"
      "prune   removes what is damaged or left over, then keeps to --max-size\n"
      "path    where the cache is\n\n"
      "Examples:\n"
      "  baton cache list\n"
      "  baton cache verify --json\n"
      "  baton cache prune --max-size 1G");
  return {parser, [flags] { return run_cache(*flags); }};
}

}  // namespace baton::cli
