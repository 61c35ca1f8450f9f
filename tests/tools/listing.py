"""Reads a listing of `baton isa --source`, and what the instruction sets spell differently."""

import re
from dataclasses import dataclass

from baton_tool import CHIPS, ToolTest, run

# The policy bits by chip: a store or load that other GPUs see, one that other CTAs see, and data
# that is read once. The names are the instruction set's: gfx90a has glc and slc.
SYSTEM = {"gfx950": {"sc0", "sc1"}, "gfx942": {"sc0", "sc1"}, "gfx90a": {"glc", "slc"}}
DEVICE = {"gfx950": {"sc1"}, "gfx942": {"sc1"}, "gfx90a": {"glc"}}
STREAM = {"gfx950": {"nt"}, "gfx942": {"nt"}, "gfx90a": {"slc"}}
POLICY_BITS = {"sc0", "sc1", "nt", "glc", "slc", "scc"}

# A 16 x 16 x 32 step is one instruction on gfx950, two of 16 x 16 x 16 on the others.
MFMA = {
    "gfx950": ("v_mfma_f32_16x16x32_bf16", 1),
    "gfx942": ("v_mfma_f32_16x16x16_bf16", 2),
    "gfx90a": ("v_mfma_f32_16x16x16bf16_1k", 2),
}


@dataclass(eq=False)  # an instruction is itself, whatever another one's text
class Instruction:
    text: str
    stage: str
    labels: list
    handoff: str
    source: str

    @property
    def mnemonic(self):
        return self.text.split()[0]

    @property
    def policy(self):
        return POLICY_BITS & set(self.text.split())


def parse(listing):
    """The instructions of a listing with sources, in the order of their addresses."""
    stage, source, labels, instructions = None, "", [], []
    for line in listing.splitlines():
        if found := re.fullmatch(r"; ---- (?:stage )?(.+) ----", line):
            stage, source = found[1], ""
        elif found := re.fullmatch(r"; \S+:\d+: (.*)", line):
            source = found[1]
        elif found := re.fullmatch(r"(L\d+):", line):
            labels.append(found[1])
        elif found := re.fullmatch(r" +[0-9a-f]+  (.+?)(?: +; (.+))?", line):
            instructions.append(Instruction(found[1], stage, labels, found[2] or "", source))
            labels = []
    return instructions


def successors(instructions):
    """For each instruction the indices of those that may run next."""
    starts = {label: i for i, one in enumerate(instructions) for label in one.labels}
    edges = []
    for at, one in enumerate(instructions):
        words = one.text.split()
        edges.append([])
        if words[0] not in ("s_branch", "s_endpgm"):
            edges[-1].append(at + 1)
        if words[0].startswith(("s_branch", "s_cbranch")):
            edges[-1].append(starts[words[1]])
    return edges


def reachable(edges, start):
    seen, waiting = set(), list(edges[start])
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting.extend(edges[at])
    return seen


def loop_around(edges, at):
    """The indices of what runs again and again together with `at`; empty when it runs once."""
    return sorted(i for i in reachable(edges, at) if at in reachable(edges, i))


def shortest_loop(edges, at):
    """The indices of the shortest way from `at` back to it; empty when it runs once."""
    before, waiting = {at: None}, [at]
    for here in waiting:
        for next_one in edges[here]:
            if next_one == at:
                way = []
                while here is not None:
                    way.append(here)
                    here = before[here]
                return way[::-1]
            if next_one not in before:
                before[next_one] = here
                waiting.append(next_one)
    return []


def on_every_chip(test):
    """Runs test(self, chip, instructions) for each chip."""

    def run_all(self):
        for chip in CHIPS:
            with self.subTest(chip):
                test(self, chip, parse(self.listings[chip]))

    return run_all


class ListingTest(ToolTest):
    """Tests that read the listings of the build `key`, which compiles without a remark."""

    key = None
    listings = {}

    @classmethod
    def setUpClass(cls):
        cls.listings = {}
        for chip in CHIPS:
            done = run("isa", cls.key, "--arch", chip, "--source", "--stats")
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            cls.listings[chip] = done.stdout
