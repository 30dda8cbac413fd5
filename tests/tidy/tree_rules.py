# SPDX-License-Identifier: Apache-2.0
"""Sizes, names, and the lists that must be complete: sources, goldens, fuzz seeds, rows covered."""

import posixpath
import re

from source import CXX, C_PUBLIC, PUBLIC, Finding, blank, functions, line_of

ROWS = [f"D{number}" for number in range(1, 27)]
SOURCE_FOLDERS = ("capi/", "format/", "libcrawlstore/", "model/", "cli/", "examples/", "tests/",
                  "fuzz/", "bench/", "inspector/")
# spec/example.md is written by spec/annotate.py: a row a field.
DOC_LINES = {"spec/registry.md": 340, "spec/container.md": 500, "spec/drum.md": 500,
             "spec/example.md": None, "CONTRIBUTING.md": 130}


def count_lines(text):
    return text.count("\n")


def check_sizes(tree):
    """Files, functions, documents: nothing scrolls."""
    for path, text in tree.cxx():
        is_public = path.startswith((PUBLIC, C_PUBLIC))
        most = 600 if path.startswith("tests/") else 200 if is_public else 500
        if path.startswith("fuzz/fuzz_"):
            most = 100
        if count_lines(text) > most:
            yield Finding(path, most + 1, f"{count_lines(text)} lines, at most {most}")
        for name, line, lines in functions(tree.code(path), tree.blocks(path)):
            limit = 60 if name == "main" and path.startswith("cli/") else 70
            if lines > limit:
                yield Finding(path, line, f"{name} has {lines} lines, at most {limit}")
    for path, text in tree.texts.items():
        most = DOC_LINES.get(path, 300)
        if path.endswith(".md") and most is not None and count_lines(text) > most:
            yield Finding(path, most + 1, f"{count_lines(text)} lines, at most {most}")
        if path.endswith(".py") and count_lines(text) > 600:
            yield Finding(path, 601, f"{count_lines(text)} lines, at most 600")
    if count_lines(tree.texts.get("CMakeLists.txt", "")) > 90:
        yield Finding("CMakeLists.txt", 91, "at most 90 lines")


# Lines that stand around the declarations of each public header, and say nothing of them.
FRAME = ("#pragma GCC visibility", "#ifdef __cplusplus", 'extern "C" {', "#endif")


def check_prose(tree):
    """At least 40 % of the lines of a public header explain it."""
    for path, text in tree.cxx(PUBLIC, C_PUBLIC):
        lines = [line for line in text.split("\n")
                 if line.strip() and not line.startswith(FRAME)]
        bare = blank(text, literals=False).split("\n")
        prose = sum(original.rstrip() != stripped.rstrip()
                    for original, stripped in zip(text.split("\n"), bare))
        if prose < 0.4 * len(lines):
            yield Finding(path, 1, f"{100 * prose // len(lines)} % of the lines are comment, "
                          "at least 40 % in a public header")


def check_documents(tree):
    """One `# Title` a document, on its first line; tables open with their heads."""
    for path, text in tree.texts.items():
        if path.endswith(".md"):
            body = re.sub(r'^```.*?^```', "", text, flags=re.MULTILINE | re.DOTALL)
            if len(re.findall(r'^# \S', body, re.MULTILINE)) != 1 or not text.startswith("# "):
                yield Finding(path, 1, "a document opens with its one and only # Title")
            for table in re.findall(r'(?:^\|.*\n)+', body, re.MULTILINE):
                if not re.match(r'.*\n\|[-:| ]+\|\n', table):
                    yield Finding(path, 1, "a table without its head: " + table.split("\n")[0])


def asserted(code):
    """(position, condition) of each assertion in C++ without comments, as spec/assertions.md has
    it."""
    for match in re.finditer(r'\bCRAWLSTORE_(?:ASSERT|DCHECK)\(', code):
        depth, end = 1, match.end()
        while depth != 0:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        yield match.start(), " ".join(code[match.end():end - 1].split()).replace("||", "or")


def check_assertions(tree):
    """spec/assertions.md has each assertion of the library once, in the order of the sources."""
    page = "spec/assertions.md"
    listed = re.findall(r'^\| `(\S+)` \| `(.+?)` \| \S', tree.texts.get(page, ""), re.MULTILINE)
    for path, _ in tree.cxx("format/", "libcrawlstore/src/"):
        source, code = path.replace("libcrawlstore/src/", ""), tree.code(path)
        if source == "base/assert.h":
            continue
        for position, condition in asserted(code):
            if (source, condition) in listed:
                listed.remove((source, condition))
            else:
                yield Finding(path, line_of(code, position), f"{page} lacks: {condition}")
    for source, condition in listed:
        yield Finding(page, 1, f"{source} does not assert {condition}")


