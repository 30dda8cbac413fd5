# SPDX-License-Identifier: Apache-2.0
"""spec/url.py, written from spec/urls.md, agrees with the URL Standard's vectors and ours."""

import json
import os
import pathlib
import random
import re
import sys
import time
import unicodedata
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
DATA = pathlib.Path(os.environ.get("CRAWLSTORE_DATA", SOURCE / ".." / "shared" / "data")) / "url"
sys.path.insert(0, str(SOURCE / "spec"))
import url  # noqa: E402  pylint: disable=wrong-import-position

SEED = os.environ.get("CRAWLSTORE_TEST_SEED", "1")
KEY_SEED = 0x0123456789ABCDEF
ESCAPE = re.compile(rb"(%[0-9A-Fa-f]{2})")


def standard(name):
    """The cases of a file of the standard, without its comments."""
    if not DATA.exists():
        raise unittest.SkipTest(f"no {DATA}; CRAWLSTORE_DATA names the folder above")
    return [case for case in json.loads((DATA / name).read_text("utf-8")) if isinstance(case, dict)]


def utf8(text):
    """Lone surrogates stand for U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def equivalent(href):
    """Rule 11, of the serialisation of a URL without its fragment."""
    parts = ESCAPE.split(href)
    for i in range(1, len(parts), 2):
        byte = bytes.fromhex(parts[i][1:].decode())
        is_plain = re.match(rb"[A-Za-z0-9._~-]", byte)
        is_behind_percent = re.search(rb"%[0-9A-Fa-f]?$", parts[i - 1])
        parts[i] = byte if is_plain and not is_behind_percent else parts[i].upper()
    return b"".join(parts)


def rows_after(heading):
    """The cells of the first table behind a heading of the specification."""
    lines = (SOURCE / "spec" / "urls.md").read_text("utf-8").split(f"\n{heading}\n")[1]
    table = re.search(r"(?:^\|.*\n)+", lines, re.MULTILINE)[0].splitlines()[2:]
    return [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in table]


def vector_bytes(vector, name):
    hexadecimal = vector.get(f"{name}_hex")
    return vector[name].encode() if hexadecimal is None else bytes.fromhex(hexadecimal)


class UrlTest(unittest.TestCase):
    def normal(self, given):
        """The text, or None of what is not parsed; it normalises to itself."""
        text, host, parsed = url.normalise(given)
        self.assertEqual(url.normalise(text), (text, host, parsed), given)
        if not parsed:
            self.assertEqual((text, host), (given, b""))
            return None
        self.assertRegex(text, rb"\A[ -~]*\Z", given)
        return text


class StandardTest(UrlTest):
    """The URL Standard's own vectors."""

    def test_urls_without_a_base_are_those_of_the_standard(self):
        cases = [case for case in standard("urltestdata.json") if case["base"] is None]
        self.assertGreater(len(cases), 500)
        for case in cases:
            with self.subTest(case["input"]):
                wanted = None if case.get("failure") else equivalent(
                    utf8(case["href"]).partition(b"#")[0])
                self.assertEqual(self.normal(utf8(case["input"])), wanted)

    def test_hosts_are_those_of_the_standard(self):
        """But for those with characters younger than Unicode 14.0, and for the empty one, in whose
        place `https` takes what follows."""
        for name, least in (("toascii.json", 80), ("IdnaTestV2.json", 2600)):
            cases = [case for case in standard(name) if case["input"]]
            self.assertGreater(len(cases), least)
            for case in cases:
                is_young = any(unicodedata.category(c) == "Cn" for c in case["input"])
                wanted = case["output"] if case["output"] and not is_young else None
                with self.subTest(case["input"]):
                    self.assertEqual(self.normal(b"https://%s/x" % utf8(case["input"])),
                                     wanted and b"https://%s/x" % wanted.encode())

    def test_queries_are_escaped_as_in_the_standard(self):
        cases = [case for case in standard("percent-encoding.json") if "utf-8" in case["output"]]
        self.assertGreater(len(cases), 4)
        for case in cases:
            with self.subTest(case["input"]):
                self.assertEqual(self.normal(b"http://a.test/?" + utf8(case["input"])),
                                 b"http://a.test/?" + case["output"]["utf-8"].encode())


