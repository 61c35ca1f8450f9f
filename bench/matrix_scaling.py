"""`baton matrix -j 2` beside `-j 1`, same keys. Aim: at most 0.6 of its time, on 2 idle cores."""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

MATRIX = """
name = "scaling"
chips = ["gfx950"]
[[build]]
kernel = "attn_post"
tokens = [1, 2, 4, 8, 16, 32]
nblocks = [1, 2, 4, 8]
"""
AIM = 0.6


def seconds(baton, folder, jobs):
    (folder / "m.toml").write_text(MATRIX)
    start = time.monotonic()
    subprocess.run([baton, "matrix", folder / "m.toml", "--out", folder / f"j{jobs}", "-j",
                    str(jobs)], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--baton", required=True)
    baton = parser.parse_args().baton
    with tempfile.TemporaryDirectory(prefix="baton-bench-") as folder:
        one, two = (seconds(baton, Path(folder), jobs) for jobs in (1, 2))
    print(f"-j 1: {one:.1f} s, -j 2: {two:.1f} s, {two / one:.2f} of it (aim: {AIM})")


if __name__ == "__main__":
    main()
