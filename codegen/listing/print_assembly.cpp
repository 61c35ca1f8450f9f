#include <fmt/format.h>

#include <array>
#include <string_view>

#include "codegen/listing/listing.h"

namespace baton {
namespace {

/// Where a directive of `.amdhsa_kernel` stands in the kernel descriptor.
struct Field {
  std::string_view directive;
  uint32_t KernelDescriptor::* word;
  int shift;
  uint32_t bits;
};

// "Kernel Descriptor" in the AMDGPU back end's documentation, for gfx90a and later gfx9 chips.
constexpr uint32_t KernelDescriptor::* kRsrc1 = &KernelDescriptor::compute_pgm_rsrc1;
constexpr uint32_t KernelDescriptor::* kRsrc2 = &KernelDescriptor::compute_pgm_rsrc2;
constexpr uint32_t KernelDescriptor::* kRsrc3 = &KernelDescriptor::compute_pgm_rsrc3;
constexpr Field kFields[] = {
    {"float_round_mode_32", kRsrc1, 12, 2},
    {"float_round_mode_16_64", kRsrc1, 14, 2},
    {"float_denorm_mode_32", kRsrc1, 16, 2},
    {"float_denorm_mode_16_64", kRsrc1, 18, 2},
    {"dx10_clamp", kRsrc1, 21, 1},
    {"ieee_mode", kRsrc1, 23, 1},
    {"fp16_overflow", kRsrc1, 26, 1},
    {"enable_private_segment", kRsrc2, 0, 1},
    {"system_sgpr_workgroup_id_x", kRsrc2, 7, 1},
    {"system_sgpr_workgroup_id_y", kRsrc2, 8, 1},
    {"system_sgpr_workgroup_id_z", kRsrc2, 9, 1},
    {"system_sgpr_workgroup_info", kRsrc2, 10, 1},
    {"system_vgpr_workitem_id", kRsrc2, 11, 2},
    {"exception_fp_ieee_invalid_op", kRsrc2, 24, 1},
    {"exception_fp_denorm_src", kRsrc2, 25, 1},
    {"exception_fp_ieee_div_zero", kRsrc2, 26, 1},
    {"exception_fp_ieee_overflow", kRsrc2, 27, 1},
    {"exception_fp_ieee_underflow", kRsrc2, 28, 1},
    {"exception_fp_ieee_inexact", kRsrc2, 29, 1},
    {"exception_int_div_zero", kRsrc2, 30, 1},
    {"tg_split", kRsrc3, 16, 1},
};

/// The user SGPRs that the code properties ask for, by bit.
constexpr std::array<std::string_view, 7> kUserSgprs = {
    "private_segment_buffer", "dispatch_ptr", "queue_ptr",
    "kernarg_segment_ptr",    "dispatch_id",  "flat_scratch_init",
    "private_segment_size"};

constexpr int kUserSgprCountShift = 1;
constexpr uint32_t kUserSgprCountBits = 5;
constexpr int kUsesDynamicStackBit = 11;
constexpr int kSgprGranule = 8;
/// The assembler adds up to this many SGPRs of its own (XNACK mask, flat scratch) before it rounds
/// up to whole granules.
constexpr int kMostExtraSgprs = 6;

uint32_t bits_of(uint32_t word, int shift, uint32_t bits) {
  return (word >> shift) & ((1u << bits) - 1);
}

bool has_architected_scratch(const Listing& listing) { return listing.chip != "gfx90a"; }

/// The chip starts its waves with flat scratch set up where the architecture has it; only older
/// chips have SGPRs for it, and only newer ones the directive that replaces them.
bool exists_on(const Listing& listing, std::string_view directive) {
  if (directive == "private_segment_buffer" || directive == "flat_scratch_init") {
    return !has_architected_scratch(listing);
  }
  return true;
}

std::string registers(const Listing& listing) {
  const KernelDescriptor& descriptor = listing.kernel.descriptor;
  const auto sgpr_granules = static_cast<int>(bits_of(descriptor.compute_pgm_rsrc1, 6, 4) + 1);
  std::string text;
  text += fmt::format("  .amdhsa_next_free_vgpr {}\n", descriptor.allocated_vgprs());
  text += fmt::format("  .amdhsa_accum_offset {}\n", descriptor.accum_offset());
  text +=
      fmt::format("  .amdhsa_next_free_sgpr {}\n", sgpr_granules * kSgprGranule - kMostExtraSgprs);
  text += "  .amdhsa_reserve_vcc 0\n";
  if (!has_architected_scratch(listing)) text += "  .amdhsa_reserve_flat_scratch 0\n";
  return text;
}

std::string user_sgprs(const Listing& listing) {
  const KernelDescriptor& descriptor = listing.kernel.descriptor;
  std::string text =
      fmt::format("  .amdhsa_user_sgpr_count {}\n",
                  bits_of(descriptor.compute_pgm_rsrc2, kUserSgprCountShift, kUserSgprCountBits));
  for (size_t bit = 0; bit < kUserSgprs.size(); ++bit) {
    if (!exists_on(listing, kUserSgprs[bit])) continue;
    text += fmt::format("  .amdhsa_user_sgpr_{} {}\n", kUserSgprs[bit],
                        bits_of(descriptor.kernel_code_properties, static_cast<int>(bit), 1));
  }
  text += fmt::format("  .amdhsa_user_sgpr_kernarg_preload_length {}\n",
                      bits_of(descriptor.kernarg_preload, 0, 7));
  text += fmt::format("  .amdhsa_user_sgpr_kernarg_preload_offset {}\n",
                      bits_of(descriptor.kernarg_preload, 7, 9));
  return text;
}

std::string descriptor_directives(const Listing& listing) {
  const KernelDescriptor& descriptor = listing.kernel.descriptor;
  std::string text = fmt::format(
      ".section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel {}\n", listing.kernel.name);
  text +=
      fmt::format("  .amdhsa_group_segment_fixed_size {}\n", descriptor.group_segment_fixed_size);
  text += fmt::format("  .amdhsa_private_segment_fixed_size {}\n",
                      descriptor.private_segment_fixed_size);
  text += fmt::format("  .amdhsa_kernarg_size {}\n", descriptor.kernarg_size);
  text += user_sgprs(listing);
  text += fmt::format("  .amdhsa_uses_dynamic_stack {}\n",
                      bits_of(descriptor.kernel_code_properties, kUsesDynamicStackBit, 1));
  text += registers(listing);
  for (const Field& field : kFields) {
    const std::string_view directive =
        field.directive == "enable_private_segment" && !has_architected_scratch(listing)
            ? "system_sgpr_private_segment_wavefront_offset"
            : field.directive;
    text += fmt::format("  .amdhsa_{} {}\n", directive,
                        bits_of(descriptor.*field.word, field.shift, field.bits));
  }
  return text + ".end_amdhsa_kernel\n";
}

/// Runs of equal words: the padding is one instruction many times over.
std::string fill(const Bytes& padding) {
  std::string text;
  size_t offset = 0;
  while (offset + sizeof(uint32_t) <= padding.size()) {
    const auto word = read_at<uint32_t>(padding, offset, "padding");
    size_t count = 0;
    while (offset + sizeof(uint32_t) <= padding.size() &&
           read_at<uint32_t>(padding, offset, "padding") == word) {
      ++count;
      offset += sizeof(uint32_t);
    }
    text += fmt::format(".fill {}, 4, {:#010x}\n", count, word);
  }
  for (; offset < padding.size(); ++offset) text += fmt::format(".byte {:#04x}\n", padding[offset]);
  return text;
}

}  // namespace

std::string print_assembly(const Listing& listing) {
  const std::string& name = listing.kernel.name;
  std::string text = fmt::format(
      ".amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n.amdhsa_code_object_version {}\n.text\n"
      ".protected {}\n.globl {}\n.p2align 8\n.type {},@function\n{}:\n",
      listing.chip, listing.code_object_version, name, name, name, name);
  for (const ListedInstruction& instruction : listing.instructions) {
    if (instruction.label >= 0) text += fmt::format("L{}:\n", instruction.label);
    text += fmt::format("  {}\n", instruction.text);
  }
  text += fmt::format(".Lend:\n.size {}, .Lend-{}\n", name, name);
  text += fill(listing.padding);
  text += descriptor_directives(listing);
  if (!listing.metadata_yaml.empty()) {
    text += ".amdgpu_metadata\n" + listing.metadata_yaml + ".end_amdgpu_metadata\n";
  }
  return text;
}

}  // namespace baton
