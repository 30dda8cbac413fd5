# SPDX-License-Identifier: Apache-2.0
"""The package as users get it: its tutorial, types, docstrings, declarations and wheel."""

import contextlib
import inspect
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import typing

import numpy
import pytest
import scipy.sparse

import pycrawlstore as pc
from pycrawlstore import binding
from pycrawlstore.declarations import declarations

ROOT = pathlib.Path(__file__).resolve().parents[2]
USER = """
import sys
import pycrawlstore as pc
store = pc.open("my.crawl")
print(store.seen().insert("http://a.test/"), pc.__file__, {"numpy", "pycparser"} & {*sys.modules})
"""


def public_functions():
    for name in pc.__all__:
        made = getattr(pc, name)
        if inspect.isfunction(made):
            yield name, made
        elif inspect.isclass(made) and not issubclass(made, (tuple, Exception)):
            for member, function in vars(made).items():
                if inspect.isfunction(function) and not member.startswith("_"):
                    yield f"{name}.{member}", function


def blocks(document, kind):
    """The code of a kind in a document, all of it."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.findall(rf'^ *```{kind}\n(.*?)^ *```$', text, re.MULTILINE | re.DOTALL)
    return "".join(textwrap.dedent(block) for block in found)


def test_the_tutorial_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(blocks("python/README.md", "python"), {})  # pylint: disable=exec-used
    assert told.getvalue() == blocks("python/README.md", "text")


def test_the_lines_of_the_project_do_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(blocks("README.md", "python"), made)  # pylint: disable=exec-used
    assert made["new"].tolist() == [True, False]


@pytest.mark.parametrize("name, function", public_functions())
def test_what_is_public_has_a_docstring_and_types(name, function):
    assert inspect.getdoc(function), name
    types = typing.get_type_hints(function, vars(sys.modules[function.__module__]),
                                  {"numpy": numpy, "scipy": scipy})
    assert set(types) == {*inspect.signature(function).parameters, "return"} - {"self"}, name


def test_every_function_of_the_headers_is_declared_and_there():
    folder = ROOT / "capi/include/crawlstore"
    declared = set(re.findall(r'\bcrwl_\w+(?=\()', declarations(folder)))
    written = {name for path in folder.glob("*.h") for name in re.findall(
        r'\bcrwl_\w+(?=\()', re.sub(r'//.*', "", path.read_text()))}
    assert declared == written and all(hasattr(binding.lib, name) for name in declared)


def test_the_wheel_brings_its_library(tmp_path):
    for part in ("python", "capi/include", "CMakeLists.txt"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (tmp_path / "source" / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, tmp_path / "source" / part)
    installed = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps",
               "--no-index", "--quiet", "--root-user-action=ignore", "--target", str(installed),
               str(tmp_path / "source/python")]
    subprocess.run(command, check=True)
    assert (installed / "pycrawlstore/py.typed").exists()
    environment = {name: value for name, value in os.environ.items()
                   if name != "CRAWLSTORE_C_LIBRARY"}
    told = subprocess.run([sys.executable, "-c", USER], cwd=tmp_path, check=True, text=True,
                          stdout=subprocess.PIPE, env={**environment, "PYTHONPATH": str(installed)})
    # Neither is needed here, and both are slow to import.
    assert told.stdout == f"True {installed}/pycrawlstore/__init__.py set()\n"
    assert "Root-Is-Purelib: false" in next(installed.glob("*.dist-info/WHEEL")).read_text()
