#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "builds/families.h"
#include "builds/key_builder.h"
#include "builds/matrix_folder.h"
#include "builds/shipped_check.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/cache/layout.h"
#include "tools/baton/command.h"
#include "tools/baton/input.h"
#include "tools/baton/output_path.h"
#include "tools/baton/progress.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct MatrixFlags {
  std::optional<std::string> file, plan, shared;
  std::string out;
  std::vector<std::string> chips;
  std::vector<std::string> only;
  std::optional<int> jobs;
  bool check = false, collect = false, prune = false, json = false;
};

constexpr const char* kDescribe = "docs/matrix.md describes the file and the folder";

[[noreturn]] void refuse(const std::string& message, const std::string& hint = kDescribe) {
  throw Error(ErrorKind::user, message, hint);
}

/// A flag whose value is there and empty would read as one that was not given.
void refuse_empty_values(const MatrixFlags& flags) {
  if (flags.out.empty()) refuse("--out '' names no folder");
  if (flags.file && flags.file->empty()) refuse("FILE.toml is '', which names no file");
  if (flags.plan && flags.plan->empty()) refuse("--plan '' names no file");
  if (flags.shared && flags.shared->empty()) refuse("--shared '' is no URL of a shared cache");
}

/// Flags that the mode would not look at.
void refuse_idle_flags(const MatrixFlags& flags) {
  if (flags.prune && (flags.check || flags.plan || !flags.only.empty())) {
    refuse("--prune has no use beside --check, --plan and --only",
           "it is for a whole run and for --collect");
  }
  if (flags.shared && (flags.check || flags.collect)) {
    refuse("--shared has no use beside --check and --collect, which compile nothing");
  }
  if (flags.jobs && flags.check) refuse("-j has no use beside --check");
  if (!flags.chips.empty() && flags.check && !flags.file) {
    refuse("--arch has no use beside --check without FILE.toml",
           "the manifest names the chip of each key");
  }
}

/// What the flags ask for, alone among the four.
void check_flags(const MatrixFlags& flags) {
  refuse_empty_values(flags);
  const int modes = flags.check + flags.collect + flags.plan.has_value() + !flags.only.empty();
  if (modes > 1) {
    refuse("--check, --collect, --plan and --only exclude each other");
  }
  if (flags.file.has_value() != flags.only.empty() && !flags.check) {
    refuse(flags.only.empty() ? "baton matrix needs a FILE.toml"
                              : "--only names its keys itself: leave FILE.toml out");
  }
  refuse_idle_flags(flags);
  if (flags.jobs && *flags.jobs < 1) {
    refuse(fmt::format("-j {} is no number of threads", *flags.jobs),
           "-j N, from 1 up; without it, one a processor");
  }
}

/// --out from the root. Throws Error (user) for what can be no folder of this user.
fs::path out_folder(const std::string& out) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorKind::user, fmt::format("--out {}: {}", quote(out), why),
                "name another folder");
  };
  struct stat status;
  if (::stat(out.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(std::strerror(errno));
  } else if (!S_ISDIR(status.st_mode)) {
    fail("it is no folder");
  } else if (status.st_uid != ::geteuid()) {
    fail(fmt::format("it belongs to user {}, and this is user {}", status.st_uid, ::geteuid()));
  }
  return absolute_path(out);
}

builds::Matrix read(const MatrixFlags& flags) {
  const Bytes text = read_file(*flags.file);
  return builds::read_matrix({reinterpret_cast<const char*>(text.data()), text.size()}, *flags.file,
                             flags.chips);
}

