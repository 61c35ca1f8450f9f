"""docs/kda_pre.md and docs/checking.md say what is so."""

import json
import os
import re
import unittest
from pathlib import Path

from baton_tool import ToolTest
from examples import ExamplesTest

DOCS = Path(os.environ["BATON_DOCS"])
RULES = Path(os.environ["BATON_RULES"])
ACCESS = {"read": {"read"}, "write": {"written"}, "read_write": {"read and written"}}


def tables(document):
    """Each table of the document: a list of rows, without its head; a row is its cells."""
    found = [[]]
    for line in (DOCS / document).read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [table[2:] for table in found if table]


def names(cell):
    return re.findall("`(.*?)`", cell)


class KdaPre(ExamplesTest):
    def test_examples(self):
        self.check_examples(DOCS / "kda_pre.md", fewest=8)

    def arguments(self, fields):
        key = "kda_pre:" + fields
        self.run_well("compile", key, "--arch", "gfx950", "-o", "code.co")
        record = json.loads((self.folder / "code.co.json").read_text(encoding="utf-8"))
        return record["arguments"]

    def test_arguments(self):
        (table,) = tables("kda_pre.md")
        rows = [(name, *cells) for first, *cells in table for name in names(first)]
        sizes = {"S": 12, "R": 4}
        arguments = self.arguments("tokens=12,qlen=3,write_idx=8")
        self.assertEqual([row[0] for row in rows], [a["name"] for a in arguments])
        for (name, dtype, shape, access, _), argument in zip(rows, arguments):
            with self.subTest(name):
                if not dtype:  # the launch's own
                    continue
                self.assertEqual(dtype, argument["dtype"])
                if argument["kind"] == "buffer":
                    self.assertIn(access.split(", or ")[-1], ACCESS[argument["access"]])
                numbers = [sizes.get(size, size) for size in re.findall(r"\w+", shape)]
                if argument["shape"] or not shape.startswith("a file's shape: "):
                    self.assertEqual([int(size) for size in numbers], argument["shape"])

    def test_what_is_written_in_some_builds_only(self):
        access = {a["name"]: a["access"] for a in self.arguments("tokens=1,delta=0")}
        self.assertEqual((access["prefix"], access["blocks"]), ("read", "read"))


class Checking(ToolTest):
    def comparisons(self, key):
        shown = json.loads(self.run_well("run", key, "--arch", "gfx950", "--json"))
        return {(c["tensor"], c["rule"]) for c in shown["steps"][0]["comparisons"]}

    def test_the_rule_of_each_tensor(self):
        _, _, attn_post, kda_pre = tables("checking.md")
        runs = {"attn_post:tokens=1,nblocks=1,": ("two_shot=0", "two_shot=1,sent=ar"),
                "kda_pre:tokens=2,qlen=2,nblocks=1,": ("debug=1",)}
        for table, (key, variants) in zip((attn_post, kda_pre), runs.items()):
            written = {(tensor, rule) for tensors, cell, _ in table for tensor in names(tensors)
                       for rule in names(cell)}
            found = set().union(*(self.comparisons(key + variant) for variant in variants))
            self.assertEqual(written, found)

    def test_the_limit_of_each_rule(self):
        source = RULES.read_text(encoding="utf-8")
        limits = dict(re.findall(r"case Rule::(\w+):\s+return ([\de-]+);", source))
        _, rules, _, _ = tables("checking.md")
        written = {names(rule)[0]: re.findall(r"\d+e-\d+", cell) for rule, cell, _ in rules}
        ends = {"end to end": [limits.pop("end_to_end"), limits.pop("kda_end_to_end")],
                "exact": []}
        self.assertEqual(limits.pop("exact"), "0")
        self.assertEqual(written, ends | {rule.replace("_", " "): [limit]
                                          for rule, limit in limits.items()})


if __name__ == "__main__":
    unittest.main()
