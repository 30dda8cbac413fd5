# SPDX-License-Identifier: Apache-2.0
"""abi_test.py SONAME: programs that were compiled with the C interface as capi/abi describes it
run with the library of now. CRAWLSTORE_UPDATE_GOLDEN=1 writes the description anew.

abidiff compares functions, structs and constants. They come from a library of functions without a
body that is made from the headers: it needs no debug information of ours, and opaque types stay so.
The compiler sees to it that our functions are as the headers declare them, and capi_test.py that
the library has all of them."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SONAME = sys.argv.pop(1)
SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEADERS = SOURCE / "./capi/include"  # a path, so that --changed knows the folder as ours
STORED = SOURCE / "capi/abi/libcrawlstore_c.abi"
TOOLS = ("abidw", "abidiff", "cc")
DECLARATION = re.compile(r'^((?:int|void|const char\*) crwl_\w+\([^;{}]*\));', re.MULTILINE)
ALL = "#include <crawlstore/crawlstore.h>\n"
REMAKE = "If that is meant: CRAWLSTORE_UPDATE_GOLDEN=1 python3 tests/capi/abi_test.py " + SONAME


def run(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout


def describe(headers, description, without=None):
    """Writes the description of the interface that headers declare, without one function."""
    folder = description.parent
    declared = DECLARATION.findall(run("cc", "-E", "-P", f"-I{headers}", "-xc", "-", input=ALL))
    bodies = (f'{head} {{ {"" if head.startswith("void") else "return 0;"} }}\n'
              for head in declared if f" {without}(" not in head)
    (folder / "all.c").write_text(ALL + "".join(bodies))
    # With constants, which no function's type leads to.
    run("cc", "-std=c11", "-g", "-fno-eliminate-unused-debug-types", "-shared", "-fPIC",
        f"-I{headers}", f"-Wl,-soname,{SONAME}", folder / "all.c", "-o", folder / "all.so")
    run("abidw", "--load-all-types", "--no-show-locs", "--no-comp-dir-path", "--no-corpus-path",
        "--no-elf-needed", "--no-parameter-names", "--type-id-style", "hash",
        "--out-file", description, folder / "all.so")


def changes(old, new):
    """Returns abidiff's findings about the second description: nothing, or why old programs may not
    run."""
    # Harmless to abidiff are names of fields, too, and so two fields that change places.
    done = subprocess.run(["abidiff", "--non-reachable-types", "--harmless", "--no-added-syms",
                           old, new], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.stdout if done.returncode else ""


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-abi-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.now = cls.folder / "now.abi"
        describe(HEADERS, cls.now)

    def changed(self, old="", new="", without=None):
        """Returns the changes that abidiff finds after a change of all headers."""
        headers = self.folder / "include"
        shutil.rmtree(headers, ignore_errors=True)
        shutil.copytree(HEADERS, headers)
        places = 0
        for path in headers.rglob("*.h"):
            text = path.read_text()
            places += text.count(old)
            path.write_text(text.replace(old, new) if old else text)
        self.assertGreater(places, 0)
        describe(headers, self.folder / "changed.abi", without)
        return changes(self.now, self.folder / "changed.abi")

    def test_nothing_differs_from_the_stored_description(self):
        found = changes(STORED, self.now)
        if found:
            self.fail(f"{found}\n{REMAKE}")

    def test_notices_what_breaks_programs(self):
        self.assertIn("late_count", self.changed("uint64_t late_count", "uint32_t late_count"))
        self.assertIn("late_count", self.changed("uint64_t late_count", "uint64_t leased_count"))
        self.assertIn("CRWL_NOT_ASKED", self.changed("CRWL_NOT_ASKED = 255", "CRWL_NOT_ASKED = 2"))
        self.assertIn("crwl_seen_merge", self.changed(without="crwl_seen_merge"))

    def test_lets_functions_be_added(self):
        self.assertEqual(self.changed("const char* crwl_version(void);",
                                      "const char* crwl_version(void);\nint crwl_more(void);"), "")


if __name__ == "__main__":
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: without {', '.join(missing)}; ./run-tests installs the packages")
        sys.exit(77)
    if os.environ.get("CRAWLSTORE_UPDATE_GOLDEN") == "1":
        with tempfile.TemporaryDirectory(prefix="crawlstore-abi-") as name:
            describe(HEADERS, pathlib.Path(name, "now.abi"))
            shutil.copy(pathlib.Path(name, "now.abi"), STORED)
    unittest.main()
