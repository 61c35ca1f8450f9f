#include "tools/baton/input.h"

#include <filesystem>

#include "builds/builder.h"
#include "builds/families.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/object/code_object.h"
#include "runtime/target/target.h"
#include "tools/baton/terminal.h"

namespace baton::cli {
namespace {

constexpr const char* kFileHint = "give a code object for an AMD GPU, as `baton compile` writes it";

bool is_path(std::string_view text) {
  return text.substr(0, text.find(':')).find_first_of("./") != std::string_view::npos;
}

/// Runs `read`; an error without a hint gets the one for files.
template <typename Read>
auto with_hint(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    if (!error.hint().empty()) throw;
    throw Error(error.kind(), error.what(), kFileHint);
  }
}

OpenedCode open_file(const std::string& path, const std::string& arch) {
  OpenedCode code{.source = path, .bytes = read_file(path), .record = {}};
  const std::string chip(ElfImage::parse(code.bytes, path).chip());
  if (!arch.empty() && find_target(arch).chip != chip) {
    throw Error(ErrorKind::user, fmt::format("{} is for {}, not for {}", path, chip, arch),
                fmt::format("give --arch {}, or a file for {}", chip, find_target(arch).chip));
  }
  const std::string record_path = path + ".json";
  std::error_code unreachable;
  if (!std::filesystem::exists(record_path, unreachable)) return code;
  const Bytes text = read_file(record_path);
  CodeObject object{.bytes = std::move(code.bytes),
                    .record = Record::from_json(
                        {reinterpret_cast<const char*>(text.data()), text.size()}, record_path)};
  verify(object, path);
  return {.source = path, .bytes = std::move(object.bytes), .record = std::move(object.record)};
}

OpenedCode open_key(const std::string& text, const std::string& arch, std::string_view command,
                    Backend backend) {
  require_arch(arch, command);
  const BuildKey key = builds::complete_key(text, arch);
  builds::Build build = builds::build(key, builds::Emit::code_object, backend);
  for (const std::string& remark : build.remarks) report_remark(remark);
  return {.source = key.text(),
          .bytes = std::move(build.code_object.bytes),
          .record = std::move(build.code_object.record)};
}

}  // namespace

std::string chips_text() {
  std::string text;
  for (const Target& target : all_targets()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", target.chip, target.products);
  }
  return text;
}

void require_arch(std::string_view arch, std::string_view command) {
  if (!arch.empty()) return;
  throw Error(ErrorKind::user, fmt::format("baton {} needs --arch CHIP for a key", command),
              "chips: " + chips_text());
}

OpenedCode open_code(const std::string& text, const std::string& arch, std::string_view command,
                     Backend backend) {
  return is_path(text) ? open_code_file(text, arch) : open_key(text, arch, command, backend);
}

OpenedCode open_code_file(const std::string& path, const std::string& arch) {
  return with_hint([&] { return open_file(path, arch); });
}

}  // namespace baton::cli
