#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "codegen/comgr/comgr_metadata.h"
#include "runtime/base/digest.h"
#include "runtime/object/elf_image.h"
#include "tools/baton/backend_flag.h"
#include "tools/baton/command.h"
#include "tools/baton/input.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

using nlohmann::ordered_json;

struct InfoOptions {
  std::string code;
  std::string arch;
  std::string backend = "lld";
};

ordered_json kernel_json(const KernelMetadata& kernel) {
  ordered_json arguments = ordered_json::array();
  for (const KernelArgument& argument : kernel.arguments) {
    arguments.push_back({{"name", argument.name},
                         {"kind", argument.value_kind},
                         {"offset", argument.offset},
                         {"size", argument.size}});
  }
  return {{"kernel", kernel.name},
          {"resources",
           {{"vgprs", kernel.vgprs},
            {"agprs", kernel.agprs},
            {"sgprs", kernel.sgprs},
            {"lds_bytes", kernel.lds_bytes},
            {"scratch_bytes", kernel.scratch_bytes},
            {"vgpr_spills", kernel.vgpr_spills},
            {"sgpr_spills", kernel.sgpr_spills},
            {"kernarg_bytes", kernel.kernarg_bytes},
            {"workgroup_lanes", kernel.max_workgroup_lanes}}},
          {"arguments", std::move(arguments)}};
}

/// What a code object says of itself, under the record's names where it has them; with `comgr` as
/// that library reads it.
std::string elf_json(const OpenedCode& code, const comgr::Library* comgr) {
  const ElfImage image = ElfImage::parse(code.bytes, code.source);
  ordered_json json = {{"chip", image.chip()},
                       {"code_object_version", image.abi_version()},
                       {"sha256", sha256(code.bytes).hex()}};
  ordered_json& kernels = json["kernels"] = ordered_json::array();
  if (comgr == nullptr) {
    for (const Kernel& kernel : image.kernels()) kernels.push_back(kernel_json(kernel));
  } else {
    comgr->isa_of(image.chip());
    for (const KernelMetadata& kernel : comgr::read_metadata(*comgr, code.bytes).kernels) {
      kernels.push_back(kernel_json(kernel));
    }
    json["metadata_by"] = comgr->title();
  }
  // The names are the code object's: bytes that are no UTF-8 are replaced, not refused.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

int run_info(const InfoOptions& options) {
  const Backend backend = find_backend(options.backend);
  const OpenedCode code = open_code(options.code, options.arch, "info", backend);
  if (backend == Backend::comgr) {
    const comgr::Library library;
    print(elf_json(code, &library));
  } else {
    print(code.record ? code.record->to_json() : elf_json(code, nullptr));
  }
  return 0;
}

}  // namespace

Command add_info(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* parser = app.add_subcommand(
      "info", "Show the record of a code object: arguments, resources, regions, stages");
  parser->add_option("FILE.co|KEY", options->code, "A code object's path, or a build key")
      ->required()
      ->type_name("");
  parser
      ->add_option("--arch", options->arch, "The chip; a file tells it by itself: " + chips_text())
      ->type_name("CHIP");
  add_backend_flag(*parser, options->backend, "links a key and reads the metadata");
  parser->footer(
      "A code object that Baton did not make has no record beside it: then what the ELF says is\n"
      "shown, as it is with --backend comgr.\n\n"
      "Examples:\n"
      "  baton info attn_post.co\n"
      "  baton info attn_post:tokens=1 --arch gfx942");
  return {parser, [options] { return run_info(*options); }};
}

}  // namespace baton::cli
