# SPDX-License-Identifier: Apache-2.0
"""Texts and arrays on their way to the library, which copies what it gets."""

import array
import contextlib
import datetime
import itertools
import operator
from typing import TYPE_CHECKING, Sequence, Tuple, Union

from .binding import NULL, ffi, lib, spare_outputs, take_outputs
from . import errors



class LazyNumpy:
    """NumPy, imported when it is needed: a crawl of Scrapy needs it never."""

    def __getattr__(self, name):
        import numpy as found  # pylint: disable=import-outside-toplevel
        value = getattr(found, name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy
else:
    numpy = LazyNumpy()

#: A URL or a name. `str` is passed as UTF-8; bytes that were none come back as surrogate escapes.
Text = Union[str, bytes]
#: Many of them: a sequence, or one blob and an array with the end of each in it.
Texts = Union[Sequence[Text], Tuple[bytes, "numpy.ndarray"]]

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)
CODES = {"uint64": "Q", "float64": "d", "uint8": "B"}  # of arrays without NumPy


def to_bytes(text):
    """The bytes of a text."""
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text


def to_text(raw):
    """The text of bytes, of which `to_bytes` gives the same again."""
    return raw.decode("utf-8", "surrogateescape")


def pointer(kind, array):
    """The first element of an array, which must live as long as the pointer; None gives NULL."""
    return NULL if array is None else ffi.from_buffer(f"{kind}[]", array)


def whole(values, kind):
    """An array of numbers that the unsigned type has. NumPy would cut 1.9, and turn -1 around."""
    found = numpy.asarray(values)
    if found.ndim == 1 and (found.dtype == object or
                            found.dtype.kind == "f" and not isinstance(values, numpy.ndarray)):
        # Numbers below and above 2^63 together are floats for NumPy, and an empty list, too.
        ints = list(map(operator.index, values))
        found = numpy.array(ints, kind if min(ints, default=0) >= 0 else object)
    if found.dtype.kind not in "uibO":
        raise TypeError(f"whole numbers are needed, not {found.dtype}")
    if found.dtype.kind in "iO" and found.size and found.min() < 0:
        raise errors.argument("a number is negative")
    return found


def column(values, kind, count=None):
    """An array of the type, one-dimensional, of `count` entries where that is given; or None."""
    if values is None:
        return None
    if type(values) is list and kind in CODES and count in (None, len(values)):
        with contextlib.suppress(TypeError, OverflowError):  # NumPy takes more, or says why not.
            return array.array(CODES[kind], values)
    if numpy.issubdtype(kind, numpy.unsignedinteger):
        values = whole(values, kind)
    found = numpy.ascontiguousarray(values, dtype=kind)
    if found.ndim != 1 or count is not None and len(found) != count:
        raise ValueError(f"an array of {count if count is not None else 'any number of'} entries "
                         f"in one dimension is needed, not of the shape {found.shape}")
    return found


def buffer_of(text):
    """The bytes of a text that is neither str nor bytes, as join() and len() count them."""
    view = memoryview(text)
    if view.ndim != 1 or view.itemsize != 1:
        raise TypeError(f"a text is str, or items of a byte each, not {type(text).__name__} of "
                        f"{view.ndim} dimensions with {view.itemsize} bytes an item")
    return view


class PackedTexts:
    """Many texts as the library takes them. Owns what its `value` points to."""

    def __init__(self, texts):
        if isinstance(texts, tuple) and len(texts) == 2 and not isinstance(texts[1], (str, bytes)):
            blob, self.ends = texts[0], column(texts[1], "uint64")
            if not isinstance(blob, (str, bytes)):
                blob = buffer_of(blob)
            self.blob = ffi.from_buffer(blob)
            if len(self.ends) and int(self.ends[-1]) > len(self.blob):
                raise ValueError("the last end lies beyond the bytes")
        else:
            if isinstance(texts, (str, bytes)):
                raise TypeError("a sequence of texts is needed, not one text")
            raw = [to_bytes(text) for text in texts]
            if not {bytes}.issuperset(map(type, raw)):
                raw = [text if isinstance(text, bytes) else buffer_of(text) for text in raw]
            self.ends = array.array("Q", itertools.accumulate(map(len, raw)))
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
    outputs = take_outputs()
    if function(*arguments, ffi.from_buffer("uint8_t[]", answers), outputs[2]):
        failure = errors.of(outputs[2], ffi)
        failure.answers = answers[answers != lib.CRWL_NOT_ASKED].astype(bool)
        raise failure
    spare_outputs.append(outputs)
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
