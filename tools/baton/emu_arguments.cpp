#include "tools/baton/emu_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"

namespace baton::cli {

const char* const kEmuArgumentHelp =
    "Arguments, in the kernel's order; buffers are passed by their address:\n"
    "  NUMBER             i8 u8 i16 u16 i32 u32 i64 u64 f32 f64, a colon, the value; 0x for hex\n"
    "  null               the null pointer\n"
    "  in:PATH            a buffer with the file's bytes\n"
    "  fill:BYTES:PATTERN a buffer filled with the pattern\n"
    "  out:BYTES:PATH     a buffer of zeros that is written to PATH when the kernel has ended\n"
    "  inout:PATH:PATH2   a buffer with the bytes of PATH that is written to PATH2\n"
    "BYTES, also of --lds, may end in K, M or G (1024, 1024^2, 1024^3). A PATTERN is zero, index "
    "(the i32 values\n"
    "0, 1, 2, ...), random:SEED, or a NUMBER that is repeated: u8:255, f32:1.5.";

namespace {

constexpr uint64_t kMaxBufferBytes = uint64_t{4} << 30;
constexpr const char* kHint =
    "arguments are i32:5, u32:, i64:, u64:, f32:1.5, f64:, null, in:PATH, fill:BYTES:PATTERN, "
    "out:BYTES:PATH or inout:PATH:PATH2";

/// One word of the grammar, with the errors that name it.
class Word {
 public:
  Word(std::string_view text, size_t number) : text_(text), number_(number) {}

  [[noreturn]] void fail(const std::string& what, const char* hint = kHint) const {
    throw Error(ErrorKind::user, fmt::format("--arg {} {}: {}", number_, quote(text_), what), hint);
  }

  /// What stands before the next colon of `rest`, which then begins behind it.
  static std::string_view cut(std::string_view& rest) {
    const size_t colon = rest.find(':');
    const std::string_view head = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    return head;
  }

  std::filesystem::path path(std::string_view text) const {
    if (text.empty()) fail("a path is missing");
    return std::filesystem::path(text);
  }

  uint64_t size(std::string_view text) const {
    const uint64_t bytes = parse_size(text, kMaxBufferBytes).value_or(0);
    if (bytes == 0) {
      fail(fmt::format("{} is no size of 1 to {} bytes", quote(text), kMaxBufferBytes));
    }
    return bytes;
  }

 private:
  std::string_view text_;
  size_t number_;
};

template <typename T>
Bytes bytes_of(T value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
Bytes integer(const Word& word, std::string_view text) {
  std::string_view digits = text;
  const bool negative = std::is_signed_v<T> && digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  const auto value = parse_number<uint64_t>(digits, hex ? 16 : 10);
  constexpr auto kLeast = std::numeric_limits<T>::min();
  constexpr auto kMost = std::numeric_limits<T>::max();
  const uint64_t most = static_cast<uint64_t>(kMost) + (negative ? 1 : 0);
  if (!value || *value > most) {
    word.fail(fmt::format("{} is no integer of {} .. {}", quote(text), kLeast, kMost));
  }
  return bytes_of(static_cast<T>(negative ? uint64_t{0} - *value : *value));
}

template <typename T>
Bytes real(const Word& word, std::string_view text) {
  const auto value = parse_number<T>(text);
  if (!value) {
    word.fail(fmt::format("{} is no {} number", quote(text), sizeof(T) == 4 ? "fp32" : "fp64"));
  }
  return bytes_of(*value);
}

struct NumberKind {
  std::string_view name;
  Bytes (*parse)(const Word& word, std::string_view text);
};

constexpr NumberKind kNumbers[] = {
    {"i8", integer<int8_t>},    {"u8", integer<uint8_t>},   {"i16", integer<int16_t>},
    {"u16", integer<uint16_t>}, {"i32", integer<int32_t>},  {"u32", integer<uint32_t>},
    {"i64", integer<int64_t>},  {"u64", integer<uint64_t>}, {"f32", real<float>},
    {"f64", real<double>},
};

const NumberKind* find_number(std::string_view name) {
  const auto* found = std::ranges::find(kNumbers, name, &NumberKind::name);
  return found == std::end(kNumbers) ? nullptr : found;
}

Bytes random_bytes(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes((count + 7) / 8 * 8);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, sizeof word);
  }
  bytes.resize(count);
  return bytes;
}

/// `bytes` of a pattern; a value that is cut at the end is a fault of the size.
Bytes pattern(const Word& word, uint64_t bytes, std::string_view text) {
  std::string_view rest = text;
  const std::string_view name = Word::cut(rest);
  if (text == "zero") return Bytes(bytes);
  if (name == "random") {
    const Bytes seed = integer<uint64_t>(word, rest);
    uint64_t value = 0;
    std::memcpy(&value, seed.data(), sizeof value);
    return random_bytes(bytes, value);
  }
  const NumberKind* number = find_number(name);
  if (text != "index" && number == nullptr) {
    word.fail(fmt::format("unknown pattern {}", quote(text)),
              "patterns are zero, index, random:SEED and numbers such as u8:255 or f32:1.5");
  }
  const Bytes value = number ? number->parse(word, rest) : Bytes(sizeof(int32_t));
  if (bytes % value.size() != 0) {
    word.fail(fmt::format("{} bytes hold no whole number of {}-byte values", bytes, value.size()),
              "make BYTES a multiple of the value's size");
  }
  Bytes filled(bytes);
  for (uint64_t i = 0; i < bytes / value.size(); ++i) {
    const auto index = static_cast<uint32_t>(i);
    const void* source = number ? static_cast<const void*>(value.data()) : &index;
    std::memcpy(filled.data() + i * value.size(), source, value.size());
  }
  return filled;
}

Bytes file(const Word& word, std::string_view path) {
  Bytes bytes = read_file(word.path(path), kMaxBufferBytes);
  if (bytes.empty()) word.fail("the file is empty", "a buffer has at least 1 byte");
  return bytes;
}

/// An output is replaced as a whole when the run has succeeded: it must be able to be a file.
void check_output(const EmuArgument& argument, size_t number) {
  namespace fs = std::filesystem;
  const Word word(argument.text, number);
  std::error_code unreachable;  // then the write says why
  const fs::path folder =
      argument.output.has_parent_path() ? argument.output.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, unreachable)) {
    word.fail(fmt::format("there is no folder {}", quote(folder.string())),
              "create the folder first");
  }
  const fs::file_status status = fs::status(argument.output, unreachable);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    word.fail(fmt::format("{} is no regular file", quote(argument.output.string())),
              "name a file for the output");
  }
}

