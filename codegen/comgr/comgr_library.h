// libamd_comgr, AMD's code object manager, opened when it is wanted.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/comgr/comgr_functions.h"
#include "runtime/base/dynamic_library.h"

namespace baton::comgr {

/// The hint where this comgr fails.
inline constexpr const char* kOtherBackend =
    "take --backend lld, or name another comgr in BATON_COMGR_LIBRARY";

class Library {
 public:
  /// Opens BATON_COMGR_LIBRARY, else the first of the usual names that is there. Throws Error
  /// (environment), one line: no library, one that lacks a function, or one of a version that Baton
  /// does not know. It brings an LLVM of its own, which stays in the process.
  Library();

  const Functions& call() const { return functions_; }
  /// "comgr 2.4 (libamd_comgr.so.2)": how messages name it.
  const std::string& title() const { return title_; }
  /// The number by which this version calls a link.
  ActionKind link_action() const { return link_action_; }
  /// Its name for the chip: "amdgcn-amd-amdhsa--gfx90a". Throws Error (environment) that lists the
  /// chips it knows when this is none of them.
  std::string isa_of(std::string_view chip) const;
  /// What comgr says of a status: "INVALID_ARGUMENT (status 2)".
  std::string reason_of(Status status) const;
  /// Throws Error (failed_check) that says what was done and what comgr says of it; nothing on
  /// success.
  void check(Status status, std::string_view doing) const;

 private:
  DynamicLibrary library_;
  Functions functions_;
  std::string title_;
  ActionKind link_action_ = 0;
  std::vector<std::string> isas_;
};

/// Held by whoever calls into comgr for more than a question: it initialises itself and links with
/// state in globals.
std::unique_lock<std::mutex> alone_in_comgr();

/// A handle that is given back when its owner goes.
template <typename Handle, Status (*Functions::*kRelease)(Handle)>
class Owned {
 public:
  explicit Owned(const Library& library) : library_(library) {}
  ~Owned() {
    if (handle_.handle != 0) (library_.call().*kRelease)(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Handle get() const { return handle_; }
  /// Where a function of comgr puts the new handle.
  Handle* out() { return &handle_; }

 private:
  const Library& library_;
  Handle handle_{};
};

using OwnedData = Owned<Data, &Functions::amd_comgr_release_data>;
using OwnedDataSet = Owned<DataSet, &Functions::amd_comgr_destroy_data_set>;
using OwnedActionInfo = Owned<ActionInfo, &Functions::amd_comgr_destroy_action_info>;
using OwnedMetadata = Owned<MetadataNode, &Functions::amd_comgr_destroy_metadata>;
using OwnedDisassembly = Owned<DisassemblyInfo, &Functions::amd_comgr_destroy_disassembly_info>;

}  // namespace baton::comgr
