// Any bytes load on an emulated device, every instruction decoded, or are refused with one clear
// error. Nothing is launched.
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/emulator/emulator.h"
#include "runtime/object/elf_image.h"
#include "runtime/target/target.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void load(baton::ByteView bytes) {
  const baton::ElfImage image = baton::ElfImage::parse(bytes, "fuzz");
  baton::emulator::Emulator emulator({.chip = std::string(image.chip())});
  baton::Device& device = emulator.device(0);
  const auto module = device.load(bytes);
  for (const baton::Kernel& kernel : image.kernels()) {
    const baton::Function& function = module->function(kernel.name);
    require(function.metadata().name == kernel.name);
    require(device.workgroups_per_cu(function, {.workgroup = {64, 1, 1}}) >= 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    load({data, size});
  } catch (const baton::Error& error) {
    require(error.kind() == baton::ErrorKind::user);
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
