# SPDX-License-Identifier: Apache-2.0
"""cmake/count_tests.py: every case counts once, and a program that died early is a failure."""

import pathlib
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
        return count_tests.count_run(self.build)

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

    def test_counts_a_missing_program_as_a_failure(self):
        self.assertEqual(self.count(("a", "notrun", "Unable to find executable")), (0, 1, 0, 7))

    def test_counts_a_skip_that_the_test_declared(self):
        self.assertEqual(self.count(("a", "notrun", "SKIP_RETURN_CODE=77")), (0, 0, 1, 7))


if __name__ == "__main__":
    unittest.main()
