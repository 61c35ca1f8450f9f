"""Runs the command line tool under test, which the environment variable BATON names."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BATON = os.environ["BATON"]
CHIPS = ("gfx950", "gfx942", "gfx90a")
KEY = "attn_post:tokens=8,nblocks=8"


def run(*arguments, text=True, **options):
    """The finished process, with its streams captured unless `options` say otherwise."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([BATON, *map(str, arguments)], text=text, check=False, **options)


def snapshot(folder):
    """Every path below `folder` with its bytes (None for what is no regular file)."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(Path(folder).rglob("*"))
    }


class ToolTest(unittest.TestCase):
    """A test with an empty folder of its own."""

    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def run_well(self, *arguments, **options):
        """Standard output of a run in the folder that must succeed without a word of complaint."""
        done = run(*arguments, cwd=options.pop("cwd", self.folder), **options)
        self.assertEqual(done.stderr, "" if isinstance(done.stderr, str) else b"")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def refuse(self, code, named, arguments, hint="", **options):
        """Asserts the contract of an error; returns the error line."""
        before = snapshot(self.folder)
        done = run(*arguments, cwd=self.folder, **options)
        lines = done.stderr.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["error", "hint"], done.stderr)
        self.assertIn(named, lines[0])
        self.assertIn(hint, lines[1])
        self.assertGreater(len(lines[1]), len("hint: "))
        self.assertEqual(done.returncode, code)
        self.assertIn(done.stdout, ("", None))
        self.assertEqual(snapshot(self.folder), before)
        return lines[0]