void check_argument(const KernelArgument& expected, const EmuArgument& given, size_t number) {
  const Word word(given.text, number);
  const std::string what =
      expected.name.empty() ? "the argument" : fmt::format("argument {}", quote(expected.name));
  const bool pointer = expected.value_kind == "global_buffer";
  if (!pointer && expected.value_kind != "by_value") {
    word.fail(fmt::format("{} is a {}", what, quote(expected.value_kind)),
              "only numbers and buffers can be passed");
  }
  if (pointer && given.kind == EmuArgument::Kind::number) {
    word.fail(what + " is a pointer, not a number",
              "give a buffer: in:PATH, fill:BYTES:PATTERN, out:BYTES:PATH, inout:PATH:PATH2; or "
              "null");
  }
  const size_t bytes =
      given.kind == EmuArgument::Kind::buffer ? sizeof(DeviceAddress) : given.bytes.size();
  if (bytes != expected.size) {
    word.fail(
        fmt::format("{} has {} bytes, {} has {}", what, expected.size,
                    given.kind == EmuArgument::Kind::number ? "the number" : "an address", bytes),
        "baton info lists the kernel's arguments");
  }
}

}  // namespace

EmuArgument parse_emu_argument(std::string_view text, size_t number) {
  const Word word(text, number);
  std::string_view rest = text;
  const std::string_view kind = Word::cut(rest);
  EmuArgument argument{std::string(text), EmuArgument::Kind::buffer, {}, {}};
  if (text == "null") {
    argument.kind = EmuArgument::Kind::null;
    argument.bytes = Bytes(sizeof(DeviceAddress));
  } else if (const NumberKind* known = find_number(kind)) {
    argument.kind = EmuArgument::Kind::number;
    argument.bytes = known->parse(word, rest);
  } else if (kind == "in") {
    argument.bytes = file(word, rest);
  } else if (kind == "fill") {
    const uint64_t bytes = word.size(Word::cut(rest));
    argument.bytes = pattern(word, bytes, rest);
  } else if (kind == "out") {
    argument.bytes = Bytes(word.size(Word::cut(rest)));
    argument.output = word.path(rest);
  } else if (kind == "inout") {
    argument.bytes = file(word, Word::cut(rest));
    argument.output = word.path(rest);
  } else {
    word.fail(fmt::format("unknown kind {}", quote(kind)));
  }
  return argument;
}

std::vector<KernelArgument> explicit_arguments(const KernelMetadata& kernel) {
  std::vector<KernelArgument> own;
  std::ranges::copy_if(kernel.arguments, std::back_inserter(own), [](const KernelArgument& a) {
    return !a.value_kind.starts_with("hidden_");
  });
  return own;
}

void check_emu_arguments(const KernelMetadata& kernel, std::span<const EmuArgument> arguments) {
  const std::vector<KernelArgument> expected = explicit_arguments(kernel);
  if (arguments.size() != expected.size()) {
    std::vector<std::string> list;
    for (const KernelArgument& a : expected) {
      std::string text = a.value_kind == "global_buffer" ? "a pointer"
                         : a.value_kind == "by_value"    ? fmt::format("{} bytes", a.size)
                                                         : a.value_kind;
      if (!a.name.empty()) text += " " + quote(a.name);
      list.push_back(std::move(text));
    }
    throw Error(
        ErrorKind::user,
        fmt::format("kernel {} takes {} arguments, {} --arg given", quote(kernel.name),
                    expected.size(), arguments.size()),
        list.empty() ? "leave --arg out" : fmt::format("its arguments: {}", fmt::join(list, ", ")));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    check_argument(expected[i], arguments[i], i + 1);
    if (arguments[i].output.empty()) continue;
    check_output(arguments[i], i + 1);
    for (size_t before = 0; before < i; ++before) {
      if (arguments[before].output != arguments[i].output) continue;
      Word(arguments[i].text, i + 1)
          .fail(fmt::format("--arg {} writes the same file", before + 1), "name another file");
    }
  }
}

Bytes pack_emu_arguments(const KernelMetadata& kernel, std::span<const EmuArgument> arguments,
                         std::span<const DeviceAddress> addresses) {
  const std::vector<KernelArgument> expected = explicit_arguments(kernel);
  Bytes packed;
  for (size_t i = 0; i < expected.size(); ++i) {
    const KernelArgument& place = expected[i];
    packed.resize(std::max<size_t>(packed.size(), place.offset + place.size));
    const bool buffer = arguments[i].kind == EmuArgument::Kind::buffer;
    const void* value =
        buffer ? static_cast<const void*>(&addresses[i]) : arguments[i].bytes.data();
    std::memcpy(packed.data() + place.offset, value, place.size);
  }
  return packed;
}

}  // namespace baton::cli
