#include "runtime/emulator/debug_info.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <string_view>

namespace baton::emulator {
namespace {

constexpr std::string_view kStagePrefix = "stage ";

void ignore(llvm::Error error) { llvm::consumeError(std::move(error)); }

/// A place in the tree of subprograms that is still to be looked at, and the stage around it.
struct Pending {
  llvm::DWARFDie die;
  std::string stage;
};

void add_piece(const llvm::DWARFDie& die, std::string& stage, std::vector<StagePiece>& pieces) {
  if (die.getTag() != llvm::dwarf::DW_TAG_inlined_subroutine) return;
  const char* text = die.getName(llvm::DINameKind::ShortName);
  const std::string_view name = text ? text : "";
  const bool is_stage = name.starts_with(kStagePrefix);
  if (is_stage) stage = name.substr(kStagePrefix.size());
  if (stage.empty()) return;
  auto ranges = die.getAddressRanges();
  if (!ranges) return ignore(ranges.takeError());
  StagePiece& piece = pieces.emplace_back();
  piece.stage = stage;
  if (!is_stage) piece.handoff = name;
  for (const llvm::DWARFAddressRange& r : *ranges) piece.ranges.emplace_back(r.LowPC, r.HighPC);
}

}  // namespace

struct DebugInfo::Dwarf {
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
};

DebugInfo::DebugInfo(ByteView code_object) : dwarf_(std::make_unique<Dwarf>()) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(code_object.data()),
                              code_object.size());
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, ""));
  if (!object) {
    ignore(object.takeError());
    return;
  }
  dwarf_->object = std::move(*object);
  dwarf_->context = llvm::DWARFContext::create(*dwarf_->object,
                                               llvm::DWARFContext::ProcessDebugRelocations::Ignore,
                                               nullptr, "", ignore, ignore);
}

DebugInfo::~DebugInfo() = default;

std::string DebugInfo::source_line(uint64_t vaddr) const {
  if (!dwarf_->context) return {};
  const llvm::DILineInfoSpecifier what(
      llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
      llvm::DILineInfoSpecifier::FunctionNameKind::None);
  const llvm::DILineInfo line =
      dwarf_->context
          ->getLineInfoForAddress({vaddr, llvm::object::SectionedAddress::UndefSection}, what)
          .value_or(llvm::DILineInfo());
  if (!line || line.FileName == llvm::DILineInfo::BadString) return {};
  return fmt::format("{}:{}", line.FileName, line.Line);
}

std::vector<StagePiece> DebugInfo::stage_pieces() const {
  std::vector<StagePiece> pieces;
  if (!dwarf_->context) return pieces;
  // A list and no recursion: the depth is the file's to choose.
  std::vector<Pending> pending;
  for (const auto& unit : dwarf_->context->compile_units()) {
    pending.push_back({unit->getUnitDIE(/*ExtractUnitDIEOnly=*/false), {}});
    while (!pending.empty()) {
      Pending at = std::move(pending.back());
      pending.pop_back();
      if (!at.die.isValid()) continue;
      add_piece(at.die, at.stage, pieces);
      for (const llvm::DWARFDie& child : at.die.children()) pending.push_back({child, at.stage});
    }
  }
  return pieces;
}

}  // namespace baton::emulator
