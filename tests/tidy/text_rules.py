# SPDX-License-Identifier: Apache-2.0
"""Rules on what a line may hold. A banned call can be excused where it stands, or on the line
above, by `// tidy: <tag>, <why>`, with the tag that its message names."""

import collections
import re

from source import CXX, LIBRARY, PUBLIC, Finding, excused, line_of, namespace_statements

INSIDE = (*LIBRARY, "model/")
SHIPPED = (*INSIDE, "capi/", "cli/", "examples/")
ALL = ("",)

# tag: what the excusing comment says; folders: where the ban holds; but: files it does not hold for
Ban = collections.namedtuple("Ban", "tag pattern folders but message")
BANS = [
    Ban("raw bytes", r'\breinterpret_cast\s*<(?!\s*(?:std::)?uintptr_t\s*>)', SHIPPED,
        ("format/endian.h",), "reinterpret_cast: bytes become values by load() of format/endian.h"),
    Ban("raw bytes", r'\bmem(?:cpy|move)\s*\(\s*(?:&|[^;]*?,\s*&)', SHIPPED, ("format/endian.h",),
        "memcpy of a value: use load() and store() of format/endian.h"),
    # `unique_ptr<X>(new X(...))` is right where the constructor is private; shared_ptr likewise.
    Ban("raw memory", r'^(?!.*(?:(?:unique|shared)_ptr<|include <)).*\bnew\b(?!\s*[)>,;])', ALL, (),
        "new: use std::make_unique or a container"),
    Ban("raw memory", r'(?<!=)(?<!= )\bdelete\b', ALL, (), "delete: let an owner do it"),
    Ban("raw memory", r'\b(?:malloc|calloc|realloc|aligned_alloc|free)\s*\(', SHIPPED, (),
        "malloc/free: use std::make_unique or a container"),
    Ban("printing", r'\bstd::c(?:out|err|log)\b|<iostream>', INSIDE, (),
        "std::cout: the library and the model return values, cli/ prints them"),
    Ban("printing", r'\b(?:f|v|vf|d)?printf\s*\(|\bf?puts\s*\(|\bperror\s*\(', SHIPPED,
        ("libcrawlstore/src/base/assert.cpp",),
        "printf: use fmt in cli/, std::to_chars in the library"),
    Ban("unbounded", r'\b(?:v?sprintf|str(?:n?cpy|n?cat|tok)|gets|ato[ifl]+|sscanf)\s*\(', ALL, (),
        "an unbounded C string call: use std::string_view and std::from_chars"),
    Ban("abort", r'(?<![\w:.])(?:std::)?(?:exit|_exit|quick_exit|terminate)\s*\(', INSIDE, (),
        "exit(): return an Error; a bug of ours is for CRAWLSTORE_ASSERT"),
    Ban("assert", r'(?<![\w.])assert\s*\(|<cassert>|<assert\.h>', ALL, (),
        "assert(): use CRAWLSTORE_ASSERT or CRAWLSTORE_DCHECK"),
    Ban("regex", r'\bstd::(?:basic_)?regex\b|<regex>', (*LIBRARY, "tests/", "fuzz/"), (),
        "std::regex: it recurses on input; write the few lines of parsing"),
    Ban("random", r'(?<![\w.])(?:std::)?s?rand\s*\(|\bstd::random_device\b', ALL, (),
        "rand(): tests take a printed seed, identities come from getrandom()"),
    Ban("volatile", r'\bvolatile\b(?!\s+(?:std::)?sig_atomic_t)', ALL, (),
        "volatile: use std::atomic"),
    Ban("const_cast", r'\bconst_cast\s*<', ALL, (), "const_cast: change the type that lies"),
    Ban("longjmp", r'\b(?:set|sigset|long|siglong)jmp\s*\(', ALL, (),
        "longjmp skips destructors: return"),
    Ban("shell", r'(?<![\w.:])(?:std::)?(?:system|popen)\s*\(', SHIPPED, (),
        "system(): runs a shell; use posix_spawn"),
    Ban("system call",
        r'(?<![\w.>])::(?:open(?:at)?|creat|p?read(?:v|64)?|p?write(?:v|64)?|f(?:data)?sync|'
        r'ftruncate|fallocate|posix_fallocate|m(?:un|re)?map|madvise|fcntl|flock|'
        r'rename(?:at2?)?|link(?:at)?|unlink)\s*\(', INSIDE, ("libcrawlstore/src/io/",),
        "a system call on files: everything goes through the storage seam in io/"),
    Ban("using namespace", r'\busing\s+namespace\b(?!\s+std::(?:\w+::)*\w*literals)', SHIPPED, (),
        "using namespace: name what you use"),
    Ban("endl", r'\bstd::endl\b', ALL, (), r"std::endl flushes: write '\n'"),
    Ban("expected", r'\btl::expected\s*<', ALL, (PUBLIC + "error.h",),
        "tl::expected: write crawlstore::Result<T>"),
    Ban("subset", r'<(?:format|expected|source_location|print|generator|mdspan)>|\bstd::'
        r'(?:format|expected|source_location|views::|ranges::views|move_only_function|print)\b',
        ALL, (), "not in the C++ that both g++ 12 and clang 14 compile (CONTRIBUTING.md)"),
    Ban("macro",
        r'^[ \t]*#[ \t]*define[ \t]+(?!CRAWLSTORE_(?:ASSERT|DCHECK|LOCKING|TRY)|_GNU_SOURCE|XXH_)',
        SHIPPED, (), "a macro beside CRAWLSTORE_ASSERT, _DCHECK, _LOCKING, _TRY: use constexpr, "
        "a function"),
]

