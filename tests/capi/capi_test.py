# SPDX-License-Identifier: Apache-2.0
"""capi_test.py PROGRAM LIBRARY: the C interface does what it says, shows its own names alone, and
each of them is declared and used by the program."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY = sys.argv[1:3]
del sys.argv[1:3]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
NAME = re.compile(r'\bcrwl_\w+(?=\()')


def names_in(paths):
    """Names that are called or declared outside of comments."""
    texts = (re.sub(r'//.*', "", path.read_text()) for path in paths)
    return set().union(*(NAME.findall(text) for text in texts))


class CInterface(unittest.TestCase):
    def test_every_call_does_what_it_should(self):
        with tempfile.TemporaryDirectory(prefix="crawlstore-capi-") as folder:
            done = subprocess.run([PROGRAM, folder], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "every call did what it should\n"))

    def test_shows_what_it_declares_and_nothing_else(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], text=True, check=True,
                                stdout=subprocess.PIPE).stdout
        shown = {line.split()[-1] for line in listed.splitlines()}
        self.assertEqual(shown, names_in(SOURCE.glob("capi/include/crawlstore/*.h")))

    def test_the_program_uses_every_function(self):
        declared = names_in(SOURCE.glob("capi/include/crawlstore/*.h"))
        self.assertEqual(declared - names_in(SOURCE.glob("tests/capi/*.c")), set())


if __name__ == "__main__":
    unittest.main()
