"""`baton run --timeline`: the trace and the picture."""

import json
import re
import unittest
import xml.etree.ElementTree
from collections import Counter, defaultdict

from baton_tool import ToolTest, run

KEY = "attn_post:tokens=1,nblocks=1,timeline=1"
RANKS, WORKGROUPS, SLICES = 8, 256, 56
CHECK, USER = 1, 2
SVG = "{http://www.w3.org/2000/svg}"


class Timeline(ToolTest):
    def check_track(self, spans):
        """Each span begins behind the last one's end, or lies inside it."""
        around = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while around and around[-1] <= start:
                around.pop()
            if around:
                self.assertLessEqual(end, around[-1])
            around.append(end)

    def test_a_trace(self):
        self.run_well("run", KEY, "--arch", "gfx950", "--seed", 5, "--timeline", "t.json")
        trace = json.loads((self.folder / "t.json").read_text(encoding="utf-8"))
        self.assertTrue(trace["otherData"]["key"].startswith(KEY.split(",", maxsplit=1)[0]))
        self.assertEqual(trace["otherData"]["chip"], "gfx950")
        self.assertEqual(trace["otherData"]["clock"], "emulated clock, not hardware time")
        names, tracks = Counter(), defaultdict(list)
        for event in trace["traceEvents"]:
            where = (event["pid"], event["tid"])
            if event["ph"] == "M":
                what, number = {"process_name": ("rank", where[0]),
                                "thread_name": ("workgroup", where[1])}[event["name"]]
                self.assertEqual(event["args"], {"name": f"{what} {number}"})
                names[what] += 1
                continue
            self.assertEqual(set(event), {"ph", "name", "pid", "tid", "ts", "dur"})
            self.assertEqual(event["ph"], "X")
            self.assertGreaterEqual(event["dur"], 0)
            tracks[where].append((round(100 * event["ts"]),
                                  round(100 * (event["ts"] + event["dur"])), event["name"]))
        self.assertEqual(names, {"rank": RANKS, "workgroup": RANKS * WORKGROUPS})
        self.assertEqual(set(tracks), {(rank, workgroup) for rank in range(RANKS)
                                       for workgroup in range(WORKGROUPS)})
        for (_, workgroup), spans in tracks.items():
            stages = {"o": 1}
            if workgroup < SLICES:
                stages = {"slice": 2, "reduce": 1, "gate": 1, "mix": 1}
            self.assertEqual(Counter(name for _, _, name in spans), stages)
            self.check_track([span[:2] for span in spans])
        all_spans = [span for spans in tracks.values() for span in spans]
        self.assertEqual(min(start for start, _, _ in all_spans), 0)
        # A sum is there when all ranks have put their partials.
        last = {name: max(end for _, end, stage in all_spans if stage == name)
                for name in ("o", "reduce", "mix")}
        self.assertLess(last["o"], last["mix"])
        self.assertLess(last["reduce"], last["mix"])

    def test_a_picture(self):
        self.run_well("run", KEY, "--arch", "gfx942", "--timeline", "t.svg", "--steps", 2)
        picture = xml.etree.ElementTree.parse(self.folder / "t.svg").getroot()
        self.assertEqual(picture.tag, SVG + "svg")
        texts = [text.text for text in picture.iter(SVG + "text")]
        for rank in range(RANKS):
            self.assertIn(f"rank {rank}", texts)
        self.assertIn("8 ranks of gfx942, 256 workgroups each, a row a workgroup. Time: emulated "
                      "clock, not hardware time.", texts)
        for stage in ("o", "slice", "reduce", "gate", "mix"):
            self.assertTrue(any(text.startswith(f"{stage}: median ") for text in texts), stage)
        drawn = sum(len(re.findall("M", path.get("d"))) for path in picture.iter(SVG + "path")
                    if "h" in path.get("d"))
        self.assertEqual(drawn, RANKS * (WORKGROUPS - SLICES + 5 * SLICES))

    def test_an_absent_rank_has_no_stamps(self):
        more = ("--absent", 2, "--timeline", "t.json")
        done = run("run", KEY + ",diag=1", "--arch", "gfx950", *more, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (CHECK, ""))
        events = json.loads((self.folder / "t.json").read_text(encoding="utf-8"))["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in spans}, set(range(RANKS)) - {2})
        reduce = [event["dur"] for event in spans if event["name"] == "reduce"]
        self.assertGreaterEqual(min(reduce), 10e6)  # all of them wait 10 s

    def test_wrong_uses(self):
        chip = ("--arch", "gfx950", "--timeline")
        for name in ("t", "t.png", "t.json.gz", ".svg", ""):
            with self.subTest(name):
                named = f"--timeline '{name}': no known ending"
                self.refuse(USER, named, ["run", KEY, *chip, name], hint="FILE.json is a trace")
        unstamped = KEY.replace(",timeline=1", "")
        self.refuse(USER, "stamps no stages", ["run", unstamped, *chip, "t.svg"],
                    hint="add timeline=1 to the key")
        done = run("run", KEY, *chip, "nowhere/t.svg", cwd=self.folder)
        self.assertEqual(done.returncode, USER)
        self.assertIn("nowhere/t.svg", done.stderr)


if __name__ == "__main__":
    unittest.main()