STATE_OK = re.compile(
    r'^(?:using|typedef|template|friend|static_assert|class|struct|union|enum|concept|extern "|'
    r'namespace|asm|#)\b')
STATE_CONST = re.compile(r'\b(?:constexpr|consteval)\b|\bconst\b(?!\s*\w*\s*[*&])|[*&]\s*const\b')
VARIABLE = re.compile(r'^(?:[\w:]+(?:<.*>)?[\s*&]+)+[\w:]+(?:\s*\[[^\]]*\])*\s*(?:=.*|\{\s*\})?$')


def check_bans(tree):
    """Banned calls, each with its replacement."""
    for path, text in tree.cxx():
        code = tree.code(path)
        for ban in BANS:
            if not path.startswith(ban.folders) or path.startswith(ban.but or ("//",)):
                continue
            for match in re.finditer(ban.pattern, code, re.MULTILINE):
                lead = len(match.group()) - len(match.group().lstrip())
                line = line_of(code, match.start() + lead)
                if not excused(text, line, ban.tag):
                    yield Finding(path, line, f"{ban.message} [tidy: {ban.tag}]")


def is_mutable_variable(statement):
    """A guess from one statement: is it the definition of something that can change?"""
    if STATE_OK.match(statement) or "operator" in statement:
        return False
    if STATE_CONST.search(statement.split("=")[0]):
        return False
    before = re.split(r'[={]', statement)[0]
    return "(" not in before and VARIABLE.match(statement) is not None


def check_mutable_state(tree):
    """No state at namespace scope, no mutable statics: what is shared is passed by hand."""
    for path, text in tree.cxx(*SHIPPED):
        if path == "libcrawlstore/src/io/sigbus_guard.cpp":
            continue
        code = tree.code(path)
        found = [line for line, statement in namespace_statements(code, tree.blocks(path))
                 if is_mutable_variable(re.sub(r'^\[\[.*?\]\]\s*', "", statement))]
        for match in re.finditer(r'\b(?:static|thread_local|inline static)\b[^;{}()=]*[;{=]', code):
            if not STATE_CONST.search(match.group()) and "static_assert" not in match.group():
                found.append(line_of(code, match.start()))
        for line in sorted(set(found)):
            if not excused(text, line, "mutable state"):
                yield Finding(path, line, "mutable state outside any object [tidy: mutable state]")


RESULT = re.compile(r'(?:^|[;{}>]|\b(?:public|protected|private)\s*:)\s*'
                    r'(?:(?:static|virtual|inline|constexpr|friend)\s+)*Result<[^;{}=]*?\w\s*\(')


def check_nodiscard(tree):
    """tl::expected is not [[nodiscard]]: each public function that returns a Result says it."""
    for path, _ in tree.cxx(PUBLIC):
        code = tree.directives_blanked(path)
        for match in RESULT.finditer(code):
            yield Finding(path, line_of(code, code.index("Result<", match.start())),
                          "a function that returns a Result is [[nodiscard]]")


def check_head(tree):
    """An SPDX line on top of every source, #pragma once in every header."""
    for path, text in tree.texts.items():
        name = path.rsplit("/", 1)[-1]
        is_script = text.startswith("#!")
        if not (is_script or path.endswith((*CXX, ".py", ".sh", ".cmake", ".fbs", ".capnp", ".pml"))
                or name == "CMakeLists.txt"):
            continue
        first = text.split("\n")[1 if is_script else 0:][:3]
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in first):
            yield Finding(path, 1, "the first lines must hold: SPDX-License-Identifier: Apache-2.0")
        if path.endswith(".h") and not re.search(r'^#pragma once$', text, re.MULTILINE):
            yield Finding(path, 1, "a header needs #pragma once")


# Files whose lines are data, or not ours to break.
LONG_LINES_OK = ("LICENSE", ".svg", ".json", ".clang-tidy")


def check_lines(tree):
    """ASCII sources of at most 100 columns; no tabs, no trailing blanks, one newline at the end."""
    for path, text in tree.texts.items():
        is_source = path.endswith((*CXX, ".py", ".sh", ".cmake", ".fbs", ".capnp", ".pml")) or (
            text.startswith("#!") or path.endswith("CMakeLists.txt"))
        if path == "LICENSE" or path.endswith((".svg", ".json", ".txt")) and not is_source:
            continue
        for line, content in enumerate(text.split("\n"), 1):
            if is_source and len(content) > 100:
                yield Finding(path, line, f"{len(content)} columns, at most 100")
            if is_source and not content.isascii():
                yield Finding(path, line, "sources are ASCII")
            if is_source and "\t" in content:
                yield Finding(path, line, "a tab: indent with spaces, write \\t in literals")
            if content != content.rstrip():
                yield Finding(path, line, "blanks at the end of the line")
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Finding(path, text.count("\n") + 1, "a file ends with exactly one newline")


def check_todo(tree):
    """A TODO carries its class; one marked `now` must be gone."""
    for path, text in tree.texts.items():
        if path.startswith("tests/tidy/") or path == "CONTRIBUTING.md":
            continue
        for line, content in enumerate(text.split("\n"), 1):
            if re.search(r'\bTODO\(now\)|\bFIXME\b|\bXXX\b', content):
                yield Finding(path, line, "to be done before this is committed")
            elif re.search(r'\bTODO\b(?!\((?:soon|perf|format)\): \w)', content):
                yield Finding(path, line, "write TODO(soon|perf|format): what")


RULES = [check_bans, check_mutable_state, check_nodiscard, check_head, check_lines, check_todo]
