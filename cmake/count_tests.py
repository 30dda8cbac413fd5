# SPDX-License-Identifier: Apache-2.0
"""count_tests.py BUILD_DIR: what the last ctest run there really ran.

Reads BUILD_DIR/junit.xml (ctest --output-junit) and, for the GoogleTest programs among its tests,
BUILD_DIR/reports/<test>.xml. Prints "PASSED FAILED SKIPPED SECONDS": a GoogleTest case counts as
one, so does every other ctest. A program that died before it wrote its report counts as one
failure, and so does one that ended badly although all its cases passed (a leak, a race).
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count_cases(report):
    """(passed, failed, skipped) of one GoogleTest report; None when it was cut off."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return None
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


def count_run(build_dir):
    """(passed, failed, skipped, seconds) of a whole ctest run."""
    passed = failed = skipped = 0
    root = ElementTree.parse(build_dir / "junit.xml").getroot()
    for test in root.iter("testcase"):
        status = test.get("status")
        if status in ("notrun", "disabled"):
            # ctest calls a missing program "notrun" too; only a real skip says so itself.
            reason = test.find("skipped")
            really = reason is not None and "SKIP" in (reason.get("message") or "").upper()
            skipped += really or status == "disabled"
            failed += not really and status == "notrun"
            continue
        cases = count_cases(build_dir / "reports" / (test.get("name") + ".xml"))
        if cases is None:
            passed += status == "run"
            failed += status != "run"
        else:
            passed += cases[0]
            failed += cases[1] if cases[1] else int(status != "run")
            skipped += cases[2]
    return passed, failed, skipped, round(float(root.get("time", "0")))


if __name__ == "__main__":
    print(*count_run(pathlib.Path(sys.argv[1])))
