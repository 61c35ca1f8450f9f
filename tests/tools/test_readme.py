"""The README's console examples, run in order: they end as shown and print what is shown."""

import os
import re
import shlex
import unittest

from baton_tool import ToolTest, run

USER_ERROR = 2


def examples(readme):
    """(words of a command, lines shown below it) of each `$ baton ...` of the README."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((shlex.split(line[2:]), []))
            else:
                found[-1][1].append(line)
    return found


def shape(line):
    """The line without its numbers: registers and addresses move with every LLVM."""
    numbers = r"\b(?=[0-9a-f]*\d)[0-9a-f]+\b|\d+"
    return " ".join(re.sub(numbers, "#", line).split())


class Readme(ToolTest):
    def test_examples(self):
        with open(os.environ["BATON_README"], encoding="utf-8") as text:
            commands = examples(text.read())
        self.assertGreaterEqual(len(commands), 6)
        for words, shown in commands:
            with self.subTest(" ".join(words)):
                self.assertEqual(words[0], "baton")
                done = run(*words[1:], cwd=self.folder)
                refused = shown[0].startswith("error: ")
                self.assertEqual(done.returncode, USER_ERROR if refused else 0)
                printed = (done.stdout + done.stderr).splitlines()
                if refused or words[1] == "keys":
                    self.assertEqual(shown, printed)
                else:
                    self.assert_shown([shape(line) for line in shown], map(shape, printed))

    def assert_shown(self, shown, printed):
        """Each shown line but `...` is printed, in that order."""
        for line in shown:
            self.assertTrue(line == "..." or line in printed, f"not printed there: {line}")


if __name__ == "__main__":
    unittest.main()
