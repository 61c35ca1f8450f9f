// The C interface of libamd_comgr 2 and 3, as far as Baton calls it: written down here, so that a
// build needs no header of ROCm.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::comgr {

/// amd_comgr_status_t.
using Status = int;
inline constexpr Status kSuccess = 0, kError = 1;

/// amd_comgr_data_kind_t.
enum class DataKind : int { relocatable = 7, executable = 8 };

/// amd_comgr_metadata_kind_t. Numbers and booleans are strings.
enum class MetadataKind : int { none = 0, string = 1, map = 2, list = 3 };

/// amd_comgr_action_kind_t: AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, which version 3
/// numbered anew.
using ActionKind = int;
inline constexpr ActionKind kLinkToExecutable2 = 0x9, kLinkToExecutable3 = 0x7;

// The library's handles are structures of one word, all 0 for none.
struct Data {
  uint64_t handle;
};
struct DataSet {
  uint64_t handle;
};
struct ActionInfo {
  uint64_t handle;
};
struct MetadataNode {
  uint64_t handle;
};
struct DisassemblyInfo {
  uint64_t handle;
};

using ReadMemory = uint64_t(uint64_t from, char* to, uint64_t size, void* user);
using TakeInstruction = void(const char* text, void* user);
using TakeAddress = void(uint64_t address, void* user);
using VisitEntry = Status(MetadataNode key, MetadataNode value, void* user);

/// Every function that has to be there: X(name, parameters).
#define BATON_COMGR_FUNCTIONS(X)                                                                  \
  X(amd_comgr_status_string, (Status status, const char** text))                                  \
  X(amd_comgr_get_isa_count, (size_t* count))                                                     \
  X(amd_comgr_get_isa_name, (size_t index, const char** name))                                    \
  X(amd_comgr_create_data, (DataKind kind, Data * data))                                          \
  X(amd_comgr_release_data, (Data data))                                                          \
  X(amd_comgr_set_data, (Data data, size_t size, const char* bytes))                              \
  X(amd_comgr_set_data_name, (Data data, const char* name))                                       \
  X(amd_comgr_get_data, (Data data, size_t* size, char* bytes))                                   \
  X(amd_comgr_create_data_set, (DataSet * set))                                                   \
  X(amd_comgr_destroy_data_set, (DataSet set))                                                    \
  X(amd_comgr_data_set_add, (DataSet set, Data data))                                             \
  X(amd_comgr_action_data_get_data, (DataSet set, DataKind kind, size_t index, Data* data))       \
  X(amd_comgr_create_action_info, (ActionInfo * info))                                            \
  X(amd_comgr_destroy_action_info, (ActionInfo info))                                             \
  X(amd_comgr_action_info_set_isa_name, (ActionInfo info, const char* isa))                       \
  X(amd_comgr_do_action, (ActionKind kind, ActionInfo info, DataSet input, DataSet result))       \
  X(amd_comgr_get_data_metadata, (Data data, MetadataNode * node))                                \
  X(amd_comgr_destroy_metadata, (MetadataNode node))                                              \
  X(amd_comgr_get_metadata_kind, (MetadataNode node, MetadataKind * kind))                        \
  X(amd_comgr_get_metadata_string, (MetadataNode node, size_t* size, char* text))                 \
  X(amd_comgr_iterate_map_metadata, (MetadataNode node, VisitEntry * visit, void* user))          \
  X(amd_comgr_metadata_lookup, (MetadataNode node, const char* key, MetadataNode* value))         \
  X(amd_comgr_get_metadata_list_size, (MetadataNode node, size_t* size))                          \
  X(amd_comgr_index_list_metadata, (MetadataNode node, size_t index, MetadataNode* value))        \
  X(amd_comgr_create_disassembly_info, (const char* isa, ReadMemory* read, TakeInstruction* text, \
                                        TakeAddress* address, DisassemblyInfo* info))             \
  X(amd_comgr_destroy_disassembly_info, (DisassemblyInfo info))                                   \
  X(amd_comgr_disassemble_instruction,                                                            \
    (DisassemblyInfo info, uint64_t address, void* user, uint64_t* size))

/// The functions, found.
struct Functions {
#define BATON_COMGR_POINTER(name, parameters) Status(*name) parameters = nullptr;
  BATON_COMGR_FUNCTIONS(BATON_COMGR_POINTER)
#undef BATON_COMGR_POINTER
  void (*amd_comgr_get_version)(size_t* major, size_t* minor) = nullptr;
};

}  // namespace baton::comgr
