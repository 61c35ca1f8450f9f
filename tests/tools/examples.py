"""The console examples of a document, run in order: they end as shown and print what is shown."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from baton_tool import ToolTest, run

CHECK_ERROR, USER_ERROR, ENVIRONMENT_ERROR = 1, 2, 3


def examples(document):
    """(words of a command, lines shown below it) of each `$ ...` of the document."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", document, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((shlex.split(line[2:]), []))
            else:
                found[-1][1].append(line)
    return found


def shape(line):
    """The line without its numbers: registers and addresses move with every LLVM."""
    numbers = r"0x[0-9a-f]+|\b(?=[0-9a-f]*\d)[0-9a-f]+\b|\d+"
    return " ".join(re.sub(numbers, "#", line).split())


def exit_code(shown):
    """Of a command of ours that prints `shown`: a launch that went wrong, a wrong use, or none."""
    if any(" gave up a wait " in line for line in shown):
        return CHECK_ERROR
    if not shown or not shown[0].startswith("error: "):
        return 0
    if shown[0].startswith("error: comgr "):
        return ENVIRONMENT_ERROR
    launch = ("error: kernel ", "error: the launch ")
    return CHECK_ERROR if shown[0].startswith(launch) else USER_ERROR


class ExamplesTest(ToolTest):
    def check_examples(self, document, fewest):
        commands = examples(Path(document).read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(commands), fewest)
        for words, shown in commands:
            with self.subTest(" ".join(words)):
                if words[0] == "cat":  # a file that the reader is to make
                    lines = "".join(line + "\n" for line in shown)
                    (self.folder / words[1]).write_text(lines, encoding="utf-8")
                elif words[0] == "baton":
                    self.check_ours(words[1:], shown)
                else:
                    program = {"clang-22": os.environ["BATON_CLANG"], "od": "od", "sed": "sed",
                               "python3": sys.executable}[words[0]]
                    done = subprocess.run([program, *words[1:]], cwd=self.folder, text=True,
                                          capture_output=True, check=True)
                    self.assertEqual((done.stdout + done.stderr).splitlines(), shown)

    def check_ours(self, arguments, shown):
        done = run(*arguments, cwd=self.folder)
        self.assertEqual(done.returncode, exit_code(shown))
        printed = (done.stdout + done.stderr).splitlines()
        if exit_code(shown) == USER_ERROR or arguments[0] == "keys":
            self.assertEqual(shown, printed)
        else:
            self.assert_shown([shape(line) for line in shown], map(shape, printed))

    def assert_shown(self, shown, printed):
        """Each shown line but `...` is printed, in that order."""
        for line in shown:
            self.assertTrue(line == "..." or line in printed, f"not printed there: {line}")
