// LLVM's MC layer for one chip: bytes to instructions to text.
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
  explicit Decoder(std::string_view chip);
  ~Decoder();

  /// Decodes the instruction that `bytes` begin with; it becomes the current one.
  DecodedInstruction decode(ByteView bytes, uint64_t address);

  /// The current instruction as assembly. A branch names `target_label` when that is not empty.
  std::string text(uint64_t address, const std::string& target_label);

 private:
  struct Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace baton::codegen
