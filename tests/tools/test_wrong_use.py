"""Every wrong use gives one clear line, a hint and its exit code, and leaves nothing behind."""

import json
import os
import re
import resource
import subprocess
import sys
import unittest

from baton_tool import BATON, CHIPS, KEY, ToolTest, run, snapshot

USER, CHECK, ENVIRONMENT = 2, 1, 3
GFX950 = ("--arch", "gfx950")

# (what is wrong, arguments, what the error line must name, what the hint must name)
WRONG_WORDS = [
    ("no command", [], "a command is missing", "keys, compile, isa, info, run, emu"),
    ("unknown command", ["compil", KEY], "unknown command 'compil'", "did you mean 'compile'?"),
    ("unknown flag before a command", ["--fast", "keys"], "no flag '--fast'", "baton --help"),
    ("unknown flag", ["isa", KEY, *GFX950, "--stge", "o"], "'--stge'", "did you mean '--stage'?"),
    ("an argument too many", ["keys", "attn_post", "more"], "'more'", "baton keys --help"),
    ("no key", ["compile", *GFX950], "KEY", "baton compile --help"),
    ("no file", ["info"], "FILE.co|KEY", "baton info --help"),
    ("a flag without its value", ["isa", KEY, "--arch"], "--arch", "baton isa --help"),
    ("a flag twice", ["isa", KEY, *GFX950, *GFX950], "--arch", "baton isa --help"),
    ("flags that exclude", ["isa", KEY, *GFX950, "--raw", "--stats"], "--raw", "baton isa --help"),
    ("unknown emit kind", ["compile", KEY, *GFX950, "--emit", "ptx"], "'ptx'", "co|obj|asm|llvm"),
    ("unknown backend", ["isa", KEY, *GFX950, "--backend", "ld"], "'ld'", "lld|comgr"),
    ("comgr and no link", ["compile", KEY, *GFX950, "--backend", "comgr", "--emit", "obj"],
     "--backend comgr links, and --emit obj stops before", "leave --backend out"),
    ("compile without --arch", ["compile", KEY], "--arch", "gfx950 (MI350X, MI355X)"),
    ("isa without --arch", ["isa", KEY], "--arch", "gfx942"),
    ("info without --arch", ["info", KEY], "--arch", "gfx90a"),
    ("unknown chip", ["compile", KEY, "--arch", "gfx951"], "'gfx951'", "gfx950"),
    ("empty chip", ["compile", KEY, "--arch", ""], "--arch", "gfx950"),
    ("unknown kernel of keys", ["keys", "attn_pst"], "'attn_pst'", "did you mean 'attn_post'?"),
    ("text of two keys", ["compile", KEY, "attn_post:tokens=1", *GFX950, "--emit", "asm"],
     "--emit asm of 2 keys", "-o FOLDER"),
    ("JSON and text together", ["compile", KEY, *GFX950, "--emit", "asm", "--json"],
     "--json and --emit asm", "-o PATH"),
    ("unknown stage", ["isa", KEY, *GFX950, "--stage", "oo"], "no stage 'oo'", "slice, reduce"),
]

# (key, what the error line must name)
WRONG_KEYS = [
    ("", "the key is empty"),
    ("attn_pst:tokens=8", "unknown kernel 'attn_pst'"),
    ("attn_post:token=8", "no field 'token'"),
    ("attn_post:tokens=8,tokens=8", "'tokens' stands twice"),
    ("attn_post:tokens=0", "tokens is '0', expected 1 to"),
    ("attn_post:tokens=65", "tokens is '65', expected 1 to"),
    ("attn_post:nblocks=9", "nblocks is '9', expected 1 to 8"),
    ("attn_post:nblocks=-1", "nblocks is '-1', expected 1 to 8"),
    ("attn_post:tokens=eight", "tokens is 'eight'"),
    ("attn_post:tokens=8.0", "tokens is '8.0'"),
    ("attn_post:tokens=99999999999999999999", "tokens is '99999999999999999999'"),
    ("attn_post:eps=nan", "eps is 'nan'"),
    ("attn_post:eps=0", "eps is '0'"),
    ("attn_post:reset=yes", "reset is 'yes', expected 0 or 1"),
    ("attn_post:tokens", "expected '=' after the field 'tokens' at position 17, found the end"),
    ("attn_post:tokens=", "expected a value of the field 'tokens' at position 18"),
    ("attn_post:tokens=8;nblocks=8", "position 19, found ';'"),
    ("attn_post:tokens=8,", "a field name at position 20"),
    ("attn_post tokens=8", "position 10, found ' '"),
    ("ATTN_POST", "position 1, found 'A'"),
    ("attn_post:tokens=8\n", "position 19, found '\\x0a'"),
    ("attn_post:" + "x" * 5000, "over the limit of 1024"),
]


