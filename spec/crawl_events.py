# SPDX-License-Identifier: Apache-2.0
"""The messages of an event run, read as spec/events.md, "Event runs", says, and nothing else.

    python3 crawl_events.py FILE     prints the events of a stream whose messages have one segment
"""

import json
import struct
import sys

KINDS = ["page", "known", "gone", "failed", "linkAdded", "linkRemoved",
         "unchanged", "redirect", "denied", "duplicate"]


class Invalid(Exception):
    pass


def demand(condition, text):
    if not condition:
        raise Invalid(text)


def bits(word, first, count):
    return word >> first & (1 << count) - 1


class Segment:
    def __init__(self, data):
        self.data = data
        self.budget = len(data) // 8 + 64 - 1  # the pointer to the root is a word
        self.elements = len(data) // 8 + 1

    def word(self, place):
        demand(0 <= place < len(self.data) // 8, "a pointer leads outside")
        return int.from_bytes(self.data[place * 8:place * 8 + 8], "little")

    def claim(self, place, words, empty=0):
        """Words that a pointer leads to, and structs of no bytes, which count as words."""
        demand(words == 0 or 0 <= place and place + words <= len(self.data) // 8,
               "a pointer leads outside")
        self.budget -= words + empty
        demand(self.budget >= 0, "words are pointed at more than once")

    def target(self, place, kind):
        """(pointer, place that it leads to), or (0, 0) of a null pointer."""
        pointer = self.word(place)
        if pointer == 0:
            return 0, 0
        demand(bits(pointer, 0, 2) == kind, "a pointer is of another kind")
        offset = bits(pointer, 2, 30)
        return pointer, place + 1 + offset - (offset >> 29 << 30)

    def bytes_at(self, place):
        pointer, begin = self.target(place, 1)
        if pointer == 0:
            return b""
        demand(bits(pointer, 32, 3) == 2, "a list is not one of bytes")
        length = bits(pointer, 35, 29)
        self.claim(begin, (length + 7) // 8)
        return self.data[begin * 8:begin * 8 + length]

    def structs_at(self, place):
        pointer, begin = self.target(place, 1)
        if pointer == 0:
            return []
        demand(bits(pointer, 32, 3) == 7, "a list is not one of structs")
        self.claim(begin, 1 + bits(pointer, 35, 29))
        tag = self.word(begin)
        count, data, pointers = bits(tag, 2, 30), bits(tag, 32, 16), bits(tag, 48, 16)
        demand(bits(tag, 0, 2) == 0, "the tag of a list is no struct")
        demand(count * (data + pointers) <= bits(pointer, 35, 29), "a list is too short")
        demand(count <= self.elements, "more events and links than words")
        self.elements -= count
        self.claim(begin, 0, count if data + pointers == 0 else 0)
        return [Struct(self, begin + 1 + i * (data + pointers), data, pointers)
                for i in range(count)]

    def root(self):
        pointer, begin = self.target(0, 0)
        words = bits(pointer, 32, 16) + bits(pointer, 48, 16)
        self.claim(begin, words, words == 0)
        return Struct(self, begin, bits(pointer, 32, 16), bits(pointer, 48, 16))


class Struct:
    def __init__(self, segment, place, data_words, pointers):
        self.segment, self.place, self.data_words = segment, place, data_words
        self.pointers = pointers

    def number(self, offset, form):
        if offset + struct.calcsize(form) > self.data_words * 8:
            return 0
        return struct.unpack_from("<" + form, self.segment.data, self.place * 8 + offset)[0]

    def pointer(self, index, read):
        return read(self.place + self.data_words + index) if index < self.pointers else b""


def link_of(it):
    return {"url": it.pointer(0, it.segment.bytes_at).hex(), "index": str(it.number(0, "Q")),
            "score": it.number(8, "f")}


def event_of(it):
    kind = it.number(0, "H")
    demand(kind < len(KINDS), "the kind of an event is unknown")
    links = it.pointer(2, it.segment.structs_at) or []
    return {"kind": KINDS[kind], "url": it.pointer(0, it.segment.bytes_at).hex(),
            "index": str(it.number(8, "Q")), "timeUs": str(it.number(16, "q")),
            "score": it.number(4, "f"), "contentHash": it.pointer(1, it.segment.bytes_at).hex(),
            "httpStatus": it.number(2, "H"), "links": [link_of(link) for link in links]}


def events_of(messages):
    """The events of messages that lie one behind the other."""
    place = 0
    while place < len(messages):
        demand(len(messages) - place >= 8, "a message is cut short")
        more, words = struct.unpack_from("<II", messages, place)
        end = place + 8 + words * 8
        demand(more == 0 and end <= len(messages), "a message is cut short, or has segments")
        root = Segment(messages[place + 8:end]).root()
        for event in root.pointer(0, root.segment.structs_at) or []:
            yield event_of(event)
        place = end


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        for line in events_of(file.read()):
            print(json.dumps(line))
