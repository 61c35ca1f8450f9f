#include "runtime/object/code_object.h"

#include "runtime/base/digest.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton {
namespace {

/// Compares field by field; what differs is named with both values.
class Comparison {
 public:
  explicit Comparison(std::string_view source) : source_(source) {}

  template <typename T>
  void equal(std::string_view field, const T& code, const T& record) const {
    if (code == record) return;
    throw Error(ErrorKind::failed_check,
                fmt::format("{}: {} of the code object is {}, of its record {}", source_, field,
                            code, record),
                "one of the two files was changed: compile the key again");
  }

 private:
  std::string_view source_;
};

/// Arguments by offset and size; the compiler's hidden ones are not in the record.
void compare_arguments(const Comparison& compare, const Kernel& kernel, const Record& record) {
  size_t index = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.value_kind.starts_with("hidden_")) continue;
    if (index < record.arguments.size()) {
      const std::string what = fmt::format("argument {}", index);
      compare.equal(what + "'s offset", argument.offset, record.arguments[index].offset);
      compare.equal(what + "'s size", argument.size, record.arguments[index].size);
    }
    ++index;
  }
  compare.equal("the number of arguments", index, record.arguments.size());
}

}  // namespace

RecordResources resources_of(const Kernel& kernel, uint32_t workgroup_lanes,
                             uint32_t grid_workgroups) {
  return {.vgprs = kernel.vgprs,
          .agprs = kernel.agprs,
          .sgprs = kernel.sgprs,
          .lds_bytes = kernel.lds_bytes,
          .scratch_bytes = kernel.scratch_bytes,
          .vgpr_spills = kernel.vgpr_spills,
          .sgpr_spills = kernel.sgpr_spills,
          .kernarg_bytes = kernel.kernarg_bytes,
          .workgroup_lanes = workgroup_lanes,
          .grid_workgroups = grid_workgroups};
}

ElfImage verify(const CodeObject& object, std::string_view source) {
  const Record& record = object.record;
  const Comparison compare(source);
  compare.equal<std::string_view>("the SHA-256", sha256(object.bytes).hex(), record.sha256);
  ElfImage image = ElfImage::parse(object.bytes, source);
  compare.equal<std::string_view>("the chip", image.chip(), record.chip);
  const Kernel* kernel = image.lookup_kernel(record.kernel);
  if (kernel == nullptr) {
    throw Error(ErrorKind::failed_check, fmt::format("{}: the record's kernel {} is not in it",
                                                     source, quote(record.kernel)));
  }
  const RecordResources& resources = record.resources;
  compare.equal("VGPRs", kernel->vgprs, resources.vgprs);
  compare.equal("AGPRs", kernel->agprs, resources.agprs);
  compare.equal("SGPRs", kernel->sgprs, resources.sgprs);
  compare.equal("LDS bytes", kernel->lds_bytes, resources.lds_bytes);
  compare.equal("scratch bytes", kernel->scratch_bytes, resources.scratch_bytes);
  compare.equal("VGPR spills", kernel->vgpr_spills, resources.vgpr_spills);
  compare.equal("SGPR spills", kernel->sgpr_spills, resources.sgpr_spills);
  compare.equal("kernarg bytes", kernel->kernarg_bytes, resources.kernarg_bytes);
  compare_arguments(compare, *kernel, record);
  return image;
}

}  // namespace baton
