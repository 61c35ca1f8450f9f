"""--backend comgr with the machine's libamd_comgr: the same kernels as LLD links, or a clear no."""

import json
import os
import subprocess
import tempfile
import unittest

from baton_tool import ToolTest, run, snapshot

ENVIRONMENT = 3
CHIP = ("--arch", "gfx90a")
COMGR = ("--backend", "comgr")
KEYS = {"attn_post": "attn_post:tokens=1,nblocks=1", "kda_pre": "kda_pre:tokens=2,nblocks=1"}
TITLE = "comgr 2.4 (libamd_comgr.so.2)"
KNOWN = "this one knows gfx600, gfx601"


def without_decoder(listing):
    """The listing's lines, and those of them that name who disassembled it."""
    lines = listing.splitlines()
    named = [line for line in lines if line.startswith("; disassembled by ")]
    return [line for line in lines if line not in named], named


class Comgr(ToolTest):
    """The folder of each test holds both keys by both backends: attn_post.lld.co, ..."""

    products = {}

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="baton-test-") as folder:
            for name, key in KEYS.items():
                for backend in ("lld", "comgr"):
                    done = run("compile", key, *CHIP, "--backend", backend, "-o",
                               f"{name}.{backend}.co", cwd=folder)
                    assert (done.returncode, done.stderr) == (0, ""), done.stderr
            cls.products = snapshot(folder)

    def setUp(self):
        super().setUp()
        for name, content in self.products.items():
            (self.folder / name).write_bytes(content)

    def section(self, file, name):
        subprocess.run([os.environ["BATON_OBJCOPY"], f"--dump-section={name}=section", file,
                        "/dev/null"], cwd=self.folder, check=True)
        return (self.folder / "section").read_bytes()

    def read(self, name):
        return (self.folder / name).read_bytes()

    def test_the_same_code_descriptor_metadata_and_record(self):
        for name, key in KEYS.items():
            by_lld, by_comgr = f"{name}.lld.co", f"{name}.comgr.co"
            for section in (".text", ".rodata", ".note"):
                with self.subTest(name=name, section=section):
                    bytes_of = self.section(by_lld, section)
                    self.assertGreater(len(bytes_of), 0)
                    self.assertEqual(bytes_of, self.section(by_comgr, section))
            self.assertIn(b"LLD 22", self.section(by_lld, ".comment"))
            self.assertIn(b"LLD 15", self.section(by_comgr, ".comment"))
            records = [json.loads(self.read(f"{file}.json")) for file in (by_lld, by_comgr)]
            self.assertNotEqual(records[0].pop("sha256"), records[1].pop("sha256"))
            self.assertEqual(*records)
            self.run_well("compile", key, *CHIP, *COMGR, "-o", "again.co")
            self.assertEqual(self.read("again.co"), self.read(by_comgr))

    def test_the_same_instructions(self):
        for name in KEYS:
            for flags in (["--source", "--stats"], ["--raw"]):
                with self.subTest(name=name, flags=flags):
                    own = self.run_well("isa", f"{name}.lld.co", *flags)
                    for code in (f"{name}.lld.co", f"{name}.comgr.co"):
                        read = self.run_well("isa", code, *flags, *COMGR)
                        lines, named = without_decoder(read)
                        self.assertEqual(lines, own.splitlines())
                        self.assertEqual(named, [] if "--raw" in flags else
                                         [f"; disassembled by {TITLE}"])

    def test_isa_of_a_key(self):
        lines, named = without_decoder(self.run_well("isa", KEYS["attn_post"], *CHIP, *COMGR))
        self.assertEqual(lines, self.run_well("isa", "attn_post.lld.co").splitlines())
        self.assertEqual(len(named), 1)

    def test_info_shows_what_comgr_reads(self):
        for name, key in KEYS.items():
            (self.folder / "bare.co").write_bytes(self.read(f"{name}.comgr.co"))  # no record
            own = json.loads(self.run_well("info", "bare.co"))
            self.assertGreater(len(own["kernels"][0]["arguments"]), 10)
            for code in (["bare.co"], [f"{name}.comgr.co"], [key, *CHIP]):
                with self.subTest(code):
                    read = json.loads(self.run_well("info", *code, *COMGR))
                    self.assertEqual(read.pop("metadata_by"), TITLE)
                    self.assertEqual(read, own)

    def test_it_runs(self):
        for name, key in KEYS.items():
            with self.subTest(name):
                done = run("run", key, *CHIP, "--code", f"{name}.comgr.co", cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"(?m)^(\d+) of \1 comparisons right, ")


