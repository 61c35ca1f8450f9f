#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "builds/builder.h"
#include "builds/families.h"
#include "builds/kernel_check.h"
#include "builds/kimi_k3/model.h"
#include "runtime/base/file.h"
#include "tools/baton/command.h"
#include "tools/baton/emulator_report.h"
#include "tools/baton/input.h"
#include "tools/baton/output_path.h"
#include "tools/baton/progress.h"
#include "tools/baton/run_armed.h"
#include "tools/baton/run_devices.h"
#include "tools/baton/run_diag.h"
#include "tools/baton/run_options.h"
#include "tools/baton/run_table.h"
#include "tools/baton/run_tensors.h"
#include "tools/baton/run_timeline.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

using builds::CheckRow;
using builds::KernelCheck;
using builds::RankTensors;

CodeObject code_for(const RunOptions& options, const BuildKey& key) {
  if (!options.code) {
    Progress progress;
    progress.phase("compile");
    builds::Build build = builds::build(key);
    progress.hide();
    for (const std::string& remark : build.remarks) report_remark(remark);
    return std::move(build.code_object);
  }
  OpenedCode opened = open_code_file(*options.code, options.arch);
  if (!opened.record) {
    throw Error(ErrorKind::user, *options.code + " has no record beside it",
                "baton compile writes both: FILE.co and FILE.co.json");
  }
  if (opened.record->key != key.text()) {
    throw Error(ErrorKind::user,
                fmt::format("{} was built for {}, not for {}", *options.code, opened.record->key,
                            key.text()),
                "give the key that the file was built for");
  }
  return {std::move(opened.bytes), std::move(*opened.record)};
}

/// Runs all steps and prints each.
class Run {
 public:
  Run(const RunOptions& options, const BuildKey& key, RunDevices& devices, const CodeObject& object)
      : options_(options),
        key_(key),
        check_(builds::find_kernel_check(key)),
        devices_(devices),
        collective_(devices_.start(object)) {
    for (int rank : options.absent) collective_->leave_out(rank);
  }

  /// Whether all were right. An error of a launch is told in the JSON document as well.
  bool steps() {
    try {
      return run_steps();
    } catch (const Error& error) {
      progress_.hide();
      if (options_.json && error.kind() == ErrorKind::failed_check) show_json(false, error.what());
      if (options_.absent.empty() || key_.flag("diag") || !error.hint().empty()) throw;
      throw Error(error.kind(), error.what(),
                  "ranks wait for those of --absent: with diag=1 in the key every wait ends");
    }
  }

 private:
  bool gave_up() const { return !diag_.waits.empty(); }

  bool run_steps() {
    RankTensors inputs;
    progress_.phase("read the inputs");
    if (options_.inputs) inputs = read_inputs(*options_.inputs, key_);
    bool right = true;
    for (int step = 0; step < options_.steps && !gave_up(); ++step) {
      if (!options_.inputs) {
        progress_.phase(fmt::format("step {} of {}: draw the inputs", step + 1, options_.steps));
        inputs = check_.random_inputs(
            key_, options_.emulator.seed.value_or(0) + static_cast<uint64_t>(step));
      }
      progress_.phase(fmt::format("step {} of {}: run and compare", step + 1, options_.steps));
      const auto start = std::chrono::steady_clock::now();
      run_and_compare(inputs);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      right = right && builds::all_passed(rows_) && !gave_up();
      show(step, took.count());
      check_.carry(key_, result_.outputs, inputs);
    }
    finish(right);
    return right;
  }

  void run_and_compare(const RankTensors& inputs) {
    result_ = builds::run_step(*collective_, key_, inputs, options_.layer);
    diag_ = read_diag_report(*collective_);
    rows_.clear();
    unseen_.clear();
    armed_ = {};
    if (gave_up()) return;  // what the kernel made of words that did not come says nothing
    rows_ = builds::check_step(key_, inputs, result_);
    unseen_ = builds::unseen_regions(*collective_, result_);
    armed_ = check_armed(*collective_);
    std::ranges::copy(armed_.rows, std::back_inserter(rows_));
  }