/// "[######....] 12 done, 0 failed, 8 left; slowest 1.2 s: attn_post:tokens=64,..."
class ProgressLine {
 public:
  void show(const PrepareProgress& state) {
    if (state.key_ms > slowest_ms_) {
      slowest_ms_ = state.key_ms;
      slowest_ = state.key->text();
    }
    constexpr size_t kCells = 20;
    const size_t ended = state.done + state.failed;
    const size_t filled = kCells * ended / std::max<size_t>(state.total, 1);
    line_.update(fmt::format("[{}{}] {} done, {} failed, {} left; slowest {:.1f} s: {}",
                             std::string(filled, '#'), std::string(kCells - filled, '.'),
                             state.done, state.failed, state.total - ended, slowest_ms_ / 1000,
                             slowest_));
  }
  void start(size_t total) { line_.phase(fmt::format("{} to compile", total)); }

 private:
  Progress line_;
  double slowest_ms_ = 0;
  std::string slowest_;
};

struct Outcome {
  size_t keys = 0, present = 0;
  builds::MatrixFolder::Compiled compiled;
  double seconds = 0;
  size_t pruned = 0, unlisted = 0;  ///< paths below v1 that are not of the matrix: gone, left
};

Outcome compile(builds::MatrixFolder& folder, const std::vector<BuildKey>& keys, int jobs) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome{.keys = keys.size(), .present = 0, .compiled = {}, .seconds = 0};
  const std::vector<BuildKey> missing = folder.missing(keys, jobs);
  outcome.present = keys.size() - missing.size();
  if (!missing.empty()) {
    ProgressLine line;
    line.start(missing.size());
    outcome.compiled =
        folder.compile(missing, jobs, [&](const PrepareProgress& state) { line.show(state); });
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  outcome.seconds = took.count();
  return outcome;
}

/// Reports every failure; the exit code of the first.
int report_failures(const Outcome& outcome) {
  int exit = 0;
  for (const PrepareFailure& failure : outcome.compiled.failures) {
    report(Error(
        failure.error.kind(),
        fmt::format("{} for {}: {}", failure.key.text(), failure.key.chip(), failure.error.what()),
        failure.error.hint()));
    if (exit == 0) exit = exit_code(failure.error);
  }
  return exit;
}

