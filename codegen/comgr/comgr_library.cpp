#include "codegen/comgr/comgr_library.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::comgr {
namespace {

/// Of ROCm 7 and 6 or Debian 12, then whatever a development package links to.
constexpr const char* kNames[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};

constexpr LibrarySearch kSearch = {
    .what = "comgr",
    .variable = "BATON_COMGR_LIBRARY",
    .names = kNames,
    .hint =
        "install ROCm's comgr (Debian: libamd-comgr2), name its library in "
        "BATON_COMGR_LIBRARY, or take --backend lld, which needs none",
    .stays = true};

constexpr std::string_view kTriple = "amdgcn-amd-amdhsa--";

ActionKind link_action_of(size_t major) {
  if (major == 2) return kLinkToExecutable2;
  if (major == 3) return kLinkToExecutable3;
  return 0;
}

}  // namespace

Library::Library() : library_(kSearch) {
#define BATON_COMGR_FIND(name, parameters) library_.find(functions_.name, #name);
  BATON_COMGR_FUNCTIONS(BATON_COMGR_FIND)
#undef BATON_COMGR_FIND
  library_.find(functions_.amd_comgr_get_version, "amd_comgr_get_version");
  size_t major = 0, minor = 0;
  functions_.amd_comgr_get_version(&major, &minor);
  title_ = fmt::format("comgr {}.{} ({})", major, minor, printable(library_.name()));
  link_action_ = link_action_of(major);
  if (link_action_ == 0) {
    throw Error(ErrorKind::environment,
                fmt::format("{}: Baton knows versions 2 and 3 of its interface", title_),
                kSearch.hint);
  }
  size_t count = 0;
  check(functions_.amd_comgr_get_isa_count(&count), "count its ISAs");
  for (size_t i = 0; i < count; ++i) {
    const char* isa = nullptr;
    check(functions_.amd_comgr_get_isa_name(i, &isa), "name its ISAs");
    isas_.emplace_back(isa);
  }
}

std::string Library::isa_of(std::string_view chip) const {
  std::string isa = fmt::format("{}{}", kTriple, chip);
  if (std::ranges::find(isas_, isa) != isas_.end()) return isa;
  std::vector<std::string> known;
  for (const std::string& one : isas_) {
    known.push_back(printable(one.starts_with(kTriple) ? one.substr(kTriple.size()) : one));
  }
  throw Error(ErrorKind::environment, fmt::format("{} does not know {}", title_, chip),
              fmt::format("take --backend lld, which serves every chip, or name a newer comgr in "
                          "BATON_COMGR_LIBRARY; this one knows {}",
                          fmt::join(known, ", ")));
}

std::string Library::reason_of(Status status) const {
  const char* reason = nullptr;
  functions_.amd_comgr_status_string(status, &reason);
  return fmt::format("{} (status {})", reason == nullptr ? "?" : printable(reason), status);
}

void Library::check(Status status, std::string_view doing) const {
  if (status == kSuccess) return;
  throw Error(ErrorKind::failed_check,
              fmt::format("{} cannot {}: {}", title_, doing, reason_of(status)), kOtherBackend);
}

std::unique_lock<std::mutex> alone_in_comgr() {
  static std::mutex in_use;
  return std::unique_lock(in_use);
}

}  // namespace baton::comgr
