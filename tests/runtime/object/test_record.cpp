#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "runtime/object/record.h"
#include "tests/runtime/object/sample_record.h"
#include "tests/support/expect_error.h"

namespace baton {
namespace {

using nlohmann::json;
using tests::kSampleJson;
using tests::sample_record;
using tests::user_error;

std::string record_error(const std::string& text) {
  return user_error([&] { Record::from_json(text, "x.json"); });
}

/// The error of the sample with one change, without "x.json: record: ".
std::string error_with(const std::function<void(json&)>& change) {
  json value = json::parse(kSampleJson);
  change(value);
  const std::string error = record_error(value.dump());
  const std::string prefix = "x.json: record: ";
  REQUIRE(error.starts_with(prefix));
  return error.substr(prefix.size());
}

/// Each value inside `root`, as a JSON pointer.
std::vector<std::string> pointers(const json& root, const std::string& at = "") {
  std::vector<std::string> found;
  for (const auto& item : root.items()) {
    const std::string here = at + "/" + item.key();
    found.push_back(here);
    if (!item.value().is_structured()) continue;
    for (const std::string& inner : pointers(item.value(), here)) found.push_back(inner);
  }
  return found;
}

TEST_CASE("a record is written as documented and read back") {
  CHECK(sample_record().to_json() == kSampleJson);
  CHECK(Record::from_json(kSampleJson, "x.json") == sample_record());
}

TEST_CASE("every field of an object is required, and missed by its path") {
  const json sample = json::parse(kSampleJson);
  int removed = 0;
  for (const std::string& pointer : pointers(sample)) {
    const json::json_pointer at(pointer);
    if (sample.at(at.parent_pointer()).is_array()) continue;
    INFO(pointer);
    const std::string error =
        error_with([&](json& value) { value.at(at.parent_pointer()).erase(at.back()); });
    CHECK(error.starts_with("field "));
    CHECK(error.ends_with(at.back() + " is missing"));
    ++removed;
  }
  CHECK(removed == 15 + 10 + 2 + 7 + 7 + 7 + 2);  // as listed in record.h, with two arguments
  CHECK(error_with([](json& value) { value["arguments"][1].erase("dtype"); }) ==
        "field arguments[1].dtype is missing");
}

TEST_CASE("every value of another type is refused") {
  const json sample = json::parse(kSampleJson);
  for (const std::string& pointer : pointers(sample)) {
    for (const json& wrong : {json(nullptr), json(true), json(-1), json(1.5)}) {
      if (sample.at(json::json_pointer(pointer)).is_boolean() && wrong.is_boolean()) continue;
      INFO(pointer << " = " << wrong);
      const std::string error =
          error_with([&](json& value) { value.at(json::json_pointer(pointer)) = wrong; });
      CHECK(error.find(", expected ") != std::string::npos);
    }
  }
  CHECK(error_with([](json& value) { value["resources"]["vgprs"] = "8"; }) ==
        "resources.vgprs is string, expected an unsigned integer");
  CHECK(error_with([](json& value) { value["stages"][1] = 3; }) ==
        "stages[1] is number, expected a string");
}

TEST_CASE("unknown fields, values and formats are refused") {
  CHECK(error_with([](json& value) { value["extra"] = 1; }) == "unknown field 'extra'");
  CHECK(error_with([](json& value) { value["totals"]["more"] = 1; }) ==
        "unknown field totals.'more'");
  CHECK(error_with([](json& value) { value["format"] = 1; }) ==
        "format is 1, this version of Baton reads 2");
  CHECK(error_with([](json& value) { value["arguments"][0]["kind"] = "f64"; }) ==
        "arguments[0].kind is 'f64', expected one of buffer, i32, i64, f32");
  CHECK(error_with([](json& value) { value["regions"][0]["space"] = "lds"; }) ==
        "regions[0].space is 'lds', expected one of scratch, peer");
  CHECK(error_with([](json& value) { value["resources"]["sgprs"] = uint64_t{1} << 32; }) ==
        "resources.sgprs is 4294967296, over 4294967295");
  CHECK(error_with([](json& value) { value["regions"][0]["offset"] = uint64_t{1} << 63; }) ==
        "regions[0].offset is 9223372036854775808, over 9223372036854775807");
}

TEST_CASE("contradictions inside a record are refused") {
  CHECK(error_with([](json& value) { value["arguments"][1]["offset"] = 9; }) ==
        "arguments[1] ends at byte 13, past the kernarg segment's 12");
  CHECK(error_with([](json& value) { value["arguments"][1]["size"] = 8; }) ==
        "arguments[1].size is 8, but i32 takes 4");
  CHECK(error_with([](json& value) { value["arguments"][1]["name"] = "core"; }) ==
        "arguments[1]: a second argument 'core'");
  CHECK(error_with([](json& value) { value["arguments"][0]["name"] = ""; }) ==
        "arguments[0].name is empty");
  CHECK(error_with([](json& value) { value["arguments"][0]["shape"][1] = 0; }) ==
        "arguments[0].shape has a zero");
  CHECK(error_with([](json& value) { value["regions"][0]["offset"] = 65; }) ==
        "regions[0] takes 64 bytes at 65, past the 128 of its peer buffer");
  CHECK(error_with([](json& value) {
          value["regions"][0]["bytes"] = INT64_MAX;
        }).starts_with("regions[0] takes 9223372036854775807 bytes"));
  CHECK(error_with([](json& value) { value["regions"][0]["bytes"] = 60; }) ==
        "regions[0].bytes is 60, but its shape takes 64");
  CHECK(error_with([](json& value) { value["regions"][0]["shape"][0] = INT64_MAX; }) ==
        "regions[0].bytes is 64, but its shape takes 0");
  CHECK(error_with([](json& value) { value["regions"][0]["shape"][2] = 24; }) ==
        "regions[0] is a sentinel region: expected bf16 of shape [sources, tokens, width], the "
        "width a multiple of 16");
  CHECK(error_with([](json& value) { value["regions"][0]["dtype"] = "f64"; }) ==
        "regions[0].dtype is 'f64', expected one of bf16, f32, i32");
  CHECK(error_with([](json& value) { value["regions"].push_back(value["regions"][0]); }) ==
        "regions[1]: a second region 'ar'");
  CHECK(error_with([](json& value) { value["sha256"] = "BA78"; }) ==
        "sha256 is 'BA78', expected 64 lower-case hex digits");
  CHECK(error_with([](json& value) { value["kernel"] = ""; }) == "kernel is empty");
  CHECK(error_with([](json& value) { value["resources"]["workgroup_lanes"] = 1025; }) ==
        "resources.workgroup_lanes is 1025, limits are 1 and 1024");
  CHECK(error_with([](json& value) { value["resources"]["workgroup_lanes"] = 0; }) ==
        "resources.workgroup_lanes is 0, limits are 1 and 1024");
  CHECK(error_with([](json& value) { value["resources"]["grid_workgroups"] = 0; }) ==
        "resources.grid_workgroups is 0");
}

TEST_CASE("text that is no JSON is refused with its place") {
  CHECK(record_error("") == "x.json: record: not valid JSON at byte 1");
  CHECK(record_error("{\"format\": 1,}") == "x.json: record: not valid JSON at byte 14");
  CHECK(record_error("[]") == "x.json: record: the record is array, expected an object");
  CHECK(record_error("{\"format\": 1e999}").starts_with("x.json: record: not valid JSON: "));
}

TEST_CASE("a record cut at any byte is an error") {
  const std::string text = kSampleJson;
  for (size_t size = 0; size + 2 < text.size(); ++size) record_error(text.substr(0, size));
}

TEST_CASE("nesting without end does not exhaust the stack") {
  record_error(std::string(1 << 20, '['));
  std::string deep = "{\"format\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  for (int i = 0; i < 100'000; ++i) deep += "]";
  record_error(deep + "}");
}

}  // namespace
}  // namespace baton
