#include <catch2/catch.hpp>
#include <string>

#include "runtime/base/error.h"
#include "runtime/tensors/tensor.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

/// A file as the format defines it: 8 bytes of length, the header, the data.
Bytes file_of(const std::string& header, size_t data_bytes, uint64_t length = UINT64_MAX) {
  if (length == UINT64_MAX) length = header.size();
  Bytes bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(length >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (size_t i = 0; i < data_bytes; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

constexpr const char* kTwo =
    R"({"__metadata__":{"made":"by hand"},"b":{"dtype":"F32","shape":[2],"data_offsets":[6,14]},)"
    R"("a":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]}})";

TEST_CASE("a hand-made file is read") {
  const TensorMap tensors = parse_safetensors(file_of(kTwo, 14), "two.safetensors");
  REQUIRE(tensors.size() == 2);
  CHECK(tensors.at("a").dtype == "bf16");
  CHECK(tensors.at("a").shape == std::vector<int64_t>{3, 1});
  CHECK(tensors.at("a").bytes == Bytes{0, 1, 2, 3, 4, 5});
  CHECK(tensors.at("b").dtype == "f32");
  CHECK(tensors.at("b").bytes == Bytes{6, 7, 8, 9, 10, 11, 12, 13});
}

TEST_CASE("what is written reads back, and the same tensors give the same bytes") {
  TensorMap tensors;
  tensors["empty"] = {"i32", {0, 4}, {}};
  tensors["one"] = {"u8", {}, {42}};
  tensors["rows"] = {"i64", {2}, Bytes(16, 7)};
  const Bytes bytes = format_safetensors(tensors);
  CHECK(bytes == format_safetensors(tensors));
  const TensorMap again = parse_safetensors(bytes, "again");
  REQUIRE(again.size() == 3);
  for (const auto& [name, tensor] : tensors) {
    CHECK(again.at(name).dtype == tensor.dtype);
    CHECK(again.at(name).shape == tensor.shape);
    CHECK(again.at(name).bytes == tensor.bytes);
  }
}

TEST_CASE("hostile files are one clear error") {
  struct Case {
    Bytes bytes;
    const char* message;
  };
  const auto tensor = [](const std::string& fields) {
    return file_of("{\"t\":{" + fields + "}}", 8);
  };
  const Case cases[] = {
      {Bytes(7), "f: 7 bytes: a safetensors file has at least 8"},
      {file_of("{}", 0, 3), "f: the header claims 3 bytes, at most 2 can follow"},
      {file_of("{}", 0, UINT64_MAX - 1), "f: the header claims"},
      {file_of("[1]", 0), "f: the header is no JSON object"},
      {file_of("{\"t\":", 0), "f: the header is no JSON object"},
      {file_of(std::string(100000, '['), 0), "f: the header nests deeper than 8 at byte 8"},
      {file_of("{\"t\":3}", 0), "f: tensor 't' is no JSON object"},
      {tensor(R"("shape":[2],"data_offsets":[0,8])"), "f: tensor 't' has no dtype"},
      {tensor(R"("dtype":"F99","shape":[2],"data_offsets":[0,8])"),
       "f: tensor 't' has the unknown dtype 'F99'"},
      {tensor(R"("dtype":"F32","data_offsets":[0,8])"), "f: tensor 't' has no shape"},
      {tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
       "f: tensor 't' has a size that is no number"},
      {tensor(R"("dtype":"F32","shape":[2]})"), "f: the header is no JSON object"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])"),
       "f: tensor 't' has no two data_offsets"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
       "f: tensor 't' lies at bytes 8 .. 0 of 8"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,9])"),
       "f: tensor 't' lies at bytes 0 .. 9 of 8"},
      {tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
       "f: tensor 't' is f32 [3], which takes 12 bytes, but has 8"},
      {tensor(R"("dtype":"F32","shape":[2147483647,2147483647,2147483647],"data_offsets":[0,8])"),
       "f: tensor 't' is f32 ["},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"),
       "f: 4 bytes follow the last tensor"},
      {tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
       "f: tensors leave a gap at byte 0 of the data"},
      {file_of(R"({"s":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},)"
               R"("t":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
               8),
       "f: tensors overlap at byte 6 of the data"},
  };
  for (const Case& c : cases) {
    INFO(c.message);
    CHECK_THAT(tests::user_error([&] { parse_safetensors(c.bytes, "f"); }),
               Catch::Matchers::StartsWith(c.message));
  }
}

TEST_CASE("a file cut anywhere is an error, never a crash") {
  const Bytes whole = file_of(kTwo, 14);
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK_THROWS_AS(parse_safetensors(ByteView(whole).first(size), "cut"), Error);
  }
}

}  // namespace
}  // namespace baton
