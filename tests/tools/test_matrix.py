"""`baton matrix`: a folder that is compiled, taken up again, checked, and spread with Ninja."""

import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path

from baton_tool import BATON, ToolTest, run

CHECK, USER, ENVIRONMENT = 1, 2, 3
MATRIX = """
name = "small"
chips = ["gfx950", "gfx90a"]
[[build]]
kernel = "attn_post"
tokens = [1, 2]
nblocks = [1, 2]
[[build.exclude]]
tokens = 2
nblocks = 2
"""
KEYS = 6


class MatrixCommand(ToolTest):
    def setUp(self):
        super().setUp()
        (self.folder / "m.toml").write_text(MATRIX)

    def matrix(self, *arguments, code=0):
        done = run("matrix", *arguments, "--out", "out", "--json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return json.loads(done.stdout)

    def files(self):
        return {path.relative_to(self.folder).as_posix(): path.stat().st_mtime_ns
                for path in sorted((self.folder / "out").rglob("*")) if path.is_file()}

    def test_the_folder(self):
        made = self.matrix("m.toml")
        self.assertEqual((made["keys"], made["compiled"], made["failed"]), (KEYS, KEYS, []))
        manifest = json.loads((self.folder / "out/manifest.json").read_text(encoding="utf-8"))
        self.assertEqual((manifest["format"], manifest["name"]), (1, "small"))
        entries = manifest["entries"]
        self.assertEqual([entry["chip"] for entry in entries], ["gfx950"] * 3 + ["gfx90a"] * 3)
        summary = (self.folder / "out/summary.txt").read_text(encoding="utf-8")
        for entry in entries:
            # The same code object and record as `compile` makes.
            self.run_well("compile", entry["key"], "--arch", entry["chip"], "-o", "x.co")
            for suffix in ("", ".json"):
                self.assertEqual((self.folder / ("out/" + entry["path"] + suffix)).read_bytes(),
                                 (self.folder / ("x.co" + suffix)).read_bytes())
            record = json.loads((self.folder / "x.co.json").read_text(encoding="utf-8"))
            resources = record["resources"]
            self.assertEqual([entry[n] for n in ("vgprs", "sgprs", "lds_bytes", "sha256")],
                             [resources["vgprs"], resources["sgprs"], resources["lds_bytes"],
                              record["sha256"]])
            self.assertRegex(summary, rf"(?m)^{entry['chip']} +{entry['vgprs']} +{entry['sgprs']} +"
                             rf"{entry['lds_bytes']} +\d+ +{entry['bytes']} +\d+  "
                             + re.escape(entry["key"]) + "$")

    def test_the_second_run_does_nothing_and_a_longer_list_only_what_is_new(self):
        self.matrix("m.toml")
        before = self.files()
        text = self.run_well("matrix", "m.toml", "--out", "out")
        self.assertRegex(text, rf"^nothing to do: all {KEYS} keys are in out, checked in ")
        manifest = (self.folder / "out/manifest.json").read_bytes()
        self.assertEqual(self.files(), before, "no file is touched")
        (self.folder / "m.toml").write_text(MATRIX.replace("[1, 2]", "[1, 2, 3]", 1))
        longer = self.matrix("m.toml")
        self.assertEqual((longer["keys"], longer["present"], longer["compiled"]), (10, KEYS, 4))
        (self.folder / "m.toml").write_text(MATRIX)
        self.assertEqual(self.matrix("m.toml", "--prune")["compiled"], 0)
        self.assertEqual((self.folder / "out/manifest.json").read_bytes(), manifest)
        self.assertEqual(self.matrix("--check")["faults"], [])

    def test_nothing_that_another_matrix_made_goes_unless_asked(self):
        self.matrix("m.toml")
        done = run("matrix", "m.toml", "--arch", "gfx942", "--out", "out", "--json",
                   cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, "remark: 12 files and folders below "
                         "'out/v1' are not of this matrix: --prune removes them\n"))
        self.assertEqual(json.loads(done.stdout)["unlisted"], 2 * KEYS)
        self.assertEqual(len(self.matrix("--check", code=CHECK)["faults"]), 2 * KEYS)
        self.assertEqual(self.matrix("m.toml", "--collect", "--prune")["pruned"], 6)
        self.assertEqual(self.matrix("--check", "m.toml")["faults"], [])

    def test_a_cache_of_loaders_is_not_pruned(self):
        subprocess.run([os.environ["BATON_LOADER_PROBE"], "get", "out", "gfx950",
                        "attn_post:tokens=4,nblocks=1"], cwd=self.folder, check=True,
                       capture_output=True)
        self.refuse(USER, "out' has no manifest.json and holds code objects",
                    ["matrix", "m.toml", "--out", "out", "--prune"], "baton cache prune")
        self.refuse(USER, "--prune: 'out' is the cache of this user's loaders",
                    ["matrix", "m.toml", "--out", "out", "--prune"], "baton cache prune",
                    env={"BATON_CACHE_DIR": str(self.folder / "out")})
        for more in (["--check"], ["m.toml", "--plan", "p"], ["--only", "attn_post"]):
            self.refuse(USER, "--prune has no use", ["matrix", *more, "--out", "out", "--prune"])

    def test_a_run_that_is_cut_is_taken_up(self):
        cut = subprocess.Popen([BATON, "matrix", "m.toml", "--out", "out", "-j", "1"],
                               cwd=self.folder, stdout=subprocess.DEVNULL)
        objects = self.folder / "out/v1/objects"
        while not (objects.is_dir() and any(objects.iterdir())):
            self.assertIsNone(cut.poll())
            time.sleep(0.001)
        cut.send_signal(signal.SIGKILL)
        cut.wait()
        self.assertFalse((self.folder / "out/manifest.json").exists())
        rest = self.matrix("m.toml")
        self.assertGreater(rest["present"] + rest["unchanged"], 0)
        self.assertEqual(rest["present"] + rest["unchanged"] + rest["compiled"], KEYS)
        self.assertEqual(self.matrix("--check", "m.toml")["faults"], [])

    def test_check(self):
        self.matrix("m.toml", "--arch", "gfx942")
        self.assertEqual(self.matrix("--check"), {"folder": "out", "keys": 3, "faults": []})
        faults = self.matrix("--check", "m.toml", code=CHECK)["faults"]
        self.assertEqual(len(faults), KEYS + 3)
        shutil.move(self.folder / "out", self.folder / "moved")
        shutil.move(self.folder / "moved", self.folder / "out")
        self.assertEqual(self.matrix("--check", "m.toml", "--arch", "gfx942")["faults"], [])
        code = next((self.folder / "out").rglob("code.co"))
        code.write_bytes(code.read_bytes()[:-1])
        found = run("matrix", "--check", "--out", "out", cwd=self.folder)
        self.assertEqual((found.returncode, found.stderr), (CHECK, ""))
        self.assertIn("code.co: its SHA-256 is", found.stdout)
        self.refuse(USER, "manifest.json': No such file", ["matrix", "--check", "--out", "no"])

    def test_a_plan_that_ninja_runs(self):
        self.matrix("m.toml", "--plan", "plan.ninja")
        self.assertFalse((self.folder / "out/manifest.json").exists())
        refused = run("matrix", "m.toml", "--out", "out", "--collect", cwd=self.folder)
        self.assertEqual(refused.returncode, CHECK)
        self.assertIn(f"{KEYS} of {KEYS} keys are not in ", refused.stderr)

        def ninja():
            return subprocess.run(["ninja", "-f", "plan.ninja", "-j", "2"], cwd=self.folder,
                                  check=True, capture_output=True, text=True).stdout

        self.assertIn(f"[{KEYS + 1}/{KEYS + 1}]", ninja())
        self.assertIn("no work to do", ninja())
        self.assertEqual(self.matrix("--check", "m.toml")["faults"], [])
        self.assertEqual(self.matrix("m.toml")["compiled"], 0)

    def test_steps_that_other_machines_take_are_joined(self):
        keys = ["attn_post:tokens=1,nblocks=1", "attn_post:tokens=1,nblocks=2",
                "attn_post:tokens=2,nblocks=1"]
        for number, key in enumerate(keys):
            self.run_well("matrix", "--only", key, "--arch", "gfx950,gfx90a", "--out",
                          f"machine{number}")
            shutil.copytree(self.folder / f"machine{number}", self.folder / "out",
                            dirs_exist_ok=True)
        self.assertEqual(self.matrix("m.toml", "--collect")["keys"], KEYS)
        self.assertEqual(self.matrix("--check", "m.toml")["faults"], [])

    def test_a_shared_cache_and_one_that_is_not_there(self):
        shelf = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = shelf.get(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def do_PUT(self):
                shelf[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/baton"
        first = self.matrix("m.toml", "--shared", url)
        self.assertEqual((first["compiled"], first["shared"]), (KEYS, 0))
        self.assertEqual(len(shelf), KEYS)
        manifest = (self.folder / "out/manifest.json").read_bytes()
        shutil.rmtree(self.folder / "out")
        second = self.matrix("m.toml", "--shared", url)
        self.assertEqual((second["compiled"], second["shared"]), (0, KEYS))
        self.assertEqual((self.folder / "out/manifest.json").read_bytes(), manifest)
        shutil.rmtree(self.folder / "out")
        shelf.clear()
        self.matrix("m.toml", "--plan", "plan.ninja", "--shared", url)
        subprocess.run(["ninja", "-f", "plan.ninja", "-j", "2"], cwd=self.folder, check=True,
                       capture_output=True)
        self.assertEqual(len(shelf), KEYS)
        server.shutdown()
        server.server_close()
        shutil.rmtree(self.folder / "out")
        done = run("matrix", "m.toml", "--out", "out", "--shared", url, cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^remark: going on without the shared cache: .* refused\n$")

    def test_eight_at_once_compile_each_key_once(self):
        processes = [subprocess.Popen([BATON, "matrix", "--only", "attn_post:tokens=1,nblocks=1",
                                       "--only", "attn_post:tokens=2,nblocks=1", "--arch", "gfx950",
                                       "--out", "out", "--json"], cwd=self.folder, text=True,
                                      stdout=subprocess.PIPE) for _ in range(8)]
        results = [json.loads(process.communicate()[0]) for process in processes]
        self.assertEqual([process.returncode for process in processes], [0] * 8)
        self.assertEqual(sum(result["compiled"] for result in results), 2)

    def test_what_is_refused(self):
        (self.folder / "file").write_text("kept")
        (self.folder / "none.toml").write_text(
            'chips = ["gfx950"]\n[[build]]\nkernel = "attn_post"\ntokens = 1\n'
            '[[build.exclude]]\ntokens = 1\n')
        (self.folder / "bad.toml").write_text(MATRIX.replace("nblocks =", "nblock ="))
        for named, arguments, hint in [
            ("needs a FILE.toml", ["--out", "o"], "docs/matrix.md"),
            ("--out", ["m.toml"], "baton matrix --help"),
            ("exclude each other", ["m.toml", "--out", "o", "--check", "--collect"], "docs"),
            ("'no.toml'", ["no.toml", "--out", "o"], "check the path"),
            ("bad.toml:7: attn_post has no field 'nblock'", ["bad.toml", "--out", "o"],
             "did you mean 'nblocks'?"),
            ("'gfx951'", ["m.toml", "--out", "o", "--arch", "gfx951"], "gfx950"),
            ("-j -1", ["m.toml", "--out", "o", "-j", "-1"], "-j N"),
            ("-j 0", ["m.toml", "--out", "o", "-j", "0"], "from 1 up"),
            ("--out ''", ["m.toml", "--out", ""], "docs/matrix.md"),
            ("FILE.toml is ''", ["", "--out", "o"], "docs/matrix.md"),
            ("FILE.toml is ''", ["", "--check", "--out", "o"], "docs/matrix.md"),
            ("--plan ''", ["m.toml", "--out", "o", "--plan", ""], "docs/matrix.md"),
            ("--shared ''", ["m.toml", "--out", "o", "--shared", ""], "docs/matrix.md"),
            ("unknown chip ''", ["m.toml", "--out", "o", "--arch", ""], "gfx950"),
            ("'ftp://x' is no URL", ["m.toml", "--out", "o", "--plan", "p", "--shared", "ftp://x"],
             "http://"),
            ("cannot name", ["m.toml", "--out", "a\nb", "--plan", "p"], "line break"),
            ("--out 'file': it is no folder", ["m.toml", "--out", "file"], "another folder"),
            ("Not a directory", ["m.toml", "--out", "file/o"], "another folder"),
            ("File name too long", ["m.toml", "--out", "o" * 300], "another folder"),
            ("File name too long", ["m.toml", "--out", "o" * 200 + "/" + "o" * 300], "folder"),
            ("-j has no use beside --check", ["--check", "--out", "o", "-j", "2"], "docs"),
            ("--arch has no use", ["--check", "--out", "o", "--arch", "nonsense"], "manifest"),
            ("--shared has no use", ["--check", "--out", "o", "--shared", "http://h"], "docs"),
            ("--shared has no use", ["m.toml", "--collect", "--out", "o", "--shared", "http://h"],
             "docs"),
            ("no key", ["none.toml", "--out", "o"], "a key at least"),
            ("leave FILE.toml out", ["m.toml", "--only", "attn_post", "--out", "o"], "docs"),
            ("needs --arch CHIP", ["--only", "attn_post", "--out", "o"], "chips: "),
            ("no field 'token'", ["--only", "attn_post:token=1", "--arch", "gfx950", "--out", "o"],
             "did you mean 'tokens'?"),
        ]:
            with self.subTest(named):
                self.refuse(USER, named, ["matrix", *arguments], hint)

    def test_another_users_folder(self):
        if os.geteuid() != 0:
            self.skipTest("only root may make one")
        (self.folder / "o").mkdir()
        os.chown(self.folder / "o", 65534, 65534)
        self.refuse(USER, "--out 'o': it belongs to user 65534", ["matrix", "m.toml", "--out", "o"],
                    "another folder")

    def test_a_working_folder_that_has_gone(self):
        gone = self.folder / "gone"
        gone.mkdir()
        done = subprocess.run(["bash", "-c", 'rmdir "$0"; "$1" matrix "$2" --out x', gone, BATON,
                               self.folder / "m.toml"],
                              cwd=gone, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (ENVIRONMENT, ""))
        self.assertRegex(done.stderr, "^error: no place for the relative path 'x': ")

    def test_a_run_without_a_umask_can_be_taken_up(self):
        for _ in range(2):
            self.run_well("matrix", "m.toml", "--out", "out", preexec_fn=lambda: os.umask(0))
        folders = [path for path in (self.folder / "out").rglob("*") if path.is_dir()]
        self.assertEqual([path for path in folders if path.stat().st_mode & 0o022], [])

    def fail_on(self, out, named):
        """A run that cannot keep its keys tells each of them, and why, also in JSON."""
        done = run("matrix", "m.toml", "--out", out, "--json", cwd=self.folder)
        self.assertEqual(done.returncode, ENVIRONMENT)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        failed = json.loads(done.stdout)["failed"]
        self.assertGreater(len(failed), 0)
        self.assertEqual(len(errors), len(failed))
        for error, failure in zip(errors, failed):
            self.assertIn(failure["key"], error)
            self.assertIn(named, error)
            self.assertIn(named, failure["error"])
        self.assertNotIn("compile them first", done.stderr)
        return done.stderr

    def test_a_full_and_a_read_only_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=96k,mode=755", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("this user may not mount a tiny tmpfs")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        self.assertIn("space", self.fail_on("disk/out", "No space left on device"))
        self.assertFalse((disk / "out/manifest.json").exists())
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        self.fail_on("disk/out", "Read-only file system")
        self.refuse(ENVIRONMENT, "disk/new/v1/objects': Read-only file system",
                    ["matrix", "m.toml", "--out", "disk/new"], "another folder")

    def test_a_manifest_that_cannot_be_written_is_in_the_json(self):
        (self.folder / "out/manifest.json").mkdir(parents=True)
        done = run("matrix", "m.toml", "--out", "out", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, USER)
        outcome = json.loads(done.stdout)
        self.assertEqual((outcome["compiled"], outcome["failed"]), (KEYS, []))
        self.assertIn("manifest.json': Is a directory", outcome["error"])
        self.assertIn(outcome["error"], done.stderr)

    def test_the_example_is_a_matrix(self):
        """Every key of the deployment set is valid; some of it is compiled, at both ends."""
        example = Path(os.environ["BATON_MATRIX"])
        self.matrix(example, "--plan", "plan.ninja")
        plan = (self.folder / "plan.ninja").read_text(encoding="utf-8")
        self.assertEqual(plan.count(": compile\n"), 608 + 555)
        keys = re.findall(r"(?m)^  key = (.*)$", plan)
        for key in (keys[0], keys[-1]):
            self.run_well("matrix", "--only", key, "--arch", "gfx950", "--out", "out")


if __name__ == "__main__":
    unittest.main()
