// Writes docs/instructions.md: instruction_table FILE.
#include <cstdio>
#include <fstream>

#include "tests/runtime/emulator/instruction_table.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: instruction_table FILE\n", stderr);
    return 2;
  }
  std::ofstream file(arguments[1], std::ios::binary);
  file << baton::tests::instruction_table();
  file.close();
  if (file.fail()) {
    std::fprintf(stderr, "error: cannot write %s\n", arguments[1]);
    return 3;
  }
  return 0;
}
