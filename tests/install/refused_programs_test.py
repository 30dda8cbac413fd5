# SPDX-License-Identifier: Apache-2.0
"""refused_programs_test.py CXX: a dropped Result warns, a dispatcher that would be told nothing is
refused: by the build's compiler, and by g++ 12 and clang 14 where they are installed."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

FOUND = filter(None, map(shutil.which, (sys.argv.pop(1), "g++-12", "clang++-14")))
COMPILERS = {pathlib.Path(name).resolve(): name for name in FOUND}.values()
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "libcrawlstore/include"

PROGRAM = """
#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>
#include <crawlstore/verify.h>
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


if __name__ == "__main__":
    unittest.main()