class WrongUse(ToolTest):
    def compile(self, path, *more):
        self.run_well("compile", KEY, *GFX950, "-o", path, *more)

    def test_words(self):
        for what, arguments, named, hint in WRONG_WORDS:
            with self.subTest(what):
                self.refuse(USER, named, arguments, hint)

    def test_keys(self):
        for key, named in WRONG_KEYS:
            for command in ("compile", "isa", "info"):
                with self.subTest(key=key[:60], command=command):
                    self.refuse(USER, named, [command, key, *GFX950])

    def test_every_bad_key_is_named_and_none_is_compiled(self):
        keys = ["attn_post:tokens=9999", KEY, "attn_pst", "attn_post:nblocks=0"]
        done = run("compile", *keys, *GFX950, cwd=self.folder)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 3)
        for error, named in zip(errors, ["'9999'", "'attn_pst'", "nblocks is '0'"]):
            self.assertIn(named, error)
        self.assertEqual((done.returncode, done.stdout, snapshot(self.folder)), (USER, "", {}))

    def test_paths_that_cannot_be_written(self):
        (self.folder / "file").write_text("kept")
        long_name = "n" * 300
        for path, named in [("no/x.co", "No such file or directory"),
                            ("file/x.co", "Not a directory"),
                            (long_name, "File name too long")]:
            with self.subTest(path=path[:20]):
                error = self.refuse(USER, named, ["compile", KEY, *GFX950, "-o", path])
                self.assertIn(path, error)

    def test_an_empty_path(self):
        self.refuse(USER, "-o '' names no file", ["compile", KEY, *GFX950, "-o", ""])
        for flag in ("--inputs", "--outputs", "--regions"):
            self.refuse(USER, f"{flag} '' names no folder", ["run", KEY, *GFX950, flag, ""])

    def test_a_pipe_that_nobody_reads(self):
        os.mkfifo(self.folder / "pipe")
        self.refuse(USER, "'pipe': nobody reads this pipe",
                    ["compile", KEY, *GFX950, "-o", "pipe"], "start its reader first")

    def test_a_link_to_nothing_is_followed(self):
        (self.folder / "link.co").symlink_to("target.co")
        self.compile("link.co")
        self.assertTrue((self.folder / "link.co").is_symlink())
        self.assertTrue((self.folder / "target.co").read_bytes().startswith(b"\x7fELF"))

    def test_control_bytes_do_not_reach_the_terminal(self):
        name = "\x1b[31mred\n\x07.co"
        error = self.refuse(USER, "\\x1b[31mred\\x0a\\x07.co", ["info", f"./{name}"])
        self.assertNotIn("\x1b", error)
        done = run("compile", KEY, *GFX950, "-o", name, cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("\\x1b[31mred\\x0a\\x07.co: "), done.stdout)

    def test_version(self):
        self.assertRegex(self.run_well("--version"), r"^baton \d+\.\d+\.\d+, LLVM 22\.\d+\.\d+\n$")

    def test_several_keys_need_a_folder(self):
        (self.folder / "file").write_text("kept")
        for path in ("no", "file"):
            with self.subTest(path):
                self.refuse(USER, f"-o '{path}' is no folder",
                            ["compile", KEY, "attn_post:tokens=1", *GFX950, "-o", path], "mkdir -p")

    def test_a_record_that_cannot_be_written(self):
        (self.folder / "x.co.json").mkdir()
        self.refuse(USER, "x.co.json': Is a directory", ["compile", KEY, *GFX950, "-o", "x.co"])

    def test_a_folder_without_write_permission(self):
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        as_user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        self.refuse(USER, "Permission denied", ["compile", KEY, *GFX950, "-o", "x.co"], **as_user)

    def test_a_full_device(self):
        for emit in ("co", "obj", "asm", "llvm", "mlir", "baton"):
            with self.subTest(emit):
                self.refuse(ENVIRONMENT, "'/dev/full': No space left on device",
                            ["compile", KEY, *GFX950, "--emit", emit, "-o", "/dev/full"])

    def test_a_write_that_breaks_off(self):
        """The file-size limit cuts the write in the middle, and an older file stays as it was."""
        (self.folder / "x.ll").write_text("old")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
        self.refuse(ENVIRONMENT, "'x.ll': File too large",
                    ["compile", KEY, *GFX950, "--emit", "llvm", "-o", "x.ll"], "ulimit -f",
                    preexec_fn=limit)

    def test_a_full_disk(self):
        """40 KiB hold the code object without its record; 16 KiB hold neither."""
        for size in ("16k", "40k"):
            disk = self.folder / size
            disk.mkdir()
            mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
            if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
                self.skipTest("this user may not mount a tiny tmpfs")
            try:
                self.refuse(ENVIRONMENT, "No space left on device",
                            ["compile", KEY, *GFX950, "-o", disk / "x.co"], "free some space")
            finally:
                subprocess.run(["umount", str(disk)], check=True)

    def test_standard_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.refuse(ENVIRONMENT, "standard output: No space left", ["keys"], stdout=full)
        shell = f"{BATON} keys >&-"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, ENVIRONMENT)
        self.assertIn("error: cannot write standard output: Bad file descriptor", done.stderr)

    def refuse_file(self, code, named, path, *more):
        for command in ("isa", "info"):
            with self.subTest(command=command, path=path):
                error = self.refuse(code, named, [command, path, *more])
                self.assertIn(str(path), error)

    def test_files_that_are_no_code_object(self):
        self.compile("whole.co")
        whole = (self.folder / "whole.co").read_bytes()
        self.compile("object.co", "--emit", "obj")
        (self.folder / "empty.co").write_bytes(b"")
        (self.folder / "text.co").write_text("attn_post\n")
        (self.folder / "zeros.co").write_bytes(bytes(4096))
        (self.folder / "folder.co").mkdir()
        os.mkfifo(self.folder / "pipe.co")
        for path, named in [("no.co", "No such file"), ("folder.co", "Is a directory"),
                            ("pipe.co", "not a regular file"), ("text.co", "not an ELF file"),
                            ("zeros.co", "not an ELF file"), ("empty.co", "empty"),
                            ("./object.co", "relocatable"), (sys.executable, "x86-64")]:
            self.refuse_file(USER, named, path)
        for size in (1, 15, 63, 64, 200, 4096, len(whole) // 2, len(whole) - 1):
            (self.folder / "cut.co").write_bytes(whole[:size])
            self.refuse_file(USER, "cut.co", "cut.co")

    def test_code_that_is_no_instruction(self):
        self.compile("x.co")
        code = (self.folder / "x.co").read_bytes()
        (self.folder / "x.co.json").unlink()
        mfma = self.run_well("isa", "x.co", "--stage", "o").split("v_mfma", 1)[0].split()[-1]
        sections = subprocess.run([os.environ["BATON_READELF"], "--sections", "x.co"],
                                  cwd=self.folder, capture_output=True, text=True, check=True)
        text = re.search(r"\.text +PROGBITS +(\w+) +(\w+)", sections.stdout)
        at = int(mfma, 16) - int(text[1], 16) + int(text[2], 16)
        (self.folder / "x.co").write_bytes(code[:at] + b"\xff" * 8 + code[at + 8:])
        for more in ([], ["--raw"]):
            self.refuse(USER, "x.co: kernel attn_post: the word 0xffffffff at offset",
                        ["isa", "x.co", *more])

    def test_a_file_for_another_chip(self):
        self.compile("x.co")
        for chip in CHIPS[1:]:
            self.refuse_file(USER, f"is for gfx950, not for {chip}", "x.co", "--arch", chip)
        self.refuse(USER, "unknown chip 'gfx1'", ["isa", "x.co", "--arch", "gfx1"])

    def test_a_stage_that_a_file_lacks(self):
        self.compile("x.co")
        self.refuse(USER, "no stage 'p'", ["isa", "x.co", "--stage", "p"], "slice")

    def test_a_file_that_differs_from_its_record(self):
        self.compile("x.co")
        whole = bytearray((self.folder / "x.co").read_bytes())
        whole[-1] ^= 1
        (self.folder / "x.co").write_bytes(whole)
        self.refuse_file(CHECK, "SHA-256", "x.co")

    def test_a_broken_record(self):
        self.compile("x.co")
        path = self.folder / "x.co.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        del record["chip"]
        for text, named in [("{", "x.co.json"), (json.dumps(record), "chip")]:
            path.write_text(text, encoding="utf-8")
            self.refuse_file(USER, named, "x.co")


if __name__ == "__main__":
    unittest.main()
