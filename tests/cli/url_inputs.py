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


def spell(generator, url):
    """Another spelling of the same URL, or the same."""
    way = generator.randrange(6)
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
    return url


def made_up(count, distinct, seed=SEED):
    """`count` URLs of `distinct` pages in several spellings, with some bytes no parser takes."""
    generator = random.Random(seed)
    urls = []
    for _ in range(count):
        page = generator.randrange(distinct)
        url = b"http://host%d.test/page/%d?q=%x" % (page % 97, page, page * 2654435761 % 2**32)
        if page % 50 == 0:
            url += b"\xff\xfe \xc3\xa9"
        urls.append(spell(generator, url))
    return urls


def real():
    """URLs of ../shared/data in the order of the crawl; empty where they are not there."""
    path = SOURCE.parent / "shared/data/urls/mscpp.links.zst"
    if not path.exists() or not shutil.which("zstd"):
        return []
    text = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    return [line.lstrip(b"\t") for line in text.split(b"\n") if line.strip()]
