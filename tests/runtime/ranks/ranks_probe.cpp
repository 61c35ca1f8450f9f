// A server's ranks, for the script: MPI starts one process each.
//   ranks_probe exchange
//   ranks_probe run FOLDER CHIP STEPS SEED KEY [FAULT RANK]
// `run` takes the code object from a loader over FOLDER/cache and runs the steps on the device of
// its rank. Rank 0 draws the inputs, compares what all ranks left, and prints JSON; tensors go by
// FOLDER/inputs, outputs and regions. A FAULT of one rank: it "dies" before it launches the last
// step, throws "alone" there, has "no device", compiles "another key", or gets "no import".
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "builds/families.h"
#include "builds/kernel_check.h"
#include "builds/key_builder.h"
#include "runtime/device/hip/hip_platform.h"
#include "runtime/ranks/mpi_exchange.h"
#include "runtime/tensors/tensor.h"

namespace baton {
namespace {

using nlohmann::ordered_json;
using Path = std::filesystem::path;
using builds::RankTensors;

struct Options {
  Path folder;
  std::string chip;
  int steps;
  uint64_t seed;
  std::string key, fault;
  int fault_rank = -1;
};

/// One number of each rank.
ordered_json gather(Exchange& exchange, uint64_t own) {
  ordered_json all = ordered_json::array();
  const auto* raw = reinterpret_cast<const uint8_t*>(&own);
  for (const Bytes& bytes : exchange.all_gather({raw, sizeof own})) {
    all.push_back(read_at<uint64_t>(bytes, 0, "a number"));
  }
  return all;
}

/// One rank's share of the run.
class Rank {
 public:
  Rank(Exchange& exchange, Options options)
      : exchange_(exchange),
        options_(std::move(options)),
        key_(builds::complete_key(
            has_fault("another key") ? "attn_post:tokens=1,nblocks=2" : options_.key,
            options_.chip)),
        cache_({.folder = options_.folder / "cache"}),
        loader_({.cache = &cache_, .builder = &builder_}) {}

  void run() {
    if (has_fault("no import")) ::setenv("BATON_STANDIN_NO_IMPORT", "1", 1);
    std::optional<Collective> collective;
    try {
      collective.emplace(exchange_, [&]() -> RankShare {
        platform_.emplace();
        Device& device = platform_->device(has_fault("no device") ? 8 : exchange_.rank());
        return {device, loader_.get(key_)};
      });
    } catch (const Error& error) {  // on every rank: they agree
      report_["errors"] = texts(exchange_.all_gather(as_bytes(error.what())));
    }
    report_["compiled"] = gather(exchange_, loader_.counts().compiled);
    if (collective) {
      report_["fits_chip"] = collective->fits_chip();
      for (int step = 0; step < options_.steps; ++step) run_step(*collective, step);
      collective->disconnect();
    }
    if (exchange_.rank() == 0) std::puts(report_.dump().c_str());
  }

 private:
  bool has_fault(std::string_view fault) const {
    return options_.fault == fault && options_.fault_rank == exchange_.rank();
  }

  static ordered_json texts(const std::vector<Bytes>& all) {
    ordered_json list = ordered_json::array();
    for (const Bytes& text : all) list.push_back(std::string(text.begin(), text.end()));
    return list;
  }

  /// Of all ranks at rank 0, else what its own rank needs.
  RankTensors inputs_of(int step) {
    RankTensors inputs;
    const Path common = options_.folder / "common.safetensors";
    if (exchange_.rank() == 0) {
      inputs = builds::find_kernel_check(key_).random_inputs(
          key_, options_.seed + static_cast<uint64_t>(step));
      for (const int peer : kPeers) write("inputs", peer, inputs.ranks[static_cast<size_t>(peer)]);
      write_safetensors(common, inputs.common);
    }
    in_agreement(exchange_, [] {});
    if (exchange_.rank() == 0) return inputs;
    inputs.common = read_safetensors(common);
    inputs.ranks[static_cast<size_t>(exchange_.rank())] =
        read_safetensors(path("inputs", exchange_.rank()));
    return inputs;
  }

