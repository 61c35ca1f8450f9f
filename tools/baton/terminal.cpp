#include "tools/baton/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/base/environment.h"
#include "runtime/base/text.h"

namespace baton::cli {
namespace {

bool wants_colour(int descriptor) {
  if (environment_variable("NO_COLOR")) return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return ::isatty(descriptor) == 1;
}

/// One line, and one more for each detail of `text` ("\n  detail"), whatever bytes it holds. A
/// standard error that cannot be written has nobody to tell.
void report_line(std::string_view title, std::string_view colour, std::string_view text) {
  constexpr std::string_view kDetail = "\n  ";
  std::string line;
  size_t start = 0, end = 0;
  while ((end = text.find(kDetail, start)) != text.npos) {
    line += printable(text.substr(start, end - start));
    line += kDetail;
    start = end + kDetail.size();
  }
  line += printable(text.substr(start));
  if (wants_colour(STDERR_FILENO)) {
    line = fmt::format("\x1b[{}m{}:\x1b[0m {}\n", colour, title, line);
  } else {
    line = fmt::format("{}: {}\n", title, line);
  }
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // A closed stream gets a descriptor of the wrong direction: its use fails with EBADF.
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    const int mode = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) < 0) return;
  }
}

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      throw ReaderGone{};
    } else if (errno != EINTR) {
      throw Error(ErrorKind::environment,
                  fmt::format("cannot write standard output: {}", std::strerror(errno)),
                  "send it to a file or a program that can take it");
    }
  }
}

bool colour_on_output() { return wants_colour(STDOUT_FILENO); }

void report(const Error& error) {
  report_line("error", "1;31", error.what());
  if (!error.hint().empty()) report_line("hint", "1;36", error.hint());
}

void report_remark(std::string_view remark) { report_line("remark", "1;33", remark); }

int exit_code(const Error& error) { return static_cast<int>(error.kind()); }

}  // namespace baton::cli
