// kda_pre's inputs: what random ones look like, and the one line that a wrong one gets.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <set>

#include "builds/families.h"
#include "builds/kimi_k3/kda_pre_inputs.h"
#include "builds/kimi_k3/kda_pre_run.h"
#include "builds/random_tensors.h"
#include "runtime/base/error.h"

namespace baton::tests {
namespace {

using builds::RankTensors;
using builds::tensor_of;
using builds::values_of;
using namespace builds::kimi_k3;
using Ints = std::vector<int32_t>;

BuildKey key_of(const std::string& fields) {
  return builds::complete_key("kda_pre:" + fields, "gfx950");
}

const BuildKey& small_key() {
  static const BuildKey made = key_of("tokens=4,qlen=2,nblocks=2,write_idx=2");
  return made;
}

Ints ints(const RankTensors& inputs, const char* name) {
  const auto values = values_of<int32_t>(inputs.get(0, name));
  return {values.begin(), values.end()};
}

/// What require_kda_pre_inputs says of random inputs after `spoil`; empty when it takes them.
std::string complaint(const std::function<void(TensorMap&)>& spoil) {
  static const RankTensors right = random_kda_pre_inputs(small_key(), 3, {.state_padding = 0});
  RankTensors inputs;
  for (const auto& [name, tensor] : right.common) {
    inputs.common[name] = {tensor.dtype, tensor.shape, {}};  // weights' bytes are not looked at
    if (tensor.dtype == "i32") inputs.common[name].bytes = tensor.bytes;
  }
  spoil(inputs.common);
  try {
    require_kda_pre_inputs(small_key(), inputs);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::user);
    return error.what();
  }
  return "";
}

TEST_CASE("random inputs are taken as they are, in every layout") {
  for (const bool entry_major : {false, true}) {
    const KdaPreOptions options{.entry_major = entry_major,
                                .row_padding = 3,
                                .slot_padding = 2,
                                .state_padding = 5,
                                .spare_slots = 1,
                                .spare_blocks = 1,
                                .table_padding = 2,
                                .padded = {1},
                                .num_acc = {2, 1}};
    const RankTensors inputs = random_kda_pre_inputs(small_key(), 1, options);
    CHECK_NOTHROW(require_kda_pre_inputs(small_key(), inputs));
    const ConvStrides strides = conv_strides(inputs.get(0, "conv_st"));
    CHECK(strides.channel == (entry_major ? 1 : 4 + 3));
    CHECK(strides.entry == (entry_major ? 4608 + 3 : 1));
    CHECK(strides.slot == (entry_major ? (4 + 2) * (4608 + 3) : (4608 + 2) * (4 + 3)));
    CHECK(inputs.get(0, "rstate").shape == std::vector<int64_t>{6, 196608 + 5});
    CHECK(inputs.get(0, "blocks").shape == std::vector<int64_t>{4, 4, 7168});
    CHECK(ints(inputs, "num_acc") == Ints{2, 1});
    const Ints table = ints(inputs, "st_idx");
    REQUIRE(table.size() == 2 * (2 + 2));
    CHECK(table[0] != table[1]);
    for (size_t i : {0, 1}) CHECK((table[i] >= 1 && table[i] <= 5));
    for (size_t i : {4, 5}) CHECK(table[i] == 0);
    for (size_t i : {2, 3, 6, 7}) CHECK(table[i] > 1'000'000);
  }
  CHECK_FALSE(random_kda_pre_inputs(key_of("tokens=1,delta=0"), 1).find(0, "delta"));
}

TEST_CASE("the same seed draws the same inputs, another seed others") {
  const BuildKey key = key_of("tokens=8,qlen=4,nblocks=1");
  const RankTensors first = random_kda_pre_inputs(key, 7), again = random_kda_pre_inputs(key, 7),
                    other = random_kda_pre_inputs(key, 8);
  CHECK(first.common.size() == 16);
  for (const auto& [name, tensor] : first.common) {
    INFO(name);
    CHECK(again.get(0, name).bytes == tensor.bytes);
    if (name != "num_acc") CHECK(other.get(0, name).bytes != tensor.bytes);
  }
  const Ints table = ints(first, "st_idx");
  CHECK(std::set<int32_t>(table.begin(), table.end()).size() == 8);
  for (int32_t count : ints(first, "num_acc")) CHECK((count >= 1 && count <= 4));
}

TEST_CASE("a wrong tensor is named") {
  CHECK(complaint([](TensorMap&) {}) == "");
  for (const char* name :
       {"prefix", "delta", "blocks", "ares_nw", "ares_qk", "in_nw", "w_in", "w_fb", "conv_w",
        "conv_st", "a_log", "dt_bias", "on_w", "rstate", "st_idx", "num_acc"}) {
    INFO(name);
    const std::string quoted = fmt::format("tensor '{}' is ", name);
    CHECK(complaint([&](TensorMap& t) { t.erase(name); }).find(quoted + "missing") == 0);
    CHECK(complaint([&](TensorMap& t) { t[name].dtype = "f16"; }).find(quoted + "f16 [") == 0);
    CHECK(complaint([&](TensorMap& t) { t[name].shape.back() -= 1; }).find(quoted) == 0);
    CHECK(complaint([&](TensorMap& t) { t[name].shape.push_back(1); }).find(quoted) == 0);
    CHECK(complaint([&](TensorMap& t) { t[name].shape = {}; }).find(quoted) == 0);
  }
  CHECK(complaint([](TensorMap& t) { t["blocks"].shape = {4, 2, 7168}; }) ==
        "tensor 'blocks' is bf16 [4, 2, 7168], expected bf16 [4, 3 or more, 7168]");
  CHECK(complaint([](TensorMap& t) { t["conv_st"].shape = {9, 4608, 3}; })
            .find("tensor 'conv_st' is bf16 [9, 4608, 3], expected bf16 [slots, 4608 or more, 4 "
                  "or more] (channel-major)") == 0);
  // Either could be the channels.
  CHECK(complaint([](TensorMap& t) {
          t["conv_st"].shape = {9, 4608, 4608};
        }).find("tensor 'conv_st'") == 0);
  CHECK(complaint([](TensorMap& t) { t["conv_st"].shape = {9, 4, 4608}; }) == "");
  CHECK(complaint([](TensorMap& t) { t["rstate"].shape = {9, 12, 128, 127}; }) ==
        "tensor 'rstate' is f32 [9, 12, 128, 127], expected f32 [slots, 196608 or more] or [slots, "
        "12, 128, 128]");
}

TEST_CASE("a state's dimensions may be given apart") {
  CHECK(complaint([](TensorMap& t) { t["rstate"].shape = {9, 12, 128, 128}; }) == "");
  CHECK(state_stride({"f32", {9, 12, 128, 128}, {}}) == 12 * 128 * 128);
  CHECK(state_stride({"f32", {9, 196613}, {}}) == 196613);
}

TEST_CASE("a pool has a slot") {
  CHECK(complaint([](TensorMap& t) { t["conv_st"].shape[0] = 0; }) ==
        "tensor 'conv_st' is bf16 [0, 4609, 4]: a pool without a slot");
  CHECK(complaint([](TensorMap& t) { t["rstate"].shape[0] = 0; }) ==
        "tensor 'rstate' is f32 [0, 196608]: a pool without a slot");
}

std::string table_complaint(const Ints& table, const Ints& accepted) {
  return complaint([&](TensorMap& t) {
    t["st_idx"] = tensor_of("i32", {2, static_cast<int64_t>(table.size() / 2)}, table);
    t["num_acc"] = tensor_of("i32", {static_cast<int64_t>(accepted.size())}, accepted);
  });
}

TEST_CASE("slots and accepted counts out of their range are named") {
  // The pools have 7 slots: 0, 4 of the tokens and 2 to spare.
  CHECK(table_complaint({1, 2, 3, 4}, {1, 2}) == "");
  CHECK(table_complaint({0, -5, 6, 0}, {1, 2}) == "");
  CHECK(table_complaint({1, 1, 2, 2}, {1, 2}) == "");
  CHECK(table_complaint({1, 2, 99, 3, 4, 99}, {1, 2}) == "");
  CHECK(table_complaint({1, 2, 3, 7}, {1, 2}) == "st_idx[1, 1] is slot 7, but rstate has 7 slots");
  CHECK(table_complaint({1 << 30, 2, 3, 4}, {1, 2}) ==
        "st_idx[0, 0] is slot 1073741824, but conv_st has 7 slots");
  CHECK(table_complaint({1, 2, 3, 2}, {1, 2}) == "st_idx[1, 1] is slot 2, which request 0 has too");
  CHECK(table_complaint({1, 2, 3, 4}, {1, 0}) == "num_acc[1] is 0, expected 1 .. 2");
  CHECK(table_complaint({1, 2, 3, 4}, {3, 1}) == "num_acc[0] is 3, expected 1 .. 2");
  CHECK(table_complaint({1, 2, 3, 4}, {1}) == "tensor 'num_acc' is i32 [1], expected i32 [2]");
  CHECK(table_complaint({1, 2}, {1, 1}) ==
        "tensor 'st_idx' is i32 [2, 1], expected i32 [2, 2 or more]");
}

TEST_CASE("the next step reads what this one left, its requests and counts moved on") {
  RankTensors inputs;
  inputs.common["st_idx"] = tensor_of("i32", {2, 2}, Ints{4, 3, 2, 1});
  inputs.common["num_acc"] = tensor_of("i32", {2}, Ints{1, 2});
  builds::RankMaps outputs;
  for (const char* name : {"prefix", "blocks", "conv_st", "rstate", "core_out"}) {
    outputs[0][name] = tensor_of("i32", {1}, Ints{static_cast<int32_t>(std::strlen(name))});
  }
  carry_kda_pre(small_key(), outputs, inputs);
  CHECK(ints(inputs, "st_idx") == Ints{2, 1, 4, 3});
  CHECK(ints(inputs, "num_acc") == Ints{2, 1});
  for (const char* name : {"prefix", "blocks", "conv_st", "rstate"}) {
    CHECK(ints(inputs, name) == Ints{static_cast<int32_t>(std::strlen(name))});
  }
  CHECK_FALSE(inputs.find(0, "core_out"));
}

}  // namespace
}  // namespace baton::tests
