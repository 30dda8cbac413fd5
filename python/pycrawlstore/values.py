# SPDX-License-Identifier: Apache-2.0
"""Small values of a program, for the methods of stores."""

from .arrays import to_bytes, to_text
from .binding import call, ffi, lib, name_of, number, struct


def set_value(store, name, value):
    """Does the same as Store.set."""
    raw = ffi.from_buffer(value)
    call(lib.crwl_store_set, store, name_of(to_bytes(name)), raw, len(raw))


def get_value(store, name):
    """Does the same as Store.get."""
    room = ffi.new("char[]", lib.CRWL_VALUE_BYTES_MAX)
    told = struct("value", bytes=room, capacity=len(room))
    call(lib.crwl_store_get, store, name_of(to_bytes(name)), told)
    return ffi.buffer(room)[:told.byte_count] if told.is_there else None


def remove_value(store, name):
    """Does the same as Store.remove."""
    was_there = ffi.new("int*")
    call(lib.crwl_store_remove, store, name_of(to_bytes(name)), was_there)
    return bool(was_there[0])


def value_names(store):
    """Does the same as Store.value_names."""
    room = ffi.new("char[]", lib.CRWL_VALUE_NAMES_BYTES_MAX)
    byte_count = number()
    call(lib.crwl_store_value_names, store, room, len(room), byte_count)
    return [to_text(raw) for raw in ffi.buffer(room)[:byte_count[0]].split(b"\0")[:-1]]
