"""What a reviewer must find in attn_post's instructions, read off the listing, on every chip."""

import os
import re
import subprocess
import unittest

from baton_tool import CHIPS, KEY
from listing import (DEVICE, MFMA, STREAM, SYSTEM, ListingTest, loop_around, on_every_chip,
                     parse, successors)

# Of stage o at tokens <= 16: a CTA has 3 row groups, a wave 2 chunks of each, a chunk 4 steps.
ROUNDS, CHUNKS, STEPS, RANKS = 3, 2, 4, 8
WEIGHT_LOADS = ROUNDS * CHUNKS * STEPS


class Isa(ListingTest):
    key = KEY

    def of_handoff(self, instructions, word, regions):
        found = [i for i in instructions if i.handoff in [f"{word} {name}" for name in regions]]
        for name in regions:
            self.assertIn(f"{word} {name}", {i.handoff for i in found})
        return found

    @on_every_chip
    def test_the_mfmas_stand_in_stage_o(self, chip, instructions):
        mnemonic, count = MFMA[chip]
        mfmas = [i for i in instructions if "mfma" in i.mnemonic]
        self.assertEqual({i.mnemonic for i in mfmas}, {mnemonic})
        self.assertEqual({i.stage for i in mfmas}, {"o"})
        self.assertEqual(len(mfmas), WEIGHT_LOADS * count)

    @on_every_chip
    def test_weights_are_streamed_in_16_byte_loads(self, chip, instructions):
        loads = [i for i in instructions if "load" in i.mnemonic and "weights.load" in i.source]
        self.assertEqual(len(loads), WEIGHT_LOADS)
        for load in loads:
            self.assertEqual(load.mnemonic, "buffer_load_dwordx4")
            self.assertEqual((load.policy, load.stage), (STREAM[chip], "o"))
        others = [i for i in instructions if i.mnemonic.startswith("buffer_load")
                  and i.policy == STREAM[chip] and i not in loads]
        self.assertEqual(others, [])

    @on_every_chip
    def test_all_weights_are_in_flight_before_the_first_wait_for_them(self, _, instructions):
        weights = [i for i in instructions if "load" in i.mnemonic and "weights.load" in i.source]
        stage = [i for i in instructions if i.stage == "o"]
        in_flight, issued = [], 0
        for one in stage:
            if re.match(r"(buffer|global|flat)_(load|store|atomic)", one.mnemonic):
                in_flight.append(one)
                issued += one in weights
            elif found := re.search(r"vmcnt\((\d+)\)", one.text):
                done = in_flight[: max(0, len(in_flight) - int(found[1]))]
                if any(one in weights for one in done):
                    break
                in_flight = in_flight[len(done):]
        else:
            self.fail("nothing waits for the weights")
        self.assertEqual(issued, WEIGHT_LOADS)
        first, last = stage.index(weights[0]), stage.index(weights[-1])
        path = stage[first:last]
        self.assertFalse([i.text for i in path if "branch" in i.mnemonic or i.labels])

    @on_every_chip
    def test_puts_to_peers_are_single_stores_that_other_gpus_see(self, chip, instructions):
        puts = self.of_handoff(instructions, "put", ["ar"])
        self.assertEqual(len(puts), ROUNDS * RANKS)
        for put in puts:
            self.assertRegex(put.mnemonic, r"^(buffer|global)_store_dwordx[24]$")
            self.assertEqual((put.policy, put.stage), (SYSTEM[chip], "o"))
        stores = [i for i in instructions if i.stage == "o" and "_store_" in i.mnemonic]
        self.assertEqual(stores, puts)

    @on_every_chip
    def test_puts_to_scratch_are_single_stores_that_other_ctas_see(self, chip, instructions):
        for put in self.of_handoff(instructions, "put", ["part", "wgt", "msq"]):
            self.assertRegex(put.mnemonic, r"^(buffer|global)_store_dwordx[24]$")
            self.assertEqual(put.policy, DEVICE[chip])
        flags = self.of_handoff(instructions, "publish", ["xrdy"])
        self.assertEqual([i.policy for i in flags if "_store_" in i.mnemonic], [DEVICE[chip]])

    @on_every_chip
    def test_every_poll_loads_inside_its_loop(self, chip, instructions):
        edges = successors(instructions)
        positions = {one: at for at, one in enumerate(instructions)}
        polls = self.of_handoff(instructions, "poll", ["ar", "part", "wgt", "msq"])
        for poll in polls:
            self.assertRegex(poll.mnemonic, r"^(buffer|global)_load_dwordx[24]$")
            reach = SYSTEM if poll.handoff == "poll ar" else DEVICE
            self.assertEqual(poll.policy, reach[chip])
            loop = loop_around(edges, positions[poll])
            self.assertTrue(loop, f"{poll.text} is in no loop")
            body = [instructions[i] for i in loop]
            self.assertIn("s_sleep 1", [i.text for i in body])
            self.assertEqual({i.handoff for i in body if "_load_" in i.mnemonic},
                             {poll.handoff})
        self.assertNotIn("o", {poll.stage for poll in polls})

    @on_every_chip
    def test_lanes_meet_by_dpp_and_permlane(self, chip, instructions):
        for stage in ("slice", "gate", "mix"):
            self.assertTrue([i for i in instructions if i.stage == stage
                             and re.search("_dpp|permlane", i.mnemonic)], stage)
        crossbar = [i.text for i in instructions if re.match("ds_(b?permute|swizzle)", i.mnemonic)]
        if chip == "gfx950":
            self.assertEqual(crossbar, [])
        else:  # no permlane swap: only lane ^ 16 takes the crossbar, at a fixed pattern
            self.assertFalse([text for text in crossbar if "swizzle(SWAP,16)" not in text])

    @on_every_chip
    def test_nothing_is_spilled(self, chip, instructions):
        self.assertIn("; spills: 0 VGPRs, 0 SGPRs; scratch: 0 bytes a lane\n",
                      self.listings[chip])
        self.assertFalse([i.text for i in instructions if i.mnemonic.startswith("scratch_")])

    @on_every_chip
    def test_the_counts_are_those_of_the_listing(self, chip, instructions):
        lines = self.listings[chip].splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("; stage   "))
        classes = lines[head].split()[2:]
        rows = {row[1]: dict(zip(classes, map(int, row[-len(classes):])))
                for row in map(str.split, lines[head + 1:])}
        self.assertEqual(rows["total"]["all"], len(instructions))
        for stage in ("o", "reduce", "slice", "gate", "mix"):
            mine = [i for i in instructions if i.stage == stage]
            self.assertEqual(rows[stage]["all"], len(mine))
            self.assertEqual(rows[stage]["MFMA"], sum("mfma" in i.mnemonic for i in mine))
            self.assertEqual(rows[stage]["store"], sum("_store_" in i.mnemonic for i in mine))
            self.assertEqual(rows[stage]["LDS"], sum(i.mnemonic.startswith("ds_") for i in mine))

    def test_a_stage_alone_is_that_part_of_the_whole(self):
        whole = parse(self.listings["gfx950"])
        for stage in ("o", "gate"):
            alone = self.run_well("isa", KEY, "--arch", "gfx950", "--source", "--stage", stage)
            self.assertEqual([i.text for i in parse(alone)],
                             [i.text for i in whole if i.stage == stage])

    def test_a_file_reads_like_its_key(self):
        for chip in CHIPS:
            self.run_well("compile", KEY, "--arch", chip, "-o", "x.co")
            self.assertEqual(self.run_well("isa", "x.co", "--source", "--stats"),
                             self.listings[chip])

    def test_raw_assembles_to_the_same_code(self):
        for chip in CHIPS:
            with self.subTest(chip):
                self.run_well("compile", KEY, "--arch", chip, "-o", "x.co")
                (self.folder / "x.s").write_text(self.run_well("isa", "x.co", "--raw"))
                subprocess.run([os.environ["BATON_LLVM_MC"], "-triple=amdgcn-amd-amdhsa",
                                f"-mcpu={chip}", "-filetype=obj", "x.s", "-o", "x.o"],
                               cwd=self.folder, check=True)
                code = []
                for name in ("x.co", "x.o"):
                    subprocess.run([os.environ["BATON_OBJCOPY"], "-O", "binary",
                                    "--only-section=.text", name, "text"],
                                   cwd=self.folder, check=True)
                    code.append((self.folder / "text").read_bytes())
                self.assertEqual(code[0], code[1])
                self.assertGreater(len(code[0]), 4096)


if __name__ == "__main__":
    unittest.main()
