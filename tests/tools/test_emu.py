"""`baton emu` on C kernels that clang compiles, against Python; and what it refuses."""

import json
import math
import os
import random
import struct
import subprocess
import unittest
from pathlib import Path

from baton_tool import CHIPS, ToolTest, run

KERNELS = Path(os.environ["BATON_TEST_KERNELS"])
CHECK, USER = 1, 2
MASK = 2**64 - 1


def words(values):
    return struct.pack(f"<{len(values)}I", *values)


def unwords(data):
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def random_words(count, below=2**32, seed=3):
    generator = random.Random(seed)
    return [generator.randrange(below) for _ in range(count)]


def compile_kernel(folder, name, chip, source=None):
    """`name`.co in `folder`, from tests/support/kernels or from `source`."""
    path = KERNELS / f"{name}.c"
    if source is not None:
        path = folder / f"{name}.c"
        path.write_text('#include "prelude.h"\n' + source, encoding="utf-8")
    subprocess.run(
        [os.environ["BATON_CLANG"], "-target", "amdgcn-amd-amdhsa", "-nogpulib", f"-mcpu={chip}",
         "-O2", "-g1", f"-I{KERNELS}", path, "-o", folder / f"{name}.co"],
        check=True)
    return f"{name}.co"


class EmuTest(ToolTest):
    def emu(self, name, grid, arguments, *more, block=256):
        return self.run_well("emu", f"{name}.co", "--grid", grid, "--block", block,
                             *[word for text in arguments for word in ("--arg", text)], *more)

    def write(self, name, data):
        (self.folder / name).write_bytes(data)

    def read(self, name):
        return (self.folder / name).read_bytes()


