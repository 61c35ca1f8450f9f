// `baton`: compiles build keys and shows what came of them.
#include <CLI/CLI.hpp>
#include <new>

#include "runtime/base/signals.h"
#include "runtime/base/text.h"
#include "tools/baton/command.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

/// "did you mean '--stage'? " for a slip in a flag or a command, else empty.
std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view near = nearest(word, views);
  return near.empty() ? "" : fmt::format("did you mean '{}'? ", near);
}

std::vector<std::string> flags_of(const CLI::App& parser) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : parser.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

/// What the parser refused, in our words and with a hint.
Error usage_error(const CLI::App& app, const CLI::ParseError& refusal) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::vector<std::string> extras = app.remaining(true);
  const bool is_flag = !extras.empty() && extras[0].starts_with('-');
  if (chosen.empty() && !is_flag) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    const std::string list = fmt::format("commands: {}", fmt::join(names, ", "));
    if (extras.empty()) return {ErrorKind::user, "a command is missing", list};
    return {ErrorKind::user, fmt::format("unknown command {}", quote(extras[0])),
            suggestion(extras[0], names) + list};
  }
  const bool is_root = chosen.empty() || (is_flag && !app.remaining().empty());
  const CLI::App& parser = is_root ? app : *chosen[0];
  const std::string command = is_root ? "baton" : "baton " + parser.get_name();
  const std::string help = fmt::format("`{} --help` shows its usage", command);
  if (extras.empty()) {
    return {ErrorKind::user, fmt::format("{}: {}", command, refusal.what()), help};
  }
  const char* noun = is_flag ? "has no flag" : "has no use for the argument";
  return {ErrorKind::user, fmt::format("{} {} {}", command, noun, quote(extras[0])),
          (is_flag ? suggestion(extras[0], flags_of(parser)) : "") + help};
}

/// LLVM's version belongs to it: it decides the bytes that a key gives.
std::string version() {
  return fmt::format("baton {}, LLVM {}\n", BATON_VERSION, BATON_LLVM_VERSION);
}

/// A wrong use that the library found and had no hint for gets one.
int run_with_hint(const Command& command) {
  try {
    return command.run();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::user || !error.hint().empty()) throw;
    throw Error(error.kind(), error.what(),
                fmt::format("`baton {} --help` shows its usage", command.parser->get_name()));
  }
}

int run(int argc, const char* const* argv) {
  CLI::App app("Baton turns build keys into AMD GPU code objects.", "baton");
  app.require_subcommand(1);
  app.set_version_flag("--version", version());
  app.footer(
      "Examples:\n"
      "  baton keys\n"
      "  baton compile attn_post:tokens=8,nblocks=8 --arch gfx950 -o attn_post.co\n"
      "  baton isa attn_post.co --stage o --source\n\n"
      "Exit codes: 0 done, 1 a check failed, 2 the input is wrong, 3 the machine lacks something.");
  const Command commands[] = {add_keys(app),  add_compile(app), add_isa(app),
                              add_info(app),  add_run(app),     add_emu(app),
                              add_cache(app), add_matrix(app),  add_devices(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    print(version());
    return 0;
  } catch (const CLI::ParseError& refusal) {
    throw usage_error(app, refusal);
  }
  for (const Command& command : commands) {
    if (command.parser->parsed()) return run_with_hint(command);
  }
  return 0;
}

}  // namespace
}  // namespace baton::cli

int main(int argc, char** argv) {
  using namespace baton;
  end_on_signals();
  cli::prepare_streams();
  try {
    return cli::run(argc, argv);
  } catch (const cli::ReaderGone&) {
    return 0;
  } catch (const Error& error) {
    cli::report(error);
    return cli::exit_code(error);
  } catch (const std::bad_alloc&) {
    const Error error(ErrorKind::environment, "out of memory", "free some memory and try again");
    cli::report(error);
    return cli::exit_code(error);
  } catch (const std::exception& fault) {
    const Error error(ErrorKind::failed_check, fmt::format("internal fault: {}", fault.what()),
                      "this is a fault of Baton: please report it with the command that showed it");
    cli::report(error);
    return cli::exit_code(error);
  }
}
