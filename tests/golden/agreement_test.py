# SPDX-License-Identifier: Apache-2.0
"""Files and payloads on which readers could differ are what spec/format.md says of them.

The reader is spec/reader.py. Where the library was asked for the same bytes, it gave the same.
"""

import os
import pathlib
import struct
import sys
import tempfile
import types
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "tests" / "golden")
import container  # noqa: E402  pylint: disable=wrong-import-position
import drum  # noqa: E402  pylint: disable=wrong-import-position
import flatbuf  # noqa: E402  pylint: disable=wrong-import-position
import golden  # noqa: E402  pylint: disable=wrong-import-position
import pages  # noqa: E402  pylint: disable=wrong-import-position
import reader  # noqa: E402  pylint: disable=wrong-import-position
import url  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError, CrawlFile  # noqa: E402  pylint: disable=wrong-import-position

COPY_0, COPY_1 = {0: 16384, 1: 32768}, {0: 49152, 1: 65536}
ROOT_CHECKSUM, PASS = 104, 40  # in a superblock copy
SEED = 0x0123456789ABCDEF


def put(content, at, form, number):
    struct.pack_into("<" + form, content, at, number)


def seal_copy(content, at):
    """Makes the checksum of the superblock copy at `at` right."""
    slot, copy = struct.unpack_from("<II", content, at + 8)
    put(content, at + 4088, "Q", container.seeded(
        bytes(content[16:32]), bytes(content[at:at + 4088]), container.SUPERBLOCK_DOMAIN, slot,
        copy))


def seal_root(content, superblock):
    """Makes the checksum of the root that a superblock leads to right, there and in its slot."""
    offset = superblock.root_offset_bytes
    end = offset + container.root_extent(superblock)
    checksum = container.seeded(superblock.uuid, bytes(content[offset:end - 8]),
                                container.ROOT_DOMAIN, superblock.generation, offset)
    put(content, end - 8, "Q", checksum)
    for at in COPY_0[superblock.slot_index], COPY_1[superblock.slot_index]:
        put(content, at + ROOT_CHECKSUM, "Q", checksum)
        seal_copy(content, at)


