#include "codegen/facts.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinOps.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/target/target.h"

namespace baton::codegen {
namespace {

constexpr std::string_view kHint = "codegen reads what the trace closed with: see codegen/facts.h";

[[noreturn]] void fail(std::string message) {
  throw Error(ErrorKind::user, std::move(message), std::string(kHint));
}

/// Reads typed values out of one dictionary; `where` names it in an error.
class Reader {
 public:
  Reader(mlir::DictionaryAttr values, std::string where, std::string prefix = {})
      : values_(values), where_(std::move(where)), prefix_(std::move(prefix)) {}

  std::string text(std::string_view name) const {
    return get<mlir::StringAttr>(name, "a string").getValue().str();
  }
  std::string text_or_empty(std::string_view name) const {
    return has(name) ? text(name) : std::string();
  }
  int64_t integer(std::string_view name) const {
    const mlir::APInt value = get<mlir::IntegerAttr>(name, "an integer").getValue();
    if (!value.isSignedIntN(64) || value.isNegative()) {
      fail(fmt::format("{}: attribute {}{} is negative", where_, prefix_, name));
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
  const std::string& where() const { return where_; }

 private:
  bool has(std::string_view name) const { return values_.contains(prefix_ + std::string(name)); }

  template <typename T>
  T get(std::string_view name, std::string_view type) const {
    const mlir::Attribute value = values_.get(prefix_ + std::string(name));
    if (!value) fail(fmt::format("{}: attribute {}{} is missing", where_, prefix_, name));
    const auto typed = llvm::dyn_cast<T>(value);
    if (!typed) fail(fmt::format("{}: attribute {}{} is not {}", where_, prefix_, name, type));
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

ArgumentFacts read_argument(const Reader& reader) {
  return {.name = reader.text("name"),
          .kind = reader.text("kind"),
          .access = reader.text_or_empty("access"),
          .dtype = reader.text_or_empty("dtype"),
          .shape = reader.shape_or_empty("shape")};
}

RegionFacts read_region(const Reader& reader) {
  return {.name = reader.text("name"),
          .space = reader.text("space"),
          .protocol = reader.text("protocol"),
          .dtype = reader.text("dtype"),
          .shape = reader.shape_or_empty("shape"),
          .offset = reader.integer("offset"),
          .bytes = reader.integer("bytes")};
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

KernelFacts read_facts(mlir::ModuleOp module) {
  const Reader reader(module->getAttrDictionary(), "module", "baton.");
  mlir::LLVM::LLVMFuncOp kernel = find_kernel(module);
  KernelFacts facts;
  facts.symbol = kernel.getSymName().str();
  facts.chip = reader.text("chip");
  facts.key = reader.text_or_empty("key");
  facts.scratch_bytes = reader.integer_or_zero("scratch_bytes");
  facts.peer_half_bytes = reader.integer_or_zero("peer_half_bytes");
  facts.grid_workgroups = reader.integer_or_zero("grid");
  facts.workgroup_lanes = reader.integer("workgroup");
  find_target(facts.chip);
  if (facts.workgroup_lanes < 1 || facts.workgroup_lanes > 1024) {
    fail(fmt::format("module: attribute baton.workgroup is {}, not in 1 .. 1024 lanes",
                     facts.workgroup_lanes));
  }
  for (const mlir::Attribute& stage : reader.list_or_empty("stages")) {
    const auto name = llvm::dyn_cast<mlir::StringAttr>(stage);
    if (!name) fail("module: attribute baton.stages holds something that is not a string");
    facts.stages.push_back(name.getValue().str());
  }
  for (const mlir::Attribute& value : reader.list_or_empty("args")) {
    const size_t index = facts.arguments.size();
    facts.arguments.push_back(read_argument(entry(value, fmt::format("baton.args[{}]", index))));
  }
  for (const mlir::Attribute& value : reader.list_or_empty("regions")) {
    const size_t index = facts.regions.size();
    facts.regions.push_back(read_region(entry(value, fmt::format("baton.regions[{}]", index))));
  }
  const size_t parameters = kernel.getNumArguments();
  if (!facts.arguments.empty() && facts.arguments.size() != parameters) {
    fail(fmt::format("kernel {} takes {} arguments, but baton.args names {}", facts.symbol,
                     parameters, facts.arguments.size()));
  }
  return facts;
}

}  // namespace baton::codegen
