#include <catch2/catch.hpp>

#include "runtime/base/digest.h"
#include "runtime/object/code_object.h"
#include "tests/runtime/object/test_objects.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using namespace tests;

/// The kernel `scale` of kernels.c with the record that belongs to it.
CodeObject scale_object() {
  CodeObject object;
  object.bytes = test_object("gfx90a-v5.co");
  const ElfImage image = ElfImage::parse(object.bytes, "x.co");
  const Kernel& kernel = image.find_kernel("scale");
  object.record.chip = "gfx90a";
  object.record.kernel = "scale";
  object.record.sha256 = sha256(object.bytes).hex();
  object.record.resources.vgprs = kernel.vgprs;
  object.record.resources.sgprs = kernel.sgprs;
  object.record.resources.kernarg_bytes = 16;
  object.record.arguments = {
      {"x", ArgumentKind::buffer, ArgumentAccess::read_write, "f32", {}, 0, 8},
      {"factor", ArgumentKind::f32, ArgumentAccess::read, "f32", {}, 8, 4},
      {"n", ArgumentKind::i32, ArgumentAccess::read, "i32", {}, 12, 4}};
  return object;
}

std::string verify_error(const CodeObject& object) {
  return error_of(ErrorKind::failed_check, [&] { verify(object, "x.co"); }).what();
}

TEST_CASE("bytes that are what the record says pass") {
  const CodeObject object = scale_object();
  CHECK(verify(object, "x.co").chip() == "gfx90a");
}

TEST_CASE("each difference between bytes and record is named") {
  CodeObject object = scale_object();
  object.bytes.back() ^= 1;
  CHECK(verify_error(object).starts_with("x.co: the SHA-256 of the code object is "));

  object = scale_object();
  object.record.chip = "gfx942";
  CHECK(verify_error(object) ==
        "x.co: the chip of the code object is gfx90a, of its record gfx942");

  object = scale_object();
  object.record.kernel = "scales";
  CHECK(verify_error(object) == "x.co: the record's kernel 'scales' is not in it");

  for (uint32_t RecordResources::* field :
       {&RecordResources::vgprs, &RecordResources::agprs, &RecordResources::sgprs,
        &RecordResources::lds_bytes, &RecordResources::scratch_bytes, &RecordResources::vgpr_spills,
        &RecordResources::sgpr_spills, &RecordResources::kernarg_bytes}) {
    object = scale_object();
    object.record.resources.*field += 1;
    CHECK(verify_error(object).find(" of the code object is ") != std::string::npos);
  }

  object = scale_object();
  object.record.arguments[1].offset = 12;
  CHECK(verify_error(object) ==
        "x.co: argument 1's offset of the code object is 8, of its record 12");

  object = scale_object();
  object.record.arguments.pop_back();
  CHECK(verify_error(object) ==
        "x.co: the number of arguments of the code object is 3, of its record 2");
}

}  // namespace
}  // namespace baton
