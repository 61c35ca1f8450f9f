"""What a signal leaves behind: the tool ends by it, and takes what is half-written away first."""

import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from baton_tool import BATON, ToolTest

SHARED_MEMORY = Path("/dev/shm")  # where a link writes
KEYS = "[1, 2, 3, 4, 5, 6, 7, 8]"
MATRIX = f'name = "m"\nchips = ["gfx950"]\n[[build]]\nkernel = "attn_post"\ntokens = {KEYS}\n'
PATIENCE_S = 60


def link_folders(process):
    return list(SHARED_MEMORY.glob(f"baton-link-{process.pid}-*"))


class Signals(ToolTest):
    def start(self, *arguments, **options):
        process = subprocess.Popen([BATON, *map(str, arguments)], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain")

    def test_a_link_on_another_thread_leaves_nothing(self):
        (self.folder / "m.toml").write_text(MATRIX)
        for round in range(6):
            ending = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[round % 3]
            with self.subTest(round=round, ending=ending):
                process = self.start("matrix", "m.toml", "--out", f"out{round}", "-j", 2)
                self.wait_for(lambda: link_folders(process))
                process.send_signal(ending)
                self.assertEqual(process.wait(PATIENCE_S), -ending)
                self.assertEqual(link_folders(process), [])

    def test_a_linker_that_hangs_is_left(self):
        environment = {**os.environ, "BATON_STANDIN_COMGR": "hang",
                       "BATON_COMGR_LIBRARY": os.environ["BATON_COMGR_STANDIN"]}
        process = self.start("compile", "attn_post:tokens=1", "--arch", "gfx90a", "--backend",
                             "comgr", "-o", "x.co", env=environment)
        self.wait_for(lambda: link_folders(process))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE_S), -signal.SIGINT)
        left = link_folders(process)  # for the next link to sweep
        self.run_well("compile", "attn_post:tokens=1", "--arch", "gfx90a", "-o", "x.co")
        self.assertEqual([folder for folder in left if folder.exists()], [])

    def test_what_is_ignored_stays_ignored(self):
        def like_nohup():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        process = self.start("compile", "attn_post:tokens=8", "--arch", "gfx950", "-o", "x.co",
                             preexec_fn=like_nohup)
        while process.poll() is None:
            process.send_signal(signal.SIGHUP)
        self.assertEqual(process.returncode, 0)
        self.assertTrue((self.folder / "x.co").exists())


if __name__ == "__main__":
    unittest.main()
