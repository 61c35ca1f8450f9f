#!/usr/bin/env python3
"""Each style check finds the fault it is there for, and passes what is right."""

import tempfile
import unittest
from pathlib import Path

import check_style as style


class StyleTest(unittest.TestCase):
    def faults(self, check, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                file = Path(root) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return list(style.CHECKS[check](style.Tree(root)))

    def expect(self, check, files, *fragments):
        faults = self.faults(check, files)
        self.assertEqual(len(faults), len(fragments), faults)
        for fault, fragment in zip(faults, fragments):
            self.assertIn(fragment, fault)

    def test_includes_down_the_table_pass(self):
        self.expect(
            "includes",
            {
                "runtime/a.h": "#include <vector>\n",
                "dsl/b.h": '#include "runtime/a.h"\n#include "passes/Ops.h.inc"\n',
                "passes/c.cpp": '#include <mlir/IR/Builders.h>\n#include "runtime/a.h"\n',
                "runtime/emulator/d.cpp": '#include "llvm/MC/MCInst.h"\n',
            },
        )

    def test_includes_up_the_table_fail(self):
        self.expect(
            "includes",
            {"runtime/a.h": '#include "dsl/b.h"\n', "dsl/b.h": "\n"},
            "runtime/a.h:1: runtime may not include dsl/b.h",
        )
        self.expect(
            "includes",
            {"passes/a.h": '\n#include "codegen/b.h"\n', "codegen/b.h": '#include "passes/a.h"\n'},
            "codegen/b.h:1: codegen may not",
            "passes/a.h:2: passes may not",
        )

    def test_llvm_in_the_runtime_fails(self):
        self.expect("includes", {"runtime/a.h": "#include <llvm/A.h>\n"}, "free of LLVM")
        self.expect(
            "includes",
            {
                "builds/k/reference/a.cpp": '#include "dsl/b.h"\n#include "mlir/A.h"\n',
                "dsl/b.h": "\n",
            },
            "may not include dsl/b.h",
            "free of LLVM",
        )

    def test_includes_that_are_no_paths_fail(self):
        self.expect("includes", {"runtime/a.h": '#include "b.h"\n'}, "path from the root")
        self.expect("includes", {"runtime/a.h": '#include "runtime/b.h"\n'}, "does not exist")
        self.expect("includes", {"stray/a.h": "\n"}, "not in the include table")

    def test_umbrella(self):
        files = {"dsl/dsl.h": '#include "dsl/a.h"\n', "dsl/a.h": "#include <vector>\n"}
        self.expect("umbrella", files)
        files["dsl/a.h"] = "#include <mlir/IR/Value.h>\n"
        self.expect("umbrella", files, "dsl/a.h:1 <- dsl/dsl.h: shows mlir/IR/Value.h")
        self.expect("umbrella", {}, "dsl/dsl.h is missing")

    def test_lines(self):
        self.expect("lines", {"a.cpp": "x" * 100 + "\n", "README.md": "y" * 101 + "\n"})
        self.expect("lines", {"a.cpp": "x" * 101 + "\n"}, "a.cpp:1: 101 columns")
        self.expect("lines", {"a.cpp": "\tx\n"}, "a.cpp:1: a tab")
        self.expect("lines", {"README.md": "x \n"}, "README.md:1: trailing space")
        self.expect("lines", {"a.py": "x"}, "no newline")
        self.expect("lines", {"a.h": "\n" * 500})
        self.expect("lines", {"a.h": "\n" * 501}, "501 lines")
        self.expect("lines", {"build/a.h": "\t\n", "build-x/a.h": "\t\n"})

    def test_functions(self):
        def function(lines, head="int f(int x) const {", extra=""):
            return f"namespace n {{\n{extra}{head}\n" + "  g();\n" * (lines - 2) + "}\n}\n"

        self.expect("functions", {"a.cpp": function(70)})
        self.expect("functions", {"a.cpp": function(71)}, "a.cpp:2: f has 71 lines")
        self.expect(
            "functions",
            {"a.cpp": function(71, "template <typename T>\nvoid C<T>::run(\n    T x)\n{")},
            "run has 74 lines",
        )
        inline = "struct S {\n  int y = 0;\n  S() : y(1) {\n" + "    g();\n" * 70 + "  }\n};\n"
        self.expect("functions", {"a.h": inline}, "a.h:3: ")
        braces = 'const char* k = "{";  // {\nchar c = \'{\';\nauto r = R"(\n{{{)";\n'
        self.expect("functions", {"a.cpp": function(71, extra=braces)}, "a.cpp:6: f has 71 lines")
        table = "constexpr int kTable[] = {\n" + "  1,\n" * 100 + "};\n"
        self.expect("functions", {"a.cpp": table})
        macro = "MACRO(x)\nnamespace n {\n" + "int x;\n" * 100 + "}\n"
        self.expect("functions", {"a.cpp": macro})
        self.expect("functions", {"a.py": "def f():\n" + "    g()\n" * 70}, "f has 71 lines")

    def test_map(self):
        files = {
            "README.md": "# B\n## Where things live\n"
            "`runtime/base/` `runtime` `dev`\n## More\n`x`\n",
            "runtime/base/a.h": "\n",
            "dev": "\n",
        }
        self.expect("map", files)
        self.expect("map", {**files, "dsl/value/v.h": "\n"}, "folder dsl", "folder dsl/value")
        self.expect("map", {**files, "tests/runtime/t.cpp": "\n"}, "folder tests")
        gone = files["README.md"].replace("`dev`", "`dev` `passes/check`")
        self.expect("map", {**files, "README.md": gone}, "names passes/check")
        self.expect("map", {**files, "README.md": "# B\n"}, "no section")
        self.expect("map", {"dev": "\n"}, "README.md is missing")

    def test_format(self):
        config = {".clang-format": "BasedOnStyle: Google\n"}
        self.expect("format", {**config, "a.cpp": "int f() { return 1; }\n"})
        self.assertTrue(self.faults("format", {**config, "a.cpp": "int f(){return 1;}\n"}))


if __name__ == "__main__":
    unittest.main()
