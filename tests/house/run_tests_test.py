# SPDX-License-Identifier: Apache-2.0
"""./run-tests and .ci/run: the last line sums all runs, whatever fails shows in the exit code."""

import re
import unittest

from sandbox import SOURCE, Sandbox

# Writes a report of one passed test; in the preset $BAD one failed test beside it.
CTEST = """
while (($#)); do
  [[ $1 != --preset ]] || preset=$2
  [[ $1 != --output-junit ]] || report=$2
  shift
done
bad=''
[[ $preset != "$BAD" ]] || bad='<testcase name="b" status="fail"/>'
mkdir -p "${report%/*}"
echo "<testsuite time=\\"2\\"><testcase name=\\"a\\" status=\\"run\\"/>$bad</testsuite>" >"$report"
[[ -z $bad ]]"""
# Fails to build the preset $UNBUILT.
CMAKE = '[[ $1 != --build || $2 != "build/$UNBUILT" ]]'


class RunTests(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox(
            ["run-tests", ".ci/run", "cmake/packages.sh", "cmake/count_tests.py",
             "tests/golden/ksy/package.json", "tests/golden/ksy/package-lock.json",
             "tests/events/package.json", "tests/events/package-lock.json"])
        self.addCleanup(self.sandbox.remove)
        self.sandbox.stand_in("dpkg-query", 'shift; printf "installed %s\\n" "$@"')
        self.sandbox.stand_in("nproc", "echo 2")
        self.sandbox.stand_in("npm", "exit 0")
        self.sandbox.stand_in("git", "echo 0123abc")
        self.sandbox.stand_in("cmake", CMAKE)
        self.sandbox.stand_in("ctest", CTEST)

    def run_tests(self, *arguments, bad="", unbuilt="", program="./run-tests"):
        code, output = self.sandbox.run("bash", program, *arguments, BAD=bad, UNBUILT=unbuilt)
        return code, output, output.rstrip("\n").split("\n")[-1]

    def test_sums_all_presets(self):
        code, output, last = self.run_tests()
        self.assertEqual((code, last), (0, "3 passed, 0 failed, 0 skipped"), output)
        presets = [call.split()[2] for call in self.sandbox.calls("ctest")]
        self.assertEqual(presets, ["asan", "tsan", "release"])

    def test_goes_on_after_a_failed_test_and_names_it_at_the_end(self):
        code, output, last = self.run_tests(bad="asan")
        self.assertEqual((code, last), (1, "3 passed, 1 failed, 0 skipped"), output)
        self.assertIn("\n== what failed\nb, which ended so:\n\nwhat ran ", output)

    def test_counts_a_failed_build_and_goes_on(self):
        code, output, last = self.run_tests(unbuilt="tsan")
        self.assertEqual((code, last), (1, "2 passed, 1 failed, 0 skipped"), output)
        self.assertIn("FAILED: tsan does not build", output)

    def test_fails_when_ctest_leaves_no_report(self):
        self.sandbox.stand_in("ctest", "exit 0")
        code, output, last = self.run_tests("--preset", "asan")
        self.assertEqual((code, last), (1, "0 passed, 1 failed, 0 skipped"), output)

    def test_runs_only_the_preset_asked_for(self):
        code, output, last = self.run_tests("--preset", "tsan", "--filter", "pins")
        self.assertEqual((code, last), (0, "1 passed, 0 failed, 0 skipped"), output)
        self.assertIn("-R pins", self.sandbox.calls("ctest")[0])

    def test_prints_commit_and_seed(self):
        _, output, _ = self.run_tests("--seed", "77", "--preset", "asan")
        self.assertIn("commit 0123abc, seed 77", output)

    def test_installs_the_packages_of_the_tests_in_javascript(self):
        self.run_tests("--preset", "asan")
        self.assertEqual(len(self.sandbox.calls("npm")), 2)

    def test_refuses_what_it_does_not_know(self):
        for arguments in (["--fast"], ["--preset", "mips"], ["--jobs"], ["--jobs", "0"],
                          ["--fuzz-seconds", "long"], ["--seed", "-1"],
                          ["--changed", "--long"], ["--changed", "--filter", "pins"]):
            with self.subTest(arguments=arguments):
                code, output, _ = self.run_tests(*arguments)
                self.assertEqual(code, 2, output)
                self.assertIn("see --help", output)

    def test_explains_itself(self):
        code, output, _ = self.run_tests("--help")
        self.assertEqual(code, 0)
        for option in ("--long", "--fuzz-seconds", "--preset", "--filter", "--seed", "--jobs",
                       "--again", "--changed", "--since"):
            self.assertIn(option, output)

    def test_leaves_out_what_passed_before_unless_told_otherwise(self):
        (self.sandbox.folder / "cmake/passed_tests.py").write_text(
            "import sys\nopen('turns', 'a').write(sys.argv[3] + ' ' if sys.argv[3:] else '')\n"
            "print('^(tests_x)$' if sys.argv[1:3] == ['choose', 'tsan'] else '')\n")
        for arguments in ([], ["--again"], ["--seed", "5"], ["--filter", "pins"]):
            self.run_tests(*arguments, "--preset", "tsan")
        self.assertEqual((self.sandbox.folder / "turns").read_text(), f"{0x0123abc} all all ")
        self.assertEqual(["-E ^(tests_x)$" in call for call in self.sandbox.calls("ctest")],
                         [True, True, True, False])

    def test_passes_where_everything_passed_before(self):
        (self.sandbox.folder / "cmake/passed_tests.py").write_text("print('^(tests_x)$')\n")
        self.sandbox.stand_in("ctest", 'while [[ $1 != --output-junit ]]; do shift; done; '
                                       'mkdir -p "${2%/*}"; echo "<testsuite/>" >"$2"')
        code, output, last = self.run_tests("--preset", "tsan")
        self.assertEqual((code, last), (0, "0 passed, 0 failed, 0 skipped"), output)

    def changed(self, selection, *arguments, **options):
        """--changed in a tree where the tests of `selection` depend on what changed."""
        self.sandbox.stand_in(
            "git", 'case " $* " in *" merge-base "*) [[ $3 != none ]] && echo base ;; '
                   '*" diff "*) echo a.cpp ;; *" ls-files "*) echo b.md ;; *) echo 0123abc ;; esac')
        (self.sandbox.folder / "cmake/affected_tests.py").write_text(
            f"import sys\nopen('chosen', 'w').write(sys.stdin.read())\nprint({selection!r})\n")
        tidy = self.sandbox.folder / "tests/tidy/tidy_test.py"
        tidy.parent.mkdir(exist_ok=True)
        tidy.write_text("")
        return self.run_tests(*(arguments or ["--changed"]), **options)

    SELECTION = "asan;bin/tests_x bin/fuzz_x;^(tests_x)$\nrelease;;^(compare)$\n;x.md;tests_kill"

    def test_runs_what_depends_on_changed_files(self):
        code, output, last = self.changed(self.SELECTION)
        self.assertEqual((code, last), (0, "3 passed, 0 failed, 0 skipped"), output)
        self.assertEqual((self.sandbox.folder / "chosen").read_text(), "a.cpp\nb.md\n")
        built = [call for call in self.sandbox.calls("cmake") if "--build" in call]
        self.assertEqual([call.split(" --target ")[1] for call in built],
                         ["bin/tests_x bin/fuzz_x -- --quiet"])
        self.assertEqual([(call.split()[2], call.split(" -R ")[1].split()[0])
                          for call in self.sandbox.calls("ctest")],
                         [("asan", "^(tests_x)$"), ("release", "^(compare)$")])
        self.assertIn("no test is known to depend on: x.md\n", output)
        self.assertIn("left to ./run-tests: tests_kill\n", output)

    def test_compares_with_the_revision_asked_for(self):
        self.changed(self.SELECTION, "--since", "HEAD~3")
        self.assertIn("git merge-base HEAD HEAD~3", self.sandbox.calls("git"))
        code, output, _ = self.changed(self.SELECTION, "--since", "none")
        self.assertEqual(code, 2, output)

    def test_runs_tidy_when_no_test_depends_on_what_changed(self):
        code, output, last = self.changed("asan;;\nrelease;;\n;x.md;")
        self.assertEqual((code, last), (0, "1 passed, 0 failed, 0 skipped"), output)
        self.assertEqual(self.sandbox.calls("ctest"), [])

    def test_counts_what_fails_with_changed_files(self):
        for options, sums in ((dict(bad="release"), "3 passed, 1 failed, 0 skipped"),
                              (dict(unbuilt="asan"), "2 passed, 1 failed, 0 skipped")):
            with self.subTest(options=options):
                code, output, last = self.changed(self.SELECTION, **options)
                self.assertEqual((code, last), (1, sums), output)

    def test_fails_when_the_tests_cannot_be_chosen(self):
        self.sandbox.stand_in("cmake", "exit 0")
        code, output, last = self.changed("\ud800")
        self.assertEqual((code, last), (1, "1 passed, 1 failed, 0 skipped"), output)

    def lint(self, code):
        path = self.sandbox.folder / "cmake/lint.sh"
        path.write_text(f"#!/bin/bash\nexit {code}\n")
        path.chmod(0o755)

    def quickstart(self, code):
        """Stands in for ./quickstart, which has built what it runs, and ends with a code."""
        path = self.sandbox.folder / "quickstart"
        path.symlink_to("stand-ins/quickstart")
        self.sandbox.stand_in("quickstart", "mkdir -p build/release/bin; cd build/release/bin; "
                              f"touch doc_crawl; chmod +x doc_crawl; (($#)) || exit {code}")

    def test_ci_ends_with_the_sum(self):
        self.lint(0)
        self.quickstart(0)
        code, output, last = self.run_tests(program=".ci/run")
        self.assertEqual((code, last), (0, "3 passed, 0 failed, 0 skipped"), output)

    def test_ci_runs_the_quick_starts_of_the_readme_in_its_order(self):
        self.lint(0)
        self.quickstart(0)
        self.run_tests(program=".ci/run")
        calls = (self.sandbox.folder / "calls").read_text().splitlines()
        ran = [call.strip() for call in calls if call.startswith("quickstart")]
        blocks = re.findall(r'```sh\n(.*?)```', (SOURCE / "README.md").read_text(), re.DOTALL)
        wanted = [line.split("#")[0].strip().removeprefix("./")
                  for line in "".join(blocks).splitlines()
                  if line.startswith("./quickstart")]
        self.assertEqual(ran, wanted)

    def test_ci_goes_on_without_documentation_packages(self):
        self.lint(0)
        self.quickstart(3)
        code, output, last = self.run_tests(program=".ci/run")
        self.assertEqual((code, last), (0, "3 passed, 0 failed, 0 skipped"), output)
        self.assertIn("NOT RUN: what quickstart does", output)

    def test_ci_counts_a_failed_command_of_the_readme(self):
        self.lint(0)
        self.quickstart(5)
        code, output, last = self.run_tests(program=".ci/run")
        self.assertEqual((code, last), (1, "3 passed, 1 failed, 0 skipped"), output)
        self.assertIn("FAILED: ./quickstart ended with exit code 5", output)

    def test_ci_counts_failed_source_checks(self):
        self.lint(1)
        self.quickstart(0)
        code, output, last = self.run_tests(program=".ci/run")
        self.assertEqual((code, last), (1, "3 passed, 1 failed, 0 skipped"), output)

    def test_ci_fails_when_the_tests_fail(self):
        self.lint(0)
        self.quickstart(0)
        code, output, last = self.run_tests(program=".ci/run", bad="release")
        self.assertEqual((code, last), (1, "3 passed, 1 failed, 0 skipped"), output)

    def test_ci_fails_when_the_tests_never_ran(self):
        self.lint(0)
        self.quickstart(0)
        code, output, _ = self.run_tests("--no-such-option", program=".ci/run")
        self.assertEqual(code, 2, output)


if __name__ == "__main__":
    unittest.main()
