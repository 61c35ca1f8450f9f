// Modules in the llvm dialect, parsed from text: what codegen takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "codegen/codegen.h"

namespace baton::tests {

/// A module in a context of its own, so that threads may hold one each.
class TestModule {
 public:
  /// Fails the test when the text does not parse.
  explicit TestModule(std::string_view text);
  ~TestModule();

  CodegenResult generate(const CodegenOptions& options = {}) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

/// modules/exchange.mlir for a chip.
std::string exchange_text(std::string_view chip = "gfx950");

/// The sources that exchange.mlir's locations name.
std::vector<SourceText> exchange_sources();

/// A kernel `test` of 512 lanes with `parameters` and `body`, which ends with a return.
std::string kernel_text(std::string_view chip, std::string_view parameters, std::string_view body);

}  // namespace baton::tests
