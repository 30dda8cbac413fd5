# SPDX-License-Identifier: Apache-2.0
"""cmake/affected_tests.py: every test that depends on a changed file is chosen, and few others."""

import os
import unittest

from built_tree import BuiltTree

class AffectedTests(BuiltTree):
    def choose(self, *changed):
        """([tests in asan, tests in release, left to others], targets of both, unknown files)"""
        for name in changed:
            if (self.folder / name).exists():
                os.utime(self.folder / name, (2**32, 2**32))
        self.write("changed", "\n".join(changed))
        code, output = self.sandbox.run(
            "bash", "-c", "/usr/bin/python3 -B cmake/affected_tests.py 100 asan release <changed")
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

    def test_chooses_programs_that_link_a_source_compiled_with_others(self):
        at_once = self.folder / "build/asan/lib.dir/Unity/unity_0_cxx.cxx"
        self.write(at_once, "".join(
            f'#include "{self.folder}/libcrawlstore/src/io/{name}.cpp"\n' for name in "ab"))
        commands = self.folder / "build/asan/compile_commands.json"
        one = f"{self.folder}/libcrawlstore/src/io/a.cpp"
        commands.write_text(commands.read_text().replace(one, str(at_once)))
        tests, targets, unknown = self.choose("libcrawlstore/src/io/b.cpp")
        self.assertEqual(tests[0], "tests_a tests_b fuzz_a.replay")
        self.assertEqual((targets[0], unknown), ("bin/tests_a bin/tests_b", ""))

    def test_chooses_programs_whose_main_is_in_a_library(self):
        self.assertEqual(self.choose("fuzz/driver.cpp")[0][0], "tests_a tests_b fuzz_a.replay")

    def test_chooses_scripts_that_run_a_program(self):
        tests, targets, _ = self.choose("libcrawlstore/src/io/b.cpp")
        self.assertEqual(tests, ["tests_b", "x install", ""])
        self.assertEqual(targets, [
            "bin/tests_b",
            "bin/crawlstore crawlstore crawlstore_c crawlstore_cli crawlstore_inspector"])

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
                ("fuzz/corpus/fuzz_a.txt", ["fuzz_a.replay", "", ""]),
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

    def write_costs(self):
        for preset, rows in (("asan", "tests_a 1 60\ntests_b 2 50\nfuzz_a.replay 9 30\n---\n"),
                             ("release", "x 1 70.5\ninstall 1 0.5\n---\ntests_b\n")):
            self.write(f"build/{preset}/Testing/Temporary/CTestCostData.txt", rows)

    def test_takes_the_nearest_and_then_the_shortest_that_fit_into_the_time(self):
        self.write_costs()
        self.assertEqual(self.choose("fuzz/driver.cpp")[0],
                         ["tests_b fuzz_a.replay", "install", "tests_kill tests_a x"])

    def test_takes_the_nearest_to_each_file_whatever_they_take(self):
        self.write_costs()
        tests, targets, _ = self.choose("libcrawlstore/src/io/b.cpp", "tests/cli/x_test.py")
        self.assertEqual(tests, ["tests_b", "x", "install"])
        self.assertEqual(targets, ["bin/tests_b", "bin/crawlstore"])


if __name__ == "__main__":
    unittest.main()
