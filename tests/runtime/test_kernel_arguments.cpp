#include <catch2/catch.hpp>

#include "runtime/kernel_arguments.h"
#include "tests/support/expect_error.h"

namespace baton::tests {
namespace {

Record two_arguments() {
  Record record;
  record.kernel = "k";
  record.resources.kernarg_bytes = 24;
  record.arguments = {
      {.name = "a", .kind = ArgumentKind::i32, .dtype = "i32", .shape = {}, .offset = 4, .size = 4},
      {.name = "b",
       .kind = ArgumentKind::buffer,
       .dtype = "f32",
       .shape = {},
       .offset = 16,
       .size = 8}};
  return record;
}

Bytes packed(const KernelArguments& arguments) {
  const ByteView bytes = arguments.packed();
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("arguments are packed by name at the record's offsets, and may change") {
  const Record record = two_arguments();
  KernelArguments arguments(record);
  arguments.set("b", 0x0102030405060708);
  CHECK(user_error([&] { arguments.packed(); }) == "k: argument 'a' is not given");
  arguments.set("a", 0x9911223344);  // an i32 takes the low half
  CHECK(packed(arguments) ==
        Bytes{0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1});
  arguments.set(arguments.index("b"), 1);
  arguments.set("a", 0);
  CHECK(packed(arguments) ==
        Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
  CHECK(user_error([&] { arguments.set("c", 3); }) == "k has no argument 'c'");
}

TEST_CASE("what is fixed stays, and copies go their own ways") {
  const Record record = two_arguments();
  KernelArguments arguments(record, {{"a", 7}, {"elsewhere", 1}});
  for (const char* name : {"a", "elsewhere"}) {
    CHECK(user_error([&] { arguments.set(name, 1); }) ==
          fmt::format("k: argument '{}' is the runner's own", name));
  }
  CHECK(user_error([&] { arguments.set(size_t{0}, 8); }) == "k: argument 'a' is the runner's own");
  CHECK(user_error([&] { arguments.set(size_t{2}, 8); }) == "k has 2 arguments, none at 2");
  CHECK(user_error([&] { arguments.packed(); }) == "k: argument 'b' is not given");
  KernelArguments other = arguments;
  arguments.set("b", 2);
  other.set("b", 3);
  CHECK(packed(arguments)[4] == 7);
  CHECK(packed(arguments)[16] == 2);
  CHECK(packed(other)[4] == 7);
  CHECK(packed(other)[16] == 3);
}

}  // namespace
}  // namespace baton::tests
