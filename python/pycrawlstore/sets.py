# SPDX-License-Identifier: Apache-2.0
"""Sets of what was seen: URLs, and keys of the caller."""

from struct import Struct, error as StructError
from typing import NamedTuple, Union

from .arrays import PackedTexts, Text, Texts, numpy, pointer, to_bytes, verdicts
from .binding import call, ffi, lib, name_of, opened, spare_outputs, struct, take_outputs
from . import errors

#: Many keys, one after another.
KeyBytes = Union[bytes, bytearray, memoryview, "numpy.ndarray"]


class SetStatus(NamedTuple):
    """Counts of a set. Keys that wait are in it already; a merge brings them to their places."""

    key_bytes: int
    #: As of the last merge.
    key_count: int
    #: Requests that wait, repeats among them.
    pending_count: int
    memory_bytes: int


def status_of(function, handle):
    """Asks a set for its counts."""
    told = struct("set_status")
    call(function, handle, told)
    return SetStatus(told.key_bytes, told.key_count, told.pending_count, told.memory_bytes)


class Seen:
    """The URLs that a crawl has seen: those that were inserted, and those of pages.

    Two spellings of one URL are one. An answer holds at once; the next commit makes it durable.
    One thread at a time. Made by `Store.seen`.
    """

    def __init__(self, store, name, wide_keys, with_pages, memory_bytes):
        options = struct("seen_options", memory_bytes=memory_bytes, without_pages=not with_pages,
                         key=lib.CRWL_KEY_128 if wide_keys else lib.CRWL_KEY_AS_STORED)
        self._handle = opened("seen", lib.crwl_seen_free, lib.crwl_seen_open, store, name_of(name),
                              options)

    def insert(self, url: Text) -> bool:
        """Whether the URL is new; it is remembered in the same step.

        Raises SystemFailure where there is no space: it was not taken.
        """
        if isinstance(url, str):
            url = url.encode("utf-8", "surrogateescape")
        outputs = verdict, told, error = take_outputs()
        if lib.crwl_seen_insert(self._handle, url, len(url), told, error):
            raise errors.of(error, ffi)
        is_new = verdict[0] == 1
        spare_outputs.append(outputs)
        return is_new

    def insert_many(self, urls: Texts) -> "numpy.ndarray":
        """The same for each URL in order: a bool array with an entry for each.

        `urls` is a sequence, or (bytes, ends) with the end of each URL in the bytes, which is twice
        as fast. After an error those before it were inserted: `answers` of the error has them.
        """
        texts = PackedTexts(urls)
        return verdicts(texts.count, lib.crwl_seen_insert_many, self._handle, texts.struct())

    def contains(self, url: Text) -> bool:
        """Whether the URL was seen; nothing is remembered."""
        raw = to_bytes(url)
        outputs = verdict, told, error = take_outputs()
        if lib.crwl_seen_contains(self._handle, raw, len(raw), told, error):
            raise errors.of(error, ffi)
        was_seen = verdict[0] == 1
        spare_outputs.append(outputs)
        return was_seen

    __contains__ = contains

    def contains_many(self, urls: Texts) -> "numpy.ndarray":
        """The same for each URL: a bool array."""
        texts = PackedTexts(urls)
        return verdicts(texts.count, lib.crwl_seen_contains_many, self._handle, texts.struct())

    def merge(self) -> None:
        """Merges what waits, and commits. Inserts do so by themselves when memory is full.

        Raises ArgumentError inside a transaction.
        """
        call(lib.crwl_seen_merge, self._handle)

    def status(self) -> SetStatus:
        """Counts of the set."""
        return status_of(lib.crwl_seen_get_status, self._handle)


class Keys:
    """A set of keys of the caller, 8 or 16 bytes each: hashes, as keys must be spread evenly.

    Many keys are one bytes object of `key_bytes` for each, or a NumPy array of bytes. Made by
    `Store.keys`.
    """

    def __init__(self, store, name, key_bytes, memory_bytes):
        options = struct("keys_options", key_bytes=key_bytes, memory_bytes=memory_bytes)
        self._handle = opened("keys", lib.crwl_keys_free, lib.crwl_keys_open, store, name_of(name),
                              options)
        #: Bytes of a key.
        self.key_bytes: int = self.status().key_bytes
        self._one = Struct(f">{self.key_bytes // 8}Q")

    def _words(self, keys):
        """Keys as numbers in the order of their bytes, and their count."""
        raw = numpy.frombuffer(keys, numpy.uint8)
        if len(raw) % self.key_bytes != 0:
            raise errors.argument(f"keys have {self.key_bytes} bytes; {len(raw)} are no multiple")
        words = raw.view(">u8").astype(numpy.uint64)
        return words, len(raw) // self.key_bytes

    def _ask(self, function, words, count):
        return verdicts(count, function, self._handle, pointer("uint64_t", words), count)

    def _ask_one(self, function, key):
        try:
            words = self._one.unpack(key)
        except StructError:
            raise errors.argument(f"one key of {self.key_bytes} bytes is needed") from None
        outputs = verdict, told, error = take_outputs()
        if function(self._handle, words, 1, told, error):
            raise errors.of(error, ffi)
        answer = verdict[0] == 1
        spare_outputs.append(outputs)
        return answer

    def add_many(self, keys: KeyBytes) -> None:
        """Adds keys without asking: several times faster than `insert_many`.

        After an error some were added; adding all again is right.
        """
        words, count = self._words(keys)
        call(lib.crwl_keys_add, self._handle, pointer("uint64_t", words), count)

    def insert_many(self, keys: KeyBytes) -> "numpy.ndarray":
        """Whether each key is new, a bool array; it is remembered in the same step."""
        return self._ask(lib.crwl_keys_insert, *self._words(keys))

    def contains_many(self, keys: KeyBytes) -> "numpy.ndarray":
        """Whether each key is there, a bool array."""
        return self._ask(lib.crwl_keys_contains, *self._words(keys))

    def insert(self, key: bytes) -> bool:
        """The same for one key. Raises ArgumentError for none, or more."""
        return self._ask_one(lib.crwl_keys_insert, key)

    def contains(self, key: bytes) -> bool:
        """The same for one key. Raises ArgumentError for none, or more."""
        return self._ask_one(lib.crwl_keys_contains, key)

    __contains__ = contains

    def merge(self) -> None:
        """Merges what waits, and commits. Raises ArgumentError inside a transaction."""
        call(lib.crwl_keys_merge, self._handle)

    def status(self) -> SetStatus:
        """Counts of the set."""
        return status_of(lib.crwl_keys_get_status, self._handle)
