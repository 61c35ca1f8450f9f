#include "tools/baton/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace baton::cli {
namespace {

constexpr std::chrono::milliseconds kSilence{1000}, kRedraw{200};

bool has_terminal() {
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb" &&
         ::isatty(STDERR_FILENO) == 1;
}

/// A line that wraps cannot be rewritten in place.
size_t columns() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

/// A terminal that has gone away has nobody to tell.
void write_terminal(std::string_view text) {
  const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  (void)written;
}

}  // namespace

Progress::Progress() {
  if (has_terminal()) thread_ = std::thread([this] { work(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::phase(const std::string& name) {
  const std::lock_guard lock(mutex_);
  phase_ = name;
  phase_started_ = Clock::now();
  if (drawn_) draw();
}

void Progress::update(const std::string& name) {
  const std::lock_guard lock(mutex_);
  phase_ = name;
}

void Progress::hide() {
  const std::lock_guard lock(mutex_);
  phase_.clear();
  erase();
}

void Progress::work() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kRedraw, [this] { return done_; })) {
    if (!phase_.empty() && Clock::now() - started_ >= kSilence) draw();
  }
  erase();
}

void Progress::draw() {
  const std::chrono::duration<double> seconds = Clock::now() - phase_started_;
  std::string line = fmt::format("{}, {:.0f} s", phase_, seconds.count());
  line.resize(std::min(line.size(), columns() - 1));
  write_terminal("\r\x1b[K" + line);
  drawn_ = true;
}

void Progress::erase() {
  if (drawn_) write_terminal("\r\x1b[K");
  drawn_ = false;
}

}  // namespace baton::cli
