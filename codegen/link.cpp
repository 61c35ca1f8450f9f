#include "codegen/link.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>

#include "codegen/link_files.h"
#include "codegen/llvm_job.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"

LLD_HAS_DRIVER(elf)

namespace baton::codegen {
namespace {

struct LinkOutcome {
  bool survived = false;
  lld::Result result = {};
  std::string messages;
  std::string reason;  ///< of a fatal error
};

/// LLD ends the process on its fatal errors unless crash recovery is on; it is on only here.
LinkOutcome run_lld(const std::string& input, const std::string& output) {
  const char* const arguments[] = {"ld.lld",          "-shared",
                                   "--no-undefined",  "--threads=1",
                                   "--build-id=none", "--color-diagnostics=never",
                                   input.c_str(),     "-o",
                                   output.c_str()};
  constexpr lld::DriverDef kDrivers[] = {{lld::Gnu, &lld::elf::link}};
  LinkOutcome outcome;
  llvm::raw_string_ostream stream(outcome.messages);
  llvm::CrashRecoveryContext::Enable();
  outcome.survived = survives_fatal_error(
      [&] { outcome.result = lld::lldMain(arguments, stream, stream, kDrivers); }, outcome.reason);
  llvm::CrashRecoveryContext::Disable();
  return outcome;
}

/// What LLD says of its output is the folder's fault, and of anything else ours.
[[noreturn]] void fail_link(const LinkOutcome& outcome, const std::string& output,
                            const std::filesystem::path& folder) {
  std::string message = first_line(outcome.messages);
  const size_t named = message.find(output);
  if (named == std::string::npos) {
    throw Error(ErrorKind::failed_check, "the linker refused the object: " + message);
  }
  message.replace(named, output.size(), "its output in " + folder.string());
  throw Error(ErrorKind::environment, "the linker failed: " + message, kLinkHint);
}

}  // namespace

Bytes link_shared(ByteView object, const std::filesystem::path& folder) {
  static std::mutex lld_in_use;
  static bool lld_broken = false;
  const std::lock_guard lock(lld_in_use);
  if (lld_broken) {
    throw Error(ErrorKind::failed_check, "the linker crashed earlier in this process",
                "start a new process: LLD cannot run again in this one");
  }
  const MemoryFile input("kernel.o", object);
  const HeldSignals until_the_folder_is_gone;
  const WorkFolder output = link_work(folder);
  const std::string path = (output.path() / "kernel.co").string();
  const LinkOutcome outcome = run_lld(input.path(), path);
  if (!outcome.survived || !outcome.result.canRunAgain) {
    lld_broken = true;
    throw Error(
        ErrorKind::failed_check,
        fmt::format("the linker crashed: {}", first_line(outcome.reason + outcome.messages)),
        "start a new process; if it happens again, report it with the command that showed it");
  }
  if (outcome.result.retCode != 0) fail_link(outcome, path, folder);
  return read_file(path);
}

}  // namespace baton::codegen
