#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "builds/builder.h"
#include "builds/families.h"
#include "builds/kimi_k3/attn_post_run.h"
#include "runtime/base/file.h"
#include "runtime/emulator/emulator.h"
#include "tools/baton/command.h"
#include "tools/baton/input.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

using builds::kimi_k3::CheckRow;
using builds::kimi_k3::RankTensors;
using builds::kimi_k3::StepResult;
using Path = std::filesystem::path;

struct RunOptions {
  std::string key, arch, code, inputs, outputs, regions;
  std::optional<uint64_t> seed;
  std::optional<int> threads;
  int steps = 1;
  int layer = 0;
  bool json = false;
};

CodeObject code_for(const RunOptions& options, const BuildKey& key) {
  if (options.code.empty()) return builds::build(key).code_object;
  OpenedCode opened = open_code(options.code, options.arch, "run");
  if (!opened.record) {
    throw Error(ErrorKind::user, options.code + " has no record beside it",
                "baton compile writes both: FILE.co and FILE.co.json");
  }
  if (opened.record->key != key.text()) {
    throw Error(ErrorKind::user,
                fmt::format("{} was built for {}, not for {}", options.code, opened.record->key,
                            key.text()),
                "give the key that the file was built for");
  }
  return {std::move(opened.bytes), std::move(*opened.record)};
}

TensorMap read_if_there(const Path& path) {
  return std::filesystem::exists(path) ? read_safetensors(path) : TensorMap();
}

RankTensors read_inputs(const Path& folder, const BuildKey& key) {
  if (!std::filesystem::is_directory(folder)) {
    throw Error(ErrorKind::user, fmt::format("{} is no folder", folder.string()),
                "--inputs DIR holds common.safetensors and rank0.safetensors .. rank7.safetensors");
  }
  RankTensors inputs;
  inputs.common = read_if_there(folder / "common.safetensors");
  for (int rank = 0; rank < kRanks; ++rank) {
    inputs.ranks[static_cast<size_t>(rank)] =
        read_if_there(folder / fmt::format("rank{}.safetensors", rank));
  }
  builds::kimi_k3::require_attn_post_inputs(key, inputs);
  return inputs;
}

void write_ranks(const std::string& folder, const std::array<TensorMap, kRanks>& tensors) {
  if (folder.empty()) return;
  std::error_code failed;
  std::filesystem::create_directory(folder, failed);
  for (int rank = 0; rank < kRanks; ++rank) {
    write_safetensors(Path(folder) / fmt::format("rank{}.safetensors", rank),
                      tensors[static_cast<size_t>(rank)]);
  }
}

std::string distance(uint32_t ulps) { return ulps == UINT32_MAX ? "NaN" : fmt::format("{}", ulps); }

std::string table_of(const std::vector<CheckRow>& rows) {
  std::string text =
      fmt::format("{:>4}  {:<22} {:<12} {:>9} {:>9} {:>8}  {:>11}  {}\n", "rank", "tensor", "rule",
                  "elements", "differing", "ulps", "relative L2", "verdict");
  for (const CheckRow& row : rows) {
    const auto& c = row.comparison;
    text += fmt::format("{:>4}  {:<22} {:<12} {:>9} {:>9} {:>8}  {:>11.3g}  {}\n", row.rank,
                        row.tensor, row.rule, c.elements, c.differing, distance(c.largest_ulps),
                        c.relative_l2, c.passed ? "right" : "WRONG");
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<CheckRow>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const CheckRow& row : rows) {
    const auto& c = row.comparison;
    list.push_back({{"rank", row.rank},
                    {"tensor", row.tensor},
                    {"rule", row.rule},
                    {"elements", c.elements},
                    {"differing", c.differing},
                    {"largest_ulps", c.largest_ulps},
                    {"relative_l2", c.relative_l2},
                    {"right", c.passed}});
  }
  return list;
}

emulator::Names names_of(const Collective& collective) {
  return {.address = [&](uint64_t address) { return collective.describe(address); }};
}

/// Runs all steps and prints each; returns whether all were right.
class Run {
 public:
  Run(const RunOptions& options, const BuildKey& key, const CodeObject& object)
      : options_(options),
        key_(key),
        emulator_({.chip = key.chip(),
                   .devices = kRanks,
                   .seed = options.threads ? std::nullopt : options.seed,
                   .threads = threads()}),
        collective_(devices(), object) {
    emulator_.set_names(names_of(collective_));
    if (!collective_.fits_chip()) {
      report_remark(
          fmt::format("a {} cannot keep the whole grid resident: on the chip itself this "
                      "kernel would hang; the emulator holds every workgroup",
                      key.chip()));
    }
  }

