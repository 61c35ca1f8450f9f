// The whole way from a module of the llvm dialect to a code object, and every way it can fail.
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "runtime/base/error.h"
#include "runtime/target/target.h"
#include "tests/codegen/leaks_expected.h"
#include "tests/codegen/test_module.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace baton::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

CodegenOptions with_source() {
  CodegenOptions options;
  options.sources = exchange_sources();
  return options;
}

Bytes exchange_bytes() {
  return TestModule(exchange_text()).generate(with_source()).code_object.bytes;
}

Error generate_error(ErrorKind kind, const std::string& text) {
  return error_of(kind, [&] { TestModule(text).generate(); });
}

/// `count` words are loaded before a barrier and used after it, so all are alive at once.
std::string hungry_body(int count) {
  std::string body = "%lane = rocdl.workitem.id.x : i32\n";
  for (int i = 0; i < count; ++i) {
    body += fmt::format(
        "%o{0} = llvm.mlir.constant({1} : i32) : i32\n"
        "%i{0} = llvm.xor %lane, %o{0} : i32\n"
        "%p{0} = llvm.getelementptr %in[%i{0}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n"
        "%v{0} = llvm.load volatile %p{0} : !llvm.ptr<1> -> i32 loc(#work)\n",
        i, i * 577 + 1);
  }
  body += "rocdl.s.barrier\n";
  for (int i = count - 1; i >= 0; --i) {
    body += fmt::format("llvm.store volatile %v{0}, %p{0} : i32, !llvm.ptr<1> loc(#work)\n", i);
  }
  return body;
}

/// A kernel that keeps `count` words alive in its stage "hold". 1024 lanes leave each 128
/// registers, 256 lanes 512, of which the upper 256 are AGPRs.
std::string hungry_text(std::string_view chip, int count, int lanes = 1024) {
  constexpr std::string_view kLocations = R"(
#file = #llvm.di_file<"k.cpp" in "">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C_plus_plus_14,
    file = #file, producer = "baton", isOptimized = true, emissionKind = Full>
#type = #llvm.di_subroutine_type<>
#kernel = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file,
    name = "test", file = #file, line = 1, subprogramFlags = "Definition|Optimized", type = #type>
#hold = #llvm.di_subprogram<id = distinct[2]<>, compileUnit = #unit, scope = #file,
    name = "stage hold", file = #file, line = 2, subprogramFlags = "Definition|Optimized",
    type = #type>
#in_kernel = loc(fused<#kernel>["k.cpp":1:1])
#work = loc(callsite(fused<#hold>["k.cpp":3:1] at #in_kernel))
)";
  return fmt::format(
      "{}module attributes {{baton.chip = \"{}\", baton.grid = 1 : i64,"
      " baton.workgroup = {} : i64}} {{\n"
      "llvm.func @test(%in: !llvm.ptr<1>) attributes {{rocdl.kernel}} {{\n{}\nllvm.return\n}}"
      " loc(#in_kernel)\n}}\n",
      kLocations, chip, lanes, hungry_body(count));
}

constexpr std::string_view kScratchBody = R"(
  %lane = rocdl.workitem.id.x : i32
  %count = llvm.mlir.constant(64 : i32) : i32
  %array = llvm.alloca %count x i32 : (i32) -> !llvm.ptr<5>
  %slot = llvm.getelementptr %array[%n] : (!llvm.ptr<5>, i32) -> !llvm.ptr<5>, i32
  llvm.store volatile %lane, %slot : i32, !llvm.ptr<5>
)";

}  // namespace

