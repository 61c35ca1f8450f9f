"""What compile, keys and info make: the same bytes everywhere, in files that are whole."""

import hashlib
import json
import os
import pty
import re
import subprocess
import unittest

from baton_tool import BATON, CHIPS, KEY, ToolTest, run

FULL_KEY = ("attn_post:tokens=8,nblocks=8,eps=1e-05,out_eps=1e-05,two_shot=0,sent=none,reset=0,"
            "timeline=0,diag=0")
PHASES = ["trace", "passes", "translate", "optimise", "emit", "link", "check"]
# The kind, the phases that a compile up to it goes through, and what its file begins with.
TEXTS = {"asm": b"\t.amdgcn_target", "llvm": b"; ModuleID", "mlir": b"#", "baton": b"#"}


class Determinism(ToolTest):
    def test_another_folder_and_environment_give_the_same_bytes(self):
        elsewhere = self.folder / "else where"
        elsewhere.mkdir()
        other = {"PATH": "/usr/bin", "HOME": "/nowhere", "TMPDIR": str(elsewhere), "LANG": "C",
                 "TZ": "Asia/Tokyo", "MALLOC_PERTURB_": "165", "SOURCE_DATE_EPOCH": "1"}
        for chip in CHIPS:
            self.run_well("compile", KEY, "--arch", chip, "-o", "here.co")
            self.run_well("compile", KEY, "--arch", chip, "-o", "there.co",
                          cwd=elsewhere, env=other)
            for suffix in ("co", "co.json"):
                with self.subTest(chip=chip, suffix=suffix):
                    here = (self.folder / f"here.{suffix}").read_bytes()
                    self.assertEqual(here, (elsewhere / f"there.{suffix}").read_bytes())
                    self.assertNotIn(os.fsencode(self.folder), here)

    def test_every_kind_is_the_same_twice(self):
        for emit in ("obj", *TEXTS):
            with self.subTest(emit):
                for name in ("a", "b"):
                    self.run_well("compile", KEY, "--arch", "gfx950", "--emit", emit, "-o", name)
                first = (self.folder / "a").read_bytes()
                self.assertEqual(first, (self.folder / "b").read_bytes())
                self.assertTrue(first.startswith(TEXTS.get(emit, b"\x7fELF")), first[:40])
                if emit in TEXTS:
                    printed = self.run_well("compile", KEY, "--arch", "gfx950", "--emit", emit)
                    self.assertEqual(printed, first.decode())

    def test_one_key_spelt_in_many_ways_is_one_code_object(self):
        for number, key in enumerate(
            [FULL_KEY, "attn_post", "attn_post:nblocks=8,tokens=8", "attn_post:eps=0.00001"]
        ):
            with self.subTest(key):
                self.run_well("compile", key, "--arch", "gfx950", "-o", f"{number}.co")
                for suffix in ("co", "co.json"):
                    self.assertEqual((self.folder / f"{number}.{suffix}").read_bytes(),
                                     (self.folder / f"0.{suffix}").read_bytes())


