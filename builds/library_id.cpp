#include "builds/library_id.h"

#include <array>
#include <string>

#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/build_id.h"
#include "runtime/base/error.h"

namespace baton::builds {
namespace {

std::string shared_library_id(const char* name, const void* address) {
  if (std::optional<std::string> id = build_id_at(address)) return *id;
  throw Error(ErrorKind::environment,
              fmt::format("{} was linked without a build id: nothing tells one from another", name),
              "link it with -Wl,--build-id, as Debian's packages are");
}

Digest compute_pipeline_id() {
  const std::string llvm =
      shared_library_id("LLVM", reinterpret_cast<const void*>(&llvm::sys::getDefaultTargetTriple));
  const std::string mlir = shared_library_id("MLIR", reinterpret_cast<const void*>(&mlir::verify));
  return sha256_of(std::array<std::string_view, 5>{"baton pipeline", kPipelineArchives,
                                                   LLVM_VERSION_STRING, llvm, mlir});
}

}  // namespace

const Digest& pipeline_id() {
  static const Digest id = compute_pipeline_id();
  return id;
}

const Digest& library_id() {
  static const Digest id = [] {
    const std::string pipeline = pipeline_id().hex();
    return sha256_of(std::array<std::string_view, 3>{"baton library", pipeline, kKernelArchives});
  }();
  return id;
}

}  // namespace baton::builds