class SpecificationTest(UrlTest):
    def test_vectors_are_those_of_the_specification(self):
        vectors = json.loads((SOURCE / "spec" / "url_vectors.json").read_text("utf-8"))
        self.assertGreater(len(vectors), 80)
        for vector in vectors:
            given = vector_bytes(vector, "input")
            with self.subTest(given):
                self.normal(given)
                text, _, parsed = url.normalise(given)
                self.assertEqual((text, parsed),
                                 (vector_bytes(vector, "normalised"), vector["parsed"]))

    def test_page_keys_are_those_of_the_specification(self):
        rows = rows_after("### Vectors of page keys")
        self.assertGreater(len(rows), 6)
        for text, host, *numbers in rows:
            with self.subTest(text):
                self.assertEqual(url.normalise(text.encode())[1], host.encode())
                self.assertEqual(url.page_key(text.encode(), KEY_SEED),
                                 tuple(int(number, 16) for number in numbers))

    def test_rabin_fingerprints_are_those_of_the_specification(self):
        rows = rows_after("### Vectors of Rabin fingerprints")
        self.assertGreater(len(rows), 6)
        for text, key in rows:
            with self.subTest(text):
                given = bytes.fromhex(text[4:]) if text.startswith("hex:") else text.encode()
                self.assertEqual(url.rabin_fingerprint(given), int(key, 16))

    def test_spellings_of_one_url_have_one_text(self):
        for one, other in (
                ("HTTP://A.test/m\u00fcnchen", "http://a.test/m%c3%bcnchen"),
                ("http://a.test/a b#x", "http://a.test/a%20b"),
                ("http://a.test/[1]#a", "http://a.test/[1]#b"),
                ("http://a.test/%7euser", "http://a.test/~user"),
                (" http://a.test/", "http://a.test/")):
            with self.subTest(one):
                text = self.normal(one.encode())
                self.assertIsNotNone(text)
                self.assertEqual(text, self.normal(other.encode()))

    def test_bounds_are_the_last_that_are_taken(self):
        for start, room in ((b"http://", 4096), (b"x://", 4096), (b"x:", 16777216 - 2),
                            (b"http://h/", 16777216 - 9)):
            with self.subTest(start):
                self.assertIsNotNone(self.normal(start + b"a" * room))
                self.assertIsNone(self.normal(start + b"a" * (room + 1)))
        self.assertIsNotNone(self.normal(b"x://" + b"\xff" * 1365))
        self.assertIsNone(self.normal(b"x://" + b"\xff" * 1366))
        self.assertIsNone(self.normal(b"http://" + b"%61" * 1366))


class AnyInputTest(UrlTest):
    def test_any_input_has_a_text_that_normalises_to_itself(self):
        rng = random.Random(SEED)
        parts = [b"http:", b"x:", b"file:", b"/", b"/", b"\\", b"..", b".", b"%2e", b"?", b"#",
                 b"@", b":", b"[", b"]", b"::1", b"%", b"%4", b"%34", b"%31", b"%41", b"%C3%A9",
                 b"4", b"a", b"C|", b"%43", b"0x", b"08", b"127.1", b".1", b"localhost", b" ",
                 b"\t", b"\xff", b"\0", b"%00", b"A", b"xn--a",
                 *map(str.encode, "\xe9\u05d0\u200d\u3002\u00ad")]
        parsed = 0
        for _ in range(30000):
            start = rng.choice((b"", b"http://", b"x://", b"x:", b"x:/", b"file:", b"file://"))
            given = start + b"".join(rng.choices(parts, k=rng.randrange(9)))
            with self.subTest(f"{given} CRAWLSTORE_TEST_SEED={SEED}"):
                parsed += self.normal(given) is not None
        self.assertGreater(parsed, 10000)

    def test_long_inputs_take_linear_time(self):
        for unit in (b"%", b"%4", b"%41", b"/..", b"/a", b" ", b"\t", b"@", b":", b"[", b"]", b"?",
                     b"\\", b"0", b"\xff", b"\xc3\xa9"):
            for start in (b"", b"http://", b"http://u@", b"http://h:", b"http://[", b"http://h/",
                          b"http://h/?", b"x:", b"x://", b"file:"):
                with self.subTest((start, unit)):
                    begin = time.process_time()
                    self.normal(start + unit * (200000 // len(unit)) + b"a")
                    self.assertLess(time.process_time() - begin, 5)  # quadratic: over a minute

    def test_hosts_beyond_ascii_name_the_package_they_miss(self):
        with mock.patch.dict(sys.modules, idna=None):
            self.assertEqual(self.normal(b"http://A/"), b"http://a/")
            with self.assertRaisesRegex(ImportError, "python3-idna"):
                url.normalise("http://\xe4/".encode())


if __name__ == "__main__":
    unittest.main()
