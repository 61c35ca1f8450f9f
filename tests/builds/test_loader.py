"""The loader with the real compiler: many processes, warm starts, what a library build is."""

import hashlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROBE = os.environ["BATON_LOADER_PROBE"]
BUILD = Path(os.environ["BATON_BUILD"])
KEYS = ["attn_post:tokens=1,nblocks=1", "attn_post:tokens=2,nblocks=1",
        "attn_post:tokens=3,nblocks=1"]


def start(folder, *keys):
    return subprocess.Popen([PROBE, "get", folder, "gfx950", *keys], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


class FolderTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = os.path.join(temporary.name, "cache")

    def finish(self, process):
        output, errors = process.communicate()
        self.assertEqual((process.returncode, errors), (0, ""))
        return json.loads(output)


class Processes(FolderTest):
    def test_eight_processes_compile_each_key_once(self):
        results = [self.finish(p) for p in [start(self.folder, *KEYS) for _ in range(8)]]
        self.assertEqual(sum(r["compiled"] for r in results), len(KEYS))
        self.assertEqual(sum(r["traced"] for r in results), len(KEYS))
        self.assertEqual(sum(r["disk"] for r in results), 7 * len(KEYS))
        for result in results:
            self.assertEqual(result["objects"], results[0]["objects"])
            self.assertEqual(result["reports"], [])
        warm = self.finish(start(self.folder, *KEYS))
        self.assertEqual((warm["compiled"], warm["traced"], warm["disk"]), (0, 0, len(KEYS)))
        self.assertEqual(warm["objects"], results[0]["objects"])

    def test_a_process_killed_while_it_compiles_leaves_the_key_to_the_next(self):
        killed = start(self.folder, *KEYS)
        locks = Path(self.folder, "v1", "locks")
        while not (locks.is_dir() and any(locks.iterdir())):
            self.assertIsNone(killed.poll())
            time.sleep(0.001)
        waiting = start(self.folder, *KEYS)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        result = self.finish(waiting)
        self.assertEqual(result["reports"], [])
        self.assertEqual(len(result["objects"]), len(KEYS))


class Identity(unittest.TestCase):
    def setUp(self):
        self.identity = json.loads(subprocess.run([PROBE, "identity"], check=True,
                                                  capture_output=True, text=True).stdout)

    def test_the_digests_are_those_of_the_libraries_as_they_are(self):
        lines = self.identity["pipeline_archives"] + self.identity["kernel_archives"]
        for name, digest in re.findall(r"(\S+) (\S+)\n", lines):
            with self.subTest(name):
                place = [*BUILD.rglob(name)] or [*Path("/usr/lib/llvm-22/lib").glob(name)]
                self.assertEqual(len(place), 1)
                self.assertEqual(hashlib.sha256(place[0].read_bytes()).hexdigest(), digest)

    def test_every_static_library_that_a_compile_links_is_among_them(self):
        rules = (BUILD / "build.ninja").read_text(encoding="utf-8")
        rule = re.search(r"(?m)^build tests/bin/loader_probe:.*\n(?:  .*\n)*", rules).group(0)
        linked = set(re.findall(r"([^/\s]+\.a)\b", re.search("LINK_LIBRARIES = (.*)", rule)[1]))
        listed = set(re.findall(r"(\S+\.a) ", self.identity["pipeline_archives"] +
                                self.identity["kernel_archives"]))
        self.assertIn("libbaton_codegen.a", listed)
        # That one holds the digests, and what a loader sees of the compiler.
        self.assertEqual(linked - listed, {"libbaton_key_builder.a"})

    def test_one_byte_of_one_library_changes_the_digests(self):
        with tempfile.TemporaryDirectory(prefix="baton-test-") as folder:
            written = []
            for change in (b"", b"x"):
                archive, out = Path(folder, "liba.a"), Path(folder, "out.cpp")
                archive.write_bytes(b"archive" + change)
                subprocess.run(["cmake", f"-DOUT={out}", f"-DPIPELINE={archive}",
                                f"-DKERNELS={archive}|{archive}", "-P",
                                os.environ["BATON_HASH_ARCHIVES"]], check=True)
                written.append(out.read_text(encoding="utf-8"))
            self.assertNotEqual(*written)
            self.assertEqual(written[0].count(hashlib.sha256(b"archive").hexdigest()), 3)

    def test_llvm_is_told_by_its_build_id(self):
        def build_id(path):
            notes = subprocess.run([os.environ["BATON_READELF"], "-n", path], check=True,
                                   capture_output=True, text=True).stdout
            return re.search("Build ID: ([0-9a-f]+)", notes)[1]

        linked = subprocess.run(["ldd", PROBE], check=True, capture_output=True, text=True).stdout
        llvm = re.search(r"libLLVM\S* => (\S+)", linked)[1]
        self.assertEqual(self.identity["llvm"], build_id(llvm))
        self.assertNotEqual(self.identity["llvm"], self.identity["program"])
        self.assertNotEqual(self.identity["library_id"], self.identity["pipeline_id"])


if __name__ == "__main__":
    unittest.main()
