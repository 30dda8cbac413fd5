# SPDX-License-Identifier: Apache-2.0
"""The shared library libcrawlstore_c.so.0, called by cffi in ABI mode, and its errors.

A call lets other threads of Python go on.
"""

import collections
import os
import pathlib

from . import errors

SONAME = "libcrawlstore_c.so.0"
HERE = pathlib.Path(__file__).resolve().parent


def find_library():
    """The path or name to load: CRAWLSTORE_C_LIBRARY, the wheel's file, or the system's."""
    given = os.environ.get("CRAWLSTORE_C_LIBRARY")
    beside = HERE / SONAME
    return given or (str(beside) if beside.exists() else SONAME)


try:
    from ._parsed import ffi
except ImportError:  # in the source tree
    from .declarations import parsed
    ffi = parsed(HERE.parents[1] / "capi/include/crawlstore")
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


# Outputs of single answers that no call uses: making them costs as much as a call. A call takes its
# own, as a handler of signals or a __del__ may call the library before it has read them; those of
# a call that raises are not used again. Both steps on a deque are atomic, and keep its memory.
spare_outputs = collections.deque()


def take_outputs():
    """A verdict, its address, and an error; the call gives them to spare_outputs after it."""
    try:
        return spare_outputs.pop()
    except IndexError:
        # Reading a bytearray takes half of the time of reading through a pointer.
        verdict = bytearray(1)
        return verdict, ffi.from_buffer("uint8_t[]", verdict), struct("error")


def number(value=0):
    """A number that a call fills."""
    return ffi.new("uint64_t*", value)


def call(function, *arguments):
    """Calls a function of the library, with the error as the last argument."""
    outputs = take_outputs()
    if function(*arguments, outputs[2]):
        raise errors.of(outputs[2], ffi)
    spare_outputs.append(outputs)


def opened(kind, free, function, *arguments):
    """The handle that `function` makes; freed when nothing in Python names it any more.

    A handler of signals may raise between any two steps: the owner is there before the handle is.
    """
    def release(cell):
        handle, cell[0] = cell[0], NULL
        if handle:
            free(handle)

    owner = ffi.gc(ffi.new(f"crwl_{kind}**"), release)
    try:
        call(function, *arguments, owner)
        # The destructor has nothing to do but to keep the owner as long as the handle.
        return ffi.gc(owner[0], lambda _, kept=owner: None)
    except BaseException:
        ffi.release(owner)
        raise


def chosen(choices, name, kind):
    """The number of a choice. Raises ArgumentError, which names all, where there is no such."""
    if not isinstance(name, str) or name not in choices:
        raise errors.argument(f"there is no {kind} {name!r}, but {', '.join(choices)}")
    return choices[name]


def name_of(name):
    """A name as the library takes it, up to its NUL; None is the default one."""
    if name is None:
        return NULL
    raw = os.fsencode(name)
    if b"\0" in raw:
        raise ValueError("a name has a NUL in it")
    return ffi.new("char[]", raw)


def path_of(path):
    """A path as the library takes it. Raises TypeError for None, which is no default here."""
    return name_of(os.fspath(path))
