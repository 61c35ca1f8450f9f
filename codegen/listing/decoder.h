// Bytes to instructions to text, for one chip.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"

namespace baton::codegen {

struct DecodedInstruction {
  uint32_t size = 0;  ///< bytes; 0 when the bytes are no instruction
  std::optional<uint64_t> branch_target;
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Decodes the instruction that `bytes` begin with; it becomes the current one.
  virtual DecodedInstruction decode(ByteView bytes, uint64_t address) = 0;

  /// The current instruction as assembly. A branch names `target_label` when that is not empty.
  virtual std::string text(uint64_t address, const std::string& target_label) = 0;
};

/// LLVM's MC layer.
std::unique_ptr<Decoder> make_llvm_decoder(std::string_view chip);

/// What an instruction printer writes, without its tabs and the blanks at its ends.
std::string one_line(std::string_view printed);

}  // namespace baton::codegen
