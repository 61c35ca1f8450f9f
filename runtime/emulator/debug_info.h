// What a code object's DWARF says of its code: source lines, stages and hand-offs. No LLVM header
// shows here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"

namespace baton::emulator {

/// An inlined subprogram that is a stage ("stage o") or lies in one ("put ar").
struct StagePiece {
  std::string stage;    ///< "o"
  std::string handoff;  ///< "put ar": the subprogram inside the stage; empty for the stage itself
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  ///< addresses: first, behind the last
};

/// An object without debug information, or with damaged one, has none of what is asked.
class DebugInfo {
 public:
  /// `code_object` must outlive it.
  explicit DebugInfo(ByteView code_object);
  ~DebugInfo();

  /// "attn_post.cpp:41" or empty.
  std::string source_line(uint64_t vaddr) const;
  /// What stands inside another piece comes behind it: the last piece that holds an address is the
  /// innermost.
  std::vector<StagePiece> stage_pieces() const;

 private:
  struct Dwarf;
  std::unique_ptr<Dwarf> dwarf_;
};

}  // namespace baton::emulator
