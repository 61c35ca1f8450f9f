#include "tools/baton/run_timeline.h"

#include <fmt/format.h>

#include <filesystem>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/reports/timeline.h"

namespace baton::cli {
namespace {

constexpr const char* kTrace = ".json";
constexpr const char* kPicture = ".svg";

std::string ending_of(const std::string& file) {
  return std::filesystem::path(file).extension().string();
}

}  // namespace

void require_timeline(const std::optional<std::string>& file, const BuildKey& key) {
  if (!file) return;
  const std::string ending = ending_of(*file);
  if (ending != kTrace && ending != kPicture) {
    throw Error(ErrorKind::user,
                fmt::format("--timeline {}: no known ending of a timeline", quote(*file)),
                "FILE.json is a trace for Perfetto and chrome://tracing, FILE.svg a picture");
  }
  if (key.flag("timeline")) return;
  throw Error(ErrorKind::user,
              fmt::format("--timeline: a build of {} stamps no stages", key.text()),
              "add timeline=1 to the key");
}

void write_timeline(const std::optional<std::string>& file, Collective& collective,
                    std::string_view clock) {
  if (!file) return;
  std::vector<std::vector<int64_t>> stamps;
  for (const int rank : collective.ranks()) {
    stamps.push_back(collective.rank(rank).read_timeline());
  }
  const Timeline timeline = timeline_of(collective.record(), stamps, std::string(clock));
  const std::string text =
      ending_of(*file) == kTrace ? timeline_trace(timeline) : timeline_picture(timeline);
  write_file(*file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

}  // namespace baton::cli
