#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "builds/families.h"
#include "runtime/base/digest.h"
#include "runtime/base/text.h"
#include "runtime/target/target.h"
#include "tools/baton/backend_flag.h"
#include "tools/baton/command.h"
#include "tools/baton/input.h"
#include "tools/baton/product.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct CompileOptions {
  std::vector<std::string> keys;
  std::string arch;
  std::optional<std::string> out;
  std::string emit = "co";
  std::string backend = "lld";
  bool json = false;
};

/// Every key complete and checked, each once. Reports all the bad ones; then `exit` is not 0.
std::vector<BuildKey> check_keys(const CompileOptions& options, int& exit) {
  std::vector<BuildKey> keys;
  for (const std::string& text : options.keys) {
    try {
      BuildKey key = builds::complete_key(text, options.arch);
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
    } catch (const Error& error) {
      report(error);
      if (exit == 0) exit = exit_code(error);
    }
  }
  return keys;
}

/// Where the products go: standard output, one file, or files in a folder.
struct Destination {
  bool is_output = false;
  bool is_folder = false;
  fs::path path;

  fs::path file_for(const BuildKey& key, const EmitKind& kind) const {
    return is_folder ? path / file_name(key, kind) : path;
  }
};

Destination find_destination(const CompileOptions& options, const EmitKind& kind, size_t keys) {
  if (options.out && options.out->empty()) {
    throw Error(ErrorKind::user, "-o '' names no file", "give -o PATH");
  }
  if (!options.out && kind.is_text) {
    if (keys > 1) {
      throw Error(ErrorKind::user, fmt::format("--emit {} of {} keys needs -o", kind.name, keys),
                  "name a folder for the files: -o FOLDER");
    }
    if (options.json) {
      throw Error(ErrorKind::user,
                  fmt::format("--json and --emit {} would share standard output", kind.name),
                  "name a file for the text: -o PATH");
    }
    return {.is_output = true, .path = {}};
  }
  if (!options.out) return {.is_folder = true, .path = {}};
  std::error_code unreachable;  // the write says why
  const bool is_folder = fs::is_directory(*options.out, unreachable);
  if (keys > 1 && !is_folder) {
    throw Error(ErrorKind::user,
                fmt::format("-o '{}' is no folder, and there are {} keys", *options.out, keys),
                fmt::format("create the folder first: mkdir -p '{}'", *options.out));
  }
  return {.is_folder = is_folder, .path = *options.out};
}

ordered_json times_json(const builds::BuildTimes& times) {
  return {{"trace", times.trace_ms},
          {"passes", times.passes_ms},
          {"translate", times.codegen.translate_ms},
          {"optimise", times.codegen.optimise_ms},
          {"emit", times.codegen.emit_ms},
          {"link", times.codegen.link_ms},
          {"check", times.codegen.check_ms}};
}

ordered_json result_json(const BuildKey& key, const EmitKind& kind, const builds::Build& build,
                         const Written& written) {
  ordered_json json = {{"key", key.text()},
                       {"chip", key.chip()},
                       {"emit", kind.name},
                       {"path", written.path.string()}};
  if (!written.record.empty()) json["record"] = written.record.string();
  json["sha256"] = sha256(product_of(build, kind)).hex();
  json["times_ms"] = times_json(build.times);
  json["remarks"] = build.remarks;
  return json;
}

std::string result_line(const EmitKind& kind, const builds::Build& build, const Written& written) {
  const size_t bytes = product_of(build, kind).size();
  if (kind.emit != builds::Emit::code_object) {
    return fmt::format("{}: {} bytes\n", printable(written.path.string()), bytes);
  }
  const Record& record = build.code_object.record;
  return fmt::format("{}: {} bytes for {}; {} VGPRs, {} SGPRs, {} bytes of LDS, {} waves a SIMD\n",
                     printable(written.path.string()), bytes, record.chip, record.resources.vgprs,
                     record.resources.sgprs, record.resources.lds_bytes,
                     record.occupancy.waves_per_simd);
}

/// The products are the files: that nobody reads the lines about them stops nothing.
void print_if_read(const std::string& line) {
  try {
    print(line);
  } catch (const ReaderGone&) {
  }
}

/// Builds, writes and tells of one key; its JSON goes to `results`.
void compile_key(const BuildKey& key, const EmitKind& kind, Backend backend,
                 const Destination& destination, bool json, ordered_json& results) {
  const builds::Build build = builds::build(key, kind.emit, backend);
  for (const std::string& remark : build.remarks) report_remark(remark);
  if (destination.is_output) {
    print(build.text);
    return;
  }
  const Written written = write_product(build, kind, destination.file_for(key, kind));
  if (json) {
    results.push_back(result_json(key, kind, build, written));
  } else if (std::filesystem::is_regular_file(written.path)) {
    print_if_read(result_line(kind, build, written));
  }
}

/// Only a link is another with another backend.
Backend backend_for(const CompileOptions& options, const EmitKind& kind) {
  const Backend backend = find_backend(options.backend);
  if (backend == Backend::lld || kind.emit == builds::Emit::code_object) return backend;
  throw Error(ErrorKind::user,
              fmt::format("--backend comgr links, and --emit {} stops before", kind.name),
              "leave --backend out, or take --emit co");
}

int run_compile(const CompileOptions& options) {
  const EmitKind& kind = find_emit(options.emit);
  const Backend backend = backend_for(options, kind);
  require_arch(options.arch, "compile");
  require_backend(backend, find_target(options.arch).chip);
  int exit = 0;
  const std::vector<BuildKey> keys = check_keys(options, exit);
  if (exit != 0) return exit;
  const Destination destination = find_destination(options, kind, keys.size());
  ordered_json results = ordered_json::array();
  for (const BuildKey& key : keys) {
    try {
      compile_key(key, kind, backend, destination, options.json, results);
    } catch (const Error& error) {
      report(keys.size() == 1 ? error
                              : Error(error.kind(), fmt::format("{}: {}", key.text(), error.what()),
                                      error.hint()));
      if (exit == 0) exit = exit_code(error);
    }
  }
  if (options.json && !results.empty()) {
    // A path need not be UTF-8.
    print(results.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  }
  return exit;
}

}  // namespace

Command add_compile(CLI::App& app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App* parser = app.add_subcommand("compile", "Compile build keys for a chip");
  parser->add_option("KEY", options->keys, "Build keys: family:field=value,...; see `baton keys`")
      ->required()
      ->type_name("");
  parser->add_option("--arch", options->arch, "The chip: " + chips_text())->type_name("CHIP");
  parser
      ->add_option("-o", options->out,
                   "The file to write, or a folder for files named after key and chip "
                   "(default: text to standard output, else files in this folder)")
      ->type_name("PATH");
  parser
      ->add_option("--emit", options->emit,
                   "What to make: co (linked, with its record in PATH.json), obj, asm, llvm "
                   "(before optimisation), mlir (after the passes), baton (as traced)")
      ->type_name(emit_names())
      ->capture_default_str();
  add_backend_flag(*parser, options->backend, "links the code object");
  parser->add_flag("--json", options->json,
                   "Print a JSON list: path, SHA-256, phase times and remarks of each key");
  parser->footer(
      "Every key is checked before the first is compiled.\n\n"
      "Examples:\n"
      "  baton compile attn_post:tokens=8,nblocks=8 --arch gfx950 -o attn_post.co\n"
      "  baton compile attn_post:tokens=1 attn_post:tokens=2 --arch gfx942 -o out --json\n"
      "  baton compile attn_post --arch gfx90a --emit asm | less");
  return {parser, [options] { return run_compile(*options); }};
}

}  // namespace baton::cli
