// The border to LLVM: what it owns for one compilation, and how its errors become baton::Error.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace baton::codegen {

/// What the backend says of the kernel's registers and memory (its resource remark), by LLVM's
/// names: "NumVGPR", "NumAGPR", "NumSGPR", "ScratchSize", "SGPRSpill", ...
using ResourceRemark = std::map<std::string, std::string, std::less<>>;

/// What LLVM reported during one compilation.
struct LlvmReports {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  ResourceRemark resources;
};

/// LLVM's AMDGPU target, and no other, registered once for the process. Any thread may call it.
const llvm::Target& amdgpu_target();

/// One compilation's context, machine and module. Nothing here is shared between threads.
class LlvmJob {
 public:
  /// Throws Error (user) for a chip that LLVM does not know.
  explicit LlvmJob(std::string_view chip);
  ~LlvmJob();
  LlvmJob(const LlvmJob&) = delete;
  LlvmJob& operator=(const LlvmJob&) = delete;

  llvm::LLVMContext& context() { return *context_; }
  llvm::TargetMachine& machine() { return *machine_; }
  LlvmReports& reports() { return *reports_; }

  /// The module, set by translation; null before.
  std::unique_ptr<llvm::Module>& module() { return module_; }

  /// Runs one phase of LLVM. Throws Error when LLVM reports an error (kind user) or gives up with a
  /// fatal error (kind failed_check); `phase` is the verb for the message: "translate".
  /// `work` must own nothing: a fatal error leaves it without running destructors, and the job
  /// leaks its module then, because nobody knows what state it is in.
  void run(std::string_view phase, llvm::function_ref<void()> work);

 private:
  std::unique_ptr<LlvmReports> reports_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::Module> module_;
};

/// Runs `work`; false and LLVM's reason in `reason` when it ended in a fatal error. What `work`
/// owned is leaked then.
bool survives_fatal_error(llvm::function_ref<void()> work, std::string& reason);

}  // namespace baton::codegen