class FileTest(unittest.TestCase):
    """Whole files, changed and sealed again."""

    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "a.crawl")

    def findings(self, content):
        """[(kind, error)] of a file that can be read."""
        self.path.write_bytes(content)
        with CrawlFile(self.path) as file:
            found = reader.document_of(file)["findings"]
        return [(finding["kind"], finding["error"]) for finding in found]

    def error(self, content):
        """The class of the error of a file that cannot be read."""
        self.path.write_bytes(content)
        with CrawlFile(self.path) as file, self.assertRaises(CrawlError) as caught:
            reader.document_of(file)
        return caught.exception.name

    def generations(self, content):
        """(winner, previous or None)"""
        self.path.write_bytes(content)
        with CrawlFile(self.path) as file:
            return file.open()[:2]

    def test_the_error_that_comes_first_in_the_order_of_work_is_reported(self):
        content = bytearray(golden.rejected("chunk_payload_byte").content)
        content[5000] = 1  # Layout, rule 2
        self.assertEqual(self.error(content), "chunk_damaged")
        content[16384:20480] = content[32768:36864] = bytes(4096)
        content[49152:53248] = content[65536:69632] = bytes(4096)
        self.assertEqual(self.error(content), "superblock_damaged")

    def test_an_extent_that_is_not_kept_is_reduced_redundancy(self):
        content = bytearray(golden.valid("graph"))
        winner, _ = self.generations(content)
        held = struct.pack("<QQQQ", 86016, 8192, 2, 3)
        at = content.index(held, winner.root_offset_bytes)
        put(content, at + 8, "Q", 4096)
        seal_root(content, winner)
        self.assertEqual(self.findings(content), [("reduced_redundancy", "directory_invalid")])

    def test_the_better_of_two_copies_leads_to_the_previous_generation(self):
        base = golden.valid("graph")
        for raised, expected in ((0, 0), (1, 1)):
            with self.subTest(raised):
                content = bytearray(base)
                slot = self.generations(content)[1].slot_index
                put(content, COPY_1[slot] + PASS, "Q",
                    struct.unpack_from("<Q", base, COPY_0[slot] + PASS)[0] + raised)
                put(content, COPY_1[slot] + ROOT_CHECKSUM, "Q", 0)
                seal_copy(content, COPY_1[slot])
                self.assertEqual(self.generations(content)[1].copy_index, expected)
                found = [("reduced_redundancy", "superblock_damaged"),
                         ("reduced_redundancy", "directory_damaged")]
                self.assertEqual(self.findings(content), found[:1 + expected])

    def test_a_copy_behind_the_end_of_the_file_is_truncated(self):
        content = golden.valid("graph")
        self.assertEqual(self.generations(content)[0].generation, 3)
        self.assertEqual(self.error(content[:40000]), "truncated")
        self.assertEqual(self.error(golden.valid("held_tables")[:30000]), "truncated")
        self.assertEqual(self.error(golden.valid("keys_and_pending")[:30000]), "truncated")

    def unreadable(self, *places):
        """os.pread that fails at these offsets."""
        pread = os.pread

        def fail(fd, length, offset):
            if offset in places:
                raise OSError(5, "Input/output error")
            return pread(fd, length, offset)
        return mock.patch.object(os, "pread", fail)

    def test_a_copy_that_cannot_be_read_is_no_invalid_one(self):
        content = golden.valid("graph")
        for copies in COPY_0, COPY_1:
            for place in copies.values():
                with self.subTest(place), self.unreadable(place):
                    self.assertEqual(self.findings(content), [("reduced_redundancy", "io")])
        for slot in 0, 1:
            with self.subTest(slot), self.unreadable(COPY_0[slot], COPY_1[slot]):
                self.assertEqual(self.error(content), "io")
        with self.unreadable(*COPY_0.values(), *COPY_1.values()):
            self.assertEqual(self.error(content), "io")

    def test_a_previous_generation_that_cannot_be_read_is_reduced_redundancy(self):
        content = golden.valid("graph")
        previous = self.generations(content)[1]
        with self.unreadable(previous.root_offset_bytes):
            self.assertEqual(self.findings(content), [("reduced_redundancy", "io")])


def event_words(words):
    return struct.pack(f"<II{len(words)}Q", 0, len(words), *words)


def to_struct(offset, data, pointers):
    """A pointer to a struct, or the tag of a list of `offset` structs."""
    return offset % (1 << 30) << 2 | data << 32 | pointers << 48


def to_list(offset, size, length):
    return 1 | offset % (1 << 30) << 2 | size << 32 | length << 35


class EventTest(unittest.TestCase):
    """Messages of event runs."""

    def count(self, words, events=None):
        """The number of events in a run of one message."""
        payload = struct.pack("<8sQQ", b"CEVNTRN1", events or 1, 0) + event_words(words)
        return len(pages.parse_event_run(payload))

    def assert_breaks(self, rule, words, events=None):
        with self.assertRaisesRegex(CrawlError, f"Event runs rule {rule}"):
            self.count(words, events)

    def message(self, events, behind=()):
        return [to_struct(0, 0, 1), to_list(0, 7, 6 * len(events)), to_struct(len(events), 3, 3),
                *[word for event in events for word in event], *behind]

    def test_targets_of_what_has_no_words_lie_anywhere(self):
        for offset in (0, 1, 2, 1000, -1000):
            with self.subTest(offset):
                self.assertEqual(self.count(self.message(
                    [[2, 0, 0, 0, to_list(offset, 2, 0), 0]])), 1)
        self.assert_breaks(4, self.message([[2, 0, 0, 0, to_list(1, 2, 1), 0]]))
        self.assert_breaks(3, [to_struct(9, 0, 0)])

    def test_structs_without_words_lie_at_the_end_of_a_segment(self):
        for count in (1, 4):
            self.assertEqual(self.count(
                [to_struct(0, 0, 1), to_list(0, 7, 0), to_struct(count, 0, 0)], count), count)
        self.assert_breaks(4, [to_struct(0, 0, 1), to_list(0, 7, 0), to_struct(5, 0, 0)], 5)

    def test_the_pointer_to_the_root_is_one_of_the_words(self):
        """Ten events name one text of 8 words; zeros behind it add to the words of the message."""
        events = [[1, 0, 0, to_list(6 * (9 - i) + 2, 2, 64), 0, 0] for i in range(10)]
        text = list(struct.unpack("<8Q", b"x:" + b"a" * 62))
        self.assertEqual(self.count(self.message(events, text + [0] * 8), 10), 10)
        self.assert_breaks(4, self.message(events, text + [0] * 7), 10)

    def test_fields_that_say_nothing_are_checked_too(self):
        gone, nan = 2, 0x7FC00000 << 32
        self.assert_breaks(5, self.message([[gone | nan, 0, 0, 0, 0, 0]]))
        text = [0] * 9
        self.assertEqual(self.count(self.message([[gone, 0, 0, 0, to_list(1, 2, 64), 0]], text)), 1)
        self.assert_breaks(6, self.message([[gone, 0, 0, 0, to_list(1, 2, 65), 0]], text))


