# SPDX-License-Identifier: Apache-2.0
"""Columns of pages as an Arrow C stream, for libraries that take one in a PyCapsule."""

import ctypes

from .binding import call, chosen, ffi, lib

COLUMNS = {name: getattr(lib, f"CRWL_COLUMN_{name.upper()}") for name in (
    "index", "url", "state", "http_status", "depth", "linked_from", "crawl_count", "change_count",
    "failure_count", "first_crawl", "last_crawl", "score")}
CAPSULE_NAME = b"arrow_array_stream"
DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

# Prototypes of our own: the attributes of ctypes.pythonapi are those of all modules.
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, DESTRUCTOR)(
    ("PyCapsule_New", ctypes.pythonapi))
pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
keep_for_ever = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))

# The structs that capsules show, by address.
streams = {}


@DESTRUCTOR
def drop_stream(capsule, needed=(streams.pop, pointer_of, CAPSULE_NAME, ffi.NULL, lib)):
    """Releases the stream of a capsule that nothing names any more, unless its consumer did."""
    pop, pointer, name, null, _ = needed
    stream = pop(pointer(capsule, name))
    if stream.release != null:
        stream.release(stream)


# A capsule may be the last that goes when Python ends, after the modules and the library.
for each in (CAPSULE_NAME, drop_stream):
    keep_for_ever(each)


class ArrowColumns:
    """Columns of the pages of a view, by the Arrow PyCapsule interface. Made by `View.arrow`.

    It keeps the view open, so that `View.close` does not end it.
    """

    def __init__(self, view, names):
        self._view = view
        self._columns = 0
        for name in names:
            self._columns |= chosen(COLUMNS, name, "column")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with a stream of all pages, in batches of 65,536, from the first one on.

        requested_schema  is not looked at, as the interface allows

        It needs neither this object nor the view, and keeps the generation that the view shows now
        until it is released, or its capsule is gone.
        """
        stream = ffi.new("struct ArrowArrayStream*")
        address = int(ffi.cast("uintptr_t", stream))
        streams[address] = stream
        # A handler of signals may raise between any two steps: the owner is there first.
        capsule = new_capsule(address, CAPSULE_NAME, drop_stream)
        call(lib.crwl_view_arrow, self._view, self._columns, stream)
        return capsule
