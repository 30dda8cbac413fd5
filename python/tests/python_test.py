# SPDX-License-Identifier: Apache-2.0
"""python_test.py LIBRARY [ARGUMENT...]: runs the tests of pycrawlstore with pytest, which gets the
arguments. They need packages of Debian, and so its Python; another may come first in PATH."""

import os
import pathlib
import subprocess
import sys

PYTHON = "/usr/bin/python3"
SKIPPED = 77
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Folders that the tests depend on: cmake/affected_tests.py reads them here.
PACKAGE, INTERFACE, EXAMPLE = SOURCE / "python/", SOURCE / "capi/", SOURCE / "examples/scrapy/"
NEEDED = ("cffi", "numpy", "pandas", "pip", "pytest", "scipy", "scrapy", "setuptools", "wheel")
FIND = ("import importlib.util, sys; "
        "print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))")


def main(library, *arguments):
    if not os.access(PYTHON, os.X_OK):
        print(f"skipped: there is no {PYTHON}")
        return SKIPPED
    missing = subprocess.run([PYTHON, "-c", FIND, *NEEDED], text=True, check=True,
                             stdout=subprocess.PIPE).stdout.split()
    if missing:
        print(f"skipped: {PYTHON} lacks", ", ".join(missing))
        return SKIPPED
    places = {"CRAWLSTORE_C_LIBRARY": str(pathlib.Path(library).resolve()),
              "PYTHONPATH": str(PACKAGE)}
    return subprocess.run(
        [PYTHON, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error",
         str(PACKAGE / "tests"), *arguments], env={**os.environ, **places}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
