# SPDX-License-Identifier: Apache-2.0
"""cmake/passed_tests.py: what passed is left out until anything that it depends on differs."""

import re
import unittest

from built_tree import BuiltTree

ALL = {"tests_a", "tests_b", "fuzz_a.replay", "x", "reader"}


class PassedTests(BuiltTree):
    def setUp(self):
        super().setUp()
        self.write("CMakePresets.json", "{}")

    def choose(self, turn="none", **variables):
        """The tests that need not run."""
        code, output = self.sandbox.run("/usr/bin/python3", "-B", "cmake/passed_tests.py",
                                        "choose", "asan", turn, **variables)
        self.assertEqual(code, 0, output)
        found = re.search(r"^\^\((.*)\)\$$", output, re.MULTILINE)
        return set(found[1].replace("\\", "").split("|")) if found else set()

    def run_all(self, **statuses):
        """A run in which all tests pass but those with another status."""
        self.choose()
        cases = "".join(f'<testcase name="{name}" status="{statuses.get(name, "run")}"/>'
                        for name in sorted(ALL | {"install"}))
        self.write("build/asan/junit.xml", f"<testsuite>{cases}</testsuite>")
        code, output = self.sandbox.run("/usr/bin/python3", "-B", "cmake/passed_tests.py", "keep",
                                        "asan")
        self.assertEqual(code, 0, output)

    def test_leaves_out_what_passed(self):
        self.assertEqual(self.choose(), set())
        self.run_all()
        self.assertEqual(self.choose(), ALL)

    def test_never_leaves_out_what_failed_or_did_not_run(self):
        self.run_all(tests_b="fail", x="notrun")
        self.assertEqual(self.choose(), ALL - {"tests_b", "x"})

    def test_takes_no_part_of_a_program_for_the_whole(self):
        self.run_all()
        self.assertEqual(self.choose(GTEST_FILTER="A.*"), set())
        self.assertEqual(self.choose(CRAWLSTORE_TEST_SEED="5", GTEST_RANDOM_SEED="5"), ALL)

    def test_gives_each_its_turn(self):
        self.run_all()
        self.assertEqual(self.choose("all"), set())
        left_out = [self.choose(str(turn)) for turn in range(8)]
        for name in ALL:
            self.assertEqual(sum(name not in names for names in left_out), 1, name)

    def test_lets_scripts_of_the_command_take_turns(self):
        path = self.folder / "build/asan/tests.json"
        path.write_text(path.read_text().replace('"x"', '"cli_x"'))
        left_out = [self.choose(str(turn)) for turn in range(8)]
        self.assertEqual(sorted(left_out, key=len), [set()] + 7 * [{"cli_x"}])
        self.assertEqual((self.choose("all"), self.choose("none")), (set(), set()))

    def test_runs_again_what_differs(self):
        self.run_all()
        for name, text, again in (
                ("build/asan/bin/tests_a", "new", {"tests_a", "fuzz_a.replay"}),
                ("build/asan/bin/crawlstore", "new", {"x"}),
                ("tests/cli/command.py", "import os\nB = 'bin/crawlstore'\n", {"x"}),
                ("spec/reader.py", "import os\n", {"reader"}),
                ("spec/format.md", "new", {"tests_b"}),
                ("tests/golden/valid/h.crawl", "new", {"tests_a", "fuzz_a.replay"}),
                ("CMakePresets.json", "[]", ALL)):
            with self.subTest(name):
                old = (self.folder / name).read_text() if (self.folder / name).exists() else None
                self.write(name, text)
                self.assertEqual(self.choose(), ALL - again)
                if old is None:
                    (self.folder / name).unlink()
                else:
                    self.write(name, old)
                self.assertEqual(self.choose(), ALL)

    def test_takes_a_program_that_is_named_and_not_built(self):
        self.run_all()
        (self.folder / "build/asan/bin/tests_kill").unlink()
        self.write("tests/golden/reader_test.py",
                   'run(SOURCE / "spec" / "reader.py", "bin/tests_kill")\n')
        self.assertEqual(self.choose(), ALL - {"reader"})
        self.run_all()
        self.assertEqual(self.choose(), ALL)

    def test_takes_a_changed_source_for_the_program_that_is_made_of_it(self):
        self.run_all()
        self.write("libcrawlstore/src/io/a.cpp", "int a;\n")
        self.assertEqual(self.choose(), ALL)


if __name__ == "__main__":
    unittest.main()