class Products(ToolTest):
    def test_a_code_object_and_its_record(self):
        line = self.run_well("compile", KEY, "--arch", "gfx950", "-o", "x.co")
        self.assertRegex(line, r"^x\.co: \d+ bytes for gfx950; \d+ VGPRs, .*\n$")
        self.assertEqual(sorted(os.listdir(self.folder)), ["x.co", "x.co.json"])
        record = json.loads((self.folder / "x.co.json").read_text(encoding="utf-8"))
        code = (self.folder / "x.co").read_bytes()
        self.assertEqual(record["sha256"], hashlib.sha256(code).hexdigest())
        self.assertEqual((record["key"], record["chip"]), (FULL_KEY, "gfx950"))
        arguments = ("core w_o prefix blocks blk_sm blk_sr ares_nw ares_qk in_nw x_out scratch "
                     "peers rank epoch layer diag tl").split()
        self.assertEqual([argument["name"] for argument in record["arguments"]], arguments)
        self.assertEqual([region["name"] for region in record["regions"]],
                         ["ar", "part", "wgt", "msq", "xrdy"])
        self.assertEqual(set(record["stages"]), {"o", "reduce", "slice", "gate", "mix"})

    def test_info_shows_the_record_of_a_file_and_of_a_key(self):
        self.run_well("compile", KEY, "--arch", "gfx942", "-o", "x.co")
        record = (self.folder / "x.co.json").read_text(encoding="utf-8")
        self.assertEqual(self.run_well("info", "x.co"), record)
        self.assertEqual(self.run_well("info", "x.co", "--arch", "gfx942"), record)
        self.assertEqual(self.run_well("info", KEY, "--arch", "gfx942"), record)

    def compile_foreign(self, source):
        """A code object that Baton did not make, for gfx90a: foreign.co."""
        (self.folder / "f.c").write_text(source)
        subprocess.run([os.environ["BATON_CLANG"], "-O2", "-target", "amdgcn-amd-amdhsa",
                        "-nogpulib", "-mcpu=gfx90a", "f.c", "-o", "foreign.co"],
                       cwd=self.folder, check=True)

    def test_info_of_a_foreign_code_object(self):
        self.compile_foreign(
            "__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 64)))\n"
            "void twice(__attribute__((address_space(1))) float* p, int i) { p[i] *= 2; }\n")
        info = json.loads(self.run_well("info", "foreign.co"))
        self.assertEqual((info["chip"], len(info["kernels"])), ("gfx90a", 1))
        kernel = info["kernels"][0]
        self.assertEqual(kernel["kernel"], "twice")
        self.assertEqual(kernel["resources"]["workgroup_lanes"], 64)
        pointer, index = kernel["arguments"][:2]
        self.assertEqual((pointer["kind"], pointer["offset"], pointer["size"]),
                         ("global_buffer", 0, 8))
        self.assertEqual((index["kind"], index["offset"], index["size"]), ("by_value", 8, 4))

    def test_isa_of_a_code_object_with_two_kernels(self):
        self.compile_foreign("__attribute__((amdgpu_kernel)) void first(void) {}\n"
                             "__attribute__((amdgpu_kernel)) void second(void) {}\n")
        listing = self.run_well("isa", "foreign.co")
        self.assertEqual(re.findall("(?m)^; kernel (.*)$", listing),
                         ["first for gfx90a", "second for gfx90a"])
        self.assertEqual(listing.count("s_endpgm"), 2)
        raw = run("isa", "foreign.co", "--raw", cwd=self.folder)
        self.assertEqual((raw.returncode, raw.stdout), (2, ""))
        self.assertIn("error: --raw prints one kernel, foreign.co holds 2\n"
                      "hint: --kernel NAME: 'first', 'second'\n", raw.stderr)
        second = self.run_well("isa", "foreign.co", "--kernel", "second")
        self.assertEqual(re.findall("(?m)^; kernel (.*)$", second), ["second for gfx90a"])
        raw = self.run_well("isa", "foreign.co", "--kernel", "second", "--raw")
        self.assertRegex(raw, r"(?m)^second:$")
        self.assertNotRegex(raw, r"(?m)^first:$")
        self.refuse(2, "no kernel 'third'", ["isa", "foreign.co", "--kernel", "third"],
                    hint="its kernels: 'first', 'second'")

    def test_a_code_object_for_another_gpu(self):
        self.compile_foreign("__attribute__((amdgpu_kernel)) void first(void) {}\n")
        image = bytearray((self.folder / "foreign.co").read_bytes())
        image[48] = 0x41  # e_flags: gfx1100
        (self.folder / "foreign.co").write_bytes(image)
        self.refuse(2, "unknown chip number 0x041", ["info", "foreign.co"],
                    hint="built for a GPU that Baton does not know")

    def test_isa_of_a_code_object_without_kernels(self):
        self.compile_foreign("int helper(int i) { return i; }\n")
        self.assertEqual(json.loads(self.run_well("info", "foreign.co"))["kernels"], [])
        done = run("isa", "foreign.co", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("error: foreign.co holds no kernel\nhint: "))

    def test_json_tells_of_each_key(self):
        keys = ["attn_post:tokens=1", "attn_post:tokens=2", "attn_post:tokens=1,nblocks=8"]
        results = json.loads(
            self.run_well("compile", *keys, "--arch", "gfx950", "-o", self.folder, "--json"))
        self.assertEqual([r["key"].split(",")[0] for r in results],
                         ["attn_post:tokens=1", "attn_post:tokens=2"], "one key stands twice")
        for result in results:
            self.assertEqual(list(result["times_ms"]), PHASES)
            self.assertTrue(all(time > 0 for time in result["times_ms"].values()))
            self.assertEqual(result["remarks"], [])
            with open(result["path"], "rb") as code:
                self.assertEqual(result["sha256"], hashlib.sha256(code.read()).hexdigest())
            with open(result["record"], encoding="utf-8") as text:
                self.assertEqual(json.load(text)["key"], result["key"])
        names = {os.path.basename(result["path"]) for result in results}
        self.assertEqual(len(os.listdir(self.folder)), 2 * len(names))

    def test_without_o_the_files_are_named_after_key_and_chip(self):
        self.run_well("compile", KEY, "--arch", "gfx90a")
        name = ("attn_post.tokens-8.nblocks-8.eps-1e-05.out_eps-1e-05.two_shot-0.sent-none.reset-0."
                "timeline-0.diag-0.gfx90a.co")
        self.assertEqual(sorted(os.listdir(self.folder)), [name, name + ".json"])

    def test_a_pipe_gets_the_bytes_alone(self):
        self.run_well("compile", KEY, "--arch", "gfx950", "-o", "x.co")
        script = f'"{BATON}" compile {KEY} --arch gfx950 -o /dev/fd/3 3>&1 >/dev/null | cat'
        piped = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
        self.assertEqual(piped.stdout, (self.folder / "x.co").read_bytes())

    def test_keys_lists_every_field(self):
        listed = json.loads(self.run_well("keys", "--json"))
        kernels = {family["kernel"]: {field["name"]: field for field in family["fields"]}
                   for family in listed}
        self.assertEqual(list(kernels), ["attn_post", "kda_pre"])
        fields = kernels["attn_post"]
        self.assertEqual((fields["nblocks"]["min"], fields["nblocks"]["max"]), (1, 8))
        self.assertEqual(fields["tokens"]["default"], 8)
        self.assertEqual(kernels["kda_pre"]["state_len"]["default"], "auto")
        self.assertEqual(kernels["kda_pre"]["lower_bound"]["max"], 0)
        for kernel, fields in kernels.items():
            text = self.run_well("keys", kernel)
            for name, field in fields.items():
                self.assertRegex(text, rf"(?m)^  {name} +{re.escape(field['range'])} .* "
                                       rf"{re.escape(field['meaning'])}$")


