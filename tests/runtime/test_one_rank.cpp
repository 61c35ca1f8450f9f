// A kernel that works on one GPU, without peers: tensors of every dtype, optional ones left out.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>

#include "runtime/collective.h"
#include "runtime/emulator/emulator.h"
#include "runtime/object/code_object.h"
#include "tests/dsl/dsl_trace.h"
#include "tests/runtime/watched_device.h"
#include "tests/support/expect_error.h"

namespace baton::tests {
namespace {

constexpr int kLanes = 64;

/// Which of the optional tensors the kernel touches.
constexpr int kPlain = 0, kBias = 1, kDebug = 2;

/// out = gains + both halves of rows + ids [+ bias], through a scratch region; state counts steps.
void alone(dsl::Kernel& kernel) {
  using namespace dsl;
  const auto ids = kernel.buffer<I32>("ids", {kLanes});
  const auto gains = kernel.buffer<F32>("gains", {kLanes});
  const auto rows = kernel.buffer<BF16>("rows", {2 * kLanes});
  const auto bias = kernel.buffer<F32>("bias", {kLanes});
  const auto state = kernel.buffer<F32>("state", {kLanes}, Access::read_write);
  const auto out = kernel.buffer<F32>("out", {kLanes}, Access::write);
  const auto debug = kernel.buffer<I32>("debug", {kLanes}, Access::write);
  const Handle scratch = kernel.memory("scratch");
  const I32 touch = kernel.i32("touch");
  const auto epoch = kernel.table<I32>("epoch", 1);
  const Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = I32(0)});
  const auto sums = handoffs.scratch<F32>("sums", {kLanes});
  const I32 t = thread_id();
  If((cta_id() == 0) & (t < kLanes), [&] {
    const auto pair = rows.load<2>(2 * t);
    put(sums, t, gains.load(t) + to_f32(pair[0]) + to_f32(pair[1]));
    const F32 sum = poll<F32>({sums.at(t)})[0] + to_f32(ids.load(t));
    out.store(t, sum);
    If((touch & kBias) != 0, [&] { out.store(t, sum + bias.load(t)); });
    If((touch & kDebug) != 0, [&] { debug.store(t, ids.load(t)); });
    state.store(t, state.load(t) + 1.0f);
  });
}

