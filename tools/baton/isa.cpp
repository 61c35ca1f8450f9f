#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "codegen/comgr/comgr_library.h"
#include "codegen/listing/listing.h"
#include "runtime/base/text.h"
#include "tools/baton/backend_flag.h"
#include "tools/baton/command.h"
#include "tools/baton/input.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

struct IsaOptions {
  std::string code;
  std::string arch;
  std::optional<std::string> kernel;
  std::string backend = "lld";
  std::string stage;
  bool source = false;
  bool raw = false;
  bool stats = false;
};

/// The one that was asked for, or all.
std::vector<std::string> chosen_kernels(const ElfImage& image, const IsaOptions& options) {
  if (options.kernel) return {image.find_kernel(*options.kernel).name};
  std::vector<std::string> names;
  for (const Kernel& kernel : image.kernels()) names.push_back(kernel.name);
  return names;
}

void print_raw(const OpenedCode& code, const std::vector<std::string>& kernels,
               const comgr::Library* comgr) {
  if (kernels.size() != 1) {
    std::vector<std::string> names;
    for (const std::string& kernel : kernels) names.push_back(quote(kernel));
    throw Error(ErrorKind::user,
                fmt::format("--raw prints one kernel, {} holds {}", code.source, kernels.size()),
                fmt::format("--kernel NAME: {}", fmt::join(names, ", ")));
  }
  print(print_assembly(disassemble(code.bytes, code.source, kernels.front(), comgr)));
}

int run_isa(const IsaOptions& options) {
  const Backend backend = find_backend(options.backend);
  const OpenedCode code = open_code(options.code, options.arch, "isa", backend);
  const ElfImage image = ElfImage::parse(code.bytes, code.source);
  if (image.kernels().empty()) {
    throw Error(ErrorKind::user, code.source + " holds no kernel", "give a code object with one");
  }
  const std::vector<std::string> kernels = chosen_kernels(image, options);
  std::optional<comgr::Library> library;
  if (backend == Backend::comgr) library.emplace();
  const comgr::Library* comgr = library ? &*library : nullptr;
  if (options.raw) {
    print_raw(code, kernels, comgr);
    return 0;
  }
  std::string text;
  for (const std::string& kernel : kernels) {
    if (!text.empty()) text += "\n";
    text += print_listing(disassemble(code.bytes, code.source, kernel, comgr),
                          {.key = code.record ? code.record->key : "",
                           .stage = options.stage,
                           .source = options.source,
                           .stats = options.stats,
                           .colour = colour_on_output()});
  }
  print(text);
  return 0;
}

}  // namespace

Command add_isa(CLI::App& app) {
  auto options = std::make_shared<IsaOptions>();
  CLI::App* parser = app.add_subcommand("isa", "Show the instructions of a kernel, annotated");
  parser->add_option("KEY|FILE.co", options->code, "A build key, or a code object's path")
      ->required()
      ->type_name("");
  parser
      ->add_option("--arch", options->arch, "The chip; a file tells it by itself: " + chips_text())
      ->type_name("CHIP");
  parser
      ->add_option("--kernel", options->kernel, "Show this kernel only, when the file has several")
      ->type_name("NAME");
  add_backend_flag(*parser, options->backend, "links a key and disassembles");
  CLI::Option* stage =
      parser->add_option("--stage", options->stage, "Show this stage only")->type_name("NAME");
  CLI::Option* source = parser->add_flag("--source", options->source,
                                         "Show the lines that the instructions came from");
  CLI::Option* stats =
      parser->add_flag("--stats", options->stats, "Count the instructions of each class and stage");
  parser->add_flag("--raw", options->raw, "Print plain assembly that llvm-mc accepts")
      ->excludes(stage)
      ->excludes(source)
      ->excludes(stats);
  parser->footer(
      "Examples:\n"
      "  baton isa attn_post:tokens=8,nblocks=8 --arch gfx950 --stage o --source\n"
      "  baton isa attn_post.co --stats\n"
      "  baton isa attn_post.co --raw | llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx950 "
      "-filetype=obj -o attn_post.o");
  return {parser, [options] { return run_isa(*options); }};
}

}  // namespace baton::cli
