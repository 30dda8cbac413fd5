# SPDX-License-Identifier: Apache-2.0
"""The shared library libcrawlstore_c.so.0, called by cffi in ABI mode, and its errors.

The declarations are those of the C headers, which the wheel ships beside the library: they are made
without macros for that. A call lets other threads of Python go on.
"""

import os
import pathlib
import re
import threading

import cffi

from . import errors

SONAME = "libcrawlstore_c.so.0"
HERE = pathlib.Path(__file__).resolve().parent
FOR_CXX = re.compile(r'^#ifdef __cplusplus$.*?^#endif$', re.MULTILINE | re.DOTALL)


def find_headers():
    """The folder with crawlstore.h: of the wheel, else of the source tree."""
    for folder in (HERE / "include/crawlstore", HERE.parents[1] / "capi/include/crawlstore"):
        if (folder / "crawlstore.h").exists():
            return folder
    raise ImportError(f"pycrawlstore: the headers of the C interface are not in {HERE}")


def declarations(folder):
    """What the headers declare, in the order in which crawlstore.h needs it."""
    includes = re.compile(r'^#include <crawlstore/(\w+\.h)>$', re.MULTILINE)
    order = []

    def visit(name):
        text = (folder / name).read_text(encoding="ascii")
        for other in includes.findall(text):
            if other not in order:
                visit(other)
        order.append(name)
        return text

    visit("crawlstore.h")
    texts = (FOR_CXX.sub("", (folder / name).read_text(encoding="ascii")) for name in order)
    return re.sub(r'^#.*$|///?.*$', "", "\n".join(texts), flags=re.MULTILINE)


def find_library():
    """The path or name to load: CRAWLSTORE_C_LIBRARY, the wheel's file, or the system's."""
    given = os.environ.get("CRAWLSTORE_C_LIBRARY")
    beside = HERE / SONAME
    return given or (str(beside) if beside.exists() else SONAME)


ffi = cffi.FFI()
ffi.cdef(declarations(find_headers()))
try:
    lib = ffi.dlopen(find_library())
except OSError as failure:
    raise ImportError(f"pycrawlstore: {failure}; CRAWLSTORE_C_LIBRARY may name its path") from None

NULL = ffi.NULL


def struct(name, /, **fields):
    """A struct of the C interface that says its size; fields that are not given are 0."""
    made = ffi.new(f"crwl_{name}*", fields)
    made.struct_size = ffi.sizeof(made[0])
    return made


class Scratch(threading.local):
    """Outputs of single answers, made once for each thread: making them costs as much as a call."""

    def __init__(self):
        self.error = struct("error")
        # Reading a bytearray takes half of the time of reading through a pointer.
        verdict = bytearray(1)
        self.single = verdict, ffi.from_buffer("uint8_t[]", verdict), self.error


scratch = Scratch()


def number(value=0):
    """A number that a call fills."""
    return ffi.new("uint64_t*", value)


def call(function, *arguments):
    """Calls a function of the library, with the error as the last argument."""
    error = scratch.error
    code = function(*arguments, error)
    if code:
        raise errors.of(error, ffi)


def opened(kind, free, function, *arguments):
    """The handle that `function` makes; freed when nothing in Python names it any more."""
    out = ffi.new(f"crwl_{kind}**")
    call(function, *arguments, out)
    return ffi.gc(out[0], free)


def name_of(name):
    """A name as the library takes it, up to its NUL; None is the default one."""
    if name is None:
        return NULL
    raw = os.fsencode(name)
    if b"\0" in raw:
        raise ValueError("a name has a NUL in it")
    return ffi.new("char[]", raw)