template <class T>
Tensor tensor_of(const std::string& dtype, const std::function<T(int)>& value, int count = kLanes) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(value(i));
  Tensor tensor{dtype, {count}, Bytes(values.size() * sizeof(T))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template <class T>
T element(const Tensor& tensor, int index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

const CodeObject& object() {
  static const CodeObject once = code_object(alone, "gfx950");
  return once;
}

/// `devices` ranks with every input but the optional ones.
struct Alone {
  explicit Alone(int devices = 1) : emulator({.chip = "gfx950", .devices = devices, .seed = 3}) {
    std::vector<Device*> all;
    for (int rank = 0; rank < devices; ++rank) all.push_back(&emulator.device(rank));
    collective = std::make_unique<Collective>(all, object());
    for (int rank = 0; rank < devices; ++rank) {
      set<int32_t>(rank, "ids", "i32", [&](int i) { return 100 * rank - i; });
      set<float>(rank, "gains", "f32", [](int i) { return 0.25f * static_cast<float>(i); });
      set<float>(rank, "state", "f32", [](int) { return 0.0f; });
      // bf16 1 and 2: 3 a lane.
      const auto halves = [](int i) { return static_cast<uint16_t>(i % 2 == 0 ? 0x3F80 : 0x4000); };
      collective->set_tensor(rank, "rows", tensor_of<uint16_t>("bf16", halves, 2 * kLanes));
    }
  }

  template <class T>
  void set(int rank, const char* name, const char* dtype, const std::function<T(int)>& value) {
    collective->set_tensor(rank, name, tensor_of<T>(dtype, value));
  }
  void step(int touch) {
    collective->set_value("touch", static_cast<uint64_t>(touch));
    collective->step();
  }
  float out(int rank, int lane) {
    return element<float>(collective->outputs(rank).at("out"), lane);
  }

  emulator::Emulator emulator;
  std::unique_ptr<Collective> collective;
};

/// Of a step that leaves `bias` out.
float expected(int rank, int lane) {
  return 0.25f * static_cast<float>(lane) + 3 + static_cast<float>(100 * rank - lane);
}

}  // namespace

TEST_CASE("a kernel without peers runs on one device, with tensors of every dtype") {
  Alone run;
  CHECK(run.collective->ranks().size() == 1);
  CHECK(run.collective->fits_chip());
  run.collective->set_null("bias");
  run.collective->set_null("debug");
  for (int step = 1; step <= 3; ++step) {
    CAPTURE(step);
    run.step(kPlain);
    for (int lane = 0; lane < kLanes; ++lane) REQUIRE(run.out(0, lane) == expected(0, lane));
    const Tensor state = run.collective->outputs(0).at("state");
    CHECK(element<float>(state, 5) == static_cast<float>(step));
  }
  CHECK(element<float>(run.collective->regions(0).at("sums"), 8) == 2 + 3);
}

TEST_CASE("ranks without peers each work on their own tensors") {
  Alone run(3);
  CHECK(run.collective->ranks().size() == 3);
  run.collective->set_null("bias");
  run.step(kPlain);
  for (int rank = 0; rank < 3; ++rank) CHECK(run.out(rank, 7) == expected(rank, 7));
}

TEST_CASE("a tensor that is left out is null, until one is set") {
  Alone run;
  run.set<float>(0, "bias", "f32", [](int) { return 1000.0f; });
  run.step(kBias);
  CHECK(run.out(0, 9) == expected(0, 9) + 1000);
  run.collective->set_null("bias");
  run.step(kPlain);
  CHECK(run.out(0, 9) == expected(0, 9));
  run.set<float>(0, "bias", "f32", [](int) { return 2000.0f; });
  run.step(kBias);
  CHECK(run.out(0, 9) == expected(0, 9) + 2000);

  run.collective->set_null("bias");
  const std::string fault = error_of(ErrorKind::failed_check, [&] { run.step(kBias); }).what();
  CHECK_THAT(fault, Catch::Contains("0x0"));
}

TEST_CASE("an output that is left out is neither allocated nor returned") {
  Alone run;
  run.collective->set_null("bias");
  run.collective->set_null("debug");
  run.step(kPlain);
  CHECK(!run.collective->outputs(0).contains("debug"));

  Alone whole;
  whole.collective->set_null("bias");
  whole.step(kPlain);
  const Tensor unwritten = whole.collective->outputs(0).at("debug");
  CHECK(unwritten.dtype == "i32");
  CHECK(unwritten.bytes == Bytes(kLanes * 4, 0xFF));
  whole.step(kDebug);
  CHECK(element<int32_t>(whole.collective->outputs(0).at("debug"), 60) == -60);
}

TEST_CASE("wrong arguments of a launch are refused by name") {
  Alone run;
  Collective& collective = *run.collective;
  const Tensor floats = tensor_of<float>("f32", [](int) { return 0.0f; });
  CHECK(user_error([&] { collective.set_tensor(0, "ids", floats); }) ==
        "k: argument 'ids' is of i32, not of f32");
  CHECK(user_error([&] {
          collective.set_tensor(0, "out", tensor_of<float>("f32", [](int) { return 0.0f; }, 3));
        }) == fmt::format("k: argument 'out' is f32 [{}], not f32 [3]", kLanes));
  CHECK(user_error([&] { collective.set_tensor(0, "touch", floats); }) ==
        "k has no buffer argument 'touch'");
  CHECK(user_error([&] { collective.set_null("touch"); }) == "k has no buffer argument 'touch'");
  CHECK(user_error([&] { collective.set_value("ids", 1); }) == "k has no integer argument 'ids'");
  for (const char* name : {"scratch", "peers", "rank", "epoch", "diag", "tl"}) {
    CAPTURE(name);
    const std::string refusal = fmt::format("k: argument '{}' is the runner's own", name);
    CHECK(user_error([&] { collective.set_tensor(0, name, floats); }) == refusal);
    CHECK(user_error([&] { collective.set_null(name); }) == refusal);
    CHECK(user_error([&] { collective.set_value(name, 1); }) == refusal);
    CHECK(user_error([&] { collective.rank(0).arguments().set(name, 0); }) == refusal);
  }
  run.collective->set_null("debug");
  CHECK(user_error([&] { run.step(kPlain); }) == "k: argument 'bias' is not given");
}

TEST_CASE("an output without a shape must be given as a tensor") {
  const CodeObject shapeless = code_object(
      [](dsl::Kernel& kernel) {
        const auto out = kernel.buffer<dsl::I32>("out", {}, dsl::Access::write);
        dsl::If(dsl::cta_id() == 0, [&] { out.store(dsl::thread_id(), dsl::I32(7)); });
      },
      "gfx950");
  emulator::Emulator emulator({.chip = "gfx950", .devices = 1});
  std::vector<Device*> one{&emulator.device(0)};
  Collective collective(one, shapeless);
  CHECK(user_error([&] { collective.step(); }) ==
        "k: the record gives no shape of the output 'out'");
  collective.set_tensor(0, "out", tensor_of<int32_t>("i32", [](int) { return 0; }, 512));
  collective.step();
  CHECK(element<int32_t>(collective.outputs(0).at("out"), 511) == 7);
}

TEST_CASE("what a runner allocated is released, also when a later allocation is refused") {
  emulator::Emulator emulator({.chip = "gfx950", .devices = 1});
  WatchedDevice watched(emulator.device(0));
  {
    const Runner runner(watched, object(), 0);
  }
  const int allocations = watched.allocations;
  CHECK(allocations >= 3);  // scratch, epoch, ...
  CHECK(watched.live.empty());
  for (int refused = 0; refused < allocations; ++refused) {
    CAPTURE(refused);
    watched.allocations = 0;
    watched.refused_allocation = refused;
    CHECK(error_of(ErrorKind::environment, [&] { Runner(watched, object(), 0); }).what() ==
          std::string("no room"));
    CHECK(watched.allocations == refused + 1);
    CHECK(watched.live.empty());
  }
}

TEST_CASE("a collective releases its tensors, and reads no region that it has kept") {
  emulator::Emulator emulator({.chip = "gfx950", .devices = 1});
  WatchedDevice watched(emulator.device(0));
  std::vector<Device*> one{&watched};
  {
    Collective collective(one, object());
    collective.set_tensor(0, "ids", tensor_of<int32_t>("i32", [](int i) { return i; }));
    watched.bytes_read = 0;
    CHECK(collective.regions(0).contains("sums"));
    CHECK(watched.bytes_read == 8 * kLanes);  // a tagged word is a pair
    collective.keep_region("sums");
    watched.bytes_read = 0;
    CHECK(collective.regions(0).contains("sums"));
    CHECK(watched.bytes_read == 0);
  }
  CHECK(watched.live.empty());
}

/// Workgroup 1 re-arms its word only after workgroup 0 has re-armed its own.
void two_pauses(dsl::Kernel& kernel) {
  using namespace dsl;
  const Handle scratch = kernel.memory("scratch");
  const auto epoch = kernel.table<I32>("epoch", 1);
  const Handoffs handoffs({.scratch = scratch, .epoch = epoch, .slot = I32(0)});
  const auto words = scratch_sentinel(handoffs, "words", 1, 1, 16);
  const auto done = handoffs.scratch<I32>("done", {1});
  const I32 group = cta_id();
  stage("both", [&] {
    If((group < 2) & (thread_id() == 0), [&] {
      put_sent(words, group, as_unsigned(group + 7));
      poll_sent_words(words, {group});
      If(group == 1, [&] { poll<I32>({done.at(0)}); });
      rearm(words, group);
      If(group == 0, [&] { put(done, 0, I32(1)); });
    });
  });
}

TEST_CASE("words that are re-armed between two pauses are kept") {
  const CodeObject paused = code_object(two_pauses, "gfx950");
  emulator::Emulator emulator({.chip = "gfx950", .devices = 1});
  std::vector<Device*> one{&emulator.device(0)};
  Collective collective(one, paused);
  int pauses = 0;
  emulator.pause_before({"rearm words"}, [&](const std::string&) {
    ++pauses;
    collective.keep_region("words");
  });
  collective.step();
  CHECK(pauses == 2);
  const Tensor kept = collective.regions(0).at("words");
  CHECK(element<uint32_t>(kept, 0) == 7);
  CHECK(element<uint32_t>(kept, 1) == 8);
  CHECK(element<uint32_t>(kept, 2) == kSentinel);
  CHECK(collective.unarmed_words(1).empty());
}

TEST_CASE("a collective refuses a number of devices that its kernel does not run on") {
  emulator::Emulator emulator({.chip = "gfx950", .devices = kRanks});
  const std::vector<Device*> none, nine(kRanks + 1, &emulator.device(0));
  CHECK(user_error([&] { Collective(none, object()); }) == "k runs on 1 to 8 ranks, not on 0");
  CHECK(user_error([&] { Collective(nine, object()); }) == "k runs on 1 to 8 ranks, not on 9");
}

}  // namespace baton::tests