void print_json(const ordered_json& json) {
  print(json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

ordered_json outcome_json(const Outcome& outcome, const std::string& out,
                          const std::optional<Error>& refusal) {
  ordered_json failed = ordered_json::array();
  for (const PrepareFailure& failure : outcome.compiled.failures) {
    failed.push_back({{"key", failure.key.text()},
                      {"chip", failure.key.chip()},
                      {"error", failure.error.what()}});
  }
  return {{"folder", out},
          {"keys", outcome.keys},
          {"present", outcome.present},
          {"compiled", outcome.compiled.counts.compiled},
          {"unchanged", outcome.compiled.counts.disk},
          {"shared", outcome.compiled.counts.shared},
          {"failed", std::move(failed)},
          {"pruned", outcome.pruned},
          {"unlisted", outcome.unlisted},
          {"error", refusal ? ordered_json(refusal->what()) : ordered_json()},
          {"seconds", outcome.seconds}};
}

std::string pruned_text(const Outcome& outcome) {
  return outcome.pruned == 0 ? "" : fmt::format(", {} others removed", outcome.pruned);
}

std::string outcome_text(const Outcome& outcome, const std::string& out) {
  const std::string place = printable(out);
  if (outcome.present == outcome.keys) {
    return fmt::format("nothing to do: all {} keys are in {}, checked in {:.1f} s{}\n",
                       outcome.keys, place, outcome.seconds, pruned_text(outcome));
  }
  const LoaderCounts& counts = outcome.compiled.counts;
  std::string text =
      fmt::format("{} keys in {}: {} compiled in {:.1f} s, {} were there", outcome.keys, place,
                  counts.compiled, outcome.seconds, outcome.present);
  if (counts.disk != 0) text += fmt::format(", {} unchanged by this build of Baton", counts.disk);
  if (counts.shared != 0) text += fmt::format(", {} from the shared cache", counts.shared);
  if (!outcome.compiled.failures.empty()) {
    text += fmt::format(", {} failed: no manifest is written", outcome.compiled.failures.size());
  }
  return text + pruned_text(outcome) + "\n";
}

int run_check(const MatrixFlags& flags) {
  std::optional<builds::Matrix> expected;
  if (flags.file) expected = read(flags);
  const std::vector<std::string> faults =
      builds::check_shipped(flags.out, expected ? &*expected : nullptr);
  const size_t entries = Manifest::read(flags.out).entries.size();
  if (flags.json) {
    print_json({{"folder", flags.out}, {"keys", entries}, {"faults", faults}});
  } else {
    for (const std::string& fault : faults) print(fmt::format("fault: {}\n", printable(fault)));
    print(fmt::format("{} keys in {}, {} faults\n", entries, printable(flags.out), faults.size()));
  }
  return faults.empty() ? 0 : 1;
}

/// The arguments that repeat the chips, for a shell.
std::string arch_arguments(const MatrixFlags& flags) {
  std::string text;
  for (const std::string& chip : flags.chips) text += " --arch " + chip;
  return text;
}

std::string own_program() {
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) return program.string();
  throw Error(ErrorKind::environment,
              fmt::format("cannot find this program in /proc: {}", failure.message()),
              "mount /proc: a plan names the program");
}

int run_plan(const MatrixFlags& flags, const builds::Matrix& matrix, int jobs) {
  const builds::PlanCommands commands = {.baton = own_program(),
                                         .matrix = absolute_path(*flags.file).string(),
                                         .out = out_folder(flags.out).string(),
                                         .arch = arch_arguments(flags),
                                         .shared = flags.shared.value_or("")};
  builds::require_plannable(commands);
  if (flags.shared) HttpFolder{*flags.shared};  // refuses what is no URL
  const builds::KeyBuilder builder;
  builds::MatrixFolder folder(commands.out, builder, report_remark);
  const std::vector<Digest> contents = folder.contents(matrix.keys, jobs);
  write_file(*flags.plan, as_bytes(builds::ninja_plan(matrix.keys, contents, commands)));
  if (flags.json) {
    print_json({{"plan", *flags.plan}, {"keys", matrix.keys.size()}});
  } else {
    print(fmt::format("{}: {} keys; run it with ninja -f\n", printable(*flags.plan),
                      matrix.keys.size()));
  }
  return 0;
}

std::vector<BuildKey> only_keys(const MatrixFlags& flags) {
  if (flags.chips.empty()) require_arch("", "matrix --only");
  std::vector<BuildKey> keys;
  for (const std::string& chip : flags.chips) {
    for (const std::string& text : flags.only) keys.push_back(builds::complete_key(text, chip));
  }
  return keys;
}

/// Writes the manifest, then removes what it does not list, or says that it is there.
void collect(const MatrixFlags& flags, builds::MatrixFolder& folder, const builds::Matrix& matrix,
             int jobs, Outcome& outcome) {
  const Manifest manifest = folder.collect(matrix, jobs);
  if (flags.prune) {
    outcome.pruned = folder.prune(manifest);
    return;
  }
  outcome.unlisted = builds::unlisted(flags.out, manifest).size();
  if (outcome.unlisted == 0) return;
  report_remark(
      fmt::format("{} files and folders below {} are not of this matrix: --prune removes "
                  "them",
                  outcome.unlisted, quote(cache_layout::root(flags.out).string())));
}

bool is_default_cache(const std::string& folder) {
  try {
    return is_same_path(folder, default_cache_folder());
  } catch (const Error&) {
    return false;  // the variables that would name one are not set
  }
}

void require_prunable(const MatrixFlags& flags, const builds::MatrixFolder& folder,
                      const builds::Matrix& matrix) {
  if (is_default_cache(flags.out)) {
    throw Error(ErrorKind::user,
                fmt::format("--prune: {} is the cache of this user's loaders", quote(flags.out)),
                "`baton cache prune` looks after it");
  }
  folder.require_prunable(matrix);
}

/// Compiles and collects, as far as the flags ask for; the exit code.
int fill(const MatrixFlags& flags, builds::MatrixFolder& folder, const builds::Matrix& matrix,
         int jobs) {
  if (flags.prune) require_prunable(flags, folder, matrix);
  Outcome outcome{.keys = matrix.keys.size(), .present = matrix.keys.size(), .compiled = {}};
  if (!flags.collect) outcome = compile(folder, matrix.keys, jobs);
  const int exit = report_failures(outcome);
  std::optional<Error> refusal;
  try {
    if (exit == 0 && flags.only.empty()) collect(flags, folder, matrix, jobs, outcome);
  } catch (const Error& error) {
    refusal = error;
  }
  if (flags.json) print_json(outcome_json(outcome, flags.out, refusal));
  if (refusal) throw Error(*refusal);
  if (flags.json) return exit;
  if (flags.collect) {
    print(fmt::format("{} keys collected in {}{}\n", matrix.keys.size(), printable(flags.out),
                      pruned_text(outcome)));
  } else {
    print(outcome_text(outcome, flags.out));
  }
  return exit;
}

int run_matrix(const MatrixFlags& flags) {
  check_flags(flags);
  if (flags.check) return run_check(flags);
  builds::Matrix matrix;
  if (flags.only.empty()) {
    matrix = read(flags);
  } else {
    matrix.keys = only_keys(flags);
  }
  const int jobs = flags.jobs.value_or(static_cast<int>(std::thread::hardware_concurrency()));
  if (flags.plan) return run_plan(flags, matrix, jobs);
  const builds::KeyBuilder builder;
  std::optional<SharedStore> shared;
  if (flags.shared) {
    shared.emplace(SharedStore::Options{.url = *flags.shared, .report = report_remark});
  }
  builds::MatrixFolder folder(out_folder(flags.out), builder, report_remark,
                              shared ? &*shared : nullptr);
  return fill(flags, folder, matrix, jobs);
}

}  // namespace

