// A server's start, for the scripts: prepares the keys it is given on a cache folder and prints
// what came of it as JSON.
//   loader_probe identity
//   loader_probe get FOLDER CHIP KEY...
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "builds/families.h"
#include "builds/key_builder.h"
#include "builds/library_id.h"
#include "llvm/TargetParser/Host.h"
#include "runtime/base/build_id.h"

namespace baton {
namespace {

using nlohmann::ordered_json;

ordered_json identity() {
  const auto* llvm = reinterpret_cast<const void*>(&llvm::sys::getDefaultTargetTriple);
  return {{"pipeline_archives", builds::kPipelineArchives},
          {"kernel_archives", builds::kKernelArchives},
          {"llvm", build_id_at(llvm).value_or("")},
          {"program", build_id_at(reinterpret_cast<const void*>(&identity)).value_or("")},
          {"pipeline_id", builds::pipeline_id().hex()},
          {"library_id", builds::library_id().hex()}};
}

ordered_json get(const std::string& folder, const std::string& chip,
                 std::span<const char* const> texts) {
  std::vector<BuildKey> keys;
  for (const char* text : texts) keys.push_back(builds::complete_key(text, chip));
  std::vector<std::string> reports;
  Cache cache(
      {.folder = folder, .report = [&](const std::string& line) { reports.push_back(line); }});
  const builds::KeyBuilder builder;
  Loader loader({.cache = &cache, .builder = &builder});
  const auto start = std::chrono::steady_clock::now();
  throw_if_any(loader.prepare(keys, 1));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  ordered_json objects = ordered_json::object();
  for (const BuildKey& key : keys) objects[key.text()] = sha256(loader.get(key).bytes).hex();
  const LoaderCounts counts = loader.counts();
  return {{"objects", objects},  {"compiled", counts.compiled}, {"traced", counts.traced},
          {"disk", counts.disk}, {"ms", took.count()},          {"reports", reports}};
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  using namespace baton;
  const std::span<const char* const> arguments(argv, static_cast<size_t>(argc));
  try {
    const bool is_get = argc >= 4 && std::string_view(argv[1]) == "get";
    const ordered_json json = is_get ? get(argv[2], argv[3], arguments.subspan(4)) : identity();
    std::puts(json.dump(2).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