  void show(int step, double seconds) {
    progress_.hide();
    if (options_.json) {
      steps_json_.push_back(
          {{"step", step}, {"seconds", seconds}, {"comparisons", comparisons_json(rows_)}});
      if (gave_up()) steps_json_.back()["diagnostics"] = diag_json(diag_);
      if (!unseen_.empty()) steps_json_.back()["not_kept"] = unseen_;
      if (!armed_.first_unarmed.empty()) {
        steps_json_.back()["first_unarmed"] = armed_.first_unarmed;
      }
      return;
    }
    print(fmt::format("{} on {}, step {}\n", key_.text(), devices_.ranks_text(), step));
    if (gave_up()) return print(diag_.text() + "nothing is compared\n");
    print(comparisons_text(rows_, seconds));
    for (const std::string& region : unseen_) {
      print(
          fmt::format("the words of {} are not compared: its readers have re-armed it\n", region));
    }
    if (armed_.first_unarmed.empty()) return;
    print(fmt::format("the first word that is not armed: {}\n", armed_.first_unarmed));
  }

  void finish(bool right) {
    write_ranks(options_.outputs, result_.outputs, check_.ranks);
    write_ranks(options_.regions, result_.regions, check_.ranks);
    write_timeline(options_.timeline, *collective_, devices_.clock_text());
    if (options_.json) return show_json(right, "");
    const emulator::Emulator* emulator = devices_.emulator();
    if (emulator != nullptr) print("fidelity: " + emulator->report().fidelity() + "\n");
  }

