# SPDX-License-Identifier: Apache-2.0
"""Puts the library of the C interface and what its headers declare into the wheel, which so serves
every Python of the machine's kind. CRAWLSTORE_C_LIBRARY names the library where it is not that of
the preset `release`. pyproject.toml has the rest."""

import os
import pathlib
import re
import runpy
import shutil

import setuptools
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[1]
SONAME = "libcrawlstore_c.so.0"
VERSION = re.search(r'^  VERSION (\S+)$', (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib, "pycrawlstore")
        given = os.environ.get("CRAWLSTORE_C_LIBRARY", ROOT / "build/release/capi" / SONAME)
        shutil.copyfile(given, package / SONAME)
        parsed = runpy.run_path(package / "declarations.py")["parsed"]
        ffi = parsed(ROOT / "capi/include/crawlstore", "pycrawlstore._parsed")
        ffi.emit_python_code(str(package / "_parsed.py"))


class WheelOfAnyPython(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setuptools.setup(version=VERSION,
                 cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfAnyPython})
