#!/usr/bin/env python3
"""check_style.py CHECK ROOT: one check of the source tree; prints each fault, exits 1 for any."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MAX_COLUMNS = 100
MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 500

# Who may include whom: a folder's own files and those of the folders named here.
INCLUDE_TABLE = {
    "runtime": [],
    "passes": ["runtime"],
    "codegen": ["runtime"],
    "dsl": ["runtime", "passes", "codegen"],
    "builds": ["runtime", "passes", "codegen", "dsl"],
    "tools": ["runtime", "passes", "codegen", "dsl", "builds"],
    "bench": ["runtime", "passes", "codegen", "dsl", "builds", "tests"],
    "tests": ["runtime", "passes", "codegen", "dsl", "builds", "tools"],
}
# Where LLVM's headers may not stand, though the folder above may have them.
LLVM_FREE = re.compile(r"^(runtime/(?!emulator/)|builds/[^/]+/reference/)")
REFERENCE = re.compile(r"^builds/[^/]+/reference/")
LLVM_HEADERS = ("llvm/", "llvm-c/", "mlir/", "lld/", "clang/")
# The header that kernel authors include: nothing behind it may be LLVM's, it would cost seconds.
UMBRELLA = "dsl/dsl.h"

# Table-like functions that may be longer, by file and name.
LONG_TABLES = set()

SOURCE = {".cpp", ".h"}
FORMATTED = SOURCE | {".c"}
CODE = FORMATTED | {".td", ".py", ".sh", ".cmake", ".in"}
TEXT = CODE | {".md", ".txt", ".mlir", ".test", ".json", ".yml"}
NAMED_CODE = {"CMakeLists.txt", "dev", "run"}
SKIPPED_FOLDERS = re.compile(r"^(\.git|build|build-.*|__pycache__|corpus)$")


class Tree:
    """The files of a source tree, by path from its root."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = []
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = sorted(n for n in subfolders if not SKIPPED_FOLDERS.match(n))
            for name in sorted(names):
                self.files.append((Path(folder) / name).relative_to(self.root).as_posix())

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def select(self, suffixes, names=()):
        for path in self.files:
            if Path(path).suffix in suffixes or Path(path).name in names:
                yield path


def quoted_includes(text):
    """(line number, path, is quoted) of each #include."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if found:
            yield number, found[2], found[1] == '"'


def check_includes(tree):
    """Includes keep to the table of folders and are written from the root."""
    for path in tree.select(SOURCE):
        folder = path.split("/")[0]
        if folder not in INCLUDE_TABLE:
            yield f"{path}: the folder {folder} is not in the include table"
            continue
        allowed = {folder, *INCLUDE_TABLE[folder]}
        if REFERENCE.match(path):
            allowed -= {"passes", "codegen", "dsl"}
        for number, included, is_quoted in quoted_includes(tree.text(path)):
            where = f"{path}:{number}"
            target = included.split("/")[0]
            if included.startswith(LLVM_HEADERS):
                if LLVM_FREE.match(path):
                    yield f"{where}: {included}: this folder is free of LLVM"
            elif target in INCLUDE_TABLE and target not in allowed:
                yield f"{where}: {folder} may not include {included}"
            elif is_quoted and target not in INCLUDE_TABLE:
                yield f"{where}: {included}: include by the path from the root"
            elif is_quoted and not included.endswith(".inc") and included not in tree.files:
                yield f"{where}: {included} does not exist"


def check_umbrella(tree):
    """Nothing that the kernel authors' header includes, however deep, is LLVM's or MLIR's."""
    seen, waiting = set(), [(UMBRELLA, [])]
    if UMBRELLA not in tree.files:
        yield f"{UMBRELLA} is missing"
        return
    while waiting:
        path, via = waiting.pop()
        if path in seen or path not in tree.files:
            continue
        seen.add(path)
        for number, included, _ in quoted_includes(tree.text(path)):
            if included.startswith(LLVM_HEADERS) or included.endswith(".inc"):
                chain = " <- ".join([f"{path}:{number}", *reversed(via)])
                yield f"{chain}: shows {included} to kernel authors"
            waiting.append((included, [*via, path]))


def check_lines(tree):
    """Columns, tabs, trailing spaces, the final newline, the length of files."""
    for path in tree.select(TEXT, NAMED_CODE):
        text = tree.text(path)
        is_code = Path(path).suffix in CODE or Path(path).name in NAMED_CODE
        for number, line in enumerate(text.split("\n"), 1):
            where = f"{path}:{number}"
            if "\t" in line:
                yield f"{where}: a tab"
            if line != line.rstrip():
                yield f"{where}: trailing space"
            if is_code and len(line) > MAX_COLUMNS:
                yield f"{where}: {len(line)} columns, over {MAX_COLUMNS}"
        if text and not text.endswith("\n"):
            yield f"{path}: no newline at the end"
        if is_code and text.count("\n") > MAX_FILE_LINES:
            yield f"{path}: {text.count(chr(10))} lines, over {MAX_FILE_LINES}"


