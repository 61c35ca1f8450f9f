// What the debug information says of an address: source line, stage, hand-off.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"

namespace baton::codegen {

struct AddressOrigin {
  std::string file;     ///< empty: the line table says nothing
  uint32_t line = 0;    ///< 0: no line of the author's, the compiler made it
  std::string stage;    ///< "o", from the inlined subprogram "stage o"; or empty
  std::string handoff;  ///< "put ar": the innermost subprogram inside a stage; or empty
  std::optional<std::string_view>
      source;  ///< the file's embedded text; lives as long as DebugLines
};

class DebugLines {
 public:
  /// `code_object` must outlive it. An object without debug information, or with damaged one, has
  /// origins that say nothing.
  explicit DebugLines(ByteView code_object);
  ~DebugLines();

  AddressOrigin origin(uint64_t address) const;

 private:
  struct Dwarf;
  std::unique_ptr<Dwarf> dwarf_;
};

}  // namespace baton::codegen