Command add_matrix(CLI::App& app) {
  auto flags = std::make_shared<MatrixFlags>();
  CLI::App* parser =
      app.add_subcommand("matrix", "Compile a whole list of keys into a folder that is shipped");
  parser->add_option("FILE.toml", flags->file, "The kernels and the values of their fields")
      ->type_name("");
  parser->add_option("--out", flags->out, "The folder; what is there already is not compiled again")
      ->required()
      ->type_name("FOLDER");
  parser->add_option("-j", flags->jobs, "Threads (default: one a processor)")->type_name("N");
  parser
      ->add_option("--arch", flags->chips,
                   "Chips in place of the file's; may be repeated: " + chips_text())
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("CHIP");
  parser->add_flag("--check", flags->check,
                   "Compile nothing: check every byte of a shipped folder against its manifest, "
                   "and against FILE.toml if that is given");
  parser
      ->add_option("--plan", flags->plan, "Compile nothing: write a Ninja file with an edge a key")
      ->type_name("FILE.ninja");
  parser->add_flag("--collect", flags->collect,
                   "Compile nothing: join what a plan's steps made into the shipped folder");
  parser->add_flag(
      "--prune", flags->prune,
      "Then remove from the folder what the matrix does not list; no other run may use "
      "the folder meanwhile");
  parser
      ->add_option("--only", flags->only,
                   "A step of a plan: compile this key into the folder, without a manifest")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY");
  parser
      ->add_option("--shared", flags->shared,
                   "A folder behind a plain web server (GET, PUT) where machines share results")
      ->type_name("URL");
  parser->add_flag("--json", flags->json, "Print JSON");
  parser->footer(
      "The folder gets manifest.json, summary.txt and the code objects; docs/matrix.md describes\n"
      "them. An interrupted run is taken up where it was cut.\n\n"
      "Examples:\n"
      "  baton matrix builds/kimi_k3/deployment.toml --out shipped -j 8\n"
      "  baton matrix --check --out shipped\n"
      "  baton matrix builds/kimi_k3/deployment.toml --out shipped --plan plan.ninja");
  return {parser, [flags] { return run_matrix(*flags); }};
}

}  // namespace baton::cli
