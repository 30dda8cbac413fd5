# SPDX-License-Identifier: Apache-2.0
"""cmake/count_tests.py: every case counts once, and a program that died early is a failure."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "cmake"))
import count_tests  # noqa: E402 (needs the path above)

CASES = """<testsuites><testsuite name="S">
<testcase name="A" status="run" result="completed"/>
<testcase name="B" status="run" result="completed"/>
<testcase name="C" status="run" result="skipped"><skipped message="m"/></testcase>
{more}</testsuite></testsuites>"""
FAILED = '<testcase name="D" status="run" result="completed"><failure message="m"/></testcase>\n'


class CountRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "reports").mkdir()

    def count(self, *tests):
        """tests: (name, status, skip message or None)"""
        lines = []
        for name, status, message in tests:
            inner = f'<skipped message="{message}"/>' if message else ""
            lines.append(f'<testcase name="{name}" status="{status}">{inner}</testcase>')
        (self.build / "junit.xml").write_text(
            f'<testsuite time="7">{"".join(lines)}</testsuite>')
        return count_tests.count_run(*count_tests.verdicts(self.build))

    def report(self, name, text):
        (self.build / "reports" / f"{name}.xml").write_text(text)

    def test_counts_a_script_as_one(self):
        self.assertEqual(self.count(("a", "run", None), ("b", "fail", None)), (1, 1, 0, 7))

    def test_counts_the_cases_of_a_program(self):
        self.report("tests_x", CASES.format(more=""))
        self.assertEqual(self.count(("tests_x", "run", None)), (2, 0, 1, 7))

    def test_counts_failed_cases_once(self):
        self.report("tests_x", CASES.format(more=FAILED))
        self.assertEqual(self.count(("tests_x", "fail", None)), (2, 1, 1, 7))

    def test_counts_a_bad_end_after_good_cases(self):
        self.report("tests_x", CASES.format(more=""))
        self.assertEqual(self.count(("tests_x", "fail", None)), (2, 1, 1, 7))

    def test_counts_a_report_cut_off_as_one_failure(self):
        self.report("tests_x", CASES.format(more="")[:100])
        self.assertEqual(self.count(("tests_x", "fail", None)), (0, 1, 0, 7))

    def test_names_the_program_whose_report_is_cut_off_or_missing(self):
        self.report("tests_x", CASES.format(more="")[:100])
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            counts = self.count(
                ("tests_x", "fail", None), ("tests_y", "fail", None), ("script", "fail", None))
        self.assertEqual(counts, (0, 3, 0, 7))
        self.assertEqual(said.getvalue(), "tests_x died: its report is cut off.\n"
                                          "tests_y died: its report is missing.\n")

    def run_script(self):
        """(exit code, standard output, standard error) of the script itself."""
        done = subprocess.run(
            [sys.executable, "-B", SOURCE / "cmake/count_tests.py", self.build], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_tells_what_failed_and_what_it_said(self):
        self.report("tests_x", CASES.format(more=FAILED.replace(
            'name="D"', 'classname="S" name="D"').replace('"m"', '"a.cpp:7&#xA;Failure"')))
        said = "".join(f"line {number}\n" for number in range(25))
        (self.build / "junit.xml").write_text(
            '<testsuite time="7"><testcase name="tests_x" status="fail"/>'
            '<testcase name="good" status="run"><system-out>no</system-out></testcase>'
            f'<testcase name="script" status="fail"><system-out>{said}</system-out></testcase>'
            '</testsuite>')
        self.assertEqual(self.run_script(), (0, "\n".join([
            "3 2 1 7", "tests_x: S.D", "    a.cpp:7", "    Failure", "script, which ended so:",
            *(f"    line {number}" for number in range(5, 25))]), ""))

    def test_says_in_a_sentence_that_ctest_died(self):
        self.assertEqual(self.run_script(), (
            1, "", f"ctest died: its report {self.build}/junit.xml is missing.\n"))

    def test_names_programs_that_died_with_ctest(self):
        self.report("tests_whole", CASES.format(more=""))
        self.report("tests_x", CASES.format(more="")[:100])
        (self.build / "junit.xml").write_text('<testsuite time="7"><testcase name="a"')
        self.assertEqual(self.run_script(), (
            1, "", f"ctest died: its report {self.build}/junit.xml is cut off."
                   " The reports of these programs are cut off: tests_x.\n"))

    def test_counts_a_missing_program_as_a_failure(self):
        self.assertEqual(self.count(("a", "notrun", "Unable to find executable")), (0, 1, 0, 7))

    def test_counts_a_skip_that_the_test_declared(self):
        self.assertEqual(self.count(("a", "notrun", "SKIP_RETURN_CODE=77")), (0, 0, 1, 7))


if __name__ == "__main__":
    unittest.main()
