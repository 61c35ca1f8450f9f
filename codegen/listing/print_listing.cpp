#include <algorithm>
#include <optional>

#include "codegen/listing/listing.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"

namespace baton {
namespace {

constexpr int kNoStage = -1;
constexpr int kHandoffColumn = 72;
constexpr std::string_view kOutside = "outside stages";
constexpr uint64_t kMaxSourceBytes = uint64_t{4} << 20;

enum class Colour : uint8_t { plain, banner, source, handoff, label };

class Painter {
 public:
  explicit Painter(bool on) : on_(on) {}

  std::string operator()(Colour colour, const std::string& text) const {
    constexpr std::string_view kCodes[] = {"", "\x1b[1;33m", "\x1b[32m", "\x1b[36m", "\x1b[1m"};
    const std::string_view code = kCodes[static_cast<int>(colour)];
    return on_ && !code.empty() ? fmt::format("{}{}\x1b[0m", code, text) : text;
  }

 private:
  bool on_;
};

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The lines of the listing's files: embedded text, else the file on disk, else none.
class Sources {
 public:
  explicit Sources(const std::vector<ListedFile>& files) {
    for (const ListedFile& file : files) {
      lines_.push_back(split_lines(file.text.empty() ? on_disk(file.name) : file.text));
    }
  }

  /// Without the blanks around it; empty when it is not known.
  std::string line(int file, uint32_t number) const {
    const std::vector<std::string>& lines = lines_[static_cast<size_t>(file)];
    if (number == 0 || number > lines.size()) return {};
    const std::string& line = lines[number - 1];
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
  }

 private:
  static std::string on_disk(const std::string& name) {
    try {
      const Bytes bytes = read_file(name, kMaxSourceBytes);
      return {bytes.begin(), bytes.end()};
    } catch (const Error&) {
      return {};  // a listing is of use without its source: file and line are shown then
    }
  }

  std::vector<std::vector<std::string>> lines_;
};

std::string stage_name(const Listing& listing, int stage) {
  return stage == kNoStage ? std::string(kOutside) : listing.stages[static_cast<size_t>(stage)];
}

std::string header(const Listing& listing, const std::string& key) {
  const Kernel& kernel = listing.kernel;
  std::string text = fmt::format("; kernel {} for {}\n", kernel.name, listing.chip);
  if (!key.empty()) text += fmt::format("; key {}\n", key);
  if (!listing.decoder.empty()) text += fmt::format("; disassembled by {}\n", listing.decoder);
  text += fmt::format("; registers a lane: {} VGPRs of which {} AGPRs; {} SGPRs a wave\n",
                      kernel.vgprs, kernel.agprs, kernel.sgprs);
  text += fmt::format("; spills: {} VGPRs, {} SGPRs; scratch: {} bytes a lane\n",
                      kernel.vgpr_spills, kernel.sgpr_spills, kernel.scratch_bytes);
  text += fmt::format("; LDS: {} bytes a workgroup of {} lanes; kernarg: {} bytes\n",
                      kernel.lds_bytes, kernel.max_workgroup_lanes, kernel.kernarg_bytes);
  text += fmt::format("; occupancy: {} waves a SIMD, {} workgroups a CU\n",
                      listing.occupancy.waves_per_simd, listing.occupancy.workgroups_per_cu);
  return text + fmt::format("; code: {} bytes, {} instructions\n", listing.code.size(),
                            listing.instructions.size());
}

bool touches_memory(InstructionClass kind) {
  return kind == InstructionClass::load || kind == InstructionClass::store ||
         kind == InstructionClass::atomic;
}

class Printer {
 public:
  Printer(const Listing& listing, const PrintOptions& options)
      : listing_(listing), paint_(options.colour) {
    if (options.source) sources_.emplace(listing.files);
  }

  std::string body(std::optional<int> only_stage) {
    for (const ListedInstruction& instruction : listing_.instructions) {
      if (only_stage && instruction.stage != *only_stage) {
        stage_.reset();
        continue;
      }
      banner(instruction);
      if (instruction.label >= 0) {
        text_ += paint_(Colour::label, fmt::format("L{}:", instruction.label)) + "\n";
      }
      source(instruction);
      line(instruction);
    }
    return std::move(text_);
  }