TEST_CASE("a module becomes a code object with its record, on every chip") {
  for (const Target& target : all_targets()) {
    CAPTURE(target.chip);
    const CodegenResult result = TestModule(exchange_text(target.chip)).generate(with_source());
    const Record& record = result.code_object.record;
    CHECK(record.chip == target.chip);
    CHECK(record.kernel == "exchange");
    CHECK(record.key == "exchange:tokens=1");
    CHECK(record.stages == std::vector<std::string>{"o", "reduce"});
    CHECK(record.resources.lds_bytes == 512 * sizeof(int));
    CHECK(record.resources.workgroup_lanes == 512);
    CHECK(record.resources.grid_workgroups == 256);
    CHECK(record.resources.kernarg_bytes == 3 * 8 + 4);
    // 512 lanes are 8 waves on 4 SIMDs: the kernel may use half of each SIMD's registers.
    CHECK(record.occupancy == Occupancy{.waves_per_simd = 2, .workgroups_per_cu = 1});
    REQUIRE(record.arguments.size() == 4);
    CHECK(record.arguments[1].name == "out");
    CHECK(record.arguments[1].access == ArgumentAccess::write);
    CHECK(record.arguments[1].offset == 8);
    CHECK(record.arguments[3].offset == 24);
    CHECK(record.regions.at(0).protocol == RegionProtocol::tagged);
    CHECK(record.totals.peer_half_bytes == 4096);
    const ElfImage image = verify(result.code_object, "exchange");
    CHECK(image.abi_version() == 5);
    const KernelDescriptor& descriptor = image.find_kernel("exchange").descriptor;
    CHECK((descriptor.compute_pgm_rsrc1 >> 16 & 0xf) == 0xf);  // fp32 and fp64 denormals are kept
    CHECK((descriptor.compute_pgm_rsrc1 >> 12 & 0xf) == 0);    // both round to nearest even
  }
}

TEST_CASE("the record tells of stamps and bounded waits") {
  const Record plain = TestModule(exchange_text()).generate(with_source()).code_object.record;
  CHECK(plain.timeline.empty());
  CHECK_FALSE(plain.bounded_waits);
  std::string text = exchange_text();
  const std::string stages = "baton.stages = [\"o\", \"reduce\"],";
  const size_t at = text.find(stages);
  REQUIRE(at != std::string::npos);
  text.insert(at, "baton.timeline = [\"o\", \"reduce\", \"o\"], baton.bounded_waits, ");
  const Record record = TestModule(text).generate(with_source()).code_object.record;
  CHECK(record.timeline == std::vector<std::string>{"o", "reduce", "o"});
  CHECK(record.bounded_waits);
  CHECK(record.stages == std::vector<std::string>{"o", "reduce"});
}

TEST_CASE("generate stops where it is told to") {
  const TestModule module(exchange_text());
  CodegenOptions options = with_source();
  options.until = EmitStage::llvm_ir;
  CHECK_THAT(module.generate(options).llvm_ir,
             Contains("target triple = \"amdgcn-amd-amdhsa\"") &&
                 Contains("define amdgpu_kernel void @exchange(") &&
                 Contains("\"amdgpu-flat-work-group-size\"=\"512,512\"") &&
                 Contains("\"target-cpu\"=\"gfx950\""));
  options.until = EmitStage::assembly;
  CHECK_THAT(module.generate(options).assembly,
             Contains(".amdhsa_code_object_version 5") && Contains("s_barrier"));
  options.until = EmitStage::object;
  const CodegenResult relocatable = module.generate(options);
  CHECK(relocatable.code_object.bytes.empty());
  REQUIRE(relocatable.object.size() > 18);
  CHECK(relocatable.object[16] == 1);  // e_type is ET_REL
}

TEST_CASE("a product and a sum round twice: nothing fuses them") {
  const std::string body = R"(
    %product = llvm.fmul %a, %b : f32
    %sum = llvm.fadd %product, %b : f32
    llvm.store %sum, %out : f32, !llvm.ptr<1>)";
  CodegenOptions options;
  options.until = EmitStage::assembly;
  const std::string text =
      TestModule(kernel_text("gfx950", "%out: !llvm.ptr<1>, %a: f32, %b: f32", body))
          .generate(options)
          .assembly;
  CHECK_THAT(text, Contains("v_mul_f32") && Contains("v_add_f32"));
  CHECK_THAT(text, !Contains("v_fma") && !Contains("v_mad"));
}

