# SPDX-License-Identifier: Apache-2.0
"""include_closure.py COMPILE_COMMANDS SALT <FILES: a key for each source that clang-tidy reads.

FILES are the C++ files of the project, a line each, those that changed last first. Prints
"KEY SOURCE" for each of them that COMPILE_COMMANDS compiles, in the order in which the newest file
that the source is made of stands in FILES. The key changes with the bytes of the source, of each
file of the project that it includes, directly or not, with its compile commands, with the
.clang-tidy files and with SALT, and with nothing else: not with the folder of the clone.
"""

import collections
import hashlib
import json
import pathlib
import posixpath
import re
import sys

ROOTS = ("", "capi/include/", "libcrawlstore/include/", "libcrawlstore/src/", "tests/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(?:([<"])([^>"\n]+)[>"])?', re.MULTILINE)
# The sources of generated headers.
GENERATED = (("_generated.h", "format/", ".fbs"), (".capnp.h", "spec/", ".capnp"))


def candidates(includer, name):
    """Wherever an include may lead to. All that exist count, whichever the compiler takes."""
    yield posixpath.normpath(posixpath.join(posixpath.dirname(includer), name))
    for root in ROOTS:
        yield posixpath.normpath(root + name)
    for suffix, folder, made_of in GENERATED:
        if name.endswith(suffix):
            yield folder + posixpath.basename(name)[:-len(suffix)] + made_of


def reached(path, next_of):
    """The path and all that next_of() leads to, step by step."""
    found, left = {path}, [path]
    while left:
        new = next_of(left.pop()) - found
        found |= new
        left.extend(new)
    return found


class Project:
    """Files below root, read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.bytes = {}
        self.direct = {}

    def read(self, path):
        """The bytes of a file of the project; None when there is none."""
        if path not in self.bytes:
            file = self.root / path
            self.bytes[path] = file.read_bytes() if file.is_file() else None
        return self.bytes[path]

    def includes(self, path):
        """The files of the project that a file includes itself."""
        if path not in self.direct:
            found = set()
            if path.endswith((".h", ".cpp")):
                for match in INCLUDE.finditer(self.read(path).decode(errors="replace")):
                    if not match.group(2):
                        sys.exit(f"include_closure.py: {path} includes by a macro")
                    found.update(name for name in candidates(path, match.group(2))
                                 if not name.startswith("../") and self.read(name) is not None)
            self.direct[path] = found
        return self.direct[path]

    def closure(self, path):
        """The file and all that it includes, directly or not."""
        return reached(path, self.includes)


def keys(project, commands, salt, files):
    """(key, source) of each file with compile commands, the newest first."""
    rank = {name: index for index, name in enumerate(files)}
    rules = sorted(name for name in files if name.endswith(".clang-tidy"))
    found = []
    for source in files:
        if source not in commands:
            continue
        digest = hashlib.sha256(repr((salt, source, sorted(commands[source]))).encode())
        made_of = project.closure(source)
        for name in sorted(made_of) + rules:
            content = project.read(name)
            digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
        newest = min(rank.get(name, len(rank)) for name in made_of)
        found.append((newest, rank[source], digest.hexdigest()[:32], source))
    return [entry[2:] for entry in sorted(found)]


def read_commands(path, root):
    """source -> its compile commands, with the folder of the clone taken out."""
    commands = collections.defaultdict(list)
    for entry in json.loads(pathlib.Path(path).read_text()):
        if entry["file"].startswith(f"{root}/"):
            name = entry["file"][len(root) + 1:]
            commands[name].append(entry["command"].replace(root, "."))
    return commands


def main():
    root = str(pathlib.Path.cwd())
    files = [name for name in sys.stdin.read().split("\n") if name]
    for key, source in keys(Project(root), read_commands(sys.argv[1], root), sys.argv[2], files):
        print(key, source)


if __name__ == "__main__":
    main()
