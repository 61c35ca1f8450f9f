"""The tables of docs/attn_post.md, measured: `attn_post_tables.py > docs/attn_post.md` with the
tool's path in the environment variable BATON."""

import json
import re
import tempfile
from pathlib import Path

from baton_tool import CHIPS, run

TOKENS = (1, 3, 8, 9, 16, 17, 24, 32, 48, 64)
LINK_TOKENS = (1, 8)
VARIANTS = {
    "tagged, one-shot": "two_shot=0",
    "sentinel, one-shot": "two_shot=0,sent=ar",
    "tagged, two-shot": "two_shot=1",
    "sentinel, two-shot": "two_shot=1,sent=ar",
}
HEAD = """# attn_post, measured

`python3 tests/tools/attn_post_tables.py` prints this file, with the tool's path in the environment
variable BATON; a test fails when it is not what would be printed.

## Bytes over a link

What a rank stores in the memory of each other rank in one launch, counted by the emulator. A pair
of bf16 travels as 8 bytes with its tag, or as 4 as a sentinel word. Two-shot carries a column to
its owner and back: 2 / 8 of the one-shot's.
"""
BUILDS = """
## Registers and waits

The default build of each width, with 8 block rows. VGPRs are a lane's, of the 256 that two waves a
SIMD may have. Waits are the `s_waitcnt` of stage o up to its last load of weights: the loads of all
rounds are in flight before the first one waits. No build spills.
"""


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def checked(*arguments):
    done = run(*arguments)
    if done.returncode != 0:
        raise SystemExit(f"baton {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def link_bytes(tokens, variant):
    """The one number that all links of a run have."""
    key = f"attn_post:tokens={tokens},nblocks=1,{variant}"
    report = json.loads(checked("run", key, "--arch", "gfx950", "--json"))["emulator"]
    stored = report["stored_bytes"]
    links = {stored[i][j] for i in range(8) for j in range(8) if i != j}
    if len(links) != 1:
        raise SystemExit(f"{key}: the links carry {sorted(links)} bytes")
    return links.pop()


def load_phase_waits(code_object):
    """s_waitcnt before the last streaming load of stage o."""
    listing = checked("isa", code_object, "--stage", "o")
    code = re.findall(r"^ +[0-9a-f]+  (.+?)(?: +; .+)?$", listing, re.MULTILINE)
    stream = "slc" if "gfx90a" in listing else "nt"
    last = max(i for i, text in enumerate(code)
               if text.startswith("buffer_load_dwordx4") and stream in text.split())
    return sum(text.startswith("s_waitcnt") for text in code[:last])


def build_row(folder, tokens, chip, variant):
    path = str(Path(folder) / "attn_post.co")
    checked("compile", f"attn_post:tokens={tokens}{variant}", "--arch", chip, "-o", path)
    with open(path + ".json", encoding="utf-8") as text:
        resources = json.load(text)["resources"]
    return f"{resources['vgprs']}, {load_phase_waits(path)}"


def tables():
    text = HEAD + "\n" + table(
        ["tokens", *VARIANTS],
        [[tokens, *(link_bytes(tokens, variant) for variant in VARIANTS.values())]
         for tokens in LINK_TOKENS])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for tokens in TOKENS:
            rows.append([tokens, *(build_row(folder, tokens, chip, variant)
                                   for chip in CHIPS for variant in ("", ",sent=ar"))])
    heads = ["tokens", *(f"{chip} {protocol}: VGPRs, waits"
                         for chip in CHIPS for protocol in ("tagged", "sentinel"))]
    return text + BUILDS + "\n" + table(heads, rows)


if __name__ == "__main__":
    print(tables(), end="")
