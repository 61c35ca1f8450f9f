"""`baton run`: what it reads, writes and refuses. tests/kernels says that the kernels are right."""

import json
import os
import pty
import re
import struct
import subprocess
import unittest

from baton_tool import BATON, ToolTest

KEY = "attn_post:tokens=1,nblocks=1"
RANKS = 8
USER = 2
HIDDEN = 7168


def read_tensors(path):
    """A safetensors file by hand: {name: (dtype, shape, bytes)}."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    body = data[8 + length :]
    return {
        name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def write_tensors(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        offsets = [len(body), len(body + data)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def inputs_of_zeros(**changed):
    """Tensors that fit KEY, all zero, but for those given by name; None leaves one out."""
    shapes = {
        "core": [1, 1536], "w_o": [HIDDEN, 1536], "prefix": [1, HIDDEN], "blocks": [1, 1, HIDDEN],
        "ares_nw": [HIDDEN], "ares_qk": [HIDDEN], "in_nw": [HIDDEN],
    }
    tensors = {}
    for name, shape in shapes.items():
        count = 1
        for size in shape:
            count *= size
        tensors[name] = ("BF16", shape, bytes(2 * count))
    tensors.update(changed)
    return {name: tensor for name, tensor in tensors.items() if tensor}


class Run(ToolTest):
    def run_key(self, *more):
        return self.run_well("run", KEY, "--arch", "gfx950", *more)

    def test_results_and_regions_are_written(self):
        folders = ("--outputs", "out", "--regions", "regions")
        report = json.loads(self.run_key("--seed", 3, *folders, "--json"))
        self.assertIs(report["right"], True)
        # A rank pushes a tagged pair of 8 bytes for every two columns to each other rank.
        links = report["emulator"]["stored_bytes"]
        self.assertEqual([links[i][j] for i in range(RANKS) for j in range(RANKS) if i != j],
                         [HIDDEN // 2 * 8] * (RANKS * (RANKS - 1)))
        (kernel,) = report["emulator"]["kernels"]
        stages = {stage["stage"]: stage["mfmas"] for stage in kernel["stages"]}
        self.assertEqual(set(stages), {"", "slice", "reduce", "gate", "mix", "o"})
        self.assertEqual({stage for stage, mfmas in stages.items() if mfmas}, {"o"})
        for rank in range(RANKS):
            outputs = read_tensors(self.folder / f"out/rank{rank}.safetensors")
            self.assertEqual(set(outputs), {"prefix", "x_out"})
            self.assertEqual(outputs["x_out"][:2], ("BF16", [1, HIDDEN]))
            self.assertEqual(outputs, read_tensors(self.folder / "out/rank0.safetensors"))
            regions = read_tensors(self.folder / f"regions/rank{rank}.safetensors")
            self.assertEqual(regions["ar"][:2], ("BF16", [RANKS, 1, HIDDEN]))
            self.assertEqual(regions["part"][:2], ("F32", [56, 1, 2, 2]))
            self.assertEqual(struct.unpack("<56i", regions["xrdy"][2]), (1,) * 56)

    def test_a_kernel_without_peers_runs_on_one_rank(self):
        key = ("kda_pre:tokens=1,nblocks=1", "--arch", "gfx950")
        shown = self.run_well("run", *key, "--ranks", 1, "--outputs", "out", "--regions", "regions")
        self.assertIn(" on 1 emulated rank of gfx950, step 0\n", shown)
        for folder in ("out", "regions"):
            self.assertEqual([path.name for path in (self.folder / folder).iterdir()],
                             ["rank0.safetensors"])
        self.assertIn("core_out", read_tensors(self.folder / "out/rank0.safetensors"))
        self.refuse_run("--ranks 8: kda_pre runs on 1 rank", *key, "--ranks", 8)
        self.refuse_run("--absent 1: the ranks of kda_pre are 0 .. 0", *key, "--absent", 1)
        self.refuse_run("--absent names every rank", *key, "--absent", 0)
        self.refuse_run("the rank is no number of 0 .. 0", *key, "--delay", "1:mix:5")

    def test_inputs_are_read(self):
        # Ones in core and 2^-10 in w_o: every partial is 1536 / 1024 = 1.5, delta is 8 x 1.5 = 12.
        inputs = inputs_of_zeros(core=("BF16", [1, 1536], b"\x80\x3f" * 1536),
                                 w_o=("BF16", [HIDDEN, 1536], b"\x80\x3a" * (HIDDEN * 1536)))
        write_tensors(self.folder / "common.safetensors", inputs)
        # Rank 5's own core is zero: it wins, and delta is 7 x 1.5 = 10.5 (0x4128).
        write_tensors(self.folder / "rank5.safetensors", {"core": inputs_of_zeros()["core"]})
        self.run_key("--inputs", ".", "--outputs", "out", "--steps", 2)
        prefix = read_tensors(self.folder / "out/rank2.safetensors")["prefix"][2]
        self.assertEqual(prefix, b"\xa8\x41" * HIDDEN)  # two steps: 21 (0x41A8)

    def refuse_run(self, named, *arguments):
        self.refuse(USER, named, ["run", *arguments])

    def test_wrong_inputs(self):
        key = (KEY, "--arch", "gfx950", "--inputs", ".")
        common = self.folder / "common.safetensors"
        self.refuse_run("nowhere is no folder", *key[:-1], "nowhere")
        self.refuse_run("tensor 'core' is missing for rank 0", *key)
        write_tensors(common, inputs_of_zeros(in_nw=None))
        self.refuse_run("tensor 'in_nw' is missing for rank 0", *key)
        write_tensors(common, inputs_of_zeros(prefix=("BF16", [2, HIDDEN], bytes(4 * HIDDEN))))
        self.refuse_run("'prefix' of rank 0 is bf16 [2, 7168], expected bf16 [1, 7168]", *key)
        write_tensors(common, inputs_of_zeros(ares_qk=("F32", [HIDDEN], bytes(4 * HIDDEN))))
        self.refuse_run("tensor 'ares_qk' of rank 0 is f32 [7168], expected bf16 [7168]", *key)
        write_tensors(common, inputs_of_zeros())
        common.write_bytes(common.read_bytes()[:-1])
        self.refuse_run("common.safetensors", *key)
        common.write_bytes(b"no tensors")
        self.refuse_run("common.safetensors", *key)

    def test_wrong_words(self):
        self.refuse_run("--arch", KEY)
        self.refuse_run("--steps", KEY, "--arch", "gfx950", "--steps", 0)
        self.refuse_run("--threads", KEY, "--arch", "gfx950", "--threads", "many")
        chip = ("--arch", "gfx950")
        self.refuse_run("--ranks 4: attn_post runs on 8 ranks", KEY, *chip, "--ranks", 4)
        self.refuse_run("--mfma knows no 'fast'", KEY, *chip, "--mfma", "fast")
        same = ("--outputs", "same", "--regions", "same")
        self.refuse_run("--outputs and --regions both name same", KEY, *chip, *same)
        for other in ("./same", "same/", "../%s/same" % self.folder.name):
            self.refuse_run("--outputs and --regions both name same", KEY, *chip, "--outputs",
                            "same", "--regions", other)
        self.refuse_run("--seed: '-1' is no whole number", KEY, *chip, "--seed", -1)
        self.refuse_run("--layer", KEY, "--arch", "gfx950", "--layer", 93)
        self.refuse_run("unknown chip 'gfx1100'", KEY, "--arch", "gfx1100")

    def test_outputs_are_checked_before_the_run(self):
        (self.folder / "file").write_text("kept")
        key = (KEY + ",timeline=1", "--arch", "gfx950", "--steps", 1000)  # would take an hour
        (self.folder / "folder.json").mkdir()
        for flag, path, named in [
            ("--outputs", "no/out", "there is no folder 'no'"),
            ("--outputs", "file", "it is no folder"),
            ("--regions", "file/out", "there is no folder 'file'"),
            ("--timeline", "no/x.svg", "there is no folder 'no'"),
            ("--timeline", "folder.json", "it is a folder"),
        ]:
            with self.subTest(path):
                self.refuse_run(f"{flag} '{path}': {named}", *key, flag, path)

    def test_a_rank_that_lags(self):
        outputs = []
        for more in ([], ["--delay", "3:o:50000"], ["--delay", "0:mix:9000", "--delay", "5:o:1"]):
            self.run_key("--seed", 3, "--outputs", "out", *more)
            outputs.append((self.folder / "out/rank0.safetensors").read_bytes())
        self.assertEqual(outputs, outputs[:1] * 3)
        for text, named in [("3", "two colons"), ("3:o", "two colons"), ("8:o:1", "the rank"),
                            ("x:o:1", "the rank"), ("-1:o:1", "the rank"), ("3::1", "the stage"),
                            ("3:o:many", "the cycles"), ("3:oo:1", "'oo'"),
                            (f"3:o:{2**63}", "at most")]:
            with self.subTest(text):
                self.refuse_run(named, KEY, "--arch", "gfx950", "--delay", text)

    def test_progress_on_a_terminal(self):
        """A line in place after a second, taken away before anything else is printed."""
        terminal, end = pty.openpty()
        arguments = ("attn_post:tokens=8,nblocks=8", "--arch", "gfx950", "--steps", "2")
        with subprocess.Popen([BATON, "run", *arguments], stdout=subprocess.DEVNULL, stderr=end,
                              env={**os.environ, "TERM": "xterm"}) as process:
            os.close(end)
            shown = b""
            try:
                while data := os.read(terminal, 4096):
                    shown += data
            except OSError:  # the other end is closed
                pass
        os.close(terminal)
        self.assertEqual(process.returncode, 0)
        erase = b"\r\x1b[K"
        self.assertTrue(shown.endswith(erase), shown)
        lines = shown.split(erase)
        self.assertTrue(any(re.fullmatch(rb"step 1 of 2: run and compare, \d s", line)
                            for line in lines), lines)
        self.assertNotIn(b"\n", shown)

    def test_code_of_another_key(self):
        self.run_well("compile", KEY, "--arch", "gfx950", "-o", "one.co")
        self.run_key("--code", "one.co")
        code = ("--arch", "gfx950", "--code", "one.co")
        self.refuse_run("was built for", "attn_post:tokens=2,nblocks=1", *code)
        self.refuse(USER, "one.co is for gfx950, not for gfx942",
                    ["run", KEY, "--arch", "gfx942", "--code", "one.co"], "give --arch gfx950")
        (self.folder / "one.co.json").unlink()
        self.refuse_run("has no record beside it", KEY, *code)


if __name__ == "__main__":
    unittest.main()
