// Runs a fuzz entry point over every file of the folders that are named, in place of libFuzzer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "runtime/base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry);
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const baton::Bytes bytes = baton::read_file(file);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
