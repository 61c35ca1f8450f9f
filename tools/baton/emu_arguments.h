// The words of `baton emu --arg`: numbers and buffers for any kernel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/device/device.h"
#include "runtime/object/kernel_metadata.h"

namespace baton::cli {

/// What `--help` says about the words.
extern const char* const kEmuArgumentHelp;

struct EmuArgument {
  enum class Kind : uint8_t { number, null, buffer };
  std::string text;  ///< as given
  Kind kind;
  Bytes bytes;                   ///< of the number, or the buffer's contents before the launch
  std::filesystem::path output;  ///< takes the buffer after the launch; empty: nobody does
};

/// `--arg` number `number` (from 1). Reads the files that it names. Throws Error (user) that names
/// the argument and what is wrong with it, and like read_file.
EmuArgument parse_emu_argument(std::string_view text, size_t number);

/// Throws Error (user) unless the arguments fit the kernel's own in number, size and kind, and
/// their outputs are files in folders that exist, each named once.
void check_emu_arguments(const KernelMetadata& kernel, std::span<const EmuArgument> arguments);

/// The kernel's own arguments, without those that the device fills in.
std::vector<KernelArgument> explicit_arguments(const KernelMetadata& kernel);

/// The explicit part of the kernarg segment; `addresses` holds a buffer's address, and 0 for what
/// is none. The arguments have been checked.
Bytes pack_emu_arguments(const KernelMetadata& kernel, std::span<const EmuArgument> arguments,
                         std::span<const DeviceAddress> addresses);

}  // namespace baton::cli