  void run_step(Collective& collective, int step) {
    const int rank = exchange_.rank();
    const RankTensors inputs = inputs_of(step);
    if (step == options_.steps - 1 && has_fault("alone")) throw std::bad_alloc();
    if (step == options_.steps - 1 && has_fault("dies")) {
      std::fprintf(stderr, "rank %d dies\n", rank);
      ::raise(SIGKILL);
    }
    builds::StepResult result = builds::run_step(collective, key_, inputs, /*layer=*/3);
    in_agreement(exchange_, [] {});  // all ranks are between two steps
    const ordered_json unarmed = gather(exchange_, collective.unarmed_words(100).size());
    const auto own = static_cast<size_t>(rank);
    write("outputs", rank, result.outputs[own]);
    write("regions", rank, result.regions[own]);
    in_agreement(exchange_, [] {});
    if (rank == 0) {
      for (const int peer : kPeers) {
        result.outputs[static_cast<size_t>(peer)] = read_safetensors(path("outputs", peer));
        result.regions[static_cast<size_t>(peer)] = read_safetensors(path("regions", peer));
      }
      compare(inputs, result);
      report_["steps"].back()["unseen"] = builds::unseen_regions(collective, result);
      report_["steps"].back()["unarmed"] = unarmed;
    }
    in_agreement(exchange_, [] {});
  }

  void compare(const RankTensors& inputs, const builds::StepResult& result) {
    const auto rows = builds::check_step(key_, inputs, result);
    ordered_json wrong = ordered_json::array();
    for (const builds::CheckRow& row : rows) {
      if (!row.comparison.passed) wrong.push_back({row.rank, row.tensor, row.rule});
    }
    report_["steps"].push_back({{"comparisons", rows.size()}, {"wrong", wrong}});
  }

  Path path(const char* what, int rank) const {
    return options_.folder / what / fmt::format("rank{}.safetensors", rank);
  }
  void write(const char* what, int rank, const TensorMap& tensors) const {
    std::filesystem::create_directories(options_.folder / what);
    write_safetensors(path(what, rank), tensors);
  }

  static constexpr int kPeers[] = {1, 2, 3, 4, 5, 6, 7};  // of rank 0
  Exchange& exchange_;
  const Options options_;
  const BuildKey key_;
  Cache cache_;
  builds::KeyBuilder builder_;
  Loader loader_;
  std::optional<hip::Platform> platform_;
  ordered_json report_;
};

/// What MPI carries: sizes that differ, none among them, and agreement.
void test_exchange(Exchange& exchange) {
  const auto bytes_of = [](int rank, size_t round) {
    const size_t size = rank == 1 ? 0 : static_cast<size_t>(rank) * round * 1000 + 1;
    return Bytes(size, static_cast<uint8_t>(rank + 7));
  };
  for (size_t round = 0; round < 20; ++round) {
    const std::vector<Bytes> all = exchange.all_gather(bytes_of(exchange.rank(), round));
    BATON_CHECK(all.size() == static_cast<size_t>(exchange.ranks()));
    for (int rank = 0; rank < exchange.ranks(); ++rank) {
      BATON_CHECK(all[static_cast<size_t>(rank)] == bytes_of(rank, round));
    }
  }
  std::string told;
  try {
    in_agreement(exchange, [&] {
      if (exchange.rank() == 2) throw Error(ErrorKind::user, "tired");
    });
  } catch (const Error& error) {
    told = error.what();
  }
  BATON_CHECK(told == "rank 2: tired", told);
  const ordered_json sums = gather(exchange, static_cast<uint64_t>(exchange.rank()));
  if (exchange.rank() == 0) std::puts(sums.dump().c_str());
}

int run(std::span<char*> arguments) {
  int rank = -1;
  try {
    MpiExchange exchange(MPI_COMM_WORLD);
    rank = exchange.rank();
    if (arguments.size() < 7) {
      test_exchange(exchange);
      return 0;
    }
    Options options{.folder = arguments[2],
                    .chip = arguments[3],
                    .steps = std::atoi(arguments[4]),
                    .seed = std::strtoull(arguments[5], nullptr, 10),
                    .key = arguments[6],
                    .fault = arguments.size() > 8 ? arguments[7] : "",
                    .fault_rank = arguments.size() > 8 ? std::atoi(arguments[8]) : -1};
    Rank(exchange, std::move(options)).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error at rank %d: %s\n", rank, error.what());
    return MPI_Abort(MPI_COMM_WORLD, 1);  // peers may wait for a rank that has failed alone
  }
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = baton::run({argv, static_cast<size_t>(argc)});
  MPI_Finalize();
  return code;
}
