#include "tools/baton/backend_flag.h"

#include <CLI/CLI.hpp>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::cli {

void add_backend_flag(CLI::App& parser, std::string& word, const std::string& comgr_does) {
  parser
      .add_option("--backend", word,
                  fmt::format("lld, or comgr: the machine's libamd_comgr (BATON_COMGR_LIBRARY, or "
                              "its usual names) {}",
                              comgr_does))
      ->type_name("lld|comgr")
      ->default_str("lld");
}

Backend find_backend(std::string_view word) {
  if (word == "lld") return Backend::lld;
  if (word == "comgr") return Backend::comgr;
  throw Error(ErrorKind::user, fmt::format("--backend knows no {}", quote(word)),
              "give one of lld|comgr");
}

}  // namespace baton::cli