TEST_CASE("the same module gives the same bytes") {
  const Bytes first = exchange_bytes();
  SECTION("again in this process") { CHECK(exchange_bytes() == first); }
  SECTION("in two threads at once") {
    Bytes left;
    Bytes right;
    std::thread other([&] { left = exchange_bytes(); });
    right = exchange_bytes();
    other.join();
    CHECK(left == first);
    CHECK(right == first);
  }
  SECTION("in another folder") {
    const TempFolder folder;
    const std::filesystem::path here = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const Bytes elsewhere = exchange_bytes();
    std::filesystem::current_path(here);
    CHECK(elsewhere == first);
  }
  SECTION("and names no folder of this machine") {
    const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
    CHECK(text.find(std::filesystem::current_path().string()) == std::string_view::npos);
    CHECK(text.find("/proc") == std::string_view::npos);
    CHECK(text.find("/dev/shm") == std::string_view::npos);
  }
}

TEST_CASE("a kernel that spills is refused with its registers") {
  for (const Target& target : all_targets()) {
    CAPTURE(target.chip);
    const Error error = generate_error(ErrorKind::user, hungry_text(target.chip, 140));
    CHECK_THAT(error.what(), StartsWith("kernel test spills registers: "));
    CHECK_THAT(error.what(), Contains(" VGPRs, ") && Contains(" AGPRs, ") && Contains(" SGPRs; ") &&
                                 Contains(" VGPR spills, ") &&
                                 Contains(" bytes of scratch a lane; most of it in stage hold"));
  }
}

TEST_CASE("all that the workgroup leaves each lane is there to be used") {
  const CodegenResult result = TestModule(hungry_text("gfx950", 56)).generate();
  CHECK(result.code_object.record.resources.vgprs > 64);
  CHECK(result.code_object.record.resources.vgprs <= 128);
  CHECK(result.code_object.record.occupancy.waves_per_simd == 4);
}

TEST_CASE("AGPRs are counted beside the VGPRs they share a file with") {
  const CodegenResult result = TestModule(hungry_text("gfx950", 150, 256)).generate();
  const RecordResources& resources = result.code_object.record.resources;
  CHECK(resources.agprs > 0);
  CHECK(resources.vgprs > 256);
  CHECK(result.code_object.record.occupancy.waves_per_simd == 1);
}

TEST_CASE("a kernel with scratch memory is refused") {
  const std::string text = kernel_text("gfx950", "%n: i32", kScratchBody);
  const Error error = generate_error(ErrorKind::user, text);
  CHECK_THAT(error.what(), StartsWith("kernel test needs scratch memory: ") &&
                               Contains("; 0 VGPR spills, 0 SGPR spills, "));
  CHECK_THAT(error.hint(), Contains("local array"));
}

TEST_CASE("a kernel that needs hidden arguments is refused") {
  const std::string text = kernel_text("gfx950", "%out: !llvm.ptr<1>", R"(
    %implicit = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"() : () -> !llvm.ptr<4>
    %blocks = llvm.load %implicit : !llvm.ptr<4> -> i32
    llvm.store %blocks, %out : i32, !llvm.ptr<1>)");
  CHECK_THAT(generate_error(ErrorKind::user, text).what(),
             Contains("needs the hidden argument hidden_block_count_x"));
}

TEST_CASE("LDS beyond the chip's is an error of LLVM's that names it") {
  const std::string text =
      R"(module attributes {
      baton.chip = "gfx90a", baton.grid = 1 : i64, baton.workgroup = 64 : i64} {
    llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<20000 x i32>
    llvm.func @big(%n: i32) attributes {rocdl.kernel} {
      %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
      %slot = llvm.getelementptr %lds[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store volatile %n, %slot : i32, !llvm.ptr<3>
      llvm.return
    }
  })";
  CHECK_THAT(generate_error(ErrorKind::user, text).what(),
             Contains("local memory (80000) exceeds limit (65536)"));
}