  bool steps() {
    RankTensors inputs;
    if (!options_.inputs.empty()) inputs = read_inputs(options_.inputs, key_);
    bool right = true;
    for (int step = 0; step < options_.steps; ++step) {
      if (options_.inputs.empty()) {
        inputs = builds::kimi_k3::random_attn_post_inputs(
            key_, options_.seed.value_or(0) + static_cast<uint64_t>(step));
      }
      const auto start = std::chrono::steady_clock::now();
      result_ = builds::kimi_k3::run_attn_post_step(collective_, key_, inputs, options_.layer);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      right = right && result_.passed();
      show(step, took.count());
      for (size_t rank = 0; rank < kRanks && !key_.flag("reset"); ++rank) {
        inputs.ranks[rank]["prefix"] = result_.outputs[rank].at("prefix");
      }
    }
    finish(right);
    return right;
  }

 private:
  int threads() const {
    if (options_.threads) return *options_.threads;
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    return options_.seed ? 1 : std::max(1, cores);
  }

  std::vector<Device*> devices() {
    std::vector<Device*> all;
    for (int rank = 0; rank < kRanks; ++rank) all.push_back(&emulator_.device(rank));
    return all;
  }

  void show(int step, double seconds) {
    if (options_.json) {
      steps_json_.push_back(
          {{"step", step}, {"seconds", seconds}, {"comparisons", json_of(result_.rows)}});
      return;
    }
    print(fmt::format("{} on {} emulated ranks of {}, step {}\n", key_.text(), kRanks, key_.chip(),
                      step));
    print(table_of(result_.rows));
    const auto wrong = std::count_if(result_.rows.begin(), result_.rows.end(),
                                     [](const CheckRow& row) { return !row.comparison.passed; });
    print(fmt::format("{} of {} comparisons right, {:.2f} s with the comparison\n",
                      result_.rows.size() - static_cast<size_t>(wrong), result_.rows.size(),
                      seconds));
  }

  void finish(bool right) {
    write_ranks(options_.outputs, result_.outputs);
    write_ranks(options_.regions, result_.regions);
    const std::string fidelity = emulator_.report().fidelity();
    if (!options_.json) return print("fidelity: " + fidelity + "\n");
    const nlohmann::ordered_json document = {{"key", key_.text()},
                                             {"chip", key_.chip()},
                                             {"right", right},
                                             {"fidelity", fidelity},
                                             {"steps", steps_json_}};
    print(document.dump(2) + "\n");
  }

  const RunOptions& options_;
  const BuildKey& key_;
  emulator::Emulator emulator_;
  Collective collective_;
  StepResult result_;
  nlohmann::ordered_json steps_json_ = nlohmann::ordered_json::array();
};

int run_run(const RunOptions& options) {
  require_arch(options.arch, "run");
  const BuildKey key = builds::complete_key(options.key, options.arch);
  const CodeObject object = code_for(options, key);
  return Run(options, key, object).steps() ? 0 : static_cast<int>(ErrorKind::failed_check);
}

}  // namespace

Command add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* parser = app.add_subcommand("run", "Run a kernel on 8 emulated ranks and check it");
  parser->add_option("KEY", options->key, "A build key")->required()->type_name("");
  parser->add_option("--arch", options->arch, "The chip: " + chips_text())->type_name("CHIP");
  parser->add_option("--code", options->code, "Run this code object of the key")
      ->type_name("FILE.co");
  parser
      ->add_option("--seed", options->seed,
                   "Draw the inputs from this; without --threads also one interleaving of all "
                   "waves, always the same")
      ->type_name("N");
  parser->add_option("--threads", options->threads, "Host threads (default: one a core)")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  parser
      ->add_option(
          "--steps", options->steps,
          "Steps in a row: with --inputs each on the last one's prefix, else on fresh inputs")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  parser->add_option("--layer", options->layer, "The layer's index, which the tags carry")
      ->check(CLI::Range(0, 92))
      ->type_name("L");
  parser
      ->add_option("--inputs", options->inputs,
                   "Read common.safetensors and rank0 .. rank7.safetensors; a rank's own wins")
      ->type_name("DIR");
  parser->add_option("--outputs", options->outputs, "Write what the kernel wrote, a file a rank")
      ->type_name("DIR");
  parser->add_option("--regions", options->regions, "Write the hand-off regions, a file a rank")
      ->type_name("DIR");
  parser->add_flag("--json", options->json, "Print the comparisons as JSON");
  parser->footer(
      "Without --inputs the inputs are random, of realistic magnitudes. Exits 1 when a comparison "
      "fails.\n\nExamples:\n"
      "  baton run attn_post:tokens=8,nblocks=8 --arch gfx950\n"
      "  baton run attn_post:tokens=3 --arch gfx942 --seed 7 --steps 5 --outputs out");
  return {parser, [options] { return run_run(*options); }};
}

}  // namespace baton::cli
