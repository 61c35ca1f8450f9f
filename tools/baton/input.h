// What the commands take: chips, keys, and code objects by key or by file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codegen/codegen.h"
#include "runtime/base/bytes.h"
#include "runtime/object/record.h"

namespace baton::cli {

/// For the help of `--arch`: "gfx950 (MI350X, MI355X), ...".
std::string chips_text();

/// Throws Error (user) that lists the chips when `--arch` was not given.
void require_arch(std::string_view arch, std::string_view command);

/// A code object, compiled now or read from its file.
struct OpenedCode {
  std::string source;            ///< the path or the canonical key: how messages name it
  Bytes bytes;                   ///< a code object that the reader has verified
  std::optional<Record> record;  ///< none for a file without `FILE.json` beside it
};

/// `text` is a path when there is a `.` or `/` before its first `:`, else a key; what lies in the
/// working folder has no say. A key needs `arch`; a file has to be for `arch` if that is given.
/// Remarks of a compile are reported. Throws Error, with a hint.
OpenedCode open_code(const std::string& text, const std::string& arch, std::string_view command,
                     Backend backend);

/// The same for what can only be a path.
OpenedCode open_code_file(const std::string& path, const std::string& arch);

}  // namespace baton::cli
