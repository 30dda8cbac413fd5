# SPDX-License-Identifier: Apache-2.0
"""The tree as the rules see it: file texts by path, and a scanner that knows just enough C++."""

import collections
import pathlib
import re
import subprocess

Finding = collections.namedtuple("Finding", "path line message")

CXX = (".h", ".cpp")
LIBRARY = ("format/", "libcrawlstore/")
PUBLIC = "libcrawlstore/include/crawlstore/"
C_PUBLIC = "capi/include/crawlstore/"


class Tree:
    """texts: path -> text of every text file; paths: those of the binary files too; commits: those
    of commit_rules.read_commits()."""

    def __init__(self, texts, paths=(), commits=()):
        self.texts = texts
        self.commits = commits
        self.paths = sorted(set(texts) | set(paths))
        self.cache = {}

    def cxx(self, *prefixes):
        """(path, text) of the C++ files under the given folders, or of all."""
        return [(path, text) for path, text in sorted(self.texts.items())
                if path.endswith(CXX) and (not prefixes or path.startswith(prefixes))]

    def code(self, path):
        """The text with comments and literals blanked out, same lines and columns."""
        if path not in self.cache:
            self.cache[path] = blank(self.texts[path])
        return self.cache[path]

    def directives_blanked(self, path):
        """code() without the lines of the preprocessor."""
        key = path, "directives"
        if key not in self.cache:
            self.cache[key] = without_directives(self.code(path))
        return self.cache[key]

    def blocks(self, path):
        """The blocks() of a file, as a list."""
        key = path, "blocks"
        if key not in self.cache:
            self.cache[key] = list(blocks(self.code(path)))
        return self.cache[key]


