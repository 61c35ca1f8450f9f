#include "tools/baton/product.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;
using builds::Emit;

constexpr EmitKind kEmitKinds[] = {
    {"co", Emit::code_object, ".co", false}, {"obj", Emit::object, ".o", false},
    {"asm", Emit::assembly, ".s", true},     {"llvm", Emit::llvm, ".ll", true},
    {"mlir", Emit::mlir, ".mlir", true},     {"baton", Emit::baton, ".baton.mlir", true},
};

bool is_stream(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

std::string emit_names() {
  std::string names;
  for (const EmitKind& kind : kEmitKinds) {
    names += fmt::format("{}{}", names.empty() ? "" : "|", kind.name);
  }
  return names;
}

const EmitKind& find_emit(std::string_view name) {
  const auto* found = std::ranges::find(kEmitKinds, name, &EmitKind::name);
  if (found != std::end(kEmitKinds)) return *found;
  throw Error(ErrorKind::user, fmt::format("--emit knows no {}", quote(name)),
              "give one of " + emit_names());
}

ByteView product_of(const builds::Build& build, const EmitKind& kind) {
  if (kind.is_text) return as_bytes(build.text);
  return kind.emit == Emit::object ? build.object : build.code_object.bytes;
}

std::string file_name(const BuildKey& key, const EmitKind& kind) {
  std::string name = key.text();
  for (char& c : name) {
    if (c == ':' || c == ',') c = '.';
    if (c == '=') c = '-';
  }
  return fmt::format("{}.{}{}", name, key.chip(), kind.suffix);
}

Written write_product(const builds::Build& build, const EmitKind& kind, const fs::path& path) {
  const ByteView bytes = product_of(build, kind);
  if (kind.emit != Emit::code_object || is_stream(path)) {
    write_file(path, bytes);
    return {path, {}};
  }
  fs::path record_path = path;
  record_path += ".json";
  const std::string record = build.code_object.record.to_json();
  const FileToWrite files[] = {{path, bytes}, {record_path, as_bytes(record)}};
  write_files(files);
  return {path, record_path};
}

}  // namespace baton::cli