class Foreign(ToolTest):
    """Code objects that Baton did not make."""

    # Its metadata has a text, a flag, a number or a list of each kind.
    ANNOTATED = """
        typedef float f4 __attribute__((ext_vector_type(4)));
        struct Pair { int a; char b; };
        __kernel __attribute__((reqd_work_group_size(64, 1, 1))) __attribute__((vec_type_hint(f4)))
        void first(__global const volatile float* restrict a, __constant int* b, __local int* c,
                   struct Pair pair, f4 v, __read_only image2d_t image, __global int* out) {
          out[0] = a[0] + b[0] + c[0] + pair.a + v.x;
        }
        __kernel void second(int i) {}
    """

    def test_every_version_and_field(self):
        (self.folder / "f.cl").write_text(self.ANNOTATED)
        for version in (4, 5, 6):
            subprocess.run([os.environ["BATON_CLANG"], "-cl-std=CL2.0", "-cl-kernel-arg-info",
                            "-O2", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-mcpu=gfx90a",
                            f"-mcode-object-version={version}", "f.cl", "-o", "f.co"],
                           cwd=self.folder, check=True)
            with self.subTest(version):
                own = json.loads(self.run_well("info", "f.co"))
                read = json.loads(self.run_well("info", "f.co", *COMGR))
                self.assertEqual(read.pop("metadata_by"), TITLE)
                self.assertEqual([kernel["kernel"] for kernel in read["kernels"]],
                                 ["first", "second"])
                self.assertEqual(read, own)
                lines, named = without_decoder(self.run_well("isa", "f.co", *COMGR))
                self.assertEqual(lines, self.run_well("isa", "f.co").splitlines())
                self.assertEqual(len(named), 2)


class Refusals(ToolTest):
    def test_chips_that_it_does_not_know(self):
        for chip in ("gfx950", "gfx942"):
            self.run_well("compile", KEYS["attn_post"], "--arch", chip, "-o", f"{chip}.co")
            arch = ("--arch", chip)
            for arguments in (["compile", KEYS["attn_post"], *arch],
                              ["compile", "no_such_kernel", *arch],  # asked before all else
                              ["isa", KEYS["kda_pre"], *arch], ["isa", f"{chip}.co"],
                              ["info", KEYS["kda_pre"], *arch], ["info", f"{chip}.co"]):
                with self.subTest(arguments):
                    error = self.refuse(ENVIRONMENT, "", [*arguments, *COMGR], KNOWN)
                    self.assertEqual(error, f"error: {TITLE} does not know {chip}")

    def test_a_library_that_is_none(self):
        self.run_well("compile", KEYS["attn_post"], *CHIP, "-o", "x.co")
        for library, named in [("/nonexistent", "cannot open BATON_COMGR_LIBRARY: /nonexistent: "),
                               ("libm.so.6", "libm.so.6 has no function amd_comgr_")]:
            environment = {**os.environ, "BATON_COMGR_LIBRARY": library}
            for arguments in (["compile", KEYS["attn_post"], *CHIP], ["isa", "x.co"],
                              ["info", "x.co"], ["isa", KEYS["kda_pre"], *CHIP]):
                with self.subTest(library=library, arguments=arguments):
                    self.refuse(ENVIRONMENT, named, [*arguments, *COMGR], "libamd-comgr2",
                                env=environment)
            self.run_well("isa", "x.co", env=environment)  # nobody asks for it

    def test_a_library_that_misreads_or_crashes(self):
        for fault, named in [("vgpr_count", "otherwise than Baton: amdhsa.kernels/0/.vgpr_count"),
                             ("crash", "crashed: Killed")]:
            with self.subTest(fault):
                environment = {**os.environ, "BATON_STANDIN_COMGR": fault,
                               "BATON_COMGR_LIBRARY": os.environ["BATON_COMGR_STANDIN"]}
                self.refuse(1, named, ["compile", KEYS["attn_post"], *CHIP, *COMGR, "-o", "x.co"],
                            env=environment)


if __name__ == "__main__":
    unittest.main()
