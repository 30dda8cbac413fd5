# SPDX-License-Identifier: Apache-2.0
"""refused_programs_test.py CXX: a dropped Result warns, a dispatcher that would be told nothing and
numbers that are mixed up are refused: by the build's compiler, and by g++ 12 and clang 14 where
they are installed."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

FOUND = filter(None, map(shutil.which, (sys.argv.pop(1), "g++-12", "clang++-14")))
COMPILERS = {pathlib.Path(name).resolve(): name for name in FOUND}.values()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = SOURCE / "libcrawlstore/include"

PROGRAM = """
#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>
#include <crawlstore/tools/verify.h>
using namespace crawlstore;
struct Fetch { void unique_key_update(const auto&) {} };
struct Misspelt { void unique_key_updated(const auto&) {} };
struct OfOtherTypes { void update(const Answer<std::uint64_t, NoValue, int>&) {} };
void ask(Store& store, Storage& storage, Drum<std::uint64_t>& drum, const DrumView& view,
         UrlSeen& seen, PageDb& pages, Fetch& fetch, NullDispatcher& nobody, Misspelt& misspelt,
         OfOtherTypes& of_other_types) {
%s
}
"""

RESULTS = ["Store::create({})", "store.commit()", "storage.sync()", "verify(storage)",
           "drum.check_update(1)", "drum.merge()", "drum.merge(fetch)",
           "drum.take_results(fetch)", "lookup<std::uint64_t, NoValue>(view, 1)",
           "seen.check_update({})", "pages.merge()"]

# A place for a segment, a segment for a run, a generation for a place; and what would write the
# rows of other pages: the number of a page in a batch for its index.
MIXED_UP = ["(void)fail(Errc::kIo, {}, SegmentId{1}, std::uint64_t{4096})",
            "(void)fail(Errc::kIo, {}, std::uint64_t{4096}, std::uint64_t{1})",
            "(void)snapshot.read_run(RunId{1}, SegmentId{1})",
            "(void)(Generation{1} == 4096)",
            "(void)pages::ByPage<std::uint64_t>()[std::uint64_t{5}]",
            "std::uint64_t index = pages::LocalId{5}"]
INSIDE = """
#include "pages/batch.h"
using namespace crawlstore;
void mix(const Snapshot& snapshot) {
%s
}
"""


def compile_all(*statements):
    """(compiler, exit code, what it says) of a program with these statements."""
    body = ";\n".join([*statements, ""])
    for compiler in COMPILERS:
        answer = subprocess.run(
            [compiler, "-std=c++20", "-S", "-o", "/dev/null", "-I", INCLUDE, "-x", "c++", "-"],
            input=PROGRAM % body, text=True, capture_output=True, check=False)
        yield compiler, answer.returncode, answer.stderr


class RefusedPrograms(unittest.TestCase):
    def test_only_results_that_are_dropped_by_mistake_warn(self):
        meant = ["drum.attach(fetch)", "drum.attach(nobody)", "seen.drum().attach(fetch)",
                 *(f"(void){call}" for call in RESULTS)]
        for compiler, code, text in compile_all(*meant, *RESULTS):
            with self.subTest(compiler):
                warnings = re.findall(r"warning: (.*)", text)
                # g++ 12 does not see the attribute of a virtual function.
                expected = len(RESULTS) - (0 if "clang" in compiler else 1)
                self.assertEqual((code, len(warnings)), (0, expected), text)
                for warning in warnings:
                    self.assertIn("ignoring return", warning)

    def test_dispatchers_that_are_told_nothing_do_not_compile(self):
        for compiler, code, text in compile_all("drum.attach(misspelt)",
                                                "drum.attach(of_other_types)"):
            with self.subTest(compiler):
                self.assertNotEqual(code, 0)
                said = re.findall(r"error: .*a dispatcher has one of the five members", text)
                self.assertEqual(len(said), 2, text)

    def test_numbers_that_are_mixed_up_do_not_compile(self):
        program = "#include <crawlstore/snapshot.h>" + INSIDE % ";\n".join([*MIXED_UP, ""])
        first = INSIDE[:INSIDE.index("%s")].count("\n") + 1
        for compiler in COMPILERS:
            with self.subTest(compiler):
                answer = subprocess.run(
                    [compiler, "-std=c++20", "-fsyntax-only", "-I", INCLUDE, "-I", SOURCE, "-I",
                     SOURCE / "libcrawlstore/src", "-x", "c++", "-"],
                    input=program, text=True, capture_output=True, check=False)
                lines = {int(line) for line in re.findall(r"<stdin>:(\d+):\d+: error",
                                                          answer.stderr)}
                self.assertEqual(lines, set(range(first, first + len(MIXED_UP))), answer.stderr)


if __name__ == "__main__":
    unittest.main()
