#include "runtime/cache/shared_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/cache/layout.h"
#include "runtime/cache/sealed.h"

namespace baton {

using std::chrono::milliseconds;

namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // no code object comes near it
constexpr std::string_view kBreak = "\n";            // between the three parts

/// A sealed head, the record's JSON, the code: the head tells the sizes and hashes of the others.
Bytes pack(const Digest& content, const CodeObject& object) {
  const std::string record = object.record.to_json();
  const std::string head = seal({{"format", cache_layout::kFormat},
                                 {"content", content.hex()},
                                 {"record_bytes", record.size()},
                                 {"record_sha256", sha256(as_bytes(record)).hex()},
                                 {"code_bytes", object.bytes.size()},
                                 {"code_sha256", sha256(object.bytes).hex()}});
  const std::string front = fmt::format("{}{}{}{}", head.size(), kBreak, head, record);
  Bytes file(front.begin(), front.end());
  file.insert(file.end(), object.bytes.begin(), object.bytes.end());
  return file;
}

CodeObject unpack(ByteView file, const Digest& content, const std::string& source) {
  const auto fail = [&](std::string_view what) {
    throw Error(ErrorKind::failed_check, fmt::format("{}: {}", source, what));
  };
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const size_t end = std::min(text.find(kBreak), text.size());
  const std::optional<size_t> head_bytes = parse_number<size_t>(text.substr(0, end));
  if (end == text.size() || !head_bytes) fail("it does not begin with its head's size");
  text.remove_prefix(end + kBreak.size());
  const auto head = unseal(text.substr(0, *head_bytes), source);
  text.remove_prefix(std::min(*head_bytes, text.size()));
  const uint64_t record_bytes = number_field(head, "record_bytes", source);
  const uint64_t code_bytes = number_field(head, "code_bytes", source);
  if (text_field(head, "content", source) != content.hex()) fail("it is of another content");
  if (record_bytes > text.size() || text.size() - record_bytes != code_bytes) {
    fail("cut short or continued");
  }
  const std::string_view record = text.substr(0, record_bytes), code = text.substr(record_bytes);
  if (sha256(as_bytes(record)).hex() != text_field(head, "record_sha256", source) ||
      sha256(as_bytes(code)).hex() != text_field(head, "code_sha256", source)) {
    fail("its contents do not match their SHA-256s");
  }
  CodeObject object{.bytes = Bytes(code.begin(), code.end()),
                    .record = Record::from_json(record, source)};
  verify(object, source);
  return object;
}

std::string file_of(const Digest& content) { return content.hex() + ".baton"; }

}  // namespace

SharedStore::SharedStore(Options options)
    : options_(std::move(options)), folder_(options_.url), sender_([this] { send_all(); }) {}

SharedStore::~SharedStore() {
  {
    const std::lock_guard lock(mutex_);
    end_ = Clock::now() + options_.patience;
  }
  changed_.notify_all();
  sender_.join();
}

void SharedStore::report(const std::string& line) const {
  if (options_.report) options_.report(line);
}

void SharedStore::give_up(const std::string& why) {
  if (!given_up_.exchange(true)) report(fmt::format("going on without the shared cache: {}", why));
}

milliseconds SharedStore::patience_left() const {
  return std::max(options_.patience - milliseconds(slow_ms_),
                  std::min(options_.slow, options_.patience));
}

void SharedStore::count_slow(Clock::duration took) {
  if (took <= options_.slow) return;
  const int64_t took_ms = std::chrono::duration_cast<milliseconds>(took).count();
  if (slow_ms_.fetch_add(took_ms) + took_ms < options_.patience.count()) return;
  give_up(fmt::format("the server at {} is slow", options_.url));
}

std::optional<CodeObject> SharedStore::fetch(const Digest& content) {
  if (given_up_) return std::nullopt;
  const std::string source = fmt::format("{}/{}", options_.url, file_of(content));
  const Clock::time_point start = Clock::now();
  std::optional<Bytes> file;
  try {
    file = folder_.get(file_of(content), kMostBytes, patience_left());
    count_slow(Clock::now() - start);
  } catch (const Error& error) {
    give_up(error.what());
  }
  if (!file) return std::nullopt;
  try {
    return unpack(*file, content, source);
  } catch (const Error& error) {
    report(fmt::format("damaged: {}", error.what()));
    return std::nullopt;
  }
}

void SharedStore::offer(const Digest& content, const CodeObject& object) {
  if (given_up_) return;
  const std::lock_guard lock(mutex_);
  waiting_.emplace_back(file_of(content), pack(content, object));
  changed_.notify_all();
}

void SharedStore::send_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return end_ || !waiting_.empty(); });
    if (given_up_) waiting_.clear();
    if (waiting_.empty()) {
      if (end_) return;
      continue;
    }
    milliseconds patience = options_.patience;
    if (end_) {
      // A little over, so that what fails then is seen to have failed at the end.
      const auto left = std::chrono::ceil<milliseconds>(*end_ - Clock::now()) + milliseconds(1);
      patience = std::min(patience, left);
    }
    const auto [name, bytes] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::string failure;
    try {
      folder_.put(name, bytes, patience);
    } catch (const Error& error) {
      failure = error.what();
    }
    lock.lock();
    if (failure.empty()) continue;
    if (end_ && Clock::now() >= *end_) {
      return report(fmt::format("{} code objects were not sent to the shared cache {}: it is slow",
                                waiting_.size() + 1, options_.url));
    }
    give_up(failure);
  }
}

}  // namespace baton
