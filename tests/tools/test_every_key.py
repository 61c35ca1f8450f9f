"""Every width, block count and chip of the kernels compiles, and none of them spills."""

import json
import os
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from baton_tool import CHIPS, ToolTest, run

# (requests, tokens of each) of kda_pre: one, odd and largest numbers, and x in windows of every
# size.
SPECULATION = [(1, 1), (1, 4), (2, 4), (8, 1), (1, 8), (4, 4), (8, 4), (16, 2), (2, 16), (32, 1),
               (3, 1), (11, 1), (3, 4), (13, 1), (1, 16), (31, 1)]

KEYS = [f"attn_post:tokens={tokens},nblocks={blocks}"
        for tokens in range(1, 9) for blocks in range(1, 9)]
# Wider batches, on both sides of every tile's and every protocol's edge, with all that adds
# registers.
KEYS += [f"attn_post:tokens={tokens},nblocks={blocks},{options}"
         for tokens in (8, 9, 16, 17, 31, 33, 64) for blocks in (1, 8)
         for options in ("two_shot=0,sent=none", "two_shot=0,sent=ar", "two_shot=1,sent=none",
                         "two_shot=1,sent=ar,reset=1", "two_shot=1,sent=ar,timeline=1,diag=1")
         if (tokens, options) != (8, "two_shot=0,sent=none")]  # the default, listed above
KEYS += [f"kda_pre:tokens={requests * qlen},qlen={qlen},nblocks={blocks},{options}"
         for requests, qlen in SPECULATION for blocks in (1, 8)
         for options in ("delta=1,debug=0",
                         f"delta=0,write_idx=8,state_len={qlen + 5},timeline=1,diag=1,debug=1")]
KEYS += [f"kda_pre:tokens={tokens},qlen={qlen},state_len={qlen + 8},timeline=1,diag=1"
         for tokens, qlen in ((8, 1), (10, 1), (13, 1), (27, 1), (27, 3), (29, 1), (30, 1),
                              (32, 16))]
NOTES_THAT_ARE_ZERO = (".private_segment_fixed_size", ".vgpr_spill_count", ".sgpr_spill_count")


def fields(key):
    return set(key.partition(":")[2].split(","))


class EveryKey(ToolTest):
    def compile_all(self, chip):
        folder = self.folder / chip
        folder.mkdir()
        return run("compile", *KEYS, "--arch", chip, "-o", folder, "--json")

    def test_no_build_spills(self):
        with ThreadPoolExecutor(max_workers=2) as pool:
            runs = list(pool.map(self.compile_all, CHIPS))
        for chip, done in zip(CHIPS, runs):
            with self.subTest(chip):
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                results = json.loads(done.stdout)
                self.assertEqual(len({result["sha256"] for result in results}), len(KEYS))
                for result, key in zip(results, KEYS, strict=True):
                    with open(result["record"], encoding="utf-8") as text:
                        record = json.load(text)
                    self.assertLessEqual(fields(key), fields(record["key"]))
                    resources = record["resources"]
                    for name in ("scratch_bytes", "vgpr_spills", "sgpr_spills"):
                        self.assertEqual(resources[name], 0, f"{key}: {name}")
                    self.assertGreaterEqual(record["occupancy"]["workgroups_per_cu"], 1)
                self.assert_notes([result["path"] for result in results])

    def assert_notes(self, paths):
        """What another reader finds in the code objects themselves."""
        notes = subprocess.run([os.environ["BATON_READELF"], "--notes", *paths],
                               capture_output=True, text=True, check=True).stdout
        for note in NOTES_THAT_ARE_ZERO:
            self.assertEqual(re.findall(rf"{re.escape(note)}: +(\d+)", notes), ["0"] * len(KEYS))


if __name__ == "__main__":
    unittest.main()