def git(root, *words):
    """Returns the output of git; None when it fails or is not there."""
    try:
        done = subprocess.run(["git", *words], cwd=root, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout.decode(errors="surrogateescape") if done.returncode == 0 else None


def walked(root):
    """The files below root but those of hidden folders, build folders and caches."""
    for path in pathlib.Path(root).rglob("*"):
        name = path.relative_to(root)
        if not any(part == "__pycache__" or part[0] == "." for part in name.parts) and (
                name.parts[0] != "build"):
            yield name.as_posix()


def load(root):
    """The files that git knows or would add: no build folders, nothing ignored. Without git all."""
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    texts, paths = {}, []
    for name in filter(None, listed.split("\0") if listed else walked(root)):
        file = pathlib.Path(root, name)
        if not file.is_file():
            continue
        paths.append(name)
        if name.startswith(("fuzz/corpus/", "tests/golden/valid/", "tests/golden/rejected/")):
            continue
        try:
            texts[name] = file.read_bytes().decode()
        except UnicodeDecodeError:
            pass
    return Tree(texts, paths)


TOKEN = re.compile(
    r'//(?:\\\n|[^\n])*'
    r'|/\*.*?\*/'
    r'|(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)


def blank(text, comments=True, literals=True):
    """Replaces comments and the inside of literals by spaces; `#include "x"` stays."""
    def spaces(match):
        found = match.group()
        if found[0] == "/":
            return re.sub(r"[^\n]", " ", found) if comments else found
        line_start = text.rfind("\n", 0, match.start()) + 1
        if not literals or text[line_start:match.start()].lstrip().startswith("#include"):
            return found
        return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1]
    return TOKEN.sub(spaces, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def includes(text):
    """(line, name, is_quoted) of each #include."""
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', text,
                             re.MULTILINE):
        yield line_of(text, match.start()), match.group(2), match.group(1) == '"'


def excused(text, line, tag):
    """True when the line, or the comment just above it, says `tidy: <tag>, <why>`."""
    lines = text.split("\n")
    near = lines[line - 1] + (lines[line - 2] if line > 1 and lines[line - 2].lstrip().startswith(
        ("//", "/*")) else "")
    return re.search(rf'tidy: {tag}, \w', near) is not None


def without_directives(code):
    """Code with the lines of the preprocessor blanked out."""
    return re.sub(r'^[ \t]*#(?:\\\n|[^\n])*', lambda m: re.sub(r"[^\n]", " ", m.group()), code,
                  flags=re.MULTILINE)


SCOPE = re.compile(r'(?:^|[\s;{}>])(?:namespace|class|struct|union|enum|extern)\b[^;()=]*$')
INITIALISERS = re.compile(r'\)\s*(?:noexcept\b\s*(?:\([^()]*\))?)?\s*:(?!:)')

# One braced block: kind is namespace, class, function or other; start, open and end are offsets of
# the first character of its head, of `{` and of `}`; parent is the kind of the block around it.
Block = collections.namedtuple("Block", "kind start open end parent")


def kind_of_block(head, parent):
    """Returns the kind of block that a `{` opens, judged by the text between the last statement and
    it."""
    head = re.sub(r'^\s*(?:(?:public|private|protected)\s*:)?', "", head.rstrip())
    if re.search(r'\bnamespace\b[^;()=]*$', head) or re.match(r'extern\s+"\s*"$', head):
        return "namespace"
    plain = re.sub(r'\b(?:alignas|requires|decltype|__attribute__)\s*\([^()]*\)', "", head)
    plain = re.sub(r'\[\[.*?\]\]|\btemplate\s*<[^{}]*?>(?=\s*(?:class|struct|union)\b)', "", plain)
    if SCOPE.search(plain) and ")" not in plain:
        return "class"
    if parent not in ("namespace", "class") or ")" not in head or head.endswith("="):
        return "other"
    # In `X::X(int a) : a_{a}, b_(0) {` only the last brace, after `)` or `}`, opens the body.
    if INITIALISERS.search(head) and head[-1] not in ")}":
        return "other"
    return "function"


def blocks(code):
    """The Blocks of blanked code, inner ones before those around them."""
    code = without_directives(code)
    stack, start, parentheses = [], 0, 0
    for offset, char in enumerate(code):
        if char in "()":
            parentheses += 1 if char == "(" else -1
        elif char == ";" and parentheses == 0:
            start = offset + 1
        elif char == "{":
            parent = stack[-1][0] if stack else "namespace"
            kind = "other" if parentheses else kind_of_block(code[start:offset], parent)
            stack.append((kind, start, offset, parent, parentheses))
            start, parentheses = offset + 1, 0
        elif char == "}" and stack:
            kind, head, opened, parent, parentheses = stack.pop()
            yield Block(kind, head, opened, offset, parent)
            # After the braces of an initialiser the statement, or the constructor's head, goes on.
            start = head if kind == "other" else offset + 1


def functions(code, found=None):
    """(name, first line, lines of the body with its braces) of each function; found: blocks()."""
    for block in found or blocks(code):
        if block.kind == "function":
            head = code[block.start:block.open]
            name = re.search(r'([\w:]*operator\s*\S+?|[\w:~]+)\s*\(', head)
            first = line_of(code, block.open)
            yield (name.group(1) if name else "?"), first, line_of(code, block.end) - first + 1


def namespace_statements(code, found=None):
    """(line, statement) of what stands at namespace scope, bodies emptied; found: blocks()."""
    text = list(without_directives(code))
    for block in found or blocks(code):
        if block.kind == "namespace":
            head = range(block.start, block.open + 1)
            for offset in (*head, block.end):
                text[offset] = "\n" if text[offset] == "\n" else " "
            text[block.end] = ";"
        else:
            for offset in range(block.open + 1, block.end):
                text[offset] = "\n" if text[offset] == "\n" else " "
            if block.kind == "function":
                text[block.end] = ";"
    start, text = 0, "".join(text)
    for match in re.finditer(";", text):
        statement = text[start:match.start()]
        if statement.strip():
            lead = len(statement) - len(statement.lstrip())
            yield line_of(text, start + lead), " ".join(statement.split())
        start = match.end()
