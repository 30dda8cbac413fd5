# SPDX-License-Identifier: Apache-2.0
"""Sentences of comments that a reader must read twice: "Of the runs, the last" for "The last run".
They are counted in C++, Python and shell; ratchet_rules.py counts questions, too, by folder."""

import collections
import io
import re
import tokenize

from source import CXX, Finding

OPENING = re.compile(r'(?:Who|Whoever|Whose|Whom|What|Which|Of|As)\b')
SHARE_MAX = 0.01
CXX_COMMENT = re.compile(r'//+!?<? ?(.*)')
SHELL_COMMENT = re.compile(r'\s*#(?!!) ?(.*)')
# A sentence ends before a capital letter or a quoted word, not after "e.g.".
END = re.compile(r'[.!?]["\')`]?\s+(?=[A-Z`"(\'])')
STARTS = (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT)

# openings: (path, line) of each sentence that opens with a word of OPENING; count: of all sentences
Counts = collections.namedtuple("Counts", "openings count")


def cxx_lines(tree, path):
    """(line, text, whether code stands in front) of each comment of C++."""
    code = tree.code(path).split("\n")
    for number, (line, bare) in enumerate(zip(tree.texts[path].split("\n"), code), 1):
        # In the blanked code a comment is spaces, and a literal keeps its quotes.
        found = CXX_COMMENT.search(line, len(bare.rstrip()))
        if found:
            yield number, found[1], bool(bare.strip())


def shell_lines(tree, path):
    """The same for a script of the shell, whose comments stand on lines of their own."""
    for number, line in enumerate(tree.texts[path].split("\n"), 1):
        found = SHELL_COMMENT.match(line)
        if found:
            yield number, found[1], False


def python_lines(tree, path):
    """The same for Python, with its docstrings."""
    before = tokenize.NL
    for token in tokenize.generate_tokens(io.StringIO(tree.texts[path]).readline):
        first = token.start[0]
        if token.type == tokenize.COMMENT:
            yield first, token.string.lstrip("#!").strip(), before not in STARTS
        elif token.type == tokenize.STRING and before in STARTS:
            for number, text in enumerate(token.string.strip("\"'").split("\n"), first):
                yield number, text.strip(), False
        before = token.type


def lines_of(tree, path):
    if path.endswith(CXX):
        return cxx_lines(tree, path)
    return python_lines(tree, path) if path.endswith(".py") else shell_lines(tree, path)


def blocks(lines):
    """Lists of (line, text): lines that follow each other, without an empty one in between."""
    block, last = [], 0
    for number, text, is_behind_code in lines:
        if block and (number != last + 1 or is_behind_code or not text.strip()):
            yield block
            block = []
        if text.strip():
            block.append((number, text.strip()))
        last = number
    if block:
        yield block


def sentences(block):
    """(line, text) of the sentences of a block; the line is that of the first word."""
    text, starts = "", []
    for number, line in block:
        starts.append((len(text), number))
        text += line + " "
    begin = 0
    for end in [*(match.end() for match in END.finditer(text)), len(text)]:
        yield max(number for at, number in starts if at <= begin), text[begin:end].strip()
        begin = end


def count_openings(tree):
    """The Counts of all sources."""
    found, count = [], 0
    for path in sorted(tree.texts):
        if not path.endswith((*CXX, ".py", ".sh")):
            continue
        for block in blocks(lines_of(tree, path)):
            for line, sentence in sentences(block):
                count += 1
                if OPENING.match(sentence):
                    found.append((path, line))
    return Counts(found, count)


def counted(tree):
    """count_openings(), kept in the tree."""
    if "openings" not in tree.cache:
        tree.cache["openings"] = count_openings(tree)
    return tree.cache["openings"]


def told(counts):
    share = 100 * len(counts.openings) / max(counts.count, 1)
    return (f"{len(counts.openings):,} of {counts.count:,} comment sentences ({share:.2f} %) open "
            "with Who, What, Which, Of or As")


def check_openings(tree):
    """At most SHARE_MAX of the sentences open so."""
    counts = counted(tree)
    if len(counts.openings) > SHARE_MAX * counts.count:
        for path, line in counts.openings:
            yield Finding(path, line, f"{told(counts)}, at most {100 * SHARE_MAX:.0f} %")


RULES = [check_openings]
