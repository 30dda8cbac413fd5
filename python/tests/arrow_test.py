# SPDX-License-Identifier: Apache-2.0
"""Columns by the Arrow PyCapsule interface, read as a consumer does: by the capsule alone."""

import contextlib
import ctypes
import gc
import struct
import subprocess
import sys

import numpy
import pytest

import pycrawlstore as pc

A, B = "http://a.test/", "http://bb.test/"
PAIR = ("url", "score")
# The capsule is the last but for the module that has it: sys outlives all others.
AT_THE_END = """
import sys, pycrawlstore as pc
sys.kept = pc.View(sys.argv[1]).arrow().__arrow_c_stream__()
"""


class Stream(ctypes.Structure):
    """struct ArrowArrayStream of the Arrow C stream interface."""


class Array(ctypes.Structure):
    """struct ArrowArray."""


class Schema(ctypes.Structure):
    """struct ArrowSchema."""


def function(*arguments, result=None):
    return ctypes.CFUNCTYPE(result, *map(ctypes.POINTER, arguments))


Stream._fields_ = [
    ("get_schema", function(Stream, Schema, result=ctypes.c_int)),
    ("get_next", function(Stream, Array, result=ctypes.c_int)),
    ("get_last_error", function(Stream, result=ctypes.c_char_p)),
    ("release", function(Stream)), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers",
                                          "n_children")),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.c_void_p),
    ("release", function(Array)), ("private_data", ctypes.c_void_p)]
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.c_void_p),
    ("release", function(Schema)), ("private_data", ctypes.c_void_p)]


def stream_of(capsule):
    """The stream in a capsule, which it keeps."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    stream = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    stream.capsule = capsule
    return stream


def released(made):
    return contextlib.closing(type("Owner", (), {"close": lambda self: made.release(made)})())


def schema_of(stream):
    """[(name, format)] of the columns."""
    schema = Schema()
    assert stream.get_schema(stream, schema) == 0
    with released(schema):
        return [(each.contents.name.decode(), each.contents.format.decode())
                for each in schema.children[:schema.n_children]]


def pairs_of(stream):
    """[(url, score)] of all pages, and the rows of each batch."""
    pairs, lengths = [], []
    while True:
        batch = Array()
        assert stream.get_next(stream, batch) == 0
        if not batch.release:
            return pairs, lengths
        with released(batch):
            urls, scores = (each.contents.buffers for each in batch.children[:2])
            ends = struct.unpack_from(f"{batch.length + 1}q", ctypes.string_at(
                urls[1], 8 * batch.length + 8))
            text = ctypes.string_at(urls[2], ends[-1])
            values = struct.unpack(f"{batch.length}f", ctypes.string_at(scores[1],
                                                                        4 * batch.length))
            pairs += [(text[ends[i]:ends[i + 1]].decode(), value)
                      for i, value in enumerate(values)]
            lengths.append(batch.length)


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    """Two pages, of which the first was fetched."""
    path = tmp_path / "my.crawl"
    with pc.open(path) as store:
        store.pages().add(A, links=[B], status=200, time=1_000_000, score=2.5)
        store.pages().merge()
    return path


def test_a_stream_has_the_columns_that_were_named(path):
    view = pc.View(path)
    stream = stream_of(view.arrow(*PAIR[::-1]).__arrow_c_stream__(None))
    assert schema_of(stream) == [("url", "Z"), ("score", "f")]
    stream = stream_of(view.arrow().__arrow_c_stream__())
    assert {name for name, _ in schema_of(stream)} == {"index", *view.page(0)}
    with pytest.raises(pc.ArgumentError, match="'colour'.*linked_from"):
        view.arrow("colour")


def test_each_stream_has_all_pages_once(path):
    columns = pc.View(path).arrow(*PAIR)
    for _ in range(2):
        stream = stream_of(columns.__arrow_c_stream__())
        assert pairs_of(stream) == ([(A, 2.5), (B, 0)], [2])
        assert pairs_of(stream) == ([], [])
        stream.release(stream)
        assert not stream.release
        del stream
        gc.collect()


def test_long_streams_come_in_batches(tmp_path):
    with pc.open(tmp_path / "my.crawl") as store:
        store.pages(with_urls=False).add(70_000 - 1, outcome="known")
        store.pages(with_urls=False).merge()
    stream = stream_of(pc.View(tmp_path / "my.crawl").arrow(*PAIR).__arrow_c_stream__())
    pairs, lengths = pairs_of(stream)
    assert lengths == [65_536, 70_000 - 65_536] and pairs == [("", 0)] * 70_000


def test_a_stream_that_was_moved_out_needs_no_capsule(path):
    original, moved = stream_of(pc.View(path).arrow(*PAIR).__arrow_c_stream__()), Stream()
    ctypes.memmove(ctypes.byref(moved), ctypes.byref(original), ctypes.sizeof(Stream))
    ctypes.memset(ctypes.byref(original, Stream.release.offset), 0, Stream.release.size)
    del original
    gc.collect()
    with released(moved):
        assert pairs_of(moved)[0] == [(A, 2.5), (B, 0)]


def test_a_stream_outlives_its_view_and_pins_its_generation_until_it_goes(tmp_path):
    count, path = 1_000_000, tmp_path / "my.crawl"
    with pc.open(path) as store:
        store.pages(with_urls=False).add(count - 1, outcome="known")
        store.pages(with_urls=False).merge()
        view = pc.View(path)
        store.store_scores(view, "mine", numpy.arange(count))
        view.refresh()
        columns = view.arrow("index", "score")
        stream = stream_of(columns.__arrow_c_stream__())
        view.close()
        del view, columns
        store.store_scores(pc.View(path), "mine", numpy.zeros(count))
        store.compact()
        assert schema_of(stream) == [("index", "L"), ("score", "f")]
        pinned_bytes = store.compact().bytes_after
        del stream
        gc.collect()
        assert store.compact().bytes_after <= pinned_bytes - 4 * count


def test_columns_outlive_their_view_which_gives_none_when_it_was_closed(path):
    view = pc.View(path)
    columns = view.arrow(*PAIR)
    view.close()
    stream = stream_of(columns.__arrow_c_stream__())
    assert pairs_of(stream)[0] == [(A, 2.5), (B, 0)]
    with pytest.raises(pc.ClosedError):
        view.arrow()


def test_a_stream_may_be_the_last_that_goes(path):
    done = subprocess.run([sys.executable, "-c", AT_THE_END, path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