 private:
  void banner(const ListedInstruction& instruction) {
    if (stage_ == instruction.stage) return;
    stage_ = instruction.stage;
    place_.reset();
    if (listing_.stages.empty()) return;
    const std::string_view noun = instruction.stage == kNoStage ? "" : "stage ";
    const std::string name = stage_name(listing_, instruction.stage);
    text_ += "\n" + paint_(Colour::banner, fmt::format("; ---- {}{} ----", noun, name)) + "\n";
  }

  void source(const ListedInstruction& instruction) {
    if (!sources_ || instruction.file < 0 || instruction.line == 0) return;
    const std::pair place(instruction.file, instruction.line);
    if (place_ == place) return;
    place_ = place;
    const std::string& file = listing_.files[static_cast<size_t>(instruction.file)].name;
    const std::string text = sources_->line(instruction.file, instruction.line);
    const std::string line = fmt::format("; {}:{}", file, instruction.line);
    text_ += paint_(Colour::source, text.empty() ? line : line + ": " + text) + "\n";
  }

  void line(const ListedInstruction& instruction) {
    std::string line = fmt::format("  {:6x}  {}", instruction.address, instruction.text);
    if (instruction.handoff >= 0 && touches_memory(instruction.kind)) {
      const std::string& handoff = listing_.handoffs[static_cast<size_t>(instruction.handoff)];
      line =
          fmt::format("{:<{}}  {}", line, kHandoffColumn, paint_(Colour::handoff, "; " + handoff));
    }
    text_ += line + "\n";
  }

  const Listing& listing_;
  Painter paint_;
  std::optional<Sources> sources_;
  std::optional<int> stage_;
  std::optional<std::pair<int, uint32_t>> place_;  ///< file and line of the last source line
  std::string text_;
};

/// The rows of the table of counts, each a stage and its counts.
std::string stats_table(const Listing& listing, const std::vector<int>& stages) {
  size_t width = std::string_view("total").size();
  for (int stage : stages) width = std::max(width, stage_name(listing, stage).size());
  const auto row = [&](std::string_view title, const ClassCounts& counts) {
    std::string text = fmt::format("; {:<{}}", title, width);
    uint64_t sum = 0;
    for (int kind = 0; kind < kInstructionClasses; ++kind) {
      const std::string_view heading = name(static_cast<InstructionClass>(kind));
      const uint64_t count = counts[static_cast<size_t>(kind)];
      text += fmt::format("  {:>{}}", count, std::max<size_t>(heading.size(), 4));
      sum += count;
    }
    return text + fmt::format("  {:>5}\n", sum);
  };
  std::string text = fmt::format("\n; {:<{}}", "stage", width);
  for (int kind = 0; kind < kInstructionClasses; ++kind) {
    text += fmt::format("  {:>4}", name(static_cast<InstructionClass>(kind)));
  }
  text += "    all\n";
  ClassCounts total{};
  for (int stage : stages) {
    const ClassCounts counts = count_classes(listing, stage);
    for (size_t kind = 0; kind < counts.size(); ++kind) total[kind] += counts[kind];
    text += row(stage_name(listing, stage), counts);
  }
  return stages.size() == 1 ? text : text + row("total", total);
}

std::optional<int> find_stage(const Listing& listing, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto found = std::ranges::find(listing.stages, name);
  if (found != listing.stages.end()) return static_cast<int>(found - listing.stages.begin());
  std::string known;
  for (const std::string& stage : listing.stages) known += (known.empty() ? "" : ", ") + stage;
  throw Error(ErrorKind::user,
              fmt::format("kernel {} has no stage {}", listing.kernel.name, quote(name)),
              "stages: " + (known.empty() ? "none" : known));
}

}  // namespace

std::string print_listing(const Listing& listing, const PrintOptions& options) {
  const std::optional<int> stage = find_stage(listing, options.stage);
  std::string text = header(listing, options.key);
  text += Printer(listing, options).body(stage);
  if (!options.stats) return text;
  std::vector<int> stages;
  if (stage) {
    stages = {*stage};
  } else {
    for (int i = kNoStage; i < static_cast<int>(listing.stages.size()); ++i) stages.push_back(i);
  }
  return text + stats_table(listing, stages);
}

}  // namespace baton
