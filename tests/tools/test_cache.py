"""`baton cache` on folders that a loader filled, and on those that it may not use."""

import json
import os
import subprocess
import unittest

from baton_tool import BATON, ToolTest, run

CHECK, USER, ENVIRONMENT = 1, 2, 3
KEYS = ["attn_post:tokens=1,nblocks=1", "attn_post:tokens=2,nblocks=1"]


class CacheCommand(ToolTest):
    def fill(self):
        """Loads two keys into the folder `cache`; the folders of their entries."""
        cache = self.folder / "cache"
        subprocess.run([os.environ["BATON_LOADER_PROBE"], "get", cache, "gfx950", *KEYS],
                       check=True, capture_output=True)
        return sorted((cache / "v1" / "objects").iterdir())

    def json_of(self, *arguments, code=0):
        done = run("cache", *arguments, "--dir", "cache", "--json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)

    def test_list(self):
        entries = self.fill()
        listed = self.json_of("list")
        self.assertEqual([entry["key"].split(",")[0] for entry in listed],
                         ["attn_post:tokens=1", "attn_post:tokens=2"])
        self.assertEqual({entry["content"] for entry in listed}, {path.name for path in entries})
        for entry in listed:
            folder = self.folder / "cache/v1/objects" / entry["content"]
            self.assertEqual(entry["path"], str(folder / "code.co"))
            self.assertEqual(entry["bytes"], sum(f.stat().st_size for f in folder.iterdir()))
            self.assertEqual((entry["chip"], entry["state"]), ("gfx950", "whole"))
            # What the cache holds is what `compile` writes.
            info = json.loads(self.run_well("info", entry["path"]))
            self.assertEqual(info["key"], entry["key"])
        text = self.run_well("cache", "list", "--dir", "cache")
        self.assertRegex(text, r"(?m)^gfx950 .* attn_post:tokens=2,nblocks=1,")
        self.assertRegex(text, r"(?m)^2 code objects, \d+ KiB, in .*/cache$")

    def test_verify_and_prune(self):
        first, second = self.fill()
        self.assertRegex(self.run_well("cache", "verify", "--dir", "cache"),
                         r"^2 code objects and 2 names checked, 0 damaged\n$")
        code = bytearray((first / "code.co").read_bytes())
        code[1000] ^= 16
        (first / "code.co").write_bytes(code)
        found = run("cache", "verify", "--dir", "cache", cwd=self.folder)
        self.assertEqual((found.returncode, found.stderr), (CHECK, ""))
        self.assertRegex(found.stdout, rf"(?m)^damaged: .*{first.name}/code\.co: its SHA-256 is ")
        self.assertEqual(self.json_of("verify", code=CHECK)["damaged"], 1)
        self.assertEqual(self.json_of("prune"),
                         {"folder": str(self.folder / "cache"), "damaged": 1, "index_files": 1,
                          "left_over": 0, "evicted": 0,
                          "bytes_left": self.json_of("prune")["bytes_left"]})
        self.assertFalse(first.exists())
        self.assertTrue(second.exists())
        self.assertEqual(self.json_of("verify")["damaged"], 0)
        self.assertEqual(self.json_of("prune", "--max-size", "1K")["evicted"], 1)
        self.assertEqual(self.json_of("list"), [])

    def test_path(self):
        for variables, path in [({"BATON_CACHE_DIR": "/a"}, "/a"),
                                ({"XDG_CACHE_HOME": "/b"}, "/b/baton"),
                                ({"HOME": "/c"}, "/c/.cache/baton")]:
            with self.subTest(path):
                self.assertEqual(self.run_well("cache", "path", env=variables), path + "\n")
        done = run("cache", "path", env={})
        self.assertEqual(done.returncode, ENVIRONMENT)
        self.assertIn("BATON_CACHE_DIR, XDG_CACHE_HOME and HOME are not set", done.stderr)

    def test_an_absent_folder_is_an_empty_cache_and_is_not_made(self):
        self.assertEqual(self.json_of("list"), [])
        self.assertEqual(self.json_of("verify")["damaged"], 0)
        self.assertEqual(self.json_of("prune")["evicted"], 0)
        self.assertFalse((self.folder / "cache").exists())

    def test_a_folder_that_is_no_cache_is_left_alone(self):
        (self.folder / "other/v1").mkdir(parents=True)
        (self.folder / "empty").mkdir()
        for action in ("list", "verify", "prune"):
            self.refuse(USER, "other' is no cache: it has no v1/objects",
                        ["cache", action, "--dir", "other"], "baton cache path")
            self.run_well("cache", action, "--dir", "empty")
        self.assertEqual(list((self.folder / "empty").iterdir()), [])

    def test_a_working_folder_that_has_gone(self):
        gone = self.folder / "gone"
        gone.mkdir()
        done = subprocess.run(["bash", "-c", 'rmdir "$0"; "$1" cache list --dir x', gone, BATON],
                              cwd=gone, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (ENVIRONMENT, ""))
        self.assertRegex(done.stderr, "^error: no place for the relative path 'x': the working "
                         "folder: No such file or directory\nhint: .*\n$")

    def test_what_is_refused(self):
        (self.folder / "file").write_text("x")
        (self.folder / "open").mkdir()
        (self.folder / "open").chmod(0o777)
        for code, named, arguments, hint in [
            (USER, "no action 'verfy'", ["verfy"], "did you mean 'verify'?"),
            (USER, "ACTION", [], "baton cache --help"),
            (USER, "--max-size '1X' is no size", ["prune", "--max-size", "1X"], "K, M or G"),
            (USER, "no use for --max-size", ["list", "--max-size", "1"], "baton cache prune"),
            (USER, "--dir '' names no folder", ["list", "--dir", ""], "default cache"),
            (USER, "--max-size '' is no size", ["prune", "--max-size", ""], "K, M or G"),
            (ENVIRONMENT, "file' is no folder", ["list", "--dir", "file"], "BATON_CACHE_DIR"),
            (ENVIRONMENT, "every user may write", ["prune", "--dir", "open"], "chmod o-w"),
        ]:
            with self.subTest(named):
                self.refuse(code, named, ["cache", *arguments], hint)


if __name__ == "__main__":
    unittest.main()
