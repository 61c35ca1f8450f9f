// A warm Loader::get of attn_post: from memory (aim: under 1 us), and from disk as a process does
// it that has just started, without a trace (aim: under 5 ms).
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>

#include "builds/families.h"
#include "builds/key_builder.h"

namespace baton {
namespace {

struct WarmCache {
  WarmCache() {
    std::string pattern = (std::filesystem::temp_directory_path() / "baton-bench-XXXXXX").string();
    BATON_CHECK(mkdtemp(pattern.data()) != nullptr, pattern);
    folder = pattern;
    Cache cache({.folder = folder});
    Loader({.cache = &cache, .builder = &builder}).get(key);
  }
  ~WarmCache() { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  builds::KeyBuilder builder;
  BuildKey key = builds::complete_key("attn_post:tokens=8,nblocks=8", "gfx950");
};

void from_memory(benchmark::State& state) {
  const WarmCache warm;
  Cache cache({.folder = warm.folder});
  Loader loader({.cache = &cache, .builder = &warm.builder});
  for (auto _ : state) benchmark::DoNotOptimize(&loader.get(warm.key));
}
BENCHMARK(from_memory);

void from_disk(benchmark::State& state) {
  const WarmCache warm;
  for (auto _ : state) {
    Cache cache({.folder = warm.folder});
    Loader loader({.cache = &cache, .builder = &warm.builder});
    benchmark::DoNotOptimize(&loader.get(warm.key));
    BATON_CHECK(loader.counts().disk == 1 && loader.counts().traced == 0);
  }
}
BENCHMARK(from_disk)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace baton

BENCHMARK_MAIN();
