// The commands of `baton`, one file each.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace baton::cli {

/// A subcommand: what parses its arguments, and what runs it. `run` returns the exit code when the
/// command has reported all there is to say, and throws Error for what `main` shall report.
struct Command {
  CLI::App* parser;
  std::function<int()> run;
};

Command add_keys(CLI::App& app);
Command add_compile(CLI::App& app);
Command add_isa(CLI::App& app);
Command add_info(CLI::App& app);
Command add_run(CLI::App& app);
Command add_emu(CLI::App& app);
Command add_cache(CLI::App& app);
Command add_devices(CLI::App& app);
Command add_matrix(CLI::App& app);

}  // namespace baton::cli
