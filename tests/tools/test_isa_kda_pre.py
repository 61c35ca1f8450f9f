"""What a reviewer must find in kda_pre's instructions, read off the listing, on every chip."""

import re
import unittest

from listing import (DEVICE, MFMA, STREAM, ListingTest, on_every_chip, shortest_loop,
                     successors)

# One tile of tokens, four tasks a CTA: every stage is there, and the loop over tasks.
KEY = "kda_pre:tokens=8,qlen=1,nblocks=8"
# A wave has 7 chunks of a row group of in_proj, each of 4 MFMA steps, and a CTA two groups.
CHUNKS, STEPS, GROUPS = 7, 4, 2
GROUP_LOADS = CHUNKS * STEPS
TASK_STAGES = ("conv", "gates", "recurrence", "norm")


class Isa(ListingTest):
    key = KEY

    @on_every_chip
    def test_the_mfmas_stand_in_in_proj_and_gates(self, chip, instructions):
        mnemonic, count = MFMA[chip]
        mfmas = [i for i in instructions if "mfma" in i.mnemonic]
        self.assertEqual({i.mnemonic for i in mfmas}, {mnemonic})
        self.assertEqual(sum(i.stage == "in_proj" for i in mfmas), GROUPS * GROUP_LOADS * count)
        self.assertEqual(sum(i.stage == "gates" for i in mfmas), STEPS * count)
        self.assertEqual(len(mfmas), (GROUPS * GROUP_LOADS + STEPS) * count)

    @on_every_chip
    def test_weights_are_streamed_in_16_byte_loads(self, chip, instructions):
        weights = [i for i in instructions if "load" in i.mnemonic and "weights.load" in i.source]
        self.assertEqual(len(weights), GROUPS * GROUP_LOADS)
        for load in weights:
            self.assertEqual(load.mnemonic, "buffer_load_dwordx4")
            self.assertEqual((load.policy, load.stage), (STREAM[chip], "in_proj"))

    @on_every_chip
    def test_the_first_groups_weights_are_in_flight_before_the_first_poll(self, _, instructions):
        stage = [i for i in instructions if i.stage == "in_proj"]
        polls = [at for at, one in enumerate(stage) if one.handoff == "poll xrdy"]
        before = stage[:polls[0]]
        weights = [i for i in before if "weights.load" in i.source and "load" in i.mnemonic]
        self.assertEqual(len(weights), GROUP_LOADS)
        first, last = stage.index(weights[0]), stage.index(weights[-1])
        self.assertFalse([i.text for i in stage[first:last]
                          if "branch" in i.mnemonic or i.labels or "vmcnt" in i.text])

    @on_every_chip
    def test_a_tasks_loads_stand_before_its_polls(self, _, instructions):
        for at, one in enumerate(instructions):
            if one.stage in TASK_STAGES and re.match("buffer_load|global_load", one.mnemonic):
                self.assertTrue(one.handoff.startswith("poll "), f"{at}: {one.text}")
        loads = [i for i in instructions if i.stage == "prefetch" and "_load_" in i.mnemonic]
        self.assertIn("buffer_load_ushort", {i.mnemonic for i in loads})  # the conv window

    @on_every_chip
    def test_puts_are_single_stores_that_other_ctas_see(self, chip, instructions):
        for region in ("part", "wgt", "msq", "proj", "qk", "onrm"):
            puts = [i for i in instructions if i.handoff == f"put {region}"]
            self.assertTrue(puts, region)
            for put in puts:
                self.assertRegex(put.mnemonic, r"^(buffer|global)_store_dwordx[24]$")
                self.assertEqual(put.policy, DEVICE[chip])

    @on_every_chip
    def test_rows_behind_a_flag_are_stored_and_loaded_where_other_ctas_see(self, chip,
                                                                          instructions):
        for access in ("store", "load"):
            rows = [i for i in instructions if f"_{access}_dword" in i.mnemonic
                    and f"tensors_.x.{access}" in i.source]
            self.assertTrue(rows, access)
            for one in rows:
                self.assertEqual(one.policy, DEVICE[chip], one.text)

    @on_every_chip
    def test_every_poll_loads_inside_its_loop(self, chip, instructions):
        edges = successors(instructions)
        positions = {one: at for at, one in enumerate(instructions)}
        polls = [i for i in instructions if i.handoff.startswith("poll ")
                 and "_load_" in i.mnemonic]
        regions = ("part", "wgt", "msq", "xrdy", "proj", "onrm")
        self.assertEqual({i.handoff for i in polls}, {f"poll {name}" for name in regions})
        for poll in polls:
            # Of a flag nothing but its tag is used.
            words = "" if poll.handoff == "poll xrdy" else "x[24]"
            self.assertRegex(poll.mnemonic, rf"^(buffer|global)_load_dword{words}$")
            self.assertEqual(poll.policy, DEVICE[chip])
            loop = [instructions[i] for i in shortest_loop(edges, positions[poll])]
            self.assertIn("s_sleep 1", [i.text for i in loop], poll.text)
            self.assertEqual({i.handoff for i in loop if "_load_" in i.mnemonic}, {poll.handoff})

    @on_every_chip
    def test_nothing_is_spilled(self, chip, instructions):
        self.assertIn("; spills: 0 VGPRs, 0 SGPRs; scratch: 0 bytes a lane\n",
                      self.listings[chip])
        self.assertFalse([i.text for i in instructions if i.mnemonic.startswith("scratch_")])


class Speculation(ListingTest):
    """A request of several tokens."""

    key = "kda_pre:tokens=8,qlen=4,nblocks=1"

    @on_every_chip
    def test_the_slots_of_all_tokens_are_read_before_the_first_state_is_stored(self, _,
                                                                               instructions):
        stage = [i for i in instructions if i.stage == "recurrence"]
        stores = [at for at, one in enumerate(stage) if "_store_dwordx4" in one.mnemonic]
        self.assertEqual(len(stores), 4)
        behind = stage[stores[0]:]
        self.assertEqual([i.text for i in behind if i.mnemonic.startswith("s_load")], [])


if __name__ == "__main__":
    unittest.main()
