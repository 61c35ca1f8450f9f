#include "codegen/draft_record.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinOps.h>

#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/target/target.h"

namespace baton::codegen {
namespace {

constexpr int64_t kMaxWorkgroupLanes = 1024;
constexpr int64_t kMaxGrid = int64_t{1} << 31;
constexpr std::string_view kHint =
    "codegen reads what the trace closed with: see codegen/draft_record.h";

[[noreturn]] void fail(std::string message) {
  throw Error(ErrorKind::user, std::move(message), std::string(kHint));
}

/// Reads typed values out of one dictionary; `where` names it in an error.
class Reader {
 public:
  Reader(mlir::DictionaryAttr values, std::string where, std::string prefix = {})
      : values_(values), where_(std::move(where)), prefix_(std::move(prefix)) {}

  bool has(std::string_view name) const { return values_.contains(prefix_ + std::string(name)); }
  std::string text(std::string_view name) const {
    return get<mlir::StringAttr>(name, "a string").getValue().str();
  }
  std::string text_or_empty(std::string_view name) const {
    return has(name) ? text(name) : std::string();
  }
  int64_t integer(std::string_view name) const {
    const mlir::APInt value = get<mlir::IntegerAttr>(name, "an integer").getValue();
    if (!value.isSignedIntN(64) || value.isNegative()) {
      fail(subject(name) + " is negative");
    }
    return value.getSExtValue();
  }
  int64_t integer_or_zero(std::string_view name) const { return has(name) ? integer(name) : 0; }
  std::vector<int64_t> shape_or_empty(std::string_view name) const {
    if (!has(name)) return {};
    const auto shape = get<mlir::DenseI64ArrayAttr>(name, "an array<i64>").asArrayRef();
    return {shape.begin(), shape.end()};
  }
  std::vector<mlir::Attribute> list_or_empty(std::string_view name) const {
    if (!has(name)) return {};
    const auto list = get<mlir::ArrayAttr>(name, "a list");
    return {list.begin(), list.end()};
  }
  /// "module: attribute baton.chip": how an error begins.
  std::string subject(std::string_view name) const {
    return fmt::format("{}: attribute {}{}", where_, prefix_, name);
  }

 private:
  template <typename T>
  T get(std::string_view name, std::string_view type) const {
    const mlir::Attribute value = values_.get(prefix_ + std::string(name));
    if (!value) fail(subject(name) + " is missing");
    const auto typed = llvm::dyn_cast<T>(value);
    if (!typed) fail(fmt::format("{} is not {}", subject(name), type));
    return typed;
  }

  mlir::DictionaryAttr values_;
  std::string where_;
  std::string prefix_;
};

Reader entry(const mlir::Attribute& attribute, std::string where) {
  const auto values = llvm::dyn_cast<mlir::DictionaryAttr>(attribute);
  if (!values) fail(where + " is not a dictionary");
  return {values, std::move(where)};
}

/// The enumerator that is spelt like the attribute `field`; `last` is the last one.
template <typename Enum>
Enum read_enum(const Reader& reader, std::string_view field, Enum last) {
  const std::string text = reader.text(field);
  std::string known;
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    const std::string_view spelling = name(static_cast<Enum>(value));
    if (spelling == text) return static_cast<Enum>(value);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", spelling);
  }
  fail(fmt::format("{} is {}, not one of {}", reader.subject(field), quote(text), known));
}

RecordArgument read_argument(const Reader& reader) {
  RecordArgument argument;
  argument.name = reader.text("name");
  argument.kind = read_enum(reader, "kind", ArgumentKind::f32);
  argument.size =
      argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::i64 ? 8 : 4;
  if (argument.kind != ArgumentKind::buffer) {
    argument.dtype = name(argument.kind);
    return argument;
  }
  argument.access = read_enum(reader, "access", ArgumentAccess::read_write);
  argument.dtype = reader.text("dtype");
  argument.shape = reader.shape_or_empty("shape");
  return argument;
}

RecordRegion read_region(const Reader& reader) {
  return {.name = reader.text("name"),
          .space = read_enum(reader, "space", RegionSpace::peer),
          .protocol = read_enum(reader, "protocol", RegionProtocol::plain),
          .dtype = reader.text("dtype"),
          .shape = reader.shape_or_empty("shape"),
          .offset = static_cast<uint64_t>(reader.integer("offset")),
          .bytes = static_cast<uint64_t>(reader.integer("bytes"))};
}

std::vector<std::string> read_names(const Reader& reader, std::string_view field) {
  std::vector<std::string> names;
  for (const mlir::Attribute& name : reader.list_or_empty(field)) {
    const auto text = llvm::dyn_cast<mlir::StringAttr>(name);
    if (!text) {
      fail(fmt::format("module: attribute baton.{} holds something that is not a string", field));
    }
    names.push_back(text.getValue().str());
  }
  return names;
}

/// A count that the record keeps in 32 bits.
uint32_t read_count(const Reader& reader, std::string_view field, int64_t least, int64_t most) {
  const int64_t value = reader.integer(field);
  if (value < least || value > most) {
    fail(fmt::format("{} is {}, not in {} .. {}", reader.subject(field), value, least, most));
  }
  return static_cast<uint32_t>(value);
}

mlir::LLVM::LLVMFuncOp find_kernel(mlir::ModuleOp module) {
  mlir::LLVM::LLVMFuncOp kernel;
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("rocdl.kernel")) continue;
    if (kernel) {
      fail(fmt::format("the module holds two kernels, {} and {}: a code object has one",
                       kernel.getSymName().str(), function.getSymName().str()));
    }
    kernel = function;
  }
  if (!kernel) fail("the module holds no kernel: no llvm.func with the attribute rocdl.kernel");
  if (kernel.isExternal()) {
    fail(fmt::format("kernel {} has no body", kernel.getSymName().str()));
  }
  return kernel;
}

}  // namespace

Record draft_record(mlir::ModuleOp module) {
  const Reader reader(module->getAttrDictionary(), "module", "baton.");
  mlir::LLVM::LLVMFuncOp kernel = find_kernel(module);
  Record record;
  record.kernel = kernel.getSymName().str();
  record.chip = reader.text("chip");
  find_target(record.chip);
  record.key = reader.text_or_empty("key");
  record.resources.workgroup_lanes = read_count(reader, "workgroup", 1, kMaxWorkgroupLanes);
  record.resources.grid_workgroups = read_count(reader, "grid", 1, kMaxGrid);
  record.totals.scratch_bytes = static_cast<uint64_t>(reader.integer_or_zero("scratch_bytes"));
  record.totals.peer_half_bytes = static_cast<uint64_t>(reader.integer_or_zero("peer_half_bytes"));
  record.stages = read_names(reader, "stages");
  record.timeline = read_names(reader, "timeline");
  record.bounded_waits = module->hasAttr("baton.bounded_waits");
  for (const mlir::Attribute& value : reader.list_or_empty("args")) {
    const size_t index = record.arguments.size();
    record.arguments.push_back(read_argument(entry(value, fmt::format("baton.args[{}]", index))));
  }
  for (const mlir::Attribute& value : reader.list_or_empty("regions")) {
    const size_t index = record.regions.size();
    record.regions.push_back(read_region(entry(value, fmt::format("baton.regions[{}]", index))));
  }
  const size_t parameters = kernel.getNumArguments();
  if (!record.arguments.empty() && record.arguments.size() != parameters) {
    fail(fmt::format("kernel {} takes {} arguments, but baton.args names {}", record.kernel,
                     parameters, record.arguments.size()));
  }
  return record;
}

}  // namespace baton::codegen