class PayloadTest(unittest.TestCase):
    """Other payloads, and FlatBuffers."""

    def test_blocks_of_no_auxiliaries_are_empty(self):
        run = struct.pack("<8sQIIH6x", b"CAUXRUN1", 2, 0, 0, 1) + bytes(8)
        self.assertEqual(drum.parse_aux_run(run), [b"", b""])
        with self.assertRaisesRegex(CrawlError, "Request runs rule 1"):
            drum.parse_aux_run(run + bytes(8))

    def test_tables_lie_at_multiples_of_4_and_vtables_of_2(self):
        for vtable, table in ((4, 12), (6, 12), (10, 16)):
            self.assertEqual(self.number_of(vtable, table), 7)
        for vtable, table in ((5, 12), (4, 14), (4, 13)):
            with self.subTest((vtable, table)), self.assertRaises(flatbuf.Malformed):
                self.number_of(vtable, table)

    def number_of(self, vtable, table):
        """Field 0 of a table in a buffer of 32 bytes."""
        data = bytearray(32)
        put(data, 0, "I", table)
        struct.pack_into("<HHH", data, vtable, 6, 8, 4)
        struct.pack_into("<iI", data, table, table - vtable, 7)
        return flatbuf.Buffer(bytes(data)).root().scalar(0, "I")

    def check_keys(self, urls, keyed):
        """Pages, rule 7: URLs of all pages, and what was hashed for pages by index."""
        keys = []
        for index, text in keyed.items():
            key = url.page_key(text, SEED)
            keys.append((key.head << 64 | key.tail,
                         index.to_bytes(5, "little") + key.witness.to_bytes(4, "little")))
        table = types.SimpleNamespace(key_bytes=16, key_scheme=3, value_bytes=9, buckets=[],
                                      consumers=[])
        pages.check_keys(types.SimpleNamespace(page_count=len(urls)), table,
                         [drum.Partition(16, 9, sorted(keys))], {},
                         [pages.Origin(text, None, 0, False) for text in urls], SEED)

    def test_an_empty_url_is_a_page_with_a_key_or_forgotten(self):
        self.check_keys([b"", b"http://a.test/"], {1: b"http://a.test/"})
        self.check_keys([b"", b"http://a.test/"], {0: b"", 1: b"http://a.test/"})
        with self.assertRaisesRegex(CrawlError, "Pages rule 7"):
            self.check_keys([b""], {0: b"http://a.test/"})
        with self.assertRaisesRegex(CrawlError, "Pages rule 7"):
            self.check_keys([b"http://a.test/"], {})

    def test_a_url_that_is_not_normal_is_taken_as_it_stands(self):
        text = b"HTTP://A.test/#x"
        self.assertNotEqual(url.normalise(text)[0], text)
        self.check_keys([text], {0: text})


if __name__ == "__main__":
    unittest.main()
