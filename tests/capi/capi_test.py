# SPDX-License-Identifier: Apache-2.0
"""capi_test.py PROGRAM LIBRARY BUILD_DIR: the C interface does what it says, shows its own names
alone, each of them is declared and used by the program, and what is installed can be used."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY, BUILD = sys.argv[1:4]
del sys.argv[1:4]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
INTERFACE = SOURCE / "./capi"  # a path, so that --changed knows the folder as ours
NAME = re.compile(r'\bcrwl_\w+(?=\()')
CONSUMER = """
#include <crawlstore/crawlstore.h>
int main(void) { return crwl_store_commit(0, 0, 0) == 80 ? 0 : 1; }
"""


def names_in(paths):
    """Names that are called or declared outside of comments."""
    texts = (re.sub(r'//.*', "", path.read_text()) for path in paths)
    return set().union(*(NAME.findall(text) for text in texts))


class CInterface(unittest.TestCase):
    def test_every_call_does_what_it_should(self):
        with tempfile.TemporaryDirectory(prefix="crawlstore-capi-") as folder:
            done = subprocess.run([PROGRAM, folder], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "every call did what it should\n"),
                         f"CRAWLSTORE_TEST_SEED={os.environ.get('CRAWLSTORE_TEST_SEED', '')}")

    def test_shows_what_it_declares_and_nothing_else(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], text=True, check=True,
                                stdout=subprocess.PIPE).stdout
        shown = {line.split()[-1] for line in listed.splitlines()}
        self.assertEqual(shown, names_in(INTERFACE.glob("include/crawlstore/*.h")))

    def test_the_program_uses_every_function(self):
        declared = names_in(INTERFACE.glob("include/crawlstore/*.h"))
        self.assertEqual(declared - names_in(SOURCE.glob("tests/capi/*.c")), set())

    def test_what_is_installed_suffices_for_a_program_in_c(self):
        with tempfile.TemporaryDirectory(prefix="crawlstore-capi-") as name:
            folder = pathlib.Path(name)
            for component in ("crawlstore_c", "crawlstore_c_dev"):
                subprocess.run(["cmake", "--install", BUILD, "--prefix", folder / "usr",
                                "--component", component], check=True, stdout=subprocess.DEVNULL)
            pc = next(folder.rglob("crawlstore-c.pc"))
            words = subprocess.run(
                ["pkg-config", "--cflags", "--libs", "crawlstore-c"], check=True, text=True,
                stdout=subprocess.PIPE, env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent)})
            (folder / "a.c").write_text(CONSUMER)
            # Takes of the build's own flags only those that change the binary: sanitizers.
            cache = pathlib.Path(BUILD, "CMakeCache.txt").read_text()
            sanitizers = re.findall(r'^CMAKE_CXX_FLAGS_DEBUG:.*?(-fsanitize=\S+)', cache,
                                    re.MULTILINE)
            subprocess.run(["cc", "-std=c11", "-pedantic", "-Werror", *sanitizers, "a.c", "-o", "a",
                            *words.stdout.split()], check=True, cwd=folder)
            subprocess.run([folder / "a"], check=True,
                           env={**os.environ, "LD_LIBRARY_PATH": str(pc.parents[1])})


if __name__ == "__main__":
    unittest.main()