def blank_literals(text):
    """C++ text with comments, strings and preprocessor lines blanked, line for line."""
    pattern = re.compile(
        r'R"(?P<tag>[^()\\ ]*)\(.*?\)(?P=tag)"|//[^\n]*|/\*.*?\*/'
        r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'|^\s*#(?:\\\n|[^\n])*',
        re.DOTALL | re.MULTILINE,
    )
    return pattern.sub(lambda found: "\n" * found[0].count("\n"), text)


NO_FUNCTION = re.compile(
    r"^(namespace|class|struct|enum|union|extern|if|for|while|switch|catch|else|do|try|return)\b"
)


def function_name(head):
    """The name that a function definition with this head has; None for any other brace."""
    head = re.sub(r"^(\s|template\s*<[^{}]*?>\s*(?=\w)|(public|private|protected)\s*:)+", "", head)
    if re.search(r"\bnamespace\b[^()]*$", head):
        return None  # behind a macro's call that has no semicolon
    parenthesis = head.find("(")
    if parenthesis < 0 or NO_FUNCTION.match(head) or "=" in head[:parenthesis]:
        return None
    found = re.search(r"([\w:~]+|operator\s*\S+)\s*$", head[:parenthesis])
    return found[1] if found else None


def functions(text):
    """(name, first line, number of lines) of each outermost function of C++ text."""
    text = blank_literals(text)
    depth, opened, head_start = 0, None, 0
    for found in re.finditer(r"[{};]", text):
        at = found.start()
        if found[0] == "{":
            if opened is None:
                head = text[head_start:at]
                name = function_name(head)
                if name:
                    lead = len(head) - len(head.lstrip())
                    opened = (depth, name, text.count("\n", 0, head_start + lead) + 1)
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if opened and depth == opened[0]:
                yield opened[1], opened[2], text.count("\n", 0, at) + 2 - opened[2]
                opened = None
        if opened is None:
            head_start = at + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def check_functions(tree):
    """Functions stay short, but for the tables named above."""
    for path in tree.select(SOURCE | {".py"}):
        reader = python_functions if path.endswith(".py") else functions
        for name, line, count in reader(tree.text(path)):
            if count > MAX_FUNCTION_LINES and (path, name) not in LONG_TABLES:
                yield f"{path}:{line}: {name} has {count} lines, over {MAX_FUNCTION_LINES}"


def map_paths(readme):
    """The paths in backticks of the README's section 'Where things live'."""
    section = re.search(r"^#+ Where things live\n(.*?)(?=^#|\Z)", readme, re.DOTALL | re.MULTILINE)
    if section is None:
        return None
    return [found.rstrip("/") for found in re.findall(r"`([\w.\-/]+)`", section[1])]


def check_map(tree):
    """The README's map: its paths exist, and every folder of depth one and two is on it."""
    if "README.md" not in tree.files:
        yield "README.md is missing"
        return
    paths = map_paths(tree.text("README.md"))
    if paths is None:
        yield "README.md has no section 'Where things live'"
        return
    for path in paths:
        if not (tree.root / path).exists():
            yield f"README.md: the map names {path}, which does not exist"
    folders = set()
    for path in tree.files:
        parts = path.split("/")[:-1]
        folders.update("/".join(parts[:depth]) for depth in (1, 2) if len(parts) >= depth)
    for folder in sorted(folders):
        mirror = re.match(r"tests/([^/]+)$", folder)
        if folder in paths or folder.startswith(".") or (mirror and mirror[1] in INCLUDE_TABLE):
            continue
        yield f"README.md: the map lacks the folder {folder}"


def check_format(tree):
    """clang-format has nothing to change."""
    tool = shutil.which("clang-format-22")
    if tool is None:
        yield "clang-format-22 is not installed"
        return
    files = [str(tree.root / path) for path in tree.select(FORMATTED)]
    run = subprocess.run(
        [tool, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        yield from (line for line in run.stderr.splitlines() if "error:" in line)


CHECKS = {
    "includes": check_includes,
    "umbrella": check_umbrella,
    "lines": check_lines,
    "functions": check_functions,
    "map": check_map,
    "format": check_format,
}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: check_style.py {'|'.join(CHECKS)} ROOT")
    faults = list(CHECKS[sys.argv[1]](Tree(sys.argv[2])))
    print("\n".join(faults) if faults else f"{sys.argv[1]}: no faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