def check_names(tree):
    """Files in snake_case, and none called after nothing."""
    for path in tree.paths:
        name = path.rsplit("/", 1)[-1]
        if path.endswith((*CXX, ".py")) and not re.fullmatch(
                r'[a-z][a-z0-9_]*\.\w+|__init__\.py', name):
            yield Finding(path, 1, "file names are snake_case")
        if path.endswith(CXX) and re.search(
                r'(?:^|_)(?:utils?|helpers?|manager|misc|common|handler|safe)(?:_|\.)', name):
            yield Finding(path, 1, "name the file after the one concept in it")
    for path, _ in tree.cxx():
        for match in re.finditer(
                r'\b(?:class|struct)\s+(\w+(?:Manager|Utils?|Helper|Handler))\b', tree.code(path)):
            yield Finding(path, line_of(tree.code(path), match.start()),
                          f"{match.group(1)}: name the type after what it is")


def check_build_lists(tree):
    """Every .cpp is built and every public header installed: named in a CMakeLists.txt above it."""
    lists = {path[:-len("CMakeLists.txt")]: text for path, text in tree.texts.items()
             if path.endswith("CMakeLists.txt")}
    for path in tree.paths:
        if not path.startswith(SOURCE_FOLDERS) or not (
                path.endswith(".cpp") or path.startswith(PUBLIC)):
            continue
        names = [(path[len(folder):], text) for folder, text in lists.items()
                 if path.startswith(folder)]
        # Fuzz targets and benchmarks are listed without their .cpp.
        if not any(re.search(rf'(?<![\w/]){re.escape(name)}(?!\w)', text)
                   or re.search(rf'crawlstore_(?:fuzz_target|bench)\({re.escape(name[:-4])}\b',
                                text)
                   for name, text in names):
            yield Finding(path, 1, "is in no CMakeLists.txt: never built")
    for folder, text in lists.items():
        for match in re.finditer(r'^\s*([\w/]+\.(?:cpp|h))\s*$', text, re.MULTILINE):
            if folder + match.group(1) not in tree.texts:
                yield Finding(folder + "CMakeLists.txt", line_of(text, match.start(1)),
                              f"{match.group(1)} does not exist")


def check_named_documents(tree):
    """A document that is named is in the project: from its root, beside the file, or in spec/."""
    for path, text in tree.texts.items():
        if path.startswith(("tests/tidy/", "tests/house/", "fuzz/corpus/", "cmake/site/")):
            continue
        folder = path.rpartition("/")[0]
        for match in re.finditer(r'(?<![\w./*-])[\w./-]+\.md\b(?!\w)', text):
            places = (place + match.group() for place in ("", folder + "/", "spec/"))
            if not any(posixpath.normpath(place) in tree.texts for place in places):
                yield Finding(path, line_of(text, match.start()),
                              f"{match.group()} is no document of this project")


def without_fences(text):
    """The text with the lines of its fenced blocks blanked, same lines."""
    return re.sub(r'^```.*?^```', lambda match: "\n" * match.group().count("\n"), text,
                  flags=re.MULTILINE | re.DOTALL)


def sections(text):
    """anchor of each heading, as GitHub makes it -> numbers of the rules under it; of headings that
    are alike only the first one has an anchor here"""
    found, rules = {}, set()
    for line in without_fences(text).split("\n"):
        heading, rule = re.match(r'#+ (.+)', line), re.match(r'(\d+)\. ', line)
        if heading:
            anchor = re.sub(r'[^\w -]', '', heading.group(1).lower()).replace(" ", "-")
            rules = set()
            found.setdefault(anchor, rules)
        elif rule:
            rules.add(rule.group(1))
    return found


LINK = re.compile(r'(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)')
CITATION = re.compile(r'(?<![\w./:-])([\w./-]+\.md)#([\w-]+)(?: rule (\d+))?')


