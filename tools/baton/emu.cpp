#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "runtime/object/elf_image.h"
#include "tools/baton/command.h"
#include "tools/baton/emu_arguments.h"
#include "tools/baton/emulator_flags.h"
#include "tools/baton/emulator_report.h"
#include "tools/baton/input.h"
#include "tools/baton/progress.h"
#include "tools/baton/terminal.h"
#include "tools/baton/whole_number.h"

namespace baton::cli {
namespace {

using nlohmann::ordered_json;

struct EmuOptions {
  std::string code, kernel, grid, block, lds = "0";
  std::vector<std::string> arguments;
  std::optional<uint64_t> limit;
  EmulatorFlags emulator;
  bool json = false;
};

/// "X[,Y,Z]".
void parse_extent(const std::string& flag, std::string_view text, uint32_t (&extent)[3]) {
  size_t axes = 0;
  for (std::string_view rest = text; axes < 3; ++axes) {
    const size_t comma = rest.find(',');
    extent[axes] = parse_number<uint32_t>(rest.substr(0, comma)).value_or(0);
    if (extent[axes] == 0) break;
    if (comma == std::string_view::npos) return;
    rest.remove_prefix(comma + 1);
  }
  throw Error(
      ErrorKind::user,
      fmt::format("{} {} is no size: one to three whole numbers above 0", flag, quote(text)),
      flag + " X, " + flag + " X,Y or " + flag + " X,Y,Z");
}

LaunchShape shape_of(const EmuOptions& options) {
  LaunchShape shape;
  parse_extent("--grid", options.grid, shape.grid);
  parse_extent("--block", options.block, shape.workgroup);
  const auto lds = parse_size(options.lds, std::numeric_limits<uint32_t>::max());
  if (!lds) {
    throw Error(ErrorKind::user, fmt::format("--lds {} is no number of bytes", quote(options.lds)),
                "--lds 1024 or --lds 1K");
  }
  shape.dynamic_lds_bytes = static_cast<uint32_t>(*lds);
  return shape;
}

const Kernel& choose_kernel(const ElfImage& image, const EmuOptions& options) {
  if (!options.kernel.empty()) return image.find_kernel(options.kernel);
  if (image.kernels().size() == 1) return image.kernels().front();
  std::vector<std::string> names;
  for (const Kernel& kernel : image.kernels()) names.push_back(quote(kernel.name));
  throw Error(ErrorKind::user,
              fmt::format("{} holds {} kernels: which?", options.code, names.size()),
              names.empty() ? "give a code object with a kernel"
                            : fmt::format("--kernel NAME: {}", fmt::join(names, ", ")));
}

std::vector<EmuArgument> parse_arguments(const EmuOptions& options) {
  std::vector<EmuArgument> arguments;
  for (const std::string& text : options.arguments) {
    arguments.push_back(parse_emu_argument(text, arguments.size() + 1));
  }
  return arguments;
}

emulator::EmulatorOptions emulator_options(const EmuOptions& options, const ElfImage& image) {
  emulator::EmulatorOptions all = options.emulator.options(image.chip(), 1);
  all.count_bank_conflicts = true;
  all.max_steps = options.limit;
  return all;
}

/// One launch, its buffers and what came of it.
class Emulation {
 public:
  Emulation(const EmuOptions& options, const ElfImage& image, const Kernel& kernel)
      : options_(options),
        kernel_(kernel),
        arguments_(parse_arguments(options)),
        shape_(shape_of(options)),
        emulator_(emulator_options(options, image)),
        device_(emulator_.device(0)) {
    check_emu_arguments(kernel, arguments_);
    module_ = device_.load(image.bytes());
    function_ = &module_->function(kernel.name);
    for (const EmuArgument& argument : arguments_) upload(argument);
    emulator::Names names;
    names.address = [this](uint64_t address) { return describe(address); };
    emulator_.set_names(names);
  }

  void run() {
    Progress progress;
    progress.phase("emulate " + kernel_.name);
    const auto stream = device_.create_stream();
    const auto start = std::chrono::steady_clock::now();
    launch(*stream);
    device_.synchronize(*stream);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    seconds_ = took.count();
  }

