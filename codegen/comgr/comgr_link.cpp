#include "codegen/comgr/comgr_link.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/signals.h"
#include "runtime/base/text.h"

namespace baton::comgr {
namespace {

using codegen::fail_environment;
using codegen::first_line;
using codegen::MemoryFile;

constexpr const char* kInputName = "kernel.o";

/// The variables of a child that links: comgr puts its files below `folder` and its messages on
/// standard error, and none of its debugging aids is on.
class LinkEnvironment {
 public:
  explicit LinkEnvironment(const std::string& folder)
      : entries_{"TMPDIR=" + folder, "AMD_COMGR_REDIRECT_LOGS=stderr"} {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (!text.starts_with("TMPDIR=") && !text.starts_with("AMD_COMGR_")) {
        entries_.emplace_back(text);
      }
    }
    for (std::string& entry : entries_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }
  LinkEnvironment(const LinkEnvironment&) = delete;

  char** pointers() { return pointers_.data(); }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> pointers_;
};

Bytes bytes_of(const Library& library, Data data) {
  size_t size = 0;
  library.check(library.call().amd_comgr_get_data(data, &size, nullptr), "size its product");
  Bytes bytes(size);
  library.check(
      library.call().amd_comgr_get_data(data, &size, reinterpret_cast<char*>(bytes.data())),
      "copy its product");
  return bytes;
}

/// The link itself. Throws Error.
Bytes run_link(const Library& library, const std::string& isa, ByteView object) {
  const Functions& call = library.call();
  const auto done = [&](Status status) {
    if (status != kSuccess) throw Error(ErrorKind::failed_check, library.reason_of(status));
  };
  OwnedData input(library);
  done(call.amd_comgr_create_data(DataKind::relocatable, input.out()));
  done(call.amd_comgr_set_data(input.get(), object.size(),
                               reinterpret_cast<const char*>(object.data())));
  done(call.amd_comgr_set_data_name(input.get(), kInputName));
  OwnedDataSet inputs(library), outputs(library);
  done(call.amd_comgr_create_data_set(inputs.out()));
  done(call.amd_comgr_create_data_set(outputs.out()));
  done(call.amd_comgr_data_set_add(inputs.get(), input.get()));
  OwnedActionInfo info(library);
  done(call.amd_comgr_create_action_info(info.out()));
  done(call.amd_comgr_action_info_set_isa_name(info.get(), isa.c_str()));
  done(call.amd_comgr_do_action(library.link_action(), info.get(), inputs.get(), outputs.get()));
  OwnedData output(library);
  done(call.amd_comgr_action_data_get_data(outputs.get(), DataKind::executable, 0, output.out()));
  return bytes_of(library, output.get());
}

/// What the child does: it writes the code object to `product` and all else that is said to `log`,
/// and ends with 0 when the product is whole.
[[noreturn]] void link_and_exit(const Library& library, const std::string& isa, ByteView object,
                                char** environment, const MemoryFile& product,
                                const MemoryFile& log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the product then
  environ = environment;
  int code = 1;
  try {
    if (::dup2(log.descriptor(), STDOUT_FILENO) < 0 ||
        ::dup2(log.descriptor(), STDERR_FILENO) < 0) {
      fail_environment("cannot redirect the log", errno);
    }
    product.write(run_link(library, isa, object));
    code = 0;
  } catch (const std::exception& error) {
    const std::string text = std::string(error.what()) + "\n";
    // Without room for the reason the parent still knows that it failed.
    [[maybe_unused]] const ssize_t written = ::write(log.descriptor(), text.data(), text.size());
  }
  ::_exit(code);
}

[[noreturn]] void fail_process(std::string_view doing) {
  throw Error(ErrorKind::environment,
              fmt::format("cannot {} a process for the link: {}", doing, std::strerror(errno)),
              kOtherBackend);
}

/// The status with which `child` ended.
int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail_process("wait for");
  }
  return status;
}

/// Whether a message ends with what the system says when it has no more of something.
bool tells_of_shortage(std::string_view message) {
  constexpr int kErrors[] = {ENOSPC, EFBIG, EDQUOT, ENOMEM, EMFILE, ENFILE};
  return std::ranges::any_of(kErrors,
                             [&](int error) { return message.ends_with(std::strerror(error)); });
}

/// Throws what the log's first line says: of its input the object's fault, of any other file below
/// `scratch` or a shortage the folder's. The names of those files, another each time, are not
/// shown.
[[noreturn]] void fail_link(const Library& library, const MemoryFile& log,
                            const std::string& scratch, const std::string& folder, int status) {
  const Bytes bytes = read_file(log.path());
  std::string reason = printable(first_line({bytes.begin(), bytes.end()}));
  const size_t at = reason.find(scratch);
  bool is_machine = tells_of_shortage(reason);
  if (at != std::string::npos) {
    const size_t end = std::min(reason.find_first_of(": ", at), reason.size());
    const bool is_input = std::string_view(reason).substr(at, end - at).ends_with(kInputName);
    reason.replace(at, end - at, is_input ? kInputName : "its output in " + folder);
    is_machine = is_machine || !is_input;
  }
  if (is_machine) {
    throw Error(ErrorKind::environment,
                fmt::format("the linker of {} failed: {}", library.title(), reason),
                codegen::kLinkHint);
  }
  if (reason.empty()) reason = "it says nothing";
  if (WIFSIGNALED(status)) {
    throw Error(ErrorKind::failed_check,
                fmt::format("the linker of {} crashed: {}: {}", library.title(),
                            ::strsignal(WTERMSIG(status)), reason),
                kOtherBackend);
  }
  throw Error(ErrorKind::failed_check,
              fmt::format("the linker of {} refused the object: {}", library.title(), reason),
              kOtherBackend);
}

}  // namespace

Bytes link_shared(const Library& library, std::string_view chip, ByteView object,
                  const std::filesystem::path& folder) {
  const std::string isa = library.isa_of(chip);
  const MemoryFile product("kernel.co"), log("comgr.log");
  const HeldSignals until_the_folder_is_gone;
  const WorkFolder scratch = codegen::link_work(folder);
  LinkEnvironment environment(scratch.path().string());
  int status = 0;
  {
    const auto lock = alone_in_comgr();  // no other thread is inside comgr while the process forks
    const pid_t child = ::fork();
    if (child < 0) fail_process("start");
    if (child == 0) link_and_exit(library, isa, object, environment.pointers(), product, log);
    status = wait_for(child);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return read_file(product.path());
  fail_link(library, log, scratch.path().string(), folder.string(), status);
}

}  // namespace baton::comgr
