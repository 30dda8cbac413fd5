#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a fuzz target, which are one text file, fuzz/corpus/fuzz_x.txt.

    fuzz/seeds.py unpack FILE FOLDER     writes each input of FILE as a file of its own
    fuzz/seeds.py add FILE INPUT...      puts files into FILE, under their names
    fuzz/seeds.py add-crash FILE INPUT...

A line is a name and the bytes in hex; the lines are sorted. Inputs whose names begin with
"crashes/" once made the target fail: they are replayed, and libFuzzer does not start from them.
"""

import pathlib
import re
import sys

LINE = re.compile(r'([\w./-]+)(?: ((?:[0-9a-f]{2})+))?')
CRASHES = "crashes/"


def decode(text):
    """name -> bytes; a ValueError names the first line that is none."""
    found, last = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.fullmatch(line)
        if not match or match[1] <= last or ".." in match[1] or match[1].startswith("/"):
            raise ValueError(f"line {number} is no input, or not sorted: {line[:60]}")
        last = match[1]
        found[last] = bytes.fromhex(match[2] or "")
    return found


def encode(inputs):
    return "".join(f"{name} {content.hex()}".rstrip() + "\n"
                   for name, content in sorted(inputs.items()))


def read(path):
    """name -> bytes of a file, in the order of the names"""
    return decode(pathlib.Path(path).read_text(encoding="ascii"))


def unpack(file, folder):
    for name, content in read(file).items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def add(file, *paths, prefix=""):
    path = pathlib.Path(file)
    inputs = read(path) if path.exists() else {}
    inputs.update((prefix + pathlib.Path(each).name, pathlib.Path(each).read_bytes())
                  for each in paths)
    path.write_text(encode(inputs), encoding="ascii")


def add_crash(file, *paths):
    add(file, *paths, prefix=CRASHES)


COMMANDS = {"unpack": unpack, "add": add, "add-crash": add_crash}

if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
