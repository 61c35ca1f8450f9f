"""`baton run` when ranks or words are missing: diagnostics reports, a hang, unarmed words."""

import hashlib
import json
import os
import re
import subprocess
import unittest

from baton_tool import ToolTest, run

KEY = "attn_post:tokens=1,nblocks=1"
RANKS = 8
SLICES = 56  # workgroups that wait for the all-reduce
PAIRS = 7168 // 2
CHECK, USER = 1, 2


class Diagnosis(ToolTest):
    def run_wrong(self, key, *more):
        """Standard output of a run whose results are wrong."""
        done = run("run", key, "--arch", "gfx950", *more, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (CHECK, ""))
        return done.stdout

    def test_an_absent_rank_is_named(self):
        shown = self.run_wrong(KEY + ",diag=1", "--absent", 3).splitlines()
        self.assertEqual(shown[1], "392 workgroups gave up a wait after 10 s:")
        # Epoch 1, and slot 128 + the layer's index.
        self.assertEqual(re.split("  +", shown[3].strip()),
                         ["0.000", "0 .. 2, 4 .. 7", "0 .. 55",
                          "ar[3, 0, 0] and 55 more, from rank 3", "epoch 1, slot 128 (layer 0)",
                          "nothing yet"])
        self.assertTrue(shown[4].startswith("rank 3 never arrived: all 7 other ranks miss"))
        self.assertEqual(shown[5], "nothing is compared")

    def test_bounded_waits_end_under_a_seed(self):
        shown = self.run_wrong(KEY + ",diag=1", "--absent", 3, "--seed", 4)
        self.assertIn("392 workgroups gave up a wait after 10 s:", shown)
        self.assertIn("rank 3 never arrived: all 7 other ranks miss", shown)

    def test_bounded_waits_under_a_seed_see_what_arrives(self):
        for seed in (1, 2):
            with self.subTest(seed):
                key = KEY + ",sent=ar,diag=1"
                self.run_well("run", key, "--arch", "gfx950", "--seed", seed)

    def test_two_shot_sentinels_as_json(self):
        key = KEY + ",diag=1,two_shot=1,sent=ar"
        more = ("--absent", 6, "--layer", 7, "--json", "--steps", 3)
        report = json.loads(self.run_wrong(key, *more))
        self.assertIs(report["right"], False)
        (step,) = report["steps"]  # the ones behind it do not run
        self.assertEqual(step["comparisons"], [])
        waits = step["diagnostics"]["waits"]
        self.assertEqual({wait["rank"] for wait in waits}, set(range(RANKS)) - {6})
        for wait in waits:
            self.assertEqual((wait["region"], wait["seen_word"], wait["seen"]),
                             ("ar", 0xFFFFFFFF, "the sentinel: not arrived"))
            self.assertEqual(wait["expected_tag"], 1 * 256 + 128 + 7 + 1)
            self.assertEqual(wait["expected"], "epoch 1, slot 135 (layer 7)")
            self.assertTrue(wait["place"].startswith(f"ar[{wait['source']}, 0, "))
        # A rank reduces the columns of 7 workgroups and waits for their other owners: all miss
        # rank 6 on the columns that it owns, and on their own.
        missing = {wait["rank"]: wait["workgroups"] for wait in waits if wait["source"] == 6}
        self.assertEqual(missing[0], [[0, 6], [42, 48]])
        self.assertEqual(missing[5], [[35, 48]])
        self.assertTrue(step["diagnostics"]["conclusions"][0].startswith("rank 6 never arrived"))

    def test_a_plain_build_hangs(self):
        done = run("run", KEY, "--arch", "gfx950", "--absent", 3, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (CHECK, ""))
        lines = done.stderr.splitlines()
        self.assertTrue(lines[0].startswith("error: the launch hangs"), lines[0])
        self.assertIn("hint: ranks wait for those of --absent: with diag=1 in the key every wait "
                      "ends", lines)
        waiting = [line for line in lines if "in stage reduce (poll ar)" in line]
        for line, rank in zip(waiting, sorted(set(range(RANKS)) - {3}), strict=True):
            self.assertIn(f"device {rank}: ", line)
            self.assertRegex(line, rf"ar\[\d, 0, \d+\] of rank {rank}; {PAIRS} words of it have "
                                   r"not arrived, the first is ar\[3, 0, 0\]$")

    def test_a_two_shot_hang_counts_the_words_that_somebody_sends(self):
        for variant in ("two_shot=1", "two_shot=1,sent=ar"):
            done = run("run", f"{KEY},{variant}", "--arch", "gfx950", "--absent", 3,
                       cwd=self.folder)
            self.assertEqual(done.returncode, CHECK)
            told = re.findall(r"device (\d): .* in stage reduce \(poll ar\).* of rank (\d); "
                              r"(\d+) words of it have not arrived, the first is (ar.+)$",
                              done.stderr, re.MULTILINE)
            # A rank lacks what rank 3 adds to its own columns, and the sums of the other owners:
            # each of those lacks rank 3's part as well.
            own, owned = 2 * PAIRS // RANKS, PAIRS // RANKS  # columns, words
            expected = set()
            for rank in set(range(RANKS)) - {3}:
                device, first = str(rank), 1 if rank == 0 else 0
                expected.add((device, device, str(owned), f"ar[3, 0, {rank * own}]"))
                expected.add((device, device, str((RANKS - 1) * owned),
                              f"ar[{first}, 0, {first * own}]"))
            with self.subTest(variant):
                self.assertEqual(set(told), expected)

    def test_a_hang_is_told_in_json(self):
        done = run("run", KEY, "--arch", "gfx950", "--absent", 3, "--json", cwd=self.folder)
        self.assertEqual(done.returncode, CHECK)
        report = json.loads(done.stdout)
        self.assertIs(report["right"], False)
        self.assertTrue(report["error"].startswith("the launch hangs"), report["error"])
        self.assertEqual(report["steps"], [])
        self.assertTrue(done.stderr.startswith("error: the launch hangs"), done.stderr)

    def test_all_is_well(self):
        report = json.loads(self.run_well("run", KEY + ",diag=1,sent=ar", "--arch", "gfx950",
                                          "--steps", 2, "--json"))
        self.assertIs(report["right"], True)
        for step in report["steps"]:
            self.assertNotIn("diagnostics", step)
            rows = [row for row in step["comparisons"] if row["tensor"] == "sentinel words armed"]
            self.assertEqual([row["rank"] for row in rows], list(range(RANKS)))
            for row in rows:
                self.assertEqual((row["elements"], row["differing"], row["right"]),
                                 (2 * RANKS * PAIRS, 0, True))

    def leave_out_a_rearm(self, code, key):
        """Compiles `key` and overwrites one of the stores that re-arm a word with s_nop."""
        self.run_well("compile", key, "--arch", "gfx950", "-o", code)
        listing = self.run_well("isa", code, "--stage", "rearm")
        address = int(re.search(r"^ +([0-9a-f]+)  buffer_store_dword .*; rearm ar$", listing,
                                re.MULTILINE)[1], 16)
        readelf = [os.environ["BATON_READELF"], "-S", self.folder / code]
        sections = subprocess.run(readelf, text=True, capture_output=True, check=True).stdout
        text = re.search(r"\.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+)", sections)
        at = address - int(text[1], 16) + int(text[2], 16)
        image = bytearray((self.folder / code).read_bytes())
        image[at : at + 8] = 2 * (0xBF800000).to_bytes(4, "little")
        (self.folder / code).write_bytes(image)
        record = self.folder / (code + ".json")
        told = json.loads(record.read_text(encoding="utf-8"))
        told["sha256"] = hashlib.sha256(image).hexdigest()
        record.write_text(json.dumps(told), encoding="utf-8")

    def test_words_that_are_not_armed(self):
        key = KEY + ",sent=ar"
        self.leave_out_a_rearm("s.co", key)
        shown = self.run_wrong(key, "--code", "s.co", "--steps", 2)
        # Each step leaves a source's words in the half that it used.
        rows = re.findall(r"^ +(\d)  sentinel words armed +exact +(\d+) +(\d+) .* (\w+)$", shown,
                          re.MULTILINE)
        words = str(2 * RANKS * PAIRS)
        steps = [[(str(rank), words, str(step * PAIRS), "WRONG") for rank in range(RANKS)]
                 for step in (1, 2)]
        self.assertEqual(rows, 2 * steps[0] + 2 * steps[1])  # the wrong ones are shown once more
        self.assertRegex(shown, r"\nthe first word that is not armed: ar\[\d, 0, 0\] of rank 0 is "
                                r"0x[0-9a-f]{8}\n")
        report = json.loads(self.run_wrong(key, "--code", "s.co", "--steps", 2, "--json"))
        self.assertRegex(report["steps"][1]["first_unarmed"], r"^ar\[\d, 0, 0\] of rank 0 is 0x")

    def test_wrong_words(self):
        for rank in ("8", "-1", "three"):
            self.refuse(USER, "--absent", ["run", KEY, "--arch", "gfx950", "--absent", rank])
        everybody = [word for rank in range(RANKS) for word in ("--absent", rank)]
        self.refuse(USER, "--absent names every rank: nothing would run",
                    ["run", KEY, "--arch", "gfx950", *everybody])


if __name__ == "__main__":
    unittest.main()