TEST_CASE("what a chip does not have ends in an error, and the process goes on") {
  const std::string text = kernel_text("gfx90a", "%out: !llvm.ptr<1>, %a: i32", R"(
    %no = llvm.mlir.constant(false) : i1
    %pair = llvm.call_intrinsic "llvm.amdgcn.permlane32.swap"(%a, %a, %no, %no)
        : (i32, i32, i1, i1) -> !llvm.struct<(i32, i32)>
    %low = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i32)>
    llvm.store %low, %out : i32, !llvm.ptr<1>)");
  const Error error = error_of(ErrorKind::failed_check, [&] {
    const LeaksExpected leaks;
    TestModule(text).generate();
  });
  CHECK_THAT(error.what(), StartsWith("LLVM gave up while it tried to compile the kernel: "));
  CHECK(exchange_bytes() == exchange_bytes());
}

TEST_CASE("a module that is not what codegen takes is refused by name") {
  const auto refused = [](const std::string& text) {
    return std::string(generate_error(ErrorKind::user, text).what());
  };
  const auto module = [](std::string_view attributes, std::string_view body) {
    return fmt::format("module attributes {{{}}} {{ {} }}", attributes, body);
  };
  constexpr std::string_view kGood =
      "baton.chip = \"gfx950\", baton.grid = 1 : i64, baton.workgroup = 64 : i64";
  constexpr std::string_view kKernel =
      "llvm.func @k(%a: i32) attributes {rocdl.kernel} { llvm.return }";
  CHECK(refused(module(kGood, "")) ==
        "the module holds no kernel: no llvm.func with the attribute rocdl.kernel");
  CHECK_THAT(refused(module(kGood, std::string(kKernel) +
                                       "llvm.func @l() attributes {rocdl.kernel} { llvm.return }")),
             StartsWith("the module holds two kernels, k and l"));
  CHECK(refused(module(kGood, "llvm.func @k() attributes {rocdl.kernel}")) ==
        "kernel k has no body");
  CHECK(refused(module("baton.grid = 1 : i64, baton.workgroup = 64 : i64", kKernel)) ==
        "module: attribute baton.chip is missing");
  CHECK(refused(module("baton.chip = \"gfx1\", baton.grid = 1 : i64, baton.workgroup = 64 : i64",
                       kKernel)) == "unknown chip 'gfx1'");
  CHECK(refused(module("baton.chip = 1 : i64, baton.grid = 1 : i64, baton.workgroup = 64 : i64",
                       kKernel)) == "module: attribute baton.chip is not a string");
  CHECK(
      refused(module("baton.chip = \"gfx950\", baton.grid = 1 : i64, baton.workgroup = 1025 : i64",
                     kKernel)) == "module: attribute baton.workgroup is 1025, not in 1 .. 1024");
  const std::string good(kGood);
  for (const std::string field : {"stages", "timeline"}) {
    CHECK(refused(module(good + ", baton." + field + " = [\"o\", 1 : i32]", kKernel)) ==
          "module: attribute baton." + field + " holds something that is not a string");
  }
  CHECK(refused(module(good + ", baton.args = [{name = \"a\", kind = \"i32\"},"
                              " {name = \"b\", kind = \"i32\"}]",
                       kKernel)) == "kernel k takes 1 arguments, but baton.args names 2");
  CHECK(refused(module(good + ", baton.args = [{name = \"a\", kind = \"i33\"}]", kKernel)) ==
        "baton.args[0]: attribute kind is 'i33', not one of buffer, i32, i64, f32");
  CHECK_THAT(refused(module(kGood, std::string(kKernel) + "\"test.unknown\"() : () -> ()")),
             Contains("test.unknown"));
}

TEST_CASE("an argument described with another size than the compiler's is a failed check") {
  const std::string text =
      R"(module attributes {baton.chip = "gfx950", baton.grid = 1 : i64, baton.workgroup = 64 : i64,
      baton.args = [{name = "a", kind = "i64"}]} {
    llvm.func @k(%a: i32) attributes {rocdl.kernel} { llvm.return }
  })";
  CHECK_THAT(error_of(ErrorKind::failed_check, [&] { TestModule(text).generate(); }).what(),
             Contains("argument 0's size"));
}

}  // namespace baton::tests
