// `--backend`, which several commands have.
#pragma once

#include <string>
#include <string_view>

#include "codegen/codegen.h"

namespace CLI {
class App;
}

namespace baton::cli {

/// Adds --backend, which sets `word`; `comgr_does` says what libamd_comgr then does: "links". The
/// word must outlive `parser`.
void add_backend_flag(CLI::App& parser, std::string& word, const std::string& comgr_does);

/// Throws Error (user) that lists the backends.
Backend find_backend(std::string_view word);

}  // namespace baton::cli