  void show_json(bool right, const std::string& error) const {
    using nlohmann::ordered_json;
    ordered_json document = {
        {"key", key_.text()}, {"chip", key_.chip()}, {"device", devices_.name()}, {"right", right}};
    const emulator::Emulator* emulator = devices_.emulator();
    if (emulator != nullptr) document["emulator"] = report_json(emulator->report());
    document["steps"] = steps_json_;
    if (!error.empty()) document["error"] = error;
    print(document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  }

  const RunOptions& options_;
  const BuildKey& key_;
  const KernelCheck& check_;
  RunDevices& devices_;
  std::unique_ptr<Collective> collective_;
  builds::StepResult result_;   ///< of the last step
  std::vector<CheckRow> rows_;  ///< of the last step; none when its waits gave up
  DiagReport diag_;
  std::vector<std::string> unseen_;  ///< regions, in the last step
  ArmedCheck armed_;
  Progress progress_;
  nlohmann::ordered_json steps_json_ = nlohmann::ordered_json::array();
};

void require_folder_name(const char* flag, const std::optional<std::string>& folder) {
  if (!folder || !folder->empty()) return;
  throw Error(ErrorKind::user, fmt::format("{} '' names no folder", flag),
              fmt::format("give {} DIR", flag));
}

void require_ranks(const RunOptions& options, const BuildKey& key) {
  const int ranks = builds::find_kernel_check(key).ranks;
  if (options.ranks.value_or(ranks) != ranks) {
    throw Error(ErrorKind::user,
                fmt::format("--ranks {}: {} runs on {} rank{}", *options.ranks, key.family(), ranks,
                            ranks == 1 ? "" : "s"),
                fmt::format("leave --ranks out, or give {}", ranks));
  }
  for (int absent : options.absent) {
    if (absent < ranks) continue;
    throw Error(
        ErrorKind::user,
        fmt::format("--absent {}: the ranks of {} are 0 .. {}", absent, key.family(), ranks - 1),
        "name a rank that takes part");
  }
  const std::set<int> absent(options.absent.begin(), options.absent.end());
  if (static_cast<int>(absent.size()) == ranks) {
    throw Error(ErrorKind::user, "--absent names every rank: nothing would run",
                "leave at least one rank in");
  }
}

/// Before the work, whose results would be lost.
void require_outputs(const RunOptions& options) {
  if (options.outputs) require_output_folder("--outputs", *options.outputs);
  if (options.regions) require_output_folder("--regions", *options.regions);
  if (options.timeline) require_output_file("--timeline", *options.timeline);
  if (!options.outputs || !options.regions) return;
  if (!is_same_path(*options.outputs, *options.regions)) return;
  throw Error(ErrorKind::user,
              fmt::format("--outputs and --regions both name {}", *options.outputs),
              "their files have the same names: give two folders");
}

int run_run(const RunOptions& options) {
  require_folder_name("--inputs", options.inputs);
  require_folder_name("--outputs", options.outputs);
  require_folder_name("--regions", options.regions);
  require_arch(options.arch, "run");
  const BuildKey key = builds::complete_key(options.key, options.arch);
  require_ranks(options, key);
  require_timeline(options.timeline, key);
  require_outputs(options);
  RunDevices devices(options, key);
  const CodeObject object = code_for(options, key);
  return Run(options, key, devices, object).steps() ? 0 : static_cast<int>(ErrorKind::failed_check);
}

/// "attn_post 8, kda_pre 1".
std::string ranks_text() {
  std::vector<std::string> all;
  for (const KernelCheck& check : builds::kernel_checks()) {
    all.push_back(fmt::format("{} {}", check.family, check.ranks));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

/// What is read and written.
void add_files(CLI::App& parser, RunOptions& options) {
  parser
      .add_option("--inputs", options.inputs,
                  "Read common.safetensors and a file a rank, rank0.safetensors ..; its own wins")
      ->type_name("DIR");
  parser.add_option("--outputs", options.outputs, "Write what the kernel wrote, a file a rank")
      ->type_name("DIR");
  parser.add_option("--regions", options.regions, "Write the hand-off regions, a file a rank")
      ->type_name("DIR");
  parser
      .add_option(
          "--timeline", options.timeline,
          "With timeline=1 in the key: write the last step's stages, FILE.json for Perfetto "
          "and chrome://tracing, FILE.svg as a picture")
      ->type_name("FILE");
}

}  // namespace

Command add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* parser = app.add_subcommand("run", "Run a kernel on all its ranks and check it");
  parser->add_option("KEY", options->key, "A build key")->required()->type_name("");
  parser->add_option("--arch", options->arch, "The chip: " + chips_text())->type_name("CHIP");
  parser->add_option("--code", options->code, "Run this code object of the key")
      ->type_name("FILE.co");
  parser
      ->add_option("--ranks", options->ranks,
                   "GPUs: as many as the kernel runs on (" + ranks_text() + ")")
      ->type_name("N");
  parser
      ->add_option(
          "--device", options->device,
          "emu: the emulator; hip: this machine's AMD GPUs; auto: hip where HIP sees "
          "enough of the chip that can take the kernel and no flag is only the emulator's, "
          "else emu")
      ->type_name("auto|emu|hip")
      ->capture_default_str();
  options->emulator.add_to(
      *parser,
      "Draw the inputs from this; emulated without --threads also one interleaving of "
      "all waves, always the same");
  parser
      ->add_option("--delay", options->delays,
                   "Hold a rank back when it is about to enter a stage, for so many instructions "
                   "of all waves; may be given again")
      ->type_size(1)
      ->allow_extra_args(false)
      ->type_name("RANK:STAGE:CYCLES");
  parser
      ->add_option(
          "--absent", options->absent,
          "A rank that does not launch, so that its peers wait in vain; may be given again")
      ->check(CLI::Range(0, kRanks - 1))
      ->type_size(1)
      ->allow_extra_args(false)
      ->type_name("RANK");
  parser
      ->add_option(
          "--steps", options->steps,
          "Steps in a row: with --inputs each on what the last one left, else on fresh inputs")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  parser->add_option("--layer", options->layer, "The layer's index, which the tags carry")
      ->check(CLI::Range(0, builds::kimi_k3::kLayers - 1))
      ->type_name("L");
  add_files(*parser, *options);
  parser->add_flag("--json", options->json, "Print the comparisons as JSON");
  parser->footer(
      "Without --inputs the inputs are random, of realistic magnitudes. Exits 1 when a comparison "
      "fails.\n\nExamples:\n"
      "  baton run attn_post:tokens=8,nblocks=8 --arch gfx950\n"
      "  baton run attn_post:tokens=3 --arch gfx942 --seed 7 --steps 5 --outputs out");
  return {parser, [options, parser] {
            for (const char* flag : {"--threads", "--mfma", "--check", "--delay"}) {
              if (parser->count(flag) > 0) options->emulator_only.push_back(flag);
            }
            return run_run(*options);
          }};
}

}  // namespace baton::cli
