# lit tests of the compiler: a RUN line is a shell command, FileCheck reads what it prints.
# The site file of the build, lit.site.cfg.py, sets the two folders of tools and loads this one.
import os

import lit.formats

config.name = "baton"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.environment["PATH"] = os.pathsep.join(
    [config.baton_tools, config.llvm_tools, config.environment.get("PATH", "")]
)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
