#include "builds/shipped_check.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "builds/matrix_summary.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/cache/cache.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/scan.h"

namespace baton::builds {
namespace {

namespace fs = std::filesystem;

void check_entry(const fs::path& folder, const ManifestEntry& entry, Cache& cache,
                 const Digest& library, std::vector<std::string>& faults) {
  const CodeName name{.key = entry.key, .chip = entry.chip, .library = library};
  const std::optional<Digest> content = cache.find(name);
  if (!content || *content != entry.content) {
    faults.push_back(fmt::format("{}: its name is not in the index of '{}'",
                                 spelt(entry.key, entry.chip), folder.string()));
  }
  const std::optional<CodeObject> object = cache.load(entry.content, name);
  if (!object) {
    faults.push_back(fmt::format("{}: '{}' is not there or not whole", spelt(entry.key, entry.chip),
                                 entry.path));
  } else if (manifest_entry(object->record, entry.content, object->bytes.size()) != entry) {
    faults.push_back(fmt::format("{}: '{}' is not what the manifest says",
                                 spelt(entry.key, entry.chip), entry.path));
  }
}

void check_summary(const fs::path& folder, const Manifest& manifest,
                   std::vector<std::string>& faults) {
  const fs::path path = folder / kSummaryFile;
  try {
    const Bytes text = read_file(path);
    if (is_summary({reinterpret_cast<const char*>(text.data()), text.size()}, manifest)) return;
    faults.push_back(fmt::format("{}: it is not what the manifest gives", path.string()));
  } catch (const Error& error) {
    faults.push_back(error.what());
  }
}

}  // namespace

std::string spelt(const std::string& key, const std::string& chip) {
  return fmt::format("{} for {}", key, chip);
}

fs::path times_folder(const fs::path& folder) { return cache_layout::root(folder) / "times"; }

std::vector<fs::path> unlisted(const fs::path& folder, const Manifest& manifest) {
  using namespace cache_layout;
  std::set<std::string> contents, names;
  for (const ManifestEntry& entry : manifest.entries) {
    const CodeName name{.key = entry.key, .chip = entry.chip, .library = manifest.library};
    contents.insert(entry.content.hex());
    names.insert(index_file(folder, name.digest()).filename().string());
  }
  std::vector<fs::path> others;
  const auto add_others = [&](const fs::path& parent, const std::set<std::string>& known) {
    std::error_code unreadable;
    if (!fs::is_directory(parent, unreadable)) return;
    for (const fs::path& path : paths_in(parent)) {
      if (!known.contains(path.filename().string())) others.push_back(path);
    }
  };
  std::set<std::string> places;
  for (const fs::path& place :
       {objects(folder), index(folder), locks(folder), work(folder), times_folder(folder)}) {
    places.insert(place.filename().string());
  }
  add_others(root(folder), places);
  add_others(objects(folder), contents);
  add_others(index(folder), names);
  for (const std::string& content : contents) {
    add_others(objects(folder) / content, {kCodeFile, kRecordFile, kEntryFile});
  }
  return others;
}

std::vector<std::string> check_shipped(const fs::path& folder, const Matrix* expected) {
  const Manifest manifest = Manifest::read(folder);
  std::vector<std::string> faults;
  Cache cache({.folder = folder, .read_only = true, .report = [&](const std::string& line) {
                 faults.push_back(line);
               }});
  std::set<std::string> listed, wanted;
  for (const ManifestEntry& entry : manifest.entries) {
    check_entry(folder, entry, cache, manifest.library, faults);
    listed.insert(spelt(entry.key, entry.chip));
  }
  check_summary(folder, manifest, faults);
  for (const fs::path& path : unlisted(folder, manifest)) {
    faults.push_back(fmt::format("{}: the manifest does not list it", path.string()));
  }
  if (expected == nullptr) return faults;
  for (const BuildKey& key : expected->keys) wanted.insert(spelt(key.text(), key.chip()));
  for (const std::string& key : wanted) {
    if (!listed.contains(key)) faults.push_back(key + ": the manifest lacks it");
  }
  for (const std::string& key : listed) {
    if (!wanted.contains(key)) faults.push_back(key + ": the matrix does not ask for it");
  }
  return faults;
}

}  // namespace baton::builds
