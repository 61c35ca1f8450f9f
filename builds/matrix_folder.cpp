#include "builds/matrix_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "builds/matrix_summary.h"
#include "builds/shipped_check.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/base/threads.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/scan.h"
#include "runtime/cache/upkeep.h"

namespace baton::builds {

namespace fs = std::filesystem;

MatrixFolder::MatrixFolder(fs::path folder, const CodeBuilder& builder,
                           std::function<void(const std::string&)> report, SharedStore* shared)
    : folder_(std::move(folder)),
      builder_(builder),
      shared_(shared),
      cache_({.folder = folder_,
              .max_bytes = kUnboundedCache,
              .other_folder = "name another folder, which this user may write",
              .report = std::move(report)}) {}

CodeName MatrixFolder::name_of(const BuildKey& key) const {
  return {.key = key.text(), .chip = key.chip(), .library = builder_.library()};
}

std::optional<MatrixFolder::Listed> MatrixFolder::read_listed(const BuildKey& key) {
  const CodeName name = name_of(key);
  const std::optional<Digest> content = cache_.find(name);
  const std::optional<CodeObject> object = content ? cache_.load(*content, name) : std::nullopt;
  if (!object) return std::nullopt;
  return Listed{.entry = manifest_entry(object->record, *content, object->bytes.size()),
                .baton_version = object->record.baton_version,
                .llvm_version = object->record.llvm_version};
}

std::vector<const MatrixFolder::Listed*> MatrixFolder::list(std::span<const BuildKey> keys,
                                                            int jobs) {
  std::vector<Digest> names(keys.size());
  std::vector<std::optional<Listed>> found(keys.size());
  on_threads(keys.size(), jobs, [&](size_t i) {
    names[i] = name_of(keys[i]).digest();
    if (!listed_.contains(names[i])) found[i] = read_listed(keys[i]);
  });
  std::vector<const Listed*> all(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (found[i]) listed_.emplace(names[i], std::move(*found[i]));
    const auto known = listed_.find(names[i]);
    if (known != listed_.end()) all[i] = &known->second;
  }
  return all;
}

std::vector<BuildKey> MatrixFolder::missing(std::span<const BuildKey> keys, int jobs) {
  listed_.clear();
  const std::vector<const Listed*> there = list(keys, jobs);
  std::vector<BuildKey> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (there[i] == nullptr) missing.push_back(keys[i]);
  }
  return missing;
}

MatrixFolder::Compiled MatrixFolder::compile(
    std::span<const BuildKey> keys, int jobs,
    const std::function<void(const PrepareProgress&)>& progress) {
  make_folders(times_folder(folder_));  // where that fails, each time is reported as not written
  Loader loader({.cache = &cache_, .shared = shared_, .builder = &builder_, .must_keep = true});
  Compiled compiled;
  compiled.failures = loader.prepare(keys, jobs, [&](const PrepareProgress& state) {
    if (const std::optional<Digest> content = cache_.find(name_of(*state.key))) {
      try {
        write_file(times_folder(folder_) / content->hex(),
                   as_bytes(fmt::format("{:.0f}\n", state.key_ms)));
      } catch (const Error& error) {
        cache_.report(error.what());
      }
    }
    if (progress) progress(state);
  });
  compiled.counts = loader.counts();
  return compiled;
}

std::string MatrixFolder::time_text(const Digest& content) const {
  try {
    const Bytes text = read_file(times_folder(folder_) / content.hex());
    const std::string_view digits(reinterpret_cast<const char*>(text.data()),
                                  text.empty() ? 0 : text.size() - 1);
    if (is_time(digits)) return std::string(digits);
  } catch (const Error&) {
    // It was compiled elsewhere, and only its code brought here.
  }
  return kNoTime;
}

Manifest MatrixFolder::collect(const Matrix& matrix, int jobs) {
  Manifest manifest{.name = matrix.name,
                    .baton_version = {},
                    .llvm_version = {},
                    .library = builder_.library(),
                    .entries = {}};
  std::vector<std::string> missing;
  const std::vector<const Listed*> there = list(matrix.keys, jobs);
  for (size_t i = 0; i < there.size(); ++i) {
    if (there[i] == nullptr) {
      missing.push_back(spelt(matrix.keys[i].text(), matrix.keys[i].chip()));
      continue;
    }
    manifest.baton_version = there[i]->baton_version;
    manifest.llvm_version = there[i]->llvm_version;
    manifest.entries.push_back(there[i]->entry);
  }
  if (!missing.empty()) {
    throw Error(ErrorKind::failed_check,
                fmt::format("{} of {} keys are not in '{}': {}", missing.size(), matrix.keys.size(),
                            folder_.string(), fmt::join(missing, "; ")),
                "compile them first, with this build of Baton");
  }
  std::vector<std::string> times;
  for (const ManifestEntry& entry : manifest.entries) times.push_back(time_text(entry.content));
  const std::string summary = summary_text(manifest, times);
  const std::string json = manifest.to_json();
  const FileToWrite files[] = {{folder_ / kSummaryFile, as_bytes(summary)},
                               {folder_ / kManifestFile, as_bytes(json)}};
  const auto is_right = [](const FileToWrite& file) {
    std::error_code unreadable;
    if (!fs::is_regular_file(file.path, unreadable)) return false;
    return std::ranges::equal(read_file(file.path), file.bytes);
  };
  if (!std::ranges::all_of(files, is_right)) write_files(files);
  return manifest;
}

