// The libamd_comgr of the machine under another version or with a fault, as BATON_STANDIN_COMGR
// says:
//   version=3        interface 3.0, in which a link has another number
//   version=4        interface 4.0, which nobody knows
//   vgpr_count       a kernel's .vgpr_count is read as its .sgpr_count
//   crash            a link ends by a signal that no handler sees
//   hang             a link never ends
//   alone            metadata is refused when another thread is reading some
// All other functions are the library's own: a search in this library goes on in what it needs.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "codegen/comgr/comgr_functions.h"

namespace baton::comgr {
namespace {

std::string_view fault() {
  const char* text = std::getenv("BATON_STANDIN_COMGR");
  return text == nullptr ? "" : text;
}

/// The library's own function.
template <typename Function>
Function* real(Function*, const char* name) {
  static void* library = ::dlopen("libamd_comgr.so.2", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

#define BATON_EXPORT extern "C" __attribute__((visibility("default")))
#define BATON_REAL(name) real(Functions{}.name, #name)

BATON_EXPORT void amd_comgr_get_version(size_t* major, size_t* minor) {
  BATON_REAL(amd_comgr_get_version)(major, minor);
  if (!fault().starts_with("version=")) return;
  *major = static_cast<size_t>(std::atoi(fault().substr(strlen("version=")).data()));
  *minor = 0;
}

BATON_EXPORT Status amd_comgr_do_action(ActionKind kind, ActionInfo info, DataSet input,
                                        DataSet result) {
  if (fault() == "crash") std::raise(SIGKILL);
  while (fault() == "hang") ::pause();
  if (fault() == "version=3") {
    // AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE in the headers of the two versions.
    if (kind != 0x7) return kError;
    kind = 0x9;
  }
  return BATON_REAL(amd_comgr_do_action)(kind, info, input, result);
}

BATON_EXPORT Status amd_comgr_metadata_lookup(MetadataNode node, const char* key,
                                              MetadataNode* value) {
  // Another field's value, as a library would give that mixes two up.
  const bool mixed_up = fault() == "vgpr_count" && std::string_view(key) == ".vgpr_count";
  return BATON_REAL(amd_comgr_metadata_lookup)(node, mixed_up ? ".sgpr_count" : key, value);
}

BATON_EXPORT Status amd_comgr_get_data_metadata(Data data, MetadataNode* node) {
  static std::atomic<int> inside = 0;
  const bool alone = ++inside == 1;
  if (fault() == "alone") ::usleep(2000);  // long enough for the others to come
  const Status status = BATON_REAL(amd_comgr_get_data_metadata)(data, node);
  --inside;
  return fault() == "alone" && !alone ? kError : status;
}

}  // namespace baton::comgr
