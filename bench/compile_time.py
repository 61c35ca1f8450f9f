#!/usr/bin/env python3
"""How long a whole `baton compile` process takes beside LLVM's own programs over the same IR.

Runs the two in turns, so that a busy machine slows both, and compares their medians:
  baton compile KEY --arch CHIP -o FILE
  opt -O3 | llc -O3 -filetype=obj, then ld.lld -shared, over what `--emit llvm` prints
The phases are what `--json` tells of the same runs, each the median: the share of tracing and MLIR
passes.
With --check it exits 1 when a figure is above its target.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RATIO_TARGET = 1.3
FRONT_SHARE_TARGET_PERCENT = 15.0
FRONT_PHASES = ("trace", "passes")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("key", nargs="?", default="attn_post:tokens=8,nblocks=8")
    parser.add_argument("--arch", default="gfx950")
    parser.add_argument("--baton", default="build/bin/baton", help="the program to measure")
    parser.add_argument("--llvm-suffix", default="-22", help="of opt, llc and ld.lld")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs must be at least 1")
    return arguments


def find_program(name):
    path = shutil.which(name)
    if path is None:
        sys.exit(f"error: {name} is not on this machine")
    return path


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} exited with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def time_baton_ms(compile_command, folder):
    """The process's milliseconds, and those of its phases."""
    start = time.perf_counter()
    report = run(compile_command + ["-o", str(folder / "baton.co"), "--json"])
    return (time.perf_counter() - start) * 1e3, json.loads(report)[0]["times_ms"]


def time_llvm_ms(tools, folder):
    opt, llc, lld = tools
    ir, obj, out = (str(folder / name) for name in ("kernel.ll", "kernel.o", "llvm.co"))
    start = time.perf_counter()
    with subprocess.Popen([opt, "-O3", ir, "-o", "-"], stdout=subprocess.PIPE) as optimiser:
        back_end = subprocess.run([llc, "-O3", "-filetype=obj", "-", "-o", obj],
                                  stdin=optimiser.stdout)
        optimiser.stdout.close()
    if optimiser.returncode != 0 or back_end.returncode != 0:
        sys.exit("error: opt or llc failed over the IR that baton printed")
    run([lld, "-shared", obj, "-o", out])
    return (time.perf_counter() - start) * 1e3


def print_times(name, times_ms):
    print(f"{name:<24} median {statistics.median(times_ms):8.1f} ms   "
          f"min {min(times_ms):8.1f}   max {max(times_ms):8.1f}   ({len(times_ms)} runs)")


def front_share_percent(runs):
    phases = {name: statistics.median(phases[name] for phases in runs) for name in runs[0]}
    total = sum(phases.values())
    for name, milliseconds in phases.items():
        print(f"  {name:<12} {milliseconds:8.2f} ms  {100 * milliseconds / total:5.1f} %")
    return 100 * sum(phases[name] for name in FRONT_PHASES) / total


def main():
    arguments = parse_arguments()
    tools = [find_program(name + arguments.llvm_suffix) for name in ("opt", "llc", "ld.lld")]
    compile_command = [find_program(arguments.baton), "compile", arguments.key,
                       "--arch", arguments.arch]
    with tempfile.TemporaryDirectory(prefix="baton-bench-") as name:
        folder = pathlib.Path(name)
        run(compile_command + ["--emit", "llvm", "-o", str(folder / "kernel.ll")])
        baton_ms, phases_ms, llvm_ms = [], [], []
        time_baton_ms(compile_command, folder)
        time_llvm_ms(tools, folder)  # the first run of each only fills the page cache
        for _ in range(arguments.runs):
            process_ms, phases = time_baton_ms(compile_command, folder)
            baton_ms.append(process_ms)
            phases_ms.append(phases)
            llvm_ms.append(time_llvm_ms(tools, folder))
    print(f"{arguments.key} for {arguments.arch}")
    print_times("baton compile", baton_ms)
    print_times("opt | llc, ld.lld", llvm_ms)
    ratio = statistics.median(baton_ms) / statistics.median(llvm_ms)
    print(f"ratio of the medians     {ratio:.2f} (target: at most {RATIO_TARGET})")
    print("phases:")
    share = front_share_percent(phases_ms)
    print(f"tracing and passes       {share:.1f} % "
          f"(target: under {FRONT_SHARE_TARGET_PERCENT:.0f} %)")
    missed = ratio > RATIO_TARGET or share >= FRONT_SHARE_TARGET_PERCENT
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
