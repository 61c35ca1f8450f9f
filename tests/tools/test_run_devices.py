"""`baton run --device`: GPUs through a stand-in of HIP's library, or the emulator."""

import json
import os
import unittest

from baton_tool import ToolTest, run

TAGGED = "attn_post:tokens=1,nblocks=1"
SENTINEL = TAGGED + ",sent=ar"
CHECK, USER, ENVIRONMENT = 1, 2, 3
RANKS = 8


def machine(devices=RANKS, chip="gfx950", **more):
    return {**os.environ, "BATON_HIP_LIBRARY": os.environ["BATON_HIP_STANDIN"],
            "BATON_STANDIN_DEVICES": str(devices), "BATON_STANDIN_CHIP": chip, **more}


class RunDevices(ToolTest):
    def on_gpus(self, key, *more, env=None):
        return self.run_well("run", key, "--arch", "gfx950", "--device", "hip", *more,
                             env=env or machine())

    def refuse_run(self, code, named, key, *more, env=None, hint="--device emu"):
        self.refuse(code, named, ["run", key, "--arch", "gfx950", *more], hint,
                    env=env or machine())

    def test_all_ranks_on_gpus(self):
        shown = self.on_gpus(TAGGED, "--seed", 3, "--outputs", "gpus").splitlines()
        self.assertTrue(shown[0].endswith(" on 8 ranks of gfx950 through HIP, step 0"), shown[0])
        self.assertRegex(shown[-1], "^72 of 72 comparisons right, ")  # nothing of an emulator
        report = json.loads(self.on_gpus(TAGGED, "--seed", 3, "--json"))
        self.assertEqual((report["device"], report["right"]), ("hip", True))
        self.assertNotIn("emulator", report)
        emulated = json.loads(self.run_well("run", TAGGED, "--arch", "gfx950", "--device", "emu",
                                            "--seed", 3, "--outputs", "emu", "--json",
                                            env=machine()))
        self.assertEqual(emulated["device"], "emu")
        self.assertIn("emulator", emulated)
        for rank in range(RANKS):
            files = [(self.folder / where / f"rank{rank}.safetensors").read_bytes()
                     for where in ("gpus", "emu")]
            self.assertEqual(files[0], files[1])

    def test_what_a_gpu_does_not_show_is_not_compared(self):
        # Of each rank part, wgt, msq, x_out and the armed words; of all but rank 0 two tensors like
        # its own; two end to end.
        rows = RANKS * 5 + (RANKS - 1) * 2 + 2
        shown = self.on_gpus(SENTINEL, "--steps", 2)
        self.assertEqual(shown.count(f"{rows} of {rows} comparisons right, "), 2)
        self.assertEqual(shown.count("  sentinel words armed"), 2 * RANKS)
        lost = "the words of ar are not compared: its readers have re-armed it\n"
        self.assertEqual(shown.count(lost), 2)
        report = json.loads(self.on_gpus(SENTINEL, "--regions", "regions", "--json"))
        self.assertEqual(report["steps"][0]["not_kept"], ["ar"])
        self.assertNotIn(b'"ar"', (self.folder / "regions/rank0.safetensors").read_bytes()[:2000])
        emulated = self.run_well("run", SENTINEL, "--arch", "gfx950", "--device", "emu")
        self.assertNotIn("not compared", emulated)
        self.assertIn("80 of 80 comparisons right, ", emulated)

    def test_a_kernel_of_one_rank(self):
        shown = self.on_gpus("kda_pre:tokens=1,nblocks=1", env=machine(devices=1))
        self.assertIn(" on 1 rank of gfx950 through HIP, step 0\n", shown)

    def test_reports_of_gpus(self):
        self.on_gpus(TAGGED + ",timeline=1", "--timeline", "stages.json")
        trace = json.loads((self.folder / "stages.json").read_text())
        self.assertEqual(trace["otherData"]["clock"], "the GPUs' 100 MHz clock")
        done = run("run", TAGGED + ",diag=1", "--arch", "gfx950", "--device", "hip", "--absent", 3,
                   env=machine())
        self.assertEqual((done.returncode, done.stderr), (CHECK, ""))
        self.assertIn("\nrank 3 never arrived: ", done.stdout)

    def test_auto_takes_gpus_where_there_are_enough(self):
        def is_emulated(*more, **options):
            header = self.run_well("run", TAGGED, *more, **options).splitlines()[0]
            emulated = " on 8 emulated ranks of " in header
            self.assertNotEqual(emulated, " through HIP" in header)
            return emulated

        arch = ("--arch", "gfx950")
        self.assertFalse(is_emulated(*arch, env=machine()))
        self.assertFalse(is_emulated(*arch, "--device", "auto", "--seed", 1, env=machine(9)))
        self.assertTrue(is_emulated(*arch, env=machine(7)))
        self.assertTrue(is_emulated("--arch", "gfx942", env=machine()))
        self.assertTrue(is_emulated(*arch, env=machine(chip="gfx1100")))
        self.assertTrue(is_emulated(*arch, env=machine(0)))
        for more in (("--threads", 1), ("--mfma", "chain"), ("--delay", "3:o:1")):
            self.assertTrue(is_emulated(*arch, *more, env=machine()), more)

    def test_too_few_gpus(self):
        hip = ("--device", "hip")
        for env, seen in [(machine(0), "no AMD GPU"), (machine(7), "7 gfx950"),
                          (machine(8, "gfx942"), "8 gfx942")]:
            self.refuse_run(ENVIRONMENT,
                            f"--device hip: attn_post runs on 8 gfx950, HIP sees {seen}",
                            TAGGED, *hip, env=env)
        self.refuse_run(ENVIRONMENT, "cannot open BATON_HIP_LIBRARY: none: ", TAGGED, *hip,
                        env=machine(BATON_HIP_LIBRARY="none"), hint="BATON_HIP_LIBRARY")

    def test_a_hip_that_does_not_answer(self):
        # Nobody serves the devices.
        silent = machine(BATON_STANDIN_SOCKET=str(self.folder / "nobody"))
        reason = "HIP cannot count its devices: unknown error (error 999)"
        self.refuse_run(ENVIRONMENT, f"error: {reason}", TAGGED, "--device", "hip", env=silent,
                        hint="/dev/kfd")
        for env, why in [
            (silent, reason + "\n"),
            (machine(BATON_HIP_LIBRARY="none"), "cannot open BATON_HIP_LIBRARY: none: "),
            (machine(BATON_HIP_LIBRARY="libm.so.6"), "libm.so.6 has no function hipInit\n"),
        ]:
            done = run("run", TAGGED, "--arch", "gfx950", env=env)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stderr.startswith("remark: emulated: " + why), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        done = run("run", TAGGED, "--arch", "gfx950", "--device", "emu", env=silent)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_gpus_that_the_grid_would_hang_on(self):
        # MI210; a partition of an MI325X, with the CUs of one die; MI300A; one CU too few.
        for chip, cus in [("gfx90a", 104), ("gfx942", 38), ("gfx942", 228), ("gfx950", 255)]:
            with self.subTest(chip=chip, cus=cus):
                env = machine(chip=chip, BATON_STANDIN_CUS=str(cus))
                command = ("run", TAGGED, "--arch", chip)
                reason = (f"a {chip} of {cus} CUs keeps {cus} of the 256 workgroups of attn_post "
                          "resident: it would hang")
                self.refuse(ENVIRONMENT, f"error: {reason}", [*command, "--device", "hip"],
                            "the emulator, which holds every workgroup", env=env)
                done = run(*command, env=env)
                remark = f"remark: emulated: {reason}\n"
                self.assertEqual((done.returncode, done.stderr), (0, remark))
                self.assertIn(f" on 8 emulated ranks of {chip}, step 0\n", done.stdout)
        self.on_gpus(TAGGED, env=machine(BATON_STANDIN_CUS="256"))
        self.on_gpus("kda_pre:tokens=1,nblocks=1", env=machine(1, BATON_STANDIN_CUS="256"))

    def test_what_only_the_emulator_has_is_refused_by_name(self):
        hip = ("--device", "hip")
        for flag, value in [("--threads", 1), ("--mfma", "exact"), ("--check", "uninit"),
                            ("--delay", "3:o:1")]:
            self.refuse_run(USER, f"--device hip, {flag}: only the emulator has it", TAGGED, *hip,
                            flag, value)
        self.refuse_run(USER, "--device hip, --absent: the peers' waits would never end on a GPU",
                        TAGGED, *hip, "--absent", 3)
        self.refuse_run(USER, "--device knows no 'gpu'", TAGGED, "--device", "gpu",
                        hint="give emu, hip or auto")


if __name__ == "__main__":
    unittest.main()
