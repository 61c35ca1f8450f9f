#include "tests/codegen/test_module.h"

#include <fmt/format.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/Parser/Parser.h>

#include <catch2/catch.hpp>

#include "runtime/base/file.h"

namespace baton::tests {

struct TestModule::Parsed {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TestModule::TestModule(std::string_view text) : parsed_(std::make_unique<Parsed>()) {
  parsed_->context.loadDialect<mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
  parsed_->context.allowUnregisteredDialects();
  parsed_->module =
      mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text), &parsed_->context);
  REQUIRE(parsed_->module);
}

TestModule::~TestModule() = default;

CodegenResult TestModule::generate(const CodegenOptions& options) const {
  return baton::generate(*parsed_->module, options);
}

std::string exchange_text(std::string_view chip) {
  const Bytes bytes = read_file(BATON_TEST_MODULES "/exchange.mlir");
  std::string text(bytes.begin(), bytes.end());
  constexpr std::string_view kChip = "gfx950";
  return text.replace(text.find(kChip), kChip.size(), chip);
}

std::vector<SourceText> exchange_sources() {
  return {{"kernels/exchange.cpp",
           "void exchange(Kernel& k) {\n"
           "  stage(\"o\", [&] {\n"
           "    word = in[lane] * rank;\n"
           "    put(ar, lane, word);\n"
           "  });\n"
           "  stage(\"reduce\", [&] {\n"
           "    answer = wait_for(ar, lane);\n"
           "    out[lane] = answer + word_of(lane ^ 1);\n"
           "  });\n"
           "}\n"},
          {"kernels/parts/wait.cpp",
           "I32 wait_for(const Region& region, I32 index) {\n"
           "  return poll(region, index);\n"
           "}\n"}};
}

std::string kernel_text(std::string_view chip, std::string_view parameters, std::string_view body) {
  return fmt::format(
      "module attributes {{baton.chip = \"{}\", baton.grid = 1 : i64, baton.workgroup = 512 : "
      "i64}} {{\n"
      "llvm.func @test({}) attributes {{rocdl.kernel}} {{\n{}\nllvm.return\n}}\n}}\n",
      chip, parameters, body);
}

}  // namespace baton::tests
