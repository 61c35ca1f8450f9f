#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/object/kernel_metadata.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using nlohmann::json;
using tests::user_error;

json one_kernel() {
  return json::parse(R"({
    "amdhsa.version": [1, 2],
    "amdhsa.target": "amdgcn-amd-amdhsa--gfx90a",
    "amdhsa.kernels": [{
      ".name": "k", ".symbol": "k.kd",
      ".args": [{".name": "x", ".offset": 0, ".size": 8, ".value_kind": "global_buffer"}],
      ".kernarg_segment_size": 8, ".kernarg_segment_align": 8, ".group_segment_fixed_size": 16,
      ".private_segment_fixed_size": 4, ".vgpr_count": 10, ".agpr_count": 2, ".sgpr_count": 12,
      ".vgpr_spill_count": 1, ".sgpr_spill_count": 3, ".wavefront_size": 64,
      ".max_flat_workgroup_size": 512, ".uses_dynamic_stack": true}]
  })");
}

std::string metadata_error(const json& value) {
  return user_error([&] { parse_metadata(json::to_msgpack(value)); });
}

std::string kernel_error(const char* field, const json& value) {
  json root = one_kernel();
  root["amdhsa.kernels"][0][field] = value;
  return metadata_error(root);
}

TEST_CASE("every field of a kernel is read") {
  const CodeObjectMetadata metadata = parse_metadata(json::to_msgpack(one_kernel()));
  CHECK(metadata.major == 1);
  CHECK(metadata.minor == 2);
  CHECK(metadata.target == "amdgcn-amd-amdhsa--gfx90a");
  REQUIRE(metadata.kernels.size() == 1);
  const KernelMetadata& kernel = metadata.kernels[0];
  CHECK(kernel.name == "k");
  CHECK(kernel.symbol == "k.kd");
  REQUIRE(kernel.arguments.size() == 1);
  CHECK(kernel.arguments[0].name == "x");
  CHECK(kernel.arguments[0].size == 8);
  CHECK(kernel.kernarg_bytes == 8);
  CHECK(kernel.kernarg_align == 8);
  CHECK(kernel.lds_bytes == 16);
  CHECK(kernel.scratch_bytes == 4);
  CHECK(kernel.vgprs == 10);
  CHECK(kernel.agprs == 2);
  CHECK(kernel.sgprs == 12);
  CHECK(kernel.vgpr_spills == 1);
  CHECK(kernel.sgpr_spills == 3);
  CHECK(kernel.wave_lanes == 64);
  CHECK(kernel.max_workgroup_lanes == 512);
  CHECK(kernel.uses_dynamic_stack);
}

TEST_CASE("each required field is missed by name") {
  for (const char* field :
       {".name", ".symbol", ".kernarg_segment_size", ".kernarg_segment_align",
        ".group_segment_fixed_size", ".private_segment_fixed_size", ".vgpr_count", ".sgpr_count",
        ".wavefront_size", ".max_flat_workgroup_size"}) {
    json root = one_kernel();
    root["amdhsa.kernels"][0].erase(field);
    CHECK(metadata_error(root).ends_with(fmt::format(" has no {}", field)));
  }
}

TEST_CASE("optional fields have their defaults") {
  json root = one_kernel();
  for (const char* field :
       {".args", ".agpr_count", ".vgpr_spill_count", ".sgpr_spill_count", ".uses_dynamic_stack"}) {
    root["amdhsa.kernels"][0].erase(field);
  }
  root.erase("amdhsa.target");
  const CodeObjectMetadata metadata = parse_metadata(json::to_msgpack(root));
  CHECK(metadata.target.empty());
  CHECK(metadata.kernels[0].arguments.empty());
  CHECK(metadata.kernels[0].agprs == 0);
  CHECK_FALSE(metadata.kernels[0].uses_dynamic_stack);
}

TEST_CASE("wrong types and values are named") {
  CHECK(kernel_error(".vgpr_count", "8") ==
        "AMDGPU metadata: .vgpr_count of kernel 'k' is not an unsigned integer");
  CHECK(kernel_error(".vgpr_count", -1) ==
        "AMDGPU metadata: .vgpr_count of kernel 'k' is not an unsigned integer");
  CHECK(kernel_error(".vgpr_count", uint64_t{1} << 32) ==
        "AMDGPU metadata: .vgpr_count of kernel 'k' is 4294967296, over 4294967295");
  CHECK(kernel_error(".symbol", 3) == "AMDGPU metadata: .symbol of kernel 'k' is not a string");
  CHECK(kernel_error(".args", 3) == "AMDGPU metadata: .args of kernel 'k' is not an array");
  CHECK(kernel_error(".args", json::array({3})) ==
        "AMDGPU metadata: argument 0 of kernel 'k' is not a map");
  CHECK(kernel_error(".uses_dynamic_stack", 1) ==
        "AMDGPU metadata: .uses_dynamic_stack of kernel 'k' is not a boolean");
  CHECK(kernel_error(".kernarg_segment_size", 7) ==
        "AMDGPU metadata: argument 0 of kernel 'k' ends at byte 8, past the kernarg segment's 7");
  CHECK(metadata_error(json::array()) == "AMDGPU metadata: the root is not a map");
  json root = one_kernel();
  root["amdhsa.version"] = {2, 0};
  CHECK(metadata_error(root) == "AMDGPU metadata: amdhsa.version is 2.0, known are 1.1 and 1.2");
  root = one_kernel();
  root["amdhsa.kernels"] = {7};
  CHECK(metadata_error(root) == "AMDGPU metadata: kernel 0 is not a map");
}

TEST_CASE("bytes that are no MessagePack are named with their place") {
  CHECK(user_error([] {
          parse_metadata({});
        }).starts_with("AMDGPU metadata: not valid MessagePack at byte "));
  Bytes cut = json::to_msgpack(one_kernel());
  cut.resize(cut.size() - 1);
  CHECK(user_error([&] {
          parse_metadata(cut);
        }).starts_with("AMDGPU metadata: not valid MessagePack at byte "));
  Bytes more = json::to_msgpack(one_kernel());
  more.push_back(0xc0);
  CHECK(user_error([&] {
          parse_metadata(more);
        }).starts_with("AMDGPU metadata: not valid MessagePack at byte "));
}

TEST_CASE("nesting has a bound: a hostile note cannot exhaust the stack") {
  constexpr uint8_t kArrayOfOne = 0x91;
  const Bytes nested(1 << 20, kArrayOfOne);
  CHECK(user_error([&] { parse_metadata(nested); }) ==
        "AMDGPU metadata: nested deeper than 32 levels");
}

}  // namespace
}  // namespace baton