class Terminal(ToolTest):
    def on_a_terminal(self, **environment):
        """What `isa` prints when its standard output is a terminal."""
        master, slave = pty.openpty()
        tool = subprocess.Popen(
            [BATON, "isa", KEY, "--arch", "gfx950"], stdout=slave, stderr=subprocess.PIPE,
            env={"PATH": "/usr/bin", **environment})
        os.close(slave)
        chunks = []
        try:
            while chunk := os.read(master, 65536):
                chunks.append(chunk)
        except OSError:  # how a terminal without writers ends
            pass
        os.close(master)
        self.assertEqual(tool.stderr.read(), b"")
        tool.stderr.close()
        self.assertEqual(tool.wait(), 0)
        return b"".join(chunks).replace(b"\r\n", b"\n")

    def test_colour_is_for_terminals_that_want_it(self):
        plain = self.run_well("isa", KEY, "--arch", "gfx950", text=False)
        self.assertNotIn(b"\x1b", plain)
        coloured = self.on_a_terminal(TERM="xterm")
        self.assertIn(b"\x1b[", coloured)
        self.assertEqual(self.on_a_terminal(TERM="xterm", NO_COLOR="1"), plain)
        self.assertEqual(self.on_a_terminal(TERM="dumb"), plain)

    def test_a_reader_that_stops_early_is_no_error(self):
        tool = subprocess.Popen([BATON, "isa", KEY, "--arch", "gfx950", "--source"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(tool.stdout.readline().startswith(b"; kernel attn_post"))
        tool.stdout.close()
        self.assertEqual((tool.stderr.read(), tool.wait()), (b"", 0))
        tool.stderr.close()

    def test_help_is_everywhere_and_has_examples(self):
        for command in ([], ["keys"], ["compile"], ["isa"], ["info"]):
            for flag in ("-h", "--help"):
                with self.subTest(command=command, flag=flag):
                    done = run(*command, flag)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn("Usage: baton", done.stdout)
                    self.assertIn("Examples:\n  baton ", done.stdout)


if __name__ == "__main__":
    unittest.main()
