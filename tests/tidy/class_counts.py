# SPDX-License-Identifier: Apache-2.0
"""Counts of the engine's classes, by regular expressions over headers and sources.

A class's members are its data members that are not static, and the functions that it declares or
defines, each overload for itself; not what is `= default` or `= delete`, types, friends, and what
its nested classes have: these count for themselves. Its files are the .cpp files that define the
class or one of its functions. Not seen: what a macro makes, members that a base has, and functions
of `Name<T>::` outside the class. Two classes of one name in a folder count as the larger one.
"""

import collections
import re

from source import LIBRARY

Class = collections.namedtuple("Class", "members files path line")

HEAD = re.compile(r'\b(?:class|struct|union)\s+(?:\w+\s+(?=\w+::))?([A-Za-z_][\w:]*)'
                  r'(?:\s+final)?\s*(?::(?!:).*)?$', re.DOTALL)
NOT_MEMBERS = re.compile(r'(?:using|typedef|friend|static_assert|enum|class|struct|union)\b')
SPECIFIERS = re.compile(r'\b(?:public|private|protected)\s*:(?!:)')
STATIC_DATA = re.compile(r'(?:(?:inline|constexpr|const|thread_local) )*static\b')
FUNCTION = re.compile(r'(?:\boperator\b\s*[^\s\w]*[^(]*|[~\w])\s*\(')
DEFINED = re.compile(r'((?:\w+::)+)(?:~?\w+|operator[^(]*)\s*\(')


def folder_of(path):
    """The folder of the engine whose limits hold for a file; None for files of other parts."""
    if not path.startswith(LIBRARY):
        return None
    if path.startswith("format/"):
        return "format"
    parts = path.split("/")
    return "/".join(parts[:2] if parts[1] == "include" or len(parts) < 4 else parts[:3])


def without(pattern, text):
    """The text without what matches, innermost first."""
    while True:
        shorter = re.sub(pattern, "", text)
        if shorter == text:
            return text
        text = shorter


def plain(text):
    """A statement without attributes, template lists, alignas() and decltype()."""
    text = re.sub(r'\[\[.*?\]\]|\balignas\s*\([^()]*\)', "", text, flags=re.DOTALL)
    text = re.sub(r'\boperator\s*(<=>|<<|>>|<=|>=|<|>|->)', "operator!", text)
    text = re.sub(r'\bdecltype\s*\([^()]*\)', "T", text)
    text = without(r'<[^<>;{}]*>', text.replace("->", "").replace("<=", "").replace(">=", ""))
    return re.sub(r'^(?:template\s*)+(?:requires\s+[^;]*?(?=\b(?:void|bool|auto|static)\b))?', "",
                  " ".join(text.split()))


def count_statement(statement):
    """How many members a statement in a class declares; bodies and initialisers are emptied."""
    text = plain(SPECIFIERS.sub("", statement))
    if not text or NOT_MEMBERS.match(text) or re.search(r'=\s*(?:default|delete)$', text):
        return 0
    if "operator" in text:
        return 1
    declared = re.split(r'=|\{', text)[0]
    if FUNCTION.search(declared) and not re.search(r'\(\s*\*\s*\w+\s*\)\s*\(', declared):
        return 1
    if STATIC_DATA.match(text):
        return 0
    # `int a = 1, b{2};`: commas outside of brackets part the names.
    return 1 + without(r'\([^()]*\)|\{[^{}]*\}|\[[^][]*\]', text).count(",")


def bodies(tree, path):
    """(name with its outer classes, line, statements) of each class that a file defines."""
    code, found = tree.directives_blanked(path), []
    for block in tree.blocks(path):
        if block.kind == "class":
            head = plain(code[block.start:block.open].rsplit(":\n", 1)[-1])
            match = HEAD.search(head)
            if match and not re.search(r'\benum\b', head):
                found.append((block, match[1]))
    for block, name in found:
        outer = [other for _, other in sorted(
            (around.open, name) for around, name in found
            if around.open < block.start and block.end < around.end)]
        text = list(code[block.open + 1:block.end])
        for inner in tree.blocks(path):
            if block.open < inner.open and inner.end < block.end:
                first, last = inner.open - block.open, inner.end - block.open - 1
                text[first:last] = " " * (last - first)
                if inner.kind == "function":
                    text[last] = ";"
        line = code.count("\n", 0, block.open) + 1
        yield "::".join([*outer, name]), line, "".join(text).split(";")


def definitions(tree, path):
    """The classes that a source's functions belong to, as far as their names say, `A::B::f` and
    `space::A::f` likewise."""
    code = tree.directives_blanked(path)
    for block in tree.blocks(path):
        if block.kind == "function" and block.parent == "namespace":
            match = DEFINED.search(plain(code[block.start:block.open]))
            if match:
                yield match[1][:-2]


def classes(tree):
    """(folder, name) -> Class of all classes of the engine. A function that is defined in a folder
    without a class of this name belongs to the public class, or to the only one there is."""
    found, named = {}, collections.defaultdict(list)
    for path, _ in tree.cxx(*LIBRARY):
        for name, line, statements in bodies(tree, path):
            key = folder_of(path), name
            members = sum(map(count_statement, statements))
            files = {path} if path.endswith(".cpp") else set()
            before = found.get(key, Class(-1, set(), path, line))
            larger = before if before.members >= members else Class(members, set(), path, line)
            found[key] = larger._replace(files=before.files | files)
    for key in found:
        named[key[1]].append(key)
    for path, _ in tree.cxx(*LIBRARY):
        if path.endswith(".cpp"):
            for name in set(definitions(tree, path)):
                parts = name.split("::")
                keys = next((named[short] for short in ("::".join(parts[first:])
                                                        for first in range(len(parts)))
                             if short in named), [])
                own = [key for key in keys if key[0] == folder_of(path)]
                public = [key for key in keys if key[0].endswith("include")]
                for key in own or public or keys[:1] * (len(keys) == 1):
                    found[key].files.add(path)
    return {key: value._replace(files=len(value.files)) for key, value in found.items()}
