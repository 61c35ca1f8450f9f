#include <CLI/CLI.hpp>

#include "codegen/listing/listing.h"
#include "tools/baton/command.h"
#include "tools/baton/input.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

struct IsaOptions {
  std::string code;
  std::string arch;
  std::string stage;
  bool source = false;
  bool raw = false;
  bool stats = false;
};

void print_raw(const OpenedCode& code, size_t kernels) {
  if (kernels != 1) {
    throw Error(ErrorKind::user,
                fmt::format("--raw prints one kernel, {} holds {}", code.source, kernels),
                "without --raw every kernel is listed");
  }
  print(print_assembly(disassemble(code.bytes, code.source)));
}

int run_isa(const IsaOptions& options) {
  const OpenedCode code = open_code(options.code, options.arch, "isa");
  const ElfImage image = ElfImage::parse(code.bytes, code.source);
  if (image.kernels().empty()) {
    throw Error(ErrorKind::user, code.source + " holds no kernel", "give a code object with one");
  }
  if (options.raw) {
    print_raw(code, image.kernels().size());
    return 0;
  }
  std::string text;
  for (const Kernel& kernel : image.kernels()) {
    if (!text.empty()) text += "\n";
    text += print_listing(disassemble(code.bytes, code.source, kernel.name),
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
