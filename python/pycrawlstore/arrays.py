# SPDX-License-Identifier: Apache-2.0
"""Texts and arrays on their way to the library, which copies what it gets."""

import datetime
from typing import Sequence, Tuple, Union

import numpy

from .binding import NULL, ffi, lib, scratch
from . import errors

#: A URL or a name. `str` is passed as UTF-8; bytes that were none come back as surrogate escapes.
Text = Union[str, bytes]
#: Many of them: a sequence, or one blob and an array with the end of each in it.
Texts = Union[Sequence[Text], Tuple[bytes, "numpy.ndarray"]]

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)


def to_bytes(text):
    """The bytes of a text."""
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text


def to_text(raw):
    """The text of bytes, of which `to_bytes` gives the same again."""
    return raw.decode("utf-8", "surrogateescape")


def pointer(kind, array):
    """The first element of an array, which must live as long as the pointer; None gives NULL."""
    return NULL if array is None else ffi.from_buffer(f"{kind}[]", array)


def column(values, kind, count=None):
    """An array of the type, one-dimensional, of `count` entries where that is given; or None."""
    if values is None:
        return None
    array = numpy.ascontiguousarray(values, dtype=kind)
    if array.ndim != 1 or count is not None and len(array) != count:
        raise ValueError(f"an array of {count if count is not None else 'any number of'} entries "
                         f"in one dimension is needed, not of the shape {array.shape}")
    return array


class PackedTexts:
    """Many texts as the library takes them. Owns what its `value` points to."""

    def __init__(self, texts):
        if isinstance(texts, tuple) and len(texts) == 2 and not isinstance(texts[1], (str, bytes)):
            blob, self.ends = texts[0], column(texts[1], numpy.uint64)
            self.blob = ffi.from_buffer(blob)
            if len(self.ends) and int(self.ends[-1]) > len(self.blob):
                raise ValueError("the last end lies beyond the bytes")
        else:
            if isinstance(texts, (str, bytes)):
                raise TypeError("a sequence of texts is needed, not one text")
            raw = [to_bytes(text) for text in texts]
            lengths = numpy.fromiter(map(len, raw), numpy.uint64, len(raw))
            self.ends = numpy.cumsum(lengths, dtype=numpy.uint64)
            self.blob = ffi.from_buffer(b"".join(raw))
        self.count = len(self.ends)
        self.value = {"bytes": self.blob, "ends": pointer("uint64_t", self.ends),
                      "count": self.count}

    def struct(self):
        """A crwl_texts."""
        return ffi.new("crwl_texts*", self.value)


def verdicts(count, function, *arguments):
    """The bool array that `function` fills by its last argument but the error."""
    answers = numpy.empty(count, numpy.uint8)
    error = scratch.error
    code = function(*arguments, ffi.from_buffer("uint8_t[]", answers), error)
    if code:
        failure = errors.of(error, ffi)
        failure.answers = answers[answers != lib.CRWL_NOT_ASKED].astype(bool)
        raise failure
    return answers.view(bool)


def to_us(time):
    """Microseconds since 1970 of a datetime with a time zone, or of a number of them; None: 0."""
    if time is None:
        return 0
    if isinstance(time, datetime.datetime):
        if time.tzinfo is None:
            raise ValueError("a datetime needs its time zone, as datetime.now(timezone.utc) has it")
        return (time - EPOCH) // MICROSECOND
    return int(time)
