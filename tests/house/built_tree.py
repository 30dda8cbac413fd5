# SPDX-License-Identifier: Apache-2.0
"""A project with a build folder as CMake and ninja leave it, for tests of what reads them."""

import json
import unittest

from sandbox import Sandbox

SOURCES = {
    "a": "libcrawlstore/src/io/a.cpp",
    "b": "libcrawlstore/src/io/b.cpp",
    "driver": "fuzz/driver.cpp",
    "a_test": "tests/io/a_test.cpp",
    "b_test": "tests/io/b_test.cpp",
    "kill_test": "tests/drum/kill_test.cpp",
    "main": "cli/main.cpp",
}
TREE = {
    "CMakeLists.txt": "",
    "notes.md": "",
    "cli/main.cpp": '#include "io/b.h"\n',
    "fuzz/driver.cpp": "",
    "libcrawlstore/include/crawlstore/c.h": "",
    "libcrawlstore/src/io/a.h": "",
    "libcrawlstore/src/io/a.cpp": '#include "io/a.h"\n',
    "libcrawlstore/src/io/b.h": "#include <crawlstore/c.h>\n",
    "libcrawlstore/src/io/b.cpp": '#include "io/b.h"\n',
    "spec/format.md": "",
    "spec/reader.py": "import struct\n",
    "tests/cli/command.py": 'BINARY = BUILD / "bin/crawlstore"\n',
    "tests/cli/x_test.py": "import command\n",
    "tests/drum/kill_test.cpp": '#include "io/a.h"\n',
    "tests/golden/reader_test.py": 'run(SOURCE / "spec" / "reader.py")\n',
    "tests/golden/valid/g.crawl": "",
    "tests/install/install_test.py": "",
    "tests/io/a_test.cpp": '#include "io/a.h"\nread("/tests/golden/valid");\n',
    "tests/io/b_test.cpp": '#include "io/b.h"\nread("spec/format.md");\n',
}
# The output of nm for each object.
SYMBOLS = {
    "a": "define_a T", "b": "define_b T", "driver": "main T", "a_test": "define_a U",
    "b_test": "define_b U", "kill_test": "define_a U", "main": "define_b U",
}
PROGRAMS = {
    "bin/tests_a": "a_test", "bin/tests_b": "b_test", "bin/tests_kill": "kill_test",
    "bin/crawlstore": "main",
}


class BuiltTree(unittest.TestCase):
    """A small project that is built; cmake/affected_tests.py and what it needs are there."""

    def setUp(self):
        self.sandbox = Sandbox(["cmake/affected_tests.py", "cmake/count_tests.py",
                                "cmake/include_closure.py", "cmake/passed_tests.py"])
        self.addCleanup(self.sandbox.remove)
        self.folder = self.sandbox.folder
        self.sandbox.tool("ninja")
        self.sandbox.stand_in("nm", 'shift 3; cat "$@"')
        self.sandbox.stand_in("git", "find cli spec tests -type f")
        self.sandbox.stand_in("ctest", 'cat "build/$2/tests.json"')
        for name, text in TREE.items():
            self.write(name, text)
        for preset, programs in (("asan", ("tests_a", "tests_b")), ("release", ("tests_kill",))):
            self.write_build(preset, programs)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_build(self, preset, programs):
        """A build folder as CMake and the last build left it."""
        build = f"{self.folder}/build/{preset}"
        self.write(f"build/{preset}/compile_commands.json", json.dumps([
            {"file": f"{self.folder}/{path}", "command": f"c++ -o {name}.o -c {path}"}
            for name, path in SOURCES.items()]))
        self.write(f"build/{preset}/build.ninja", "rule run\n  command = false\n" + "".join(
            f"build {name}.o: run ../../{path}\n" for name, path in SOURCES.items()) +
            "build lib/lib.a: run a.o b.o driver.o\nbuild crawlstore: phony lib/lib.a\n"
            "build crawlstore_c: phony lib/lib.a\n"
            "build crawlstore_cli: phony bin/crawlstore\nbuild crawlstore_inspector: phony\n" +
            "".join(
                f"build {program}: run {name}.o | lib/lib.a || b_test.o\n"
                for program, name in PROGRAMS.items()))
        for program in PROGRAMS:
            self.write(f"build/{preset}/{program}", program)
        for name, symbol in SYMBOLS.items():
            self.write(f"build/{preset}/{name}.o", f"{name}.o: {symbol} 0 0\n")
        script = ["/usr/bin/python3", "-B"]
        self.write(f"build/{preset}/tests.json", json.dumps({"tests": [
            {"name": name} for name in programs] + [
            {"name": "fuzz_a.replay", "command": [
                f"{self.folder}/fuzz/replay", f"{build}/bin/tests_a",
                f"{self.folder}/fuzz/corpus/fuzz_a.txt"]},
            {"name": "x", "command": [*script, f"{self.folder}/tests/cli/x_test.py"]},
            {"name": "reader", "command": [
                *script, f"{self.folder}/tests/golden/reader_test.py"]},
            {"name": "install", "command": [
                *script, f"{self.folder}/tests/install/install_test.py", build]}]}))
