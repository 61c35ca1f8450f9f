"""8 processes under mpirun, each with a device of one stand-in machine and with IPC handles."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

RANKS = 8
CHIP = "gfx950"
TIMEOUT_S = 400
# On this machine alone, without ssh and a network; also as root, with fewer cores than ranks, and
# in a container that lets no process read another's memory.
MPIRUN = [os.environ["BATON_MPIRUN"], "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
          "--mca", "plm", "isolated", "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
          "--mca", "btl_vader_single_copy_mechanism", "none"]
CLEAN = "allocations, 0 opened by others, 0 freed while open"


def shared_memory_of_mpi():
    return {name for name in os.listdir("/dev/shm") if "vader" in name}


class Ranks(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="baton-ranks-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.sessions = self.folder / "sessions"  # mpirun's own files
        self.sessions.mkdir()
        self.shared_memory = shared_memory_of_mpi()

    def start_machine(self, chip=CHIP):
        socket = self.folder / "socket"
        server = subprocess.Popen([os.environ["BATON_HIP_SERVER"], socket, chip, str(RANKS)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(server.stdout.readline(), "ready\n")
        environment = {
            **os.environ,
            "BATON_HIP_LIBRARY": os.environ["BATON_HIP_STANDIN"],
            "BATON_STANDIN_CHIP": chip,
            "BATON_STANDIN_SOCKET": str(socket),
            "TMPDIR": str(self.sessions),
        }
        return server, environment

    def stop_machine(self, server):
        """What its users have left on it."""
        leftovers, _ = server.communicate()
        (self.folder / "socket").unlink()
        return leftovers.strip()

    def mpirun(self, *arguments, ranks=RANKS, env=None):
        command = [*MPIRUN, "-n", str(ranks), os.environ["BATON_RANKS_PROBE"], *map(str, arguments)]
        environment = {**os.environ, "TMPDIR": str(self.sessions), **(env or {}),
                       "ASAN_OPTIONS": "detect_leaks=0"}  # those of Open MPI itself
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment, start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)
                self.fail(f"the job hangs: {process.communicate()}")
        self.assertEqual(list(self.sessions.iterdir()), [])
        self.assertEqual(shared_memory_of_mpi() - self.shared_memory, set())
        return process.returncode, out, err

    def run_key(self, key, steps, fault=(), chip=CHIP):
        """(exit code, report, standard error, what was left on the machine) of a job."""
        server, environment = self.start_machine(chip)
        try:
            job = ("run", self.folder, chip, steps, 5, key, *fault)
            code, out, err = self.mpirun(*job, env=environment)
        finally:
            left = self.stop_machine(server)
        return code, json.loads(out) if out else None, err, left

    def check_steps(self, key, steps, comparisons, unseen, chip=CHIP):
        code, report, err, left = self.run_key(key, steps, chip=chip)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sum(report["compiled"]), 1)
        self.assertTrue(report["fits_chip"])
        right = {"comparisons": comparisons, "wrong": [], "unseen": unseen, "unarmed": [0] * RANKS}
        self.assertEqual(report["steps"], [right] * steps)
        self.assertEqual(left, "0 " + CLEAN)
        # The same last step in one process of the emulator: the inputs of step s have seed 5 + s.
        emulated = self.folder / "emulated"
        subprocess.run([os.environ["BATON"], "run", key, "--arch", chip, "--layer", "3", "--seed",
                        str(5 + steps - 1), "--threads", "1", "--outputs", emulated],
                       check=True, stdout=subprocess.DEVNULL)
        for rank in range(RANKS):
            name = f"rank{rank}.safetensors"
            outputs = (self.folder / "outputs" / name).read_bytes()
            self.assertGreater(len(outputs), 2 * 7168)
            self.assertTrue(outputs == (emulated / name).read_bytes(), f"outputs of rank {rank}")

    def test_mpi_carries_bytes_and_agreement(self):
        self.assertEqual(self.mpirun("exchange", ranks=5), (0, "[0,1,2,3,4]\n", ""))
        self.assertEqual(self.mpirun("exchange", ranks=3), (0, "[0,1,2]\n", ""))

    def test_tagged_steps(self):
        # Of each rank ar, ar at the others, prefix, part, wgt, msq, x_out; of all but rank 0 two
        # tensors like its own; two end to end.
        self.check_steps("attn_post:tokens=1,nblocks=1", 3, RANKS * 7 + (RANKS - 1) * 2 + 2, [])

    def test_sentinel_steps(self):
        # Without ar, ar at the others, and prefix, which can be told from ar alone.
        self.check_steps("attn_post:tokens=2,nblocks=3,sent=ar", 4,
                         RANKS * 4 + (RANKS - 1) * 2 + 2, ["ar"], chip="gfx942")

    def test_a_rank_that_dies_in_a_step_ends_the_job(self):
        # What killed processes held is still the stand-in's, where a driver would take it back.
        code, report, err, _ = self.run_key("attn_post:tokens=1,nblocks=1", 2, ("dies", 5))
        self.assertEqual((code, report), (128 + signal.SIGKILL, None))
        self.assertIn("rank 5 dies", err)
        self.assertRegex(err, r"process rank 5 .* exited on signal 9 \(Killed\)")

    def test_a_rank_that_fails_alone_ends_the_job(self):
        # As above of what is left: it aborts.
        code, report, err, _ = self.run_key("attn_post:tokens=1,nblocks=1", 2, ("alone", 3))
        self.assertEqual((code, report), (1, None))
        self.assertIn("error at rank 3: std::bad_alloc\n", err)

    def test_when_one_rank_cannot_connect_none_is(self):
        for fault, named in [
            ("no device", "rank 6: there is no device 8: HIP sees 8"),
            ("another key", r"rank 6 has another code object than rank 0: attn_post:tokens=1,"
                            r"nblocks=2,.*\), not attn_post:tokens=1,nblocks=1,.*\)"),
            ("no import", r"rank 6: HIP cannot open another process's memory on device 6: "
                          r"out of memory \(error 2\)"),
        ]:
            with self.subTest(fault):
                code, report, err, left = self.run_key("attn_post:tokens=1,nblocks=1", 1,
                                                       (fault, 6))
                self.assertEqual((code, err), (0, ""))
                self.assertRegex(report["errors"][0], f"^{named}$")
                self.assertEqual(report["errors"], report["errors"][:1] * RANKS)
                self.assertNotIn("steps", report)
                self.assertEqual(left, "0 " + CLEAN)


if __name__ == "__main__":
    unittest.main()
