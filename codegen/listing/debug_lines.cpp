#include "codegen/listing/debug_lines.h"

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace baton::codegen {
namespace {

constexpr std::string_view kStagePrefix = "stage ";

void ignore(llvm::Error error) { llvm::consumeError(std::move(error)); }

}  // namespace

struct DebugLines::Dwarf {
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
};

DebugLines::DebugLines(ByteView code_object) : dwarf_(std::make_unique<Dwarf>()) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(code_object.data()),
                              code_object.size());
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, ""));
  if (!object) {
    ignore(object.takeError());
    return;
  }
  dwarf_->object = std::move(*object);
  dwarf_->context = llvm::DWARFContext::create(*dwarf_->object,
                                               llvm::DWARFContext::ProcessDebugRelocations::Process,
                                               nullptr, "", ignore, ignore);
}

DebugLines::~DebugLines() = default;

AddressOrigin DebugLines::origin(uint64_t address) const {
  if (!dwarf_->context) return {};
  // Folder and file: the line table keeps them apart.
  const llvm::DILineInfoSpecifier wanted(
      llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath, llvm::DINameKind::ShortName);
  const llvm::DIInliningInfo frames = dwarf_->context->getInliningInfoForAddress(
      {address, llvm::object::SectionedAddress::UndefSection}, wanted);
  AddressOrigin origin;
  const uint32_t count = frames.getNumberOfFrames();
  if (count == 0) return origin;
  const llvm::DILineInfo& innermost = frames.getFrame(0);
  if (innermost.FileName != llvm::DILineInfo::BadString) {
    origin.file = innermost.FileName;
    origin.line = innermost.Line;
    if (innermost.Source && !innermost.Source->empty()) origin.source = *innermost.Source;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view name = frames.getFrame(i).FunctionName;
    if (!name.starts_with(kStagePrefix)) continue;
    origin.stage = name.substr(kStagePrefix.size());
    if (i > 0) origin.handoff = frames.getFrame(0).FunctionName;
    break;
  }
  return origin;
}

}  // namespace baton::codegen
