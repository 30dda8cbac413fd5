# SPDX-License-Identifier: Apache-2.0
"""count_tests.py BUILD_DIR: what the last ctest run there really ran.

Reads BUILD_DIR/junit.xml (ctest --output-junit) and, for the GoogleTest programs among its tests,
BUILD_DIR/reports/<test>.xml. Prints "PASSED FAILED SKIPPED SECONDS": a GoogleTest case counts as
one, so does every other ctest. A program that died before it wrote its report counts as one
failure, and so does one that ended badly although all its cases passed (a leak, a race). Whatever
died, a program or ctest itself, is named in a sentence on standard error.

The lines after the first say which failed and what they said of it, 20 lines of each at most: in
the middle of what a whole run prints nobody finds them.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


FAILURE_LINES = 20  # of what a failed test said


class RunDied(Exception):
    """ctest left no report that can be counted; the text is a sentence."""


def read_report(path):
    """(root, None), or (None, what is wrong with the report)."""
    try:
        return ElementTree.parse(path).getroot(), None
    except OSError:
        return None, "missing"
    except ElementTree.ParseError:
        return None, "cut off"


def count_cases(root):
    """(passed, failed, skipped) of one GoogleTest report."""
    passed = failed = skipped = 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.get("status") == "notrun":
            # Disabled cases are skipped; those of another shard or filter are not ours to count.
            skipped += case.get("name", "").startswith("DISABLED" + "_")
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def verdicts(build_dir):
    """(name, passed, failed, skipped) of each ctest of a run, and the root of its report."""
    root, wrong = read_report(build_dir / "junit.xml")
    if root is None:
        cut = [path.stem for path in sorted((build_dir / "reports").glob("*.xml"))
               if read_report(path)[0] is None]
        raise RunDied(f"ctest died: its report {build_dir}/junit.xml is {wrong}."
                      + (f" The reports of these programs are cut off: {', '.join(cut)}."
                         if cut else ""))
    return [(test.get("name"), *verdict(build_dir, test)) for test in root.iter("testcase")], root


def verdict(build_dir, test):
    """(passed, failed, skipped) of one ctest."""
    status, name = test.get("status"), test.get("name")
    if status in ("notrun", "disabled"):
        # ctest calls a missing program "notrun" too; only a real skip says so itself.
        reason = test.find("skipped")
        really = reason is not None and "SKIP" in (reason.get("message") or "").upper()
        return 0, int(not really and status == "notrun"), int(really or status == "disabled")
    report, wrong = read_report(build_dir / "reports" / (name + ".xml"))
    if report is not None:
        passed, failed, skipped = count_cases(report)
        return passed, failed or int(status != "run"), skipped
    # Only GoogleTest programs, tests_*, leave reports.
    if name.startswith("tests_") and status != "run":
        print(f"{name} died: its report is {wrong}.", file=sys.stderr)
    return int(status == "run"), int(status != "run"), 0


def count_run(tests, root):
    """(passed, failed, skipped, seconds) of a whole ctest run, from its verdicts."""
    sums = [sum(column) for column in zip(*(counts for _, *counts in tests))] or [0, 0, 0]
    return (*sums, round(float(root.get("time", "0"))))


def failed_cases(report):
    """(name, message) of each case of a GoogleTest report that failed."""
    for case in report.iter("testcase"):
        said = [part.get("message") or "" for part in case if part.tag in ("failure", "error")]
        if said:
            yield f"{case.get('classname')}.{case.get('name')}", "\n".join(said)


def failures(build_dir, tests, root):
    """Texts, one of each GoogleTest case or other ctest of a run that failed."""
    for (name, _, failed, _), test in zip(tests, root.iter("testcase")):
        if failed == 0:
            continue
        report, _ = read_report(build_dir / "reports" / (name + ".xml"))
        cases = [] if report is None else list(failed_cases(report))
        for case, said in cases:
            yield "\n    ".join([f"{name}: {case}", *said.splitlines()[:FAILURE_LINES]])
        if not cases:
            said = (test.findtext("system-out") or "").splitlines()[-FAILURE_LINES:]
            yield "\n    ".join([f"{name}, which ended so:", *said])


if __name__ == "__main__":
    try:
        folder = pathlib.Path(sys.argv[1])
        run = verdicts(folder)
        print(*count_run(*run))
        print(*failures(folder, *run), sep="\n", end="")
    except RunDied as died:
        sys.exit(str(died))