class Foreign(EmuTest):
    """Each kernel runs on every chip: on all cores, and under one fixed interleaving."""

    def each(self, name):
        for chip in CHIPS:
            compile_kernel(self.folder, name, chip)
            for more in ([], ["--seed", 7]):
                with self.subTest(chip=chip, more=more):
                    yield more

    def test_reduction(self):
        values = random_words(10007, 1000)
        self.write("in", words(values))
        for more in self.each("reduce"):
            self.emu("reduce", 4, ["in:in", "out:4:sum", "u32:10007"], *more)
            self.assertEqual(unwords(self.read("sum")), [sum(values)])

    def test_transpose_through_lds(self):
        n = 64
        values = random_words(n * n)
        self.write("in", words(values))
        for more in self.each("transpose"):
            self.emu("transpose", 16, ["in:in", f"out:{4 * n * n}:out", f"u32:{n}"], *more)
            self.assertEqual(unwords(self.read("out")),
                             [values[x * n + y] for y in range(n) for x in range(n)])

    def test_histogram_with_atomics(self):
        values = random_words(5000, 64)
        self.write("in", words(values))
        self.write("bins", words(range(64)))
        for more in self.each("histogram"):
            self.emu("histogram", 3, ["in:in", "inout:bins:counted", "u32:5000"], *more)
            self.assertEqual(unwords(self.read("counted")),
                             [i + values.count(i) for i in range(64)])

    def test_bf16_gemm_with_matrix_instructions(self):
        n = 64
        generator = random.Random(1)
        a, b = ([generator.randrange(-8, 9) for _ in range(n * n)] for _ in range(2))
        for name, matrix in (("a", a), ("b", b)):  # small integers: every sum is exact
            self.write(name, b"".join(struct.pack("<f", v)[2:] for v in matrix))
        expected = [float(sum(a[i * n + k] * b[j * n + k] for k in range(n)))
                    for i in range(n) for j in range(n)]
        for more in self.each("gemm"):
            for rule in ("exact", "chain"):
                self.emu("gemm", 1, ["in:a", "in:b", f"out:{4 * n * n}:d"], "--mfma", rule, *more)
                self.assertEqual(list(floats(self.read("d"))), expected)

    def test_scan(self):
        values = random_words(512, 1000)
        self.write("in", words(values))
        expected = [sum(values[i // 256 * 256 : i + 1]) for i in range(512)]
        for more in self.each("scan"):
            self.emu("scan", 2, ["in:in", "out:2K:out"], *more)
            self.assertEqual(unwords(self.read("out")), expected)

    def test_a_spin_lock_across_workgroups(self):
        for more in self.each("spin_lock"):
            self.emu("spin_lock", 20, ["fill:4:zero", "out:4:sum"], *more)
            self.assertEqual(unwords(self.read("sum")), [20 * 21 // 2 * 4 * 5])

    def test_64_bit_hash(self):
        def expected(x):
            for _ in range(3):
                x ^= x >> 30
                x = x * 0xBF58476D1CE4E5B9 & MASK
                x ^= x >> 27
                x = (x * 0x94D049BB133111EB + x % 1000003 // 7) & MASK
            return x

        values = [random.Random(9 + i).getrandbits(64) for i in range(512)]
        self.write("p", struct.pack("<512Q", *values))
        for more in self.each("hash"):
            self.emu("hash", 2, ["inout:p:q"], *more)
            self.assertEqual(list(struct.unpack("<512Q", self.read("q"))),
                             list(map(expected, values)))

    def test_fp16_conversion_of_every_code(self):
        halves = struct.unpack("<65536e", struct.pack("<65536H", *range(65536)))

        def back(value):
            """Times 1 + 2^-10, rounded to fp32 and then to fp16."""
            (product,) = struct.unpack("<f", struct.pack("<f", value * 1.0009765625))
            try:
                return struct.pack("<e", product)
            except OverflowError:
                return struct.pack("<e", math.copysign(math.inf, product))

        for more in self.each("half"):
            self.emu("half", 256, ["out:256K:up", "out:128K:back"], *more)
            up, down = floats(self.read("up")), self.read("back")
            for code, value in enumerate(halves):
                if math.isnan(value):
                    self.assertTrue(math.isnan(up[code]), code)
                    self.assertTrue(math.isnan(struct.unpack_from("<e", down, 2 * code)[0]), code)
                else:
                    self.assertEqual(struct.pack("<f", up[code]), struct.pack("<f", value), code)
                    self.assertEqual(down[2 * code : 2 * code + 2], back(value), code)

    def test_softmax(self):
        generator = random.Random(2)
        values = [generator.randrange(2000) / 100 - 10 for _ in range(512)]
        self.write("p", struct.pack("<512f", *values))
        for more in self.each("softmax"):
            self.emu("softmax", 2, ["inout:p:q"], *more)
            result = floats(self.read("q"))
            for row in (0, 256):
                exact = [math.exp(v) for v in values[row : row + 256]]
                for given, e in zip(result[row:], exact):
                    self.assertLess(abs(given - e / sum(exact)), 1e-5 * e / sum(exact))

    def test_sort(self):
        values = random_words(1024)
        self.write("p", words(values))
        expected = [v for row in range(0, 1024, 256) for v in sorted(values[row : row + 256])]
        for more in self.each("sort"):
            self.emu("sort", 4, ["inout:p:sorted"], *more)
            self.assertEqual(unwords(self.read("sorted")), expected)

    def test_calls_and_recursion(self):
        fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21]
        for more in self.each("calls"):
            for which, expected in ((0, lambda n: fibonacci[n] + 2), (1, lambda n: 2 * n + 2)):
                self.emu("calls", 1, ["out:1K:p", f"u32:{which}"], *more)
                self.assertEqual(unwords(self.read("p")), [expected(i % 9) for i in range(256)])

    def test_flat_pointers(self):
        for more in self.each("flat"):
            self.emu("flat", 1, ["out:1K:p"], *more)
            self.assertEqual(unwords(self.read("p")),
                             [(i + 5) * 100 + (i & 3) + 8 for i in range(256)])


# Writes each argument's bits to `out`, one lane.
NUMBERS = """
KERNEL numbers(GLOBAL u64* out, signed char a, unsigned char b, short c, u16 d, int e, u32 f,
               long g, u64 h, float i, double j, GLOBAL u64* null) {
  if (lid != 0) return;
  out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = h;
  u32 bits;
  __builtin_memcpy(&bits, &i, 4);
  out[8] = bits;
  __builtin_memcpy(out + 9, &j, 8);
  out[10] = (u64)null;
}
"""

COPY = "KERNEL copy(const GLOBAL u32* in, GLOBAL u32* out) { out[lid] = in[lid]; }"

# Two kernels in a file, one of which takes LDS at the launch.
TWO = """
extern __attribute__((address_space(3))) u32 dynamic[];
KERNEL one(GLOBAL u32* out) { out[lid] = 1; }
KERNEL reverse(GLOBAL u32* out) {
  dynamic[lid] = lid;
  barrier();
  out[lid] = dynamic[255 - lid];
}
"""

SHAPE = """
KERNEL shape(GLOBAL u32* out) {
  u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(),
      z = __builtin_amdgcn_workitem_id_z();
  u32 group = gid + 2 * __builtin_amdgcn_workgroup_id_y() + 6 * __builtin_amdgcn_workgroup_id_z();
  out[group * 256 + x + 16 * (y + 8 * z)] = group;
}
"""

# Half of the LDS that is read was written.
UNSET = """
KERNEL unset(GLOBAL u32* out) {
  LDS static u32 t[256];
  if (lid < 128) t[lid] = lid;
  barrier();
  out[lid] = t[255 - lid];
}
"""

COUNT = "KERNEL count(volatile GLOBAL u32* p) { for (u32 i = 1; p[1] == 0; ++i) p[0] = i; }"
WAIT = "KERNEL wait(volatile GLOBAL u32* flag) { while (*flag != 9) __builtin_amdgcn_s_sleep(1); }"


class Words(EmuTest):
    """The grammar of --arg and the flags."""

    CHIP = "gfx950"

    def make(self, name, source):
        compile_kernel(self.folder, name, self.CHIP, source)

    def test_numbers(self):
        self.make("numbers", NUMBERS)
        self.emu("numbers", 1, ["out:88:out", "i8:-128", "u8:0xff", "i16:-2", "u16:65535",
                                "i32:-2147483648", "u32:4294967295", "i64:-1",
                                "u64:0xfedcba9876543210", "f32:1.5", "f64:-inf", "null"])
        signed = [-128 & MASK, 255, -2 & MASK, 65535, -(2**31) & MASK, 2**32 - 1, MASK,
                  0xFEDCBA9876543210, 0x3FC00000, 0xFFF0000000000000, 0]
        self.assertEqual(list(struct.unpack("<11Q", self.read("out"))), signed)

    def test_patterns(self):
        self.make("copy", COPY)
        for pattern, expected in [("zero", [0] * 256), ("index", list(range(256))),
                                  ("u8:0xab", [0xABABABAB] * 256), ("f32:1", [0x3F800000] * 256),
                                  ("i64:-2", [0xFFFFFFFE, 0xFFFFFFFF] * 128)]:
            self.emu("copy", 1, [f"fill:1K:{pattern}", "out:1K:out"])
            self.assertEqual(unwords(self.read("out")), expected)
        drawn = set()
        for seed in (1, 2, 1):
            self.emu("copy", 1, [f"fill:1024:random:{seed}", "out:1K:out"])
            drawn.add(self.read("out"))
        self.assertEqual(len(drawn), 2)
        self.assertTrue(all(len(set(unwords(data))) == 256 for data in drawn))

    def test_one_of_two_kernels_and_dynamic_lds(self):
        self.make("two", TWO)
        self.emu("two", 1, ["out:1K:out"], "--kernel", "one")
        self.assertEqual(unwords(self.read("out")), [1] * 256)
        self.emu("two", 1, ["out:1K:out"], "--kernel", "reverse", "--lds", 1024)
        self.assertEqual(unwords(self.read("out")), list(range(255, -1, -1)))
        words_of = ["emu", "two.co", "--grid", 1, "--block", 256, "--arg", "out:1K:new"]
        self.refuse(USER, "two.co holds 2 kernels", words_of, "'one', 'reverse'")
        self.refuse(USER, "no kernel 'none'", [*words_of, "--kernel", "none"], "'one', 'reverse'")

    def test_grid_and_block_have_three_axes(self):
        self.make("shape", SHAPE)
        self.emu("shape", "2,3,4", ["out:24K:out"], block="16,8,2")
        self.assertEqual(unwords(self.read("out")), [i // 256 for i in range(24 * 256)])

    def test_counters(self):
        compile_kernel(self.folder, "gemm", self.CHIP)
        arguments = ["fill:8K:u16:0x3f80", "fill:8K:u16:0x3f80", "out:16K:d"]
        report = json.loads(self.emu("gemm", 1, arguments, "--json"))
        # 4 waves x 4 columns x 4 steps in k; each MFMA's two operands are 8 bytes a lane. A wave
        # also loads its three addresses.
        self.assertEqual(report["mfmas"], 64)
        self.assertEqual(sum(report["bytes_loaded"].values()), 64 * 64 * 2 * 8 + 4 * 3 * 8)
        self.assertEqual(sum(report["bytes_stored"].values()), 64 * 64 * 4)
        self.assertEqual(report["instructions"], sum(report["classes"].values()))
        self.assertEqual((report["kernel"], report["chip"], report["grid"], report["block"]),
                         ("gemm", self.CHIP, [1, 1, 1], [256, 1, 1]))
        (kernel,) = report["kernels"]
        self.assertEqual([(stage["stage"], stage["mfmas"]) for stage in kernel["stages"]],
                         [("", 64)])
        self.assertEqual(report["stored_bytes"], [[64 * 64 * 4]])
        text = self.emu("gemm", 1, arguments)
        for line in ("gemm on an emulated gfx950: 1 x 1 x 1 workgroups of 256 x 1 x 1 lanes, ",
                     "MFMAs              64", "bytes stored       16384 at",
                     "fidelity           "):
            self.assertIn(line, text)

    def test_bank_conflicts(self):
        """A column of a power of two words lies in one bank; one more word a row spreads it."""
        conflicts = []
        for words_of_row in (64, 65):
            self.make("column", "KERNEL column(GLOBAL u32* out) {\n"
                      f"  LDS static u32 t[64 * {words_of_row}];\n"
                      f"  t[lid * {words_of_row}] = lid;\n  barrier();\n"
                      f"  if (lid < 64) out[lid] = t[(63 - lid) * {words_of_row}];\n}}\n")
            report = json.loads(self.emu("column", 1, ["out:256:out"], "--json", block=64))
            conflicts.append(report["lds_bank_conflicts"])
        self.assertEqual(conflicts[1], 0)
        self.assertGreaterEqual(conflicts[0], 2 * 31)

    def refuse_words(self, named, *arguments, hint="", grid="1", block="256", more=()):
        words_of = [word for text in arguments for word in ("--arg", text)]
        self.refuse(USER, named,
                    ["emu", "copy.co", "--grid", grid, "--block", block, *words_of, *more], hint)

    def test_wrong_arguments(self):
        self.make("copy", COPY)
        self.write("empty", b"")
        good = "fill:1K:zero"
        for text, named in [
            ("", "unknown kind ''"), ("i33:1", "unknown kind 'i33'"), ("i32", "'' is no integer"),
            ("i32:x", "'x' is no integer of -2147483648 .. 2147483647"),
            ("i8:128", "'128' is no integer of -128 .. 127"),
            ("i8:-129", "'-129' is no integer"), ("u8:-1", "'-1' is no integer of 0 .. 255"),
            ("u64:18446744073709551616", "no integer"), ("u32:1 ", "'1 ' is no integer"),
            ("f32:1e99", "'1e99' is no fp32 number"), ("f64:one", "'one' is no fp64 number"),
            ("in:", "a path is missing"), ("in:no.bin", "No such file"),
            ("in:.", "Is a directory"), ("in:empty", "the file is empty"),
            ("fill:0:zero", "'0' is no size"), ("fill:-4:zero", "'-4' is no size"),
            ("fill:9G:zero", "'9G' is no size of 1 to 4294967296 bytes"),
            ("fill:1K", "unknown pattern ''"), ("fill:1K:stripes", "unknown pattern 'stripes'"),
            ("fill:6:index", "6 bytes hold no whole number of 4-byte values"),
            ("fill:1K:random", "'' is no integer"), ("fill:1K:u8:256", "'256' is no integer"),
            ("out:1K:", "a path is missing"), ("out:K:x", "'K' is no size"),
            ("out:1K:no/x", "there is no folder 'no'"), ("out:1K:.", "'.' is no regular file"),
            ("out:1K:/dev/null", "'/dev/null' is no regular file"),
            ("inout:no:x", "No such file"), ("inout:copy.co:", "a path is missing"),
            ("\x1b[31m:1", "'\\x1b[31m'"),
            ("u64:4096", "the argument is a pointer, not a number"),
            ("u32:1", "the argument is a pointer, not a number"),
        ]:
            with self.subTest(text):
                self.refuse_words(named, text, good)
        self.refuse_words("takes 2 arguments, 1 --arg given", good,
                          hint="its arguments: a pointer, a pointer")
        self.refuse_words("takes 2 arguments, 3 --arg given", good, good, good)
        self.refuse_words("--arg 1 writes the same file", "out:1K:x", "out:1K:x")

    def test_wrong_sizes_of_numbers(self):
        compile_kernel(self.folder, "reduce", self.CHIP)
        self.refuse(USER, "the argument has 4 bytes, the number has 8",
                    ["emu", "reduce.co", "--grid", 1, "--block", 256, "--arg", "fill:4:zero",
                     "--arg", "fill:4:zero", "--arg", "u64:1"], "baton info")
        self.refuse(USER, "the argument has 4 bytes, an address has 8",
                    ["emu", "reduce.co", "--grid", 1, "--block", 256, "--arg", "fill:4:zero",
                     "--arg", "fill:4:zero", "--arg", "fill:4:zero"])

    def test_wrong_flags(self):
        self.make("copy", COPY)
        good = ("fill:1K:zero", "fill:1K:zero")
        for grid in ("0", "1,", "1,0", "1,2,3,4", "-1", "4294967296", "x", ""):
            with self.subTest(grid=grid):
                self.refuse_words("--grid", *good, grid=grid)
        self.refuse_words("--block '256,'", *good, block="256,")
        self.refuse_words("512 lanes", *good, block="512")
        self.refuse_words("LDS", *good, more=("--lds", 1 << 20))
        self.refuse_words("--mfma knows no 'fast'", *good, more=("--mfma", "fast"))
        self.refuse_words("--check knows no 'races'", *good, more=("--check", "races"))
        self.refuse_words("--seed", *good, more=("--seed", 1, "--threads", 2))
        for seed in ("-1", "18446744073709551616", "1.5", ""):
            self.refuse_words(f"--seed: '{seed}' is no whole number of 0 ..", *good,
                              more=("--seed", seed))
        self.refuse_words("--limit: '0' is no whole number of 1 ..", *good, more=("--limit", 0))
        for lds in ("-1", "4G", "K", "1.5K"):
            self.refuse_words(f"--lds '{lds}' is no number of bytes", *good, more=("--lds", lds))
        self.refuse_words("kernel copy: 1073741824 bytes of LDS, gfx950 has 163840", *good,
                          more=("--lds", "1G"), hint="--lds bytes on top of the kernel's own")
        self.refuse_words("--threads", *good, more=("--threads", 0))
        self.refuse(USER, "--grid is required", ["emu", "copy.co", "--block", 1])
        self.refuse(USER, "no.co': No such file", ["emu", "no.co", "--grid", 1, "--block", 1])
        self.refuse(USER, "not for AMDGPU", ["emu", "/bin/true", "--grid", 1, "--block", 1])

    def refuse_run(self, named, *arguments):
        """A launch that goes wrong: one error, whose details follow, and no output."""
        done = run("emu", *arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (CHECK, ""))
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        for text in named:
            self.assertIn(text, done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_a_fault_is_named_and_leaves_no_output(self):
        self.make("copy", COPY)
        self.refuse_run(["kernel copy", "workgroup 0", "lane", "copy.c:2", "1020 bytes"], "copy.co",
                        "--grid", 1, "--block", 256, "--arg", "fill:1020:zero",
                        "--arg", "out:1K:out")

    def test_a_hang_is_named_and_leaves_no_output(self):
        self.make("wait", WAIT)
        self.refuse_run(["hangs", "wait.c:2", "byte 0 of argument 1"], "wait.co",
                        "--grid", 2, "--block", 64, "--arg", "out:4:out")

    def test_a_kernel_that_works_for_ever_ends_at_the_limit(self):
        self.make("count", COUNT)
        words = ("count.co", "--grid", 2, "--block", 64, "--arg", "out:8:out")
        for more in (("--threads", 1), ("--threads", 2), ("--seed", 1)):
            with self.subTest(more):
                self.refuse_run(["has not ended after", "the limit is 20000", "kernel count",
                                 "workgroup", "count.c:2"], *words, "--limit", 20000, *more)

    def test_a_kernel_that_ends_below_the_limit(self):
        self.make("copy", COPY)
        self.emu("copy", 1, ["fill:1K:u32:7", "out:1K:out"], "--limit", 1000)
        self.assertEqual(unwords(self.read("out")), [7] * 256)

    def test_uninitialised_lds_is_found_when_asked(self):
        self.make("unset", UNSET)
        arguments = ("unset.co", "--grid", 1, "--block", 256, "--arg", "out:1K:out",
                     "--check", "uninit")
        self.refuse_run(["uninitialised", "unset.c:7", "LDS byte 1020"], *arguments)
        self.make("reverse", TWO)
        self.emu("reverse", 1, ["out:1K:out"], "--kernel", "reverse", "--lds", 1024,
                 "--check", "uninit")
        self.assertEqual(unwords(self.read("out")), list(range(255, -1, -1)))
        self.emu("reverse", 1, ["out:1K:out"], "--kernel", "reverse", "--lds", "1K")

    def test_an_old_output_survives_a_fault(self):
        self.make("copy", COPY)
        self.write("out2", b"old")
        done = run("emu", "copy.co", "--grid", 1, "--block", 256, "--arg", "null",
                   "--arg", "out:1K:out2", cwd=self.folder)
        self.assertEqual(done.returncode, CHECK)
        self.assertEqual(self.read("out2"), b"old")


if __name__ == "__main__":
    unittest.main()
