# SPDX-License-Identifier: Apache-2.0
"""The golden files as tests read them. patch.h tells what a rejected one is."""

import collections
import functools
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
HEAD = ("base", "error", "rule", "place", "text")
CHANGE = re.compile(r'(\d+)\+(\d+) (?:zero (\d+)|(?:((?:[0-9a-f]{2})+) -> )?((?:[0-9a-f]{2})+))')

Rejected = collections.namedtuple("Rejected", (*HEAD, "content"))


@functools.cache
def valid(name):
    return (FOLDER / "valid" / f"{name}.crawl").read_bytes()


def decode(text):
    """The Rejected of a patch; a ValueError with the line where there is none."""
    lines = text.splitlines()
    head = []
    for name in HEAD:
        head.append(require(re.fullmatch(f"{name}: (.*)", lines[0]), lines.pop(0))[1])
    base = valid(head[0])
    content = bytearray(base)
    if lines and lines[0].startswith("length: "):
        length = int(lines.pop(0)[len("length: "):])
        content = content[:length].ljust(length, b"\0")
    for line in lines:
        if line and not line.startswith("#"):
            part, behind, zeros, old, new = require(CHANGE.fullmatch(line), line).groups()
            at = int(part) + int(behind)
            change = bytes(int(zeros)) if zeros else bytes.fromhex(new)
            end = at + len(change)
            require(end <= len(content), line)
            require(zeros or (content[at:end].hex() == old if old else at >= len(base)), line)
            content[at:end] = change
    return Rejected(*head, bytes(content))


def require(condition, line):
    if not condition:
        raise ValueError(f"not of a patch: {line}")
    return condition


def rejected(name):
    return decode((FOLDER / "rejected" / f"{name}.patch").read_text())


def rejected_names():
    return sorted(path.stem for path in (FOLDER / "rejected").iterdir())


def expand(name, folder):
    """Writes a rejected file as NAME.crawl into a folder; returns its path."""
    path = pathlib.Path(folder, f"{name}.crawl")
    path.write_bytes(rejected(name).content)
    return path


def rule_of(message):
    """The words of spec/reader.py after the class; rules without a section are those of
    Directory."""
    rule = message.partition(": ")[2]
    return f"Directory {rule}" if rule.startswith("rule ") else rule
