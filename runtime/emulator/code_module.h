// A code object in a device's memory.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/device/device.h"
#include "runtime/emulator/dispatch.h"

namespace baton::emulator {

class CodeFunction : public Function {
 public:
  explicit CodeFunction(KernelCode code, int device) : code_(std::move(code)), device_(device) {}
  const KernelMetadata& metadata() const override { return code_.kernel; }
  const KernelCode& code() const { return code_; }
  int device() const { return device_; }

 private:
  KernelCode code_;
  int device_;
};

class CodeModule : public Module {
 public:
  /// Copies the segments into the device's memory and applies the relocations. Throws Error (user)
  /// for a relocation or symbol that cannot be resolved.
  CodeModule(AddressSpace& memory, int device, const ElfImage& image,
             std::shared_ptr<const Program> program);
  ~CodeModule() override;
  const Function& function(std::string_view name) const override;

 private:
  void relocate(const ElfImage& image);

  AddressSpace& memory_;
  const Allocation* image_ = nullptr;
  std::map<std::string, std::unique_ptr<CodeFunction>, std::less<>> functions_;
};

}  // namespace baton::emulator
