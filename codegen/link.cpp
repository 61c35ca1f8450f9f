#include "codegen/link.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <vector>

#include "codegen/llvm_job.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"

LLD_HAS_DRIVER(elf)

namespace baton::codegen {
namespace {

constexpr char kLinkHint[] = "set TMPDIR to a folder with room, or free some";

[[noreturn]] void fail_environment(const std::string& what, int error) {
  throw Error(ErrorKind::environment, fmt::format("{}: {}", what, std::strerror(error)), kLinkHint);
}

/// A folder of its own name that goes away with all it holds.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent)
      : path_((parent / "baton-link-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      fail_environment(fmt::format("cannot create a folder in {}", parent.string()), errno);
    }
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Bytes that LLD can open by a path and nobody else sees.
class MemoryFile {
 public:
  explicit MemoryFile(ByteView bytes) : descriptor_(memfd_create("kernel.o", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail_environment("cannot create a file in memory", errno);
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        const int error = errno;
        ::close(descriptor_);
        fail_environment("cannot write a file in memory", error);
      }
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

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

/// LLD maps its output: without room for all of it the process would end by a signal, so there has
/// to be room for twice the object, and some pages for the dynamic sections.
bool has_room(const std::filesystem::path& folder, uint64_t object_bytes) {
  constexpr uint64_t kSections = 64 * 1024;
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return false;
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return !error && space.available >= 2 * object_bytes + kSections;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

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

std::filesystem::path link_folder(uint64_t object_bytes) {
  std::vector<std::filesystem::path> candidates = {"/dev/shm"};
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  candidates.push_back(error ? "/tmp" : temporary);
  for (const std::filesystem::path& folder : candidates) {
    if (has_room(folder, object_bytes)) return folder;
  }
  throw Error(
      ErrorKind::environment,
      fmt::format("no room to link in {} or {}", candidates[0].string(), candidates[1].string()),
      kLinkHint);
}

Bytes link_shared(ByteView object, const std::filesystem::path& folder) {
  static std::mutex lld_in_use;
  static bool lld_broken = false;
  const std::lock_guard lock(lld_in_use);
  if (lld_broken) {
    throw Error(ErrorKind::failed_check, "the linker crashed earlier in this process",
                "start a new process: LLD cannot run again in this one");
  }
  const MemoryFile input(object);
  const HeldSignals until_the_folder_is_gone;
  const ScratchFolder output(folder);
  const std::string path = output.path() + "/kernel.co";
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
