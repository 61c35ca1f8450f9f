#!/usr/bin/env python3
"""check_headers.py ROOT COMPILER...: fails when a header of LLVM or MLIR stands behind dsl/dsl.h,
as the compiler sees it."""

import re
import subprocess
import sys

FOREIGN = re.compile(r"/(llvm|llvm-c|mlir|lld)/")


def main():
    root, compiler = sys.argv[1], sys.argv[2:]
    command = [*compiler, "-M", "-I", root, f"{root}/dsl/dsl.h"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files = output.replace("\\\n", " ").split()
    if f"{root}/dsl/handoff/handoff.h" not in files:
        sys.exit(f"{root}/dsl/handoff/handoff.h is not behind dsl/dsl.h: the list is wrong")
    foreign = sorted(file for file in files if FOREIGN.search(file))
    if foreign:
        sys.exit("dsl/dsl.h includes " + ", ".join(foreign[:5]))


if __name__ == "__main__":
    main()