void MatrixFolder::require_prunable(const Matrix& matrix) const {
  std::error_code unreadable;
  if (fs::exists(folder_ / kManifestFile, unreadable)) return;
  std::set<std::string> wanted;
  for (const BuildKey& key : matrix.keys) wanted.insert(spelt(key.text(), key.chip()));
  for (const CachedCode& code : list_cache(folder_, /*thorough=*/false)) {
    if (wanted.contains(spelt(code.key, code.chip))) continue;
    throw Error(ErrorKind::user,
                fmt::format("'{}' has no {} and holds code objects that are not of this matrix, "
                            "'{}' for one: it may be the cache of a loader",
                            folder_.string(), kManifestFile, code.folder.string()),
                "nothing is pruned there; `baton cache prune` looks after a loader's cache");
  }
}

size_t MatrixFolder::prune(const Manifest& manifest) const {
  std::set<std::string> contents;
  for (const ManifestEntry& entry : manifest.entries) contents.insert(entry.content.hex());
  std::vector<fs::path> going = unlisted(folder_, manifest);
  const size_t count = going.size();
  for (const fs::path& time : paths_in(times_folder(folder_))) {
    if (!contents.contains(time.filename().string())) going.push_back(time);
  }
  for (const fs::path& path : going) {
    std::error_code failure;
    fs::remove_all(path, failure);
    if (!failure) continue;
    throw Error(ErrorKind::environment,
                fmt::format("cannot remove '{}': {}", path.string(), failure.message()),
                "the rest is whole; change its permissions and prune again");
  }
  return count;
}

std::vector<Digest> MatrixFolder::contents(std::span<const BuildKey> keys, int jobs) {
  std::vector<Digest> contents(keys.size());
  std::vector<std::optional<Error>> errors(keys.size());
  on_threads(keys.size(), jobs, [&](size_t i) {
    try {
      const std::optional<Digest> known = cache_.find(name_of(keys[i]));
      contents[i] = known ? *known : builder_.trace(keys[i])->content();
    } catch (const Error& error) {
      errors[i] = error;
    }
  });
  for (const std::optional<Error>& error : errors) {
    if (error) throw Error(*error);
  }
  return contents;
}

void require_plannable(const PlanCommands& commands) {
  const auto refuse = [](const std::string& text, const char* bytes) {
    if (text.find_first_of(bytes) == text.npos) return;
    throw Error(ErrorKind::user, fmt::format("a Ninja file cannot name {}", quote(text)),
                "a plan takes no path with a line break, and no folder with | in its name");
  };
  for (const std::string& text : {commands.baton, commands.matrix, commands.out}) {
    refuse(text, "\r\n");
  }
  refuse(commands.out, "|");
}

std::string ninja_plan(std::span<const BuildKey> keys, std::span<const Digest> contents,
                       const PlanCommands& commands) {
  require_plannable(commands);
  // Ninja's own escapes; what the shell would read is in single quotes.
  const auto path = [](const std::string& text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '$' || c == ' ' || c == ':') escaped += '$';
      escaped += c;
    }
    return escaped;
  };
  const auto shell = [](const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) {
      quoted += c == '\'' ? "'\\''" : c == '$' ? "$$" : std::string(1, c);
    }
    return quoted + "'";
  };
  const std::string shared = commands.shared.empty() ? "" : " --shared " + shell(commands.shared);
  std::string plan = fmt::format(
      "# An edge a key: `ninja -f` this file, or give its commands to another engine.\n"
      "baton = {}\nfolder = {}\n\n"
      "rule compile\n  command = $baton matrix --only $key --arch $chip --out $folder{}\n"
      "  description = $key $chip\n  restat = 1\n\n"
      "rule collect\n  command = $baton matrix {} --out $folder --collect{}\n\n",
      shell(commands.baton), shell(commands.out), shared, shell(commands.matrix), commands.arch);
  std::string outputs;
  std::set<Digest> planned;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!planned.insert(contents[i]).second) continue;
    const std::string output =
        path((cache_layout::entry(commands.out, contents[i]) / cache_layout::kEntryFile).string());
    plan += fmt::format("build {}: compile\n  key = {}\n  chip = {}\n", output, keys[i].text(),
                        keys[i].chip());
    outputs += " $\n    " + output;
  }
  const std::string manifest = path((fs::path(commands.out) / kManifestFile).string());
  plan += fmt::format("\nbuild {}: collect |{}\n\ndefault {}\n", manifest, outputs, manifest);
  return plan;
}

}  // namespace baton::builds
