# SPDX-License-Identifier: Apache-2.0
"""Sentences of pages that a reader must read twice: long ones, and those that open with What."""

import re

from comment_rules import OPENING
from source import Finding, line_of
from tree_rules import LINK, without_fences

PAGES = ("spec/", "guide/", "README.md", "CONTRIBUTING.md")
WORDS_MAX = 25
CODE = re.compile(r'`[^`]*`')
# Headings, rows of tables and empty lines; a list item begins a paragraph, too.
BREAK = re.compile(r'^(?:#+ .*|\s*\|.*|\s*)$|^\s*(?:[*-]|\d+\.)\s', re.MULTILINE)
# A semicolon and a colon end a sentence as well.
END = re.compile(r'[.!?:;][*_")\]]*\s+')


def plain(text):
    """The text of a page, of the same length: a code span is one word, a link only its text."""
    text = CODE.sub(lambda match: "X" * len(match.group()), without_fences(text))
    return LINK.sub(lambda match: match.group()[:match.start(1) - match.start()].ljust(
        len(match.group())), text)


def sentences(text):
    """(line, text) of each sentence of a page; the line is that of the first word."""
    text = plain(text)
    begin = 0
    ends = [(match.start(), match.end()) for match in BREAK.finditer(text)]
    for stop, after in [*ends, (len(text), len(text))]:
        for end in [*(match.end() for match in END.finditer(text, begin, stop)), stop]:
            sentence = text[begin:end].lstrip()
            if sentence:
                yield line_of(text, end - len(sentence)), sentence.strip('*_"([ \n')
            begin = end
        begin = after


def check_sentences(tree):
    """Sentences of at most 25 words, none of which opens with What, Who, Of or As."""
    for path, text in tree.texts.items():
        if not (path.startswith(PAGES) and path.endswith(".md")):
            continue
        for line, sentence in sentences(text):
            count = len(re.findall(r'\S*\w\S*', sentence))
            if count > WORDS_MAX:
                yield Finding(path, line, f"a sentence of {count} words, at most {WORDS_MAX}: "
                              + " ".join(sentence.split())[:40])
            if OPENING.match(sentence):
                yield Finding(path, line, f"a sentence opens with {sentence.split()[0]}")


RULES = [check_sentences]