  void write_outputs() const {
    std::vector<Bytes> contents;
    std::vector<FileToWrite> files;
    contents.reserve(arguments_.size());  // the views stay
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].output.empty()) continue;
      Bytes& bytes = contents.emplace_back(arguments_[i].bytes.size());
      device_.read(addresses_[i], bytes);
      files.push_back({arguments_[i].output, bytes});
    }
    write_files(files);
  }

  void show() const {
    const emulator::RunReport report = emulator_.report();
    if (options_.json) {
      ordered_json json = {{"kernel", kernel_.name}, {"chip", device_.target().chip},
                           {"grid", shape_.grid},    {"block", shape_.workgroup},
                           {"seconds", seconds_},    {"resident_workgroups", resident()}};
      json.update(report_json(report));
      json["lds_bank_conflicts"] = report.counters.lds_bank_conflicts;
      print(json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
      return;
    }
    print(fmt::format("{} on an emulated {}: {} workgroups of {} lanes, {:.3f} s\n",
                      printable(kernel_.name), device_.target().chip, fmt::join(shape_.grid, " x "),
                      fmt::join(shape_.workgroup, " x "), seconds_));
    print(fmt::format("  {:<18} {} workgroups; the emulator holds all\n", "the chip holds",
                      resident()));
    print(report_text(report));
  }

 private:
  void upload(const EmuArgument& argument) {
    DeviceAddress address = 0;
    if (argument.kind == EmuArgument::Kind::buffer) {
      address = device_.allocate(argument.bytes.size(), MemoryKind::normal);
      device_.write(address, argument.bytes);
    }
    addresses_.push_back(address);
  }

  void launch(Stream& stream) {
    try {
      device_.launch(*function_, shape_, pack_emu_arguments(kernel_, arguments_, addresses_),
                     stream);
    } catch (const Error& error) {
      throw Error(error.kind(), error.what(),
                  "baton info shows the kernel's limits; --grid counts workgroups, --block lanes, "
                  "--lds bytes on top of the kernel's own");
    }
  }

  int resident() const {
    return device_.workgroups_per_cu(*function_, shape_) * device_.compute_units();
  }

  /// "byte 64 of argument 2 'out'".
  std::string describe(uint64_t address) const {
    const std::vector<KernelArgument> own = explicit_arguments(kernel_);
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (addresses_[i] == 0 || address - addresses_[i] >= arguments_[i].bytes.size()) continue;
      return fmt::format("byte {} of argument {}{}", address - addresses_[i], i + 1,
                         own[i].name.empty() ? "" : " " + quote(own[i].name));
    }
    return "";
  }

  const EmuOptions& options_;
  const Kernel& kernel_;
  std::vector<EmuArgument> arguments_;
  LaunchShape shape_;
  emulator::Emulator emulator_;
  Device& device_;
  std::unique_ptr<Module> module_;
  const Function* function_ = nullptr;
  std::vector<DeviceAddress> addresses_;
  double seconds_ = 0;
};

int run_emu(const EmuOptions& options) {
  const OpenedCode code = open_code_file(options.code, "");
  const ElfImage image = ElfImage::parse(code.bytes, options.code);
  Emulation emulation(options, image, choose_kernel(image, options));
  emulation.run();
  emulation.write_outputs();
  emulation.show();
  return 0;
}

}  // namespace

Command add_emu(CLI::App& app) {
  auto options = std::make_shared<EmuOptions>();
  CLI::App* parser =
      app.add_subcommand("emu", "Run a kernel of any code object on an emulated chip");
  parser->add_option("FILE.co", options->code, "A code object; it says its chip")
      ->required()
      ->type_name("");
  parser->add_option("--kernel", options->kernel, "Which kernel, when the file has several")
      ->type_name("NAME");
  parser->add_option("--grid", options->grid, "Workgroups")->required()->type_name("X[,Y,Z]");
  parser->add_option("--block", options->block, "Lanes (work-items) of a workgroup")
      ->required()
      ->type_name("X[,Y,Z]");
  parser->add_option("--arg", options->arguments, "The next argument, see below")
      ->type_size(1)
      ->allow_extra_args(false)
      ->type_name("WORD");
  parser->add_option("--lds", options->lds, "Bytes of LDS beyond what the kernel declares")
      ->type_name("BYTES");
  parser
      ->add_option("--limit", options->limit,
                   "Stop after so many instructions of all waves (default: none); looked at "
                   "whenever a workgroup has had its turn")
      ->check(whole_number<uint64_t>(1))
      ->type_name("N");
  options->emulator.add_to(*parser, "One interleaving of all waves, always the same");
  parser->get_option("--seed")->excludes("--threads");
  parser->add_flag("--json", options->json, "Print the counters as JSON");
  parser->footer(
      std::string(kEmuArgumentHelp) +
      "\n\nOutputs are written when the kernel has ended well, all or none. A fault, a hang or "
      "the limit exits 1.\n\n"
      "Examples:\n"
      "  baton emu scale.co --grid 4 --block 256 --arg in:x.bin --arg out:4K:y.bin \\\n"
      "    --arg f32:2.5 --arg u32:1024\n"
      "  baton emu sort.co --kernel sort --grid 16 --block 256 \\\n"
      "    --arg inout:keys.bin:sorted.bin --seed 7\n"
      "  baton emu sum.co --grid 8 --block 64 --arg fill:64K:index --arg out:4:sum.bin");
  return {parser, [options] { return run_emu(*options); }};
}

}  // namespace baton::cli
