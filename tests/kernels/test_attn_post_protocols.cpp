// What the hand-off protocols of attn_post promise over many steps: sentinel words are re-armed
// before they are used again, whoever is late; every rank pushes the bytes that it should.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "builds/kimi_k3/attn_post_check.h"
#include "builds/kimi_k3/attn_post_run.h"
#include "tests/kernels/kernel_run.h"

namespace baton::tests {
namespace {

using builds::RankTensors;
using builds::kimi_k3::random_attn_post_inputs;
using builds::kimi_k3::upload_attn_post;
using Outputs = builds::RankMaps;

constexpr int kSteps = 12;
/// From this step on two launches are begun before the first has ended.
constexpr int kLaggingStep = 6;
const std::vector<std::string> kNone;

BuildKey key_of(const std::string& variant) {
  return builds::complete_key("attn_post:tokens=1,nblocks=1," + variant, "gfx950");
}

/// Runs steps, each on a core output of its own and the last one's prefix; the lagging one is two
/// launches, which the ranks begin without waiting for each other. `after` sees the outputs of each
/// step.
template <class After>
void run_steps(EmulatedRanks& ranks, const BuildKey& key, const RankTensors& inputs,
               const After& after) {
  Collective& collective = ranks.collective();
  upload_attn_post(collective, key, inputs, /*layer=*/3);
  for (int step = 0; step < kSteps; ++step) {
    for (int rank = 0; rank < kRanks; ++rank) {
      Tensor core = inputs.get(rank, "core");
      std::ranges::rotate(core.bytes, core.bytes.begin() + 2 * step);
      collective.set_tensor(rank, "core", core);
    }
    collective.launch();
    if (step == kLaggingStep) collective.launch();
    collective.synchronize();
    after(step, outputs_of(collective));
  }
}

/// One rank is held in its reduce until nothing else can run: the others are in the next step by
/// then, when it has begun. Two more are late somewhere.
std::vector<emulator::Delay> random_delays(std::mt19937_64& random) {
  const char* stages[] = {"o", "slice", "reduce", "gate", "mix", "rearm"};
  std::vector<emulator::Delay> delays = {
      {static_cast<int>(random() % kRanks), "reduce", uint64_t{1} << 40}};
  for (int i = 0; i < 2; ++i) {
    delays.push_back({static_cast<int>(random() % kRanks), stages[random() % std::size(stages)],
                      random() % 100'000});
  }
  return delays;
}

void check_schedules(uint64_t first_seed, uint64_t seeds) {
  const BuildKey tagged = key_of("two_shot=0");
  const RankTensors inputs = random_attn_post_inputs(tagged, 1);
  std::vector<Outputs> expected;
  EmulatedRanks calm(tagged, builds::build(tagged).code_object, {.threads = 2});
  run_steps(calm, tagged, inputs,
            [&](int, Outputs outputs) { expected.push_back(std::move(outputs)); });

  const BuildKey keys[] = {key_of("two_shot=0,sent=ar"), key_of("two_shot=1,sent=ar")};
  const CodeObject objects[] = {builds::build(keys[0]).code_object,
                                builds::build(keys[1]).code_object};
  for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    std::mt19937_64 random(seed);
    const BuildKey& key = keys[seed % 2];
    EmulatedRanks ranks(key, objects[seed % 2],
                        {.schedule = seed, .delays = random_delays(random)});
    run_steps(ranks, key, inputs, [&](int step, const Outputs& outputs) {
      INFO(key.text() << ", schedule seed " << seed << ", step " << step);
      CHECK(differences(outputs, expected[static_cast<size_t>(step)]) == kNone);
      std::vector<std::string> unarmed;
      for (const UnarmedWord& word : ranks.collective().unarmed_words(/*limit=*/4)) {
        unarmed.push_back(word.place);
      }
      CHECK(unarmed == kNone);
    });
  }
}

TEST_CASE("sentinel words last 12 steps with late ranks") { check_schedules(0, 4); }

TEST_CASE("sentinel words last 12 steps with late ranks under 46 more seeds", "[.][whole]") {
  check_schedules(4, 46);
}

void set(RankTensors& inputs, size_t rank, const char* name, size_t index, uint16_t bits) {
  Bytes& bytes = inputs.ranks[rank].at(name).bytes;
  std::memcpy(bytes.data() + index * sizeof bits, &bits, sizeof bits);
}

/// Values that a protocol might trip over, in o_proj's operands: they reach the partials of the
/// weight row, or of the token, that holds them.
RankTensors hostile_inputs(const BuildKey& key) {
  constexpr size_t kWidth = 1536;
  const uint16_t hostile[] = {0xFFFF, 0x7FC1, 0xFF80, 0x7F80, 0x8000, 0x0001, 0x807F, 0xFFFE};
  RankTensors inputs = random_attn_post_inputs(key, 5);
  for (size_t rank = 0; rank < kRanks; ++rank) {
    for (size_t i = 0; i < std::size(hostile); ++i) {
      // Rows 2 j and 2 j + 1 of w_o make one word.
      for (size_t row : {64 * i, 64 * i + 1}) {
        for (size_t k = 0; k < kWidth; ++k) set(inputs, rank, "w_o", row * kWidth + k, hostile[i]);
      }
    }
    for (size_t k = 0; k < kWidth; ++k) set(inputs, rank, "core", kWidth + k, hostile[rank]);
  }
  return inputs;
}

TEST_CASE("NaN, Inf, -0 and denormal partials hang no variant and change no bit") {
  std::optional<Outputs> first;
  for (const char* variant :
       {"two_shot=0", "two_shot=1", "two_shot=0,sent=ar", "two_shot=1,sent=ar"}) {
    const BuildKey key =
        builds::complete_key(fmt::format("attn_post:tokens=3,nblocks=2,{}", variant), "gfx950");
    INFO(key.text());
    EmulatedRanks ranks(key, builds::build(key).code_object, {.threads = 2});
    attend(ranks.emulator(), ranks.collective());
    const RankTensors inputs = hostile_inputs(key);
    const auto result = builds::run_step(ranks.collective(), key, inputs, /*layer=*/3);
    for (const auto& row : builds::check_step(key, inputs, result)) {
      INFO(row.tensor << " of rank " << row.rank);
      CHECK(row.comparison.passed);
    }
    CHECK(ranks.collective().unarmed_words(1).empty());
    if (!first) first = result.outputs;
    CHECK(differences(result.outputs, *first) == kNone);
  }
}

/// Bytes that rank 0 stores in rank 1's memory in one step.
uint64_t link_bytes(const std::string& variant) {
  const BuildKey key = builds::complete_key("attn_post:tokens=2,nblocks=1," + variant, "gfx950");
  EmulatedRanks ranks(key, builds::build(key).code_object, {.threads = 2});
  upload_attn_post(ranks.collective(), key, random_attn_post_inputs(key, 1), /*layer=*/0);
  ranks.collective().step();
  const auto stored = ranks.emulator().report().stored_bytes;
  for (size_t from = 0; from < kRanks; ++from) {
    for (size_t to = 0; to < kRanks; ++to) {
      if (from != to) CHECK(stored[from][to] == stored[0][1]);
    }
  }
  return stored[0][1];
}

TEST_CASE("a link carries each pair once, as 8 bytes or as 4, or two shares of an eighth") {
  constexpr uint64_t kPairs = 2 * 7168 / 2;  // of two tokens
  CHECK(link_bytes("two_shot=0") == 8 * kPairs);
  CHECK(link_bytes("two_shot=0,sent=ar") == 4 * kPairs);
  CHECK(link_bytes("two_shot=1") == 8 * kPairs * 2 / 8);
  CHECK(link_bytes("two_shot=1,sent=ar") == 4 * kPairs * 2 / 8);
}

}  // namespace
}  // namespace baton::tests
