# SPDX-License-Identifier: Apache-2.0
"""Lists of URLs: the vectors of the spec, made-up ones, real ones where they are there."""

import json
import random
import shutil
import subprocess

from command import SEED, SOURCE


def vectors():
    """[(input, normalised, parsed)] as bytes, from spec/url_vectors.json."""
    found = []
    for row in json.loads((SOURCE / "spec/url_vectors.json").read_text()):
        if "input" not in row and "input_hex" not in row:
            continue
        values = [bytes.fromhex(row[name + "_hex"]) if name + "_hex" in row else row[name].encode()
                  for name in ("input", "normalised")]
        found.append((*values, row["parsed"]))
    return found


def escape_some(generator, text):
    """Letters, digits and bytes beyond ASCII at random as escapes of either case."""
    return b"".join(generator.choice((b"%%%02X", b"%%%02x")) % byte
                    if chr(byte).isalnum() and generator.randrange(3) == 0 else bytes([byte])
                    for byte in text)


def spell(generator, url):
    """Another spelling of the same URL of a host in ".test", or the same."""
    way = generator.randrange(11)
    head, path = url[:url.index(b"/", 7)], url[url.index(b"/", 7):]
    if way == 0:
        return url.replace(b"http://", b"HTTP://")
    if way == 1:
        scheme, _, rest = url.partition(b"://")
        host, slash, path = rest.partition(b"/")
        return scheme + b"://" + host.upper() + slash + path
    if way == 2:
        return url + b"#part%d" % generator.randrange(3)
    if way == 3:
        return url.replace(b".test/", b".test:80/")
    if way == 4:
        return url.replace(b".test/", b".test/./a/../")
    if way == 5:
        return head + escape_some(generator, path)
    if way == 6:
        return url.replace(b" ", b"%20").replace(b"\xc3\xa9", b"%c3%A9")
    if way == 7:
        return generator.choice((b"http:", b"http:\\\\", b"http:///")) + url[len(b"http://"):]
    if way == 8:
        return head + path.replace(b"/", b"\\", 2) + generator.choice((b"", b" ", b"\x0b"))
    return url


def made_up(count, distinct, seed=SEED):
    """`count` URLs of `distinct` pages in several spellings, some beyond ASCII, some not parsed."""
    generator = random.Random(seed)
    urls = []
    for _ in range(count):
        page = generator.randrange(distinct)
        url = b"http://host%d.test/page/%d?q=%x" % (page % 97, page, page * 2654435761 % 2**32)
        if page % 50 == 0:
            url += b"\xff\xfe \xc3\xa9"
        is_refused = page % 50 == 1
        urls.append(b"http://host %d.test/\xff" % page if is_refused else spell(generator, url))
    return urls


def real():
    """URLs of ../shared/data in the order of the crawl; empty where they are not there."""
    path = SOURCE.parent / "shared/data/urls/mscpp.links.zst"
    if not path.exists() or not shutil.which("zstd"):
        return []
    text = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    return [line.lstrip(b"\t") for line in text.split(b"\n") if line.strip()]
