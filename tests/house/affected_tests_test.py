# SPDX-License-Identifier: Apache-2.0
"""cmake/affected_tests.py: every test that depends on a changed file is chosen, and few others."""

import json
import os
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
# What nm prints of each object.
SYMBOLS = {
    "a": "define_a T", "b": "define_b T", "driver": "main T", "a_test": "define_a U",
    "b_test": "define_b U", "kill_test": "define_a U", "main": "define_b U",
}
PROGRAMS = {
    "bin/tests_a": "a_test", "bin/tests_b": "b_test", "bin/tests_kill": "kill_test",
    "bin/crawlstore": "main",
}


class AffectedTests(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(["cmake/affected_tests.py", "cmake/include_closure.py"])
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
            "build crawlstore_cli: phony bin/crawlstore\nbuild crawlstore_inspector: phony\n" +
            "".join(
                f"build {program}: run {name}.o | lib/lib.a || b_test.o\n"
                for program, name in PROGRAMS.items()))
        for name, symbol in SYMBOLS.items():
            self.write(f"build/{preset}/{name}.o", f"{name}.o: {symbol} 0 0\n")
        script = ["/usr/bin/python3", "-B"]
        self.write(f"build/{preset}/tests.json", json.dumps({"tests": [
            {"name": name} for name in programs] + [
            {"name": "fuzz_a.replay", "command": [
                f"{self.folder}/fuzz/replay", f"{build}/bin/tests_a",
                f"{self.folder}/fuzz/corpus/fuzz_a"]},
            {"name": "x", "command": [*script, f"{self.folder}/tests/cli/x_test.py"]},
            {"name": "reader", "command": [
                *script, f"{self.folder}/tests/golden/reader_test.py"]},
            {"name": "install", "command": [
                *script, f"{self.folder}/tests/install/install_test.py", build]}]}))

    def choose(self, *changed):
        """([tests in asan, tests in release, left to others], targets of both, unknown files)"""
        for name in changed:
            if (self.folder / name).exists():
                os.utime(self.folder / name, (2**32, 2**32))
        self.write("changed", "\n".join(changed))
        code, output = self.sandbox.run(
            "bash", "-c", "/usr/bin/python3 -B cmake/affected_tests.py asan release <changed")
        self.assertEqual(code, 0, output)
        asan, release, rest = (line.split(";") for line in output.splitlines())
        self.assertEqual((asan[0], release[0], rest[0]), ("asan", "release", ""))
        regexes = [line[2].removeprefix("^(").removesuffix(")$").replace("\\", "").split("|")
                   for line in (asan, release)]
        return ([*(" ".join(names) for names in regexes), rest[2]],
                [asan[1], release[1]], rest[1])

    def test_chooses_programs_that_link_a_source(self):
        tests, targets, unknown = self.choose("libcrawlstore/src/io/a.cpp")
        self.assertEqual(tests, ["tests_a fuzz_a.replay", "", "tests_kill"])
        self.assertEqual((targets, unknown), (["bin/tests_a", ""], ""))

    def test_chooses_programs_whose_main_is_in_a_library(self):
        self.assertEqual(self.choose("fuzz/driver.cpp")[0][0], "tests_a tests_b fuzz_a.replay")

    def test_chooses_scripts_that_run_a_program(self):
        tests, targets, _ = self.choose("libcrawlstore/src/io/b.cpp")
        self.assertEqual(tests, ["tests_b", "x install", ""])
        self.assertEqual(targets, [
            "bin/tests_b", "bin/crawlstore crawlstore crawlstore_cli crawlstore_inspector"])

    def test_chooses_what_includes_a_header(self):
        tests, targets, _ = self.choose("libcrawlstore/include/crawlstore/c.h")
        self.assertEqual(tests, ["tests_b", "x install", ""])
        self.assertIn("all_verify_interface_header_sets", targets[1])

    def test_chooses_the_program_of_a_test(self):
        self.assertEqual(self.choose("tests/io/a_test.cpp")[0], ["tests_a fuzz_a.replay", "", ""])
        self.assertEqual(self.choose("tests/drum/kill_test.cpp")[0], ["", "tests_kill", ""])

    def test_chooses_what_imports_or_names_a_script(self):
        self.assertEqual(self.choose("tests/cli/command.py")[0], ["", "x", ""])
        self.assertEqual(self.choose("spec/reader.py")[0], ["", "reader", ""])

    def test_chooses_what_names_a_file_or_its_folder(self):
        for name, expected in (
                ("tests/golden/valid/g.crawl", ["tests_a fuzz_a.replay", "", ""]),
                ("tests/golden/valid/gone.crawl", ["tests_a fuzz_a.replay", "", ""]),
                ("fuzz/corpus/fuzz_a/seed", ["fuzz_a.replay", "", ""]),
                ("spec/format.md", ["tests_b", "", ""])):
            with self.subTest(name=name):
                self.assertEqual(self.choose(name)[0], expected)

    def test_names_files_that_no_test_is_known_to_depend_on(self):
        self.write("tests/cli/x_test.py", 'import command\nstatus = "run"\n')
        self.assertEqual(self.choose("notes.md", "CMakeLists.txt", ".ci/run"),
                         (["", "", ""], ["", ""], ".ci/run CMakeLists.txt notes.md"))

    def test_chooses_all_that_may_link_a_source_when_objects_tell_nothing(self):
        all_of_them = ["tests_a tests_b fuzz_a.replay", "x install", "tests_kill"]
        with self.subTest("an object is missing"):
            (self.folder / "build/asan/b.o").rename(self.folder / "moved")
            self.assertEqual(self.choose("libcrawlstore/src/io/a.cpp")[0],
                             ["tests_a tests_b fuzz_a.replay", "", "tests_kill"])
            (self.folder / "moved").rename(self.folder / "build/asan/b.o")
        with self.subTest("a source is gone"):
            self.assertEqual(self.choose("libcrawlstore/src/io/a.cpp", "cli/gone.cpp")[0],
                             all_of_them)
        with self.subTest("an object is older than what did not change"):
            os.utime(self.folder / "libcrawlstore/src/io/b.h", (2**32, 2**32))
            self.assertEqual(self.choose("libcrawlstore/src/io/a.cpp")[0], all_of_them)

    def test_chooses_all_for_a_source_that_is_new_to_the_build(self):
        for preset in ("asan", "release"):
            (self.folder / f"build/{preset}/b.o").unlink()
        self.assertEqual(self.choose("libcrawlstore/src/io/b.cpp")[0],
                         ["tests_a tests_b fuzz_a.replay", "x install", "tests_kill"])


if __name__ == "__main__":
    unittest.main()
