#include "codegen/finish.h"

#include <llvm/Config/llvm-config.h>

#include <algorithm>

#include "codegen/listing/listing.h"
#include "runtime/base/digest.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/target/target.h"

namespace baton::codegen {
namespace {

uint32_t believed_count(const ResourceRemark& believed, std::string_view name) {
  const auto found = believed.find(name);
  BATON_CHECK(found != believed.end(), fmt::format("LLVM reported no {}", name));
  const std::string& text = found->second;
  const auto count = parse_number<uint32_t>(text);
  BATON_CHECK(count.has_value(), fmt::format("LLVM reported {} = {}", name, text));
  return *count;
}

/// VGPRs and AGPRs share one file, in which the AGPRs begin at a multiple of four.
uint32_t unified_vgprs(uint32_t vgprs, uint32_t agprs) {
  return agprs == 0 ? vgprs : (vgprs + 3) / 4 * 4 + agprs;
}

void compare_with_compiler(const Kernel& kernel, const ResourceRemark& believed) {
  const auto same = [&](std::string_view what, uint32_t compiler, uint32_t bytes) {
    BATON_CHECK(compiler == bytes,
                fmt::format("{}: the compiler believes {}, the code object says {}", what, compiler,
                            bytes));
  };
  const uint32_t agprs = believed_count(believed, "NumAGPR");
  same("AGPRs", agprs, kernel.agprs);
  same("VGPRs", unified_vgprs(believed_count(believed, "NumVGPR"), agprs), kernel.vgprs);
  same("SGPRs", believed_count(believed, "NumSGPR"), kernel.sgprs);
  same("LDS bytes", believed_count(believed, "BytesLDS"), kernel.lds_bytes);
  same("scratch bytes", believed_count(believed, "ScratchSize"), kernel.scratch_bytes);
  same("VGPR spills", believed_count(believed, "VGPRSpill"), kernel.vgpr_spills);
  same("SGPR spills", believed_count(believed, "SGPRSpill"), kernel.sgpr_spills);
}

/// Where a spilled value goes to and comes from. gfx90a addresses scratch memory as a buffer at a
/// constant offset, later chips by instructions of their own; SGPRs go to lanes of a VGPR.
bool touches_scratch(const ListedInstruction& instruction) {
  const std::string_view text = instruction.text;
  return text.starts_with("scratch_") ||
         (text.starts_with("buffer_") && text.find(", off, s[") != std::string_view::npos);
}

bool saves_sgpr(const ListedInstruction& instruction) {
  return std::string_view(instruction.text).starts_with("v_writelane_");
}

/// "; most of it in stage o", or nothing where the debug information does not say.
std::string worst_stage(const Bytes& bytes, const Kernel& kernel) {
  const Listing listing = disassemble(bytes, kernel.name, kernel.name);
  std::vector<uint64_t> counts(listing.stages.size());
  for (const ListedInstruction& instruction : listing.instructions) {
    const bool counted =
        kernel.scratch_bytes > 0 ? touches_scratch(instruction) : saves_sgpr(instruction);
    if (counted && instruction.stage >= 0) ++counts[static_cast<size_t>(instruction.stage)];
  }
  const auto worst = std::ranges::max_element(counts);
  if (worst == counts.end() || *worst == 0) return {};
  return "; most of it in stage " + listing.stages[static_cast<size_t>(worst - counts.begin())];
}

void refuse_spills(const Bytes& bytes, const Kernel& kernel) {
  const bool spills = kernel.vgpr_spills > 0 || kernel.sgpr_spills > 0;
  if (!spills && kernel.scratch_bytes == 0 && !kernel.uses_dynamic_stack) return;
  const std::string counts = fmt::format(
      "{} VGPRs, {} AGPRs, {} SGPRs; {} VGPR spills, {} SGPR spills, {} bytes of scratch "
      "a lane{}",
      kernel.vgprs - kernel.agprs, kernel.agprs, kernel.sgprs, kernel.vgpr_spills,
      kernel.sgpr_spills, kernel.scratch_bytes,
      kernel.uses_dynamic_stack ? " and a stack of unknown size" : "");
  throw Error(ErrorKind::user,
              fmt::format("kernel {} {}: {}{}", kernel.name,
                          spills ? "spills registers" : "needs scratch memory", counts,
                          worst_stage(bytes, kernel)),
              spills ? "keep fewer values alive at once: smaller tiles, or loads in rounds"
                     : "a local array is indexed at run time: keep it in LDS, or unroll the index");
}

void refuse_hidden_arguments(const Kernel& kernel) {
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.value_kind.starts_with("hidden_")) continue;
    throw Error(
        ErrorKind::user,
        fmt::format("kernel {} needs the hidden argument {}", kernel.name, argument.value_kind),
        "a launch passes the kernel's own arguments only: take the value as one of them");
  }
}

/// What the compiler knows of an argument that the module does not describe.
RecordArgument undescribed(const KernelArgument& argument, size_t index) {
  RecordArgument described;
  described.name = argument.name.empty() ? fmt::format("arg{}", index) : argument.name;
  described.size = argument.size;
  if (argument.value_kind == "global_buffer") {
    described.access = ArgumentAccess::read_write;
    described.dtype = "i8";
    return described;
  }
  described.kind = argument.size == 8 ? ArgumentKind::i64 : ArgumentKind::i32;
  described.dtype = name(described.kind);
  return described;
}

void place_arguments(Record& record, const Kernel& kernel) {
  const bool described = !record.arguments.empty();
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (!described) record.arguments.push_back(undescribed(kernel.arguments[i], i));
    record.arguments.at(i).offset = kernel.arguments[i].offset;
  }
}

/// The passes read an argument again where argument_offset() says: LLVM must have put it there.
void check_argument_offsets(const Record& record) {
  uint32_t end = 0;
  for (const RecordArgument& argument : record.arguments) {
    const uint32_t expected = argument_offset(end, argument.size);
    BATON_CHECK(argument.offset == expected,
                fmt::format("argument {} lies at byte {} of the kernarg segment, expected {}",
                            argument.name, argument.offset, expected));
    end = expected + argument.size;
  }
}

}  // namespace

CodeObject finish(Record draft, Bytes bytes, const ResourceRemark& believed) {
  const ElfImage image = ElfImage::parse(bytes, draft.kernel);
  const Kernel& kernel = image.find_kernel(draft.kernel);
  compare_with_compiler(kernel, believed);
  refuse_spills(bytes, kernel);
  refuse_hidden_arguments(kernel);
  const uint32_t lanes = draft.resources.workgroup_lanes;
  CodeObject object{.bytes = {}, .record = std::move(draft)};
  Record& record = object.record;
  record.baton_version = BATON_VERSION;
  record.llvm_version = LLVM_VERSION_STRING;
  record.sha256 = sha256(bytes).hex();
  record.resources = resources_of(kernel, lanes, record.resources.grid_workgroups);
  record.occupancy = occupancy_of(kernel, find_target(record.chip), lanes);
  const bool described = !record.arguments.empty();
  place_arguments(record, kernel);
  object.bytes = std::move(bytes);
  verify(object, record.kernel);
  if (described) check_argument_offsets(record);
  BATON_CHECK(Record::from_json(record.to_json(), record.kernel) == record);
  return object;
}

}  // namespace baton::codegen