def check_links(tree):
    """A link leads to a file and a heading. What is cited as page.md#anchor, or page.md#anchor rule
    3, is there."""
    pages = {path: sections(text) for path, text in tree.texts.items() if path.endswith(".md")}
    folders = {path.rpartition("/")[0] for path in tree.paths}
    for path, text in tree.texts.items():
        if path.startswith(("tests/tidy/", "tests/house/", "fuzz/corpus/", "cmake/site/")):
            continue
        folder = path.rpartition("/")[0]
        for match in LINK.finditer(without_fences(text)) if path in pages else ():
            file, _, anchor = match.group(1).partition("#")
            place = posixpath.normpath(posixpath.join(folder, file)) if file else path
            if "://" not in file and (place not in tree.paths and place not in folders
                                      or anchor and anchor not in pages.get(place, ())):
                yield Finding(path, line_of(text, match.start()), f"a dead link: {match.group(1)}")
        for match in CITATION.finditer(text):
            file, anchor, rule = match.groups()
            places = (posixpath.normpath(place + file) for place in ("", folder + "/", "spec/"))
            there = next((pages[place] for place in places if place in pages), {})
            if anchor not in there or rule and rule not in there[anchor]:
                yield Finding(path, line_of(text, match.start()), f"{match.group()} is not there")


def check_musts(tree):
    """In spec/, a sentence with MUST stands in a numbered rule."""
    for path, text in tree.texts.items():
        if re.fullmatch(r'spec/\w+\.md', path):
            for number, line in enumerate(without_fences(text).split("\n"), 1):
                if re.search(r'\bMUST\b', line) and not re.match(r'\d+\. |   ', line):
                    yield Finding(path, number, "MUST stands outside of the numbered rules")


def check_covers(tree):
    """Each row D1 to D26 of spec/features.md is covered by a test that says so, and what a test
    covers is a row."""
    seen = set()
    rows = set(re.findall(r'\b[ADEPW]\d+\b', tree.texts.get("spec/features.md", "")))
    for path, text in tree.texts.items():
        if path.startswith("tests/") and not path.startswith("tests/tidy/"):
            for match in re.finditer(r'(?://|#) covers: ((?:[A-Z]\d+(?:, )?)+)', text):
                named = set(re.findall(r'\w+', match.group(1)))
                seen |= named
                for row in sorted(named - rows):
                    yield Finding(path, line_of(text, match.start()),
                                  f"{row} is no row of spec/features.md")
    for row in ROWS:
        if row not in seen:
            yield Finding("tests", 0, f"no test says `// covers: {row}`")


def check_goldens(tree):
    """A valid golden file has its document beside it, a rejected one is a patch."""
    for path in tree.paths:
        folder, name = re.fullmatch(r'(?:tests/golden/(valid|rejected)/)?(.*)', path).groups()
        if folder and not re.fullmatch(r'[a-z][a-z0-9_]*\.\w+', name):
            yield Finding(path, 0, "a golden file is named after the rule it shows, in snake_case")
        if folder == "rejected" and not name.endswith(".patch"):
            yield Finding(path, 0, "a rejected golden file is NAME.patch: tests/golden/patch.h")
        if folder == "valid" and path.replace(".crawl", ".json") not in tree.paths:
            yield Finding(path, 0, "a golden file without its .json beside it")


def check_fuzz(tree):
    """A fuzz target opens with its invariants and has a corpus."""
    for path, text in tree.cxx("fuzz/fuzz_"):
        if not re.search(r'^// Invariants checked:', "\n".join(text.split("\n")[:4]), re.MULTILINE):
            yield Finding(path, 2, 'opens with "// Invariants checked: ..."')
        corpus = f"fuzz/corpus/{path[len('fuzz/'):-len('.cpp')]}.txt"
        if corpus not in tree.paths:
            yield Finding(path, 1, f"has no seeds: {corpus}")


VERB_FIRST = re.compile(r'(?:[A-Z][a-z]*s|RoundTrips|Cannot|Never)(?![a-z])')
SOME_WORDS = re.compile(r'[A-Z][a-z]+[A-Z0-9]')
TEST = re.compile(r'^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)', re.MULTILINE)


def check_test_names(tree):
    """TEST(Subject, VerbsWhatItClaims): title case, present tense, verb first."""
    for path, _ in tree.cxx("tests/"):
        code = tree.code(path)
        for match in TEST.finditer(code):
            suite, name = match.groups()
            line = line_of(code, match.start(1))
            if not re.fullmatch(r'[A-Z][A-Za-z0-9]*', suite):
                yield Finding(path, line, f"{suite}: a suite is the TitleCase name of its subject")
            # A suite of several subjects ("Views", "Urls") may tell any verb; a single word tells
            # none.
            claims = VERB_FIRST.match(name) or suite.endswith("s") and SOME_WORDS.match(name)
            if not claims or "_" in name:
                yield Finding(path, line, f"{name}: a test is one claim, verb first: KeepsOneName")


RULES = [check_sizes, check_prose, check_documents, check_assertions, check_names,
         check_build_lists, check_named_documents, check_links, check_musts, check_covers,
         check_goldens, check_fuzz, check_test_names]
