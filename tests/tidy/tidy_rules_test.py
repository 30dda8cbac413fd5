# SPDX-License-Identifier: Apache-2.0
"""Every tidy rule can fail, and lets through what it should. A case is a small tree of files; `bad`
ones must give exactly the finding whose message holds the given words, `good` ones none."""

import unittest

import comment_rules
import layer_rules
import name_rules
import sentence_rules
import text_rules
import tidy_test
import tree_rules
from ratchet_rules_test import Classes, Commits, Ratchets  # noqa: F401  they run here, too
from rule_case import API, HEAD, LIB, RuleCase
from source import Tree, blank, functions, namespace_statements

HEADERS = {
    API + "error.h": "", API + "storage.h": "", "format/layout.h": "", LIB + "base/hash.h": "",
    LIB + "io/pins.h": "", LIB + "container/writer.h": "", LIB + "drum/merge.h": "",
    "model/table.h": "", "cli/verbs.h": "",
}


class Comments(RuleCase):
    MANY = "// A fact.\n\n" * 98

    def openings(self, path, text):
        return comment_rules.count_openings(Tree({path: text})).openings

    def test_share(self):
        rule = comment_rules.check_openings
        one = self.MANY + "// What a is.\n"
        self.bad(rule, "1 of 99 comment sentences (1.01 %)", {"format/a.h": one})
        self.good(rule, {"format/a.h": "// A fact.\n\n" + one})
        self.good(rule, {"format/a.md": "Of all.\n"})

    def test_sentences(self):
        for text, lines in [
                ("// As a.\n// Of it.\n", [1, 2]), ("int a;  ///< who waits\n", []),
                ("int a;  ///< Who waits\n", [1]), ("/// It is. Which\n/// one.\n", [1]),
                ("/// It is.\n/// Whose one.\n", [2]), ("/// The\n/// Of it\n", []),
                ("int a;  // The\nint b;  // What\n", [2]), ("/// The\n///\n/// Of it\n", [3]),
                ("auto a = \"// What\";\n", []), ("// Official. Assert. Whatever.\n", [])]:
            self.assertEqual([line for _, line in self.openings("a.h", text)], lines, text)

    def test_scripts(self):
        python = '"""What a is.\n\nOf it.\n"""\nA = """\nOf b.\n"""\n# As c.\nB = 1  # Who.\n'
        self.assertEqual([line for _, line in self.openings("a.py", python)], [1, 3, 8, 9])
        self.assertEqual(self.openings("a.sh", "#!/bin/sh\n# It is.\n# What a.\necho '# Of'\n"),
                         [("a.sh", 3)])


class Sentences(RuleCase):
    PAGE = "spec/decisions/0001-a.md"
    LONG = "word " * 13 + "\n" + "word " * 13

    def found(self, text):
        return [line for _, line, _ in sentence_rules.check_sentences(Tree({self.PAGE: text}))]

    def test_length(self):
        rule = sentence_rules.check_sentences
        self.bad(rule, "a sentence of 26 words, at most 25: word", {self.PAGE: self.LONG + "\n"})
        self.good(rule, {self.PAGE: self.LONG[5:] + "\n", "bench/README.md": self.LONG})
        for page in ("spec/a.md", "guide/a.md", "README.md", "CONTRIBUTING.md"):
            self.bad(rule, "a sentence of 26 words", {page: self.LONG})

    def test_ends(self):
        half = "word " * 13
        for end in [half[:-1] + end for end in (". ", ": ", "; ", ".) ", ".*\n", "\n\n", "\n* ",
                                                "\n1. ", "\n| a |\n", "\n   | a |\n", "\n# a\n")]:
            self.assertEqual(self.found(end + half), [], end)
        for end in (half[:-1] + end for end in (", ", "\n", " 1.5 ", " **a** ", " [a\n")):
            self.assertEqual(self.found("# a\n\nOne.\n" + end + half), [4], end)

    def test_code_is_one_word_and_targets_are_none(self):
        for text in ("`a b: c`", "[a](b.md)"):
            self.assertEqual(self.found("word " * 24 + text), [], text)
            self.assertEqual(self.found("word " * 25 + text), [1], text)
        self.assertEqual(self.found("```\n" + self.LONG + "\n```\n| " + self.LONG[:66]), [])

    def test_openings(self):
        for text in ("What is.", "A.\nWho is.", "* *Of a*: b.", "**As** it."):
            self.assertEqual(self.found(text), [text.count("\n") + 1], text)
        self.assertEqual(self.found("Official: what is. `What` is.\n\n# What\n"), [])


class Layers(RuleCase):
    def include(self, path, name, quotes='""'):
        return {**HEADERS, path: f"#include {quotes[0]}{name}{quotes[1]}\n"}

    def test_arrows(self):
        rule = layer_rules.check_layers
        for path, name, words in [
                ("format/a.cpp", "base/hash.h", "format must not include base"),
                ("format/a.cpp", "crawlstore/storage.h", "format must not include io"),
                (LIB + "base/a.cpp", "io/pins.h", "base must not include io"),
                (LIB + "io/a.cpp", "container/writer.h", "io must not include container"),
                (LIB + "container/a.cpp", "drum/merge.h", "container must not include drum"),
                (LIB + "links/a.cpp", "drum/merge.h", "links must not include drum"),
                (LIB + "drum/a.cpp", "model/table.h", "drum must not include model"),
                (LIB + "new_layer/a.cpp", "io/pins.h", "no layer is known"),
                ("model/a.cpp", "io/pins.h", "model/ includes public headers only"),
                ("model/a.cpp", "cli/verbs.h", "model/ includes public headers only"),
                ("capi/a.cpp", "io/pins.h", "capi/ includes public headers only"),
                ("cli/a.cpp", "format/layout.h", "cli/ includes public headers only"),
                ("examples/a.cpp", "model/table.h", "examples/ includes public headers only"),
                ("bench/a.cpp", "format/layout.h", "bench/ includes public headers only"),
                (API + "storage.h", "io/pins.h", "a public header includes"),
                (API + "error.h", "crawlstore/storage.h", "words must not include io"),
                ("format/a.cpp", "no_such.h", "is no file of this tree"),
                (LIB + "io/a.cpp", "io/b.cpp", "includes a .cpp file")]:
            with self.subTest(path=path, name=name):
                self.bad(rule, words, {LIB + "io/b.cpp": "", **self.include(path, name)})

    def test_allowed(self):
        for path, name in [
                ("format/a.cpp", "layout.h"), ("format/a.cpp", "crawlstore/error.h"),
                (LIB + "drum/a.cpp", "container/writer.h"), (LIB + "drum/a.cpp", "format/layout.h"),
                (LIB + "crawl_store.cpp", "drum/merge.h"), ("cli/a.cpp", "model/table.h"),
                ("cli/a.cpp", "crawlstore/storage.h"), ("tests/io/a_test.cpp", "io/pins.h"),
                ("fuzz/fuzz_a.cpp", "format/layout.h")]:
            with self.subTest(path=path, name=name):
                self.good(layer_rules.check_layers, self.include(path, name))
        self.good(layer_rules.check_layers, {
            **HEADERS, "bench/a.cpp": "// tidy: inside, a codec\n#include \"format/layout.h\""})

    def test_forward_declarations(self):
        rule = layer_rules.check_forward_declarations
        merge = {LIB + "drum/merge.h": "class Merge final : Work {\n};\n"}
        for text in ("class Merge;\n", "struct Merge;\n"):
            self.bad(rule, "container must not declare Merge of drum",
                     {**merge, LIB + "container/a.h": text})
        self.good(rule, {**merge, LIB + "pages/a.h": "class Merge;\n",
                         LIB + "drum/a.h": "class Merge;\n", LIB + "container/a.h": "class B;\n"})

    def test_kinds(self):
        text = "bool b = kind == SegmentKind::kPages;\n"
        self.bad(layer_rules.check_kinds, "names no kind", {LIB + "container/a.cpp": text})
        self.good(layer_rules.check_kinds, {LIB + "pages/a.cpp": text})

    def test_public_header_without_a_layer(self):
        self.bad(layer_rules.check_layers, "has no layer", {API + "brand_new.h": ""})

    def test_third_party(self):
        for path, name, words in [
                (LIB + "io/a.cpp", "flatbuffers/flatbuffers.h", "FlatBuffers stays"),
                (LIB + "io/a.cpp", "directory_generated.h", "FlatBuffers stays"),
                (LIB + "io/a.cpp", "capnp/message.h", "Cap'n Proto stays"),
                (LIB + "io/a.cpp", "crawl_event.capnp.h", "Cap'n Proto stays"),
                ("model/a.cpp", "CLI/CLI.hpp", "cli/parser.h is for the verbs"),
                ("cli/command_a.cpp", "CLI/App.hpp", "cli/parser.h is for the verbs"),
                ("format/a.cpp", "nlohmann/json.hpp", "no JSON"),
                (LIB + "io/a.cpp", "fmt/core.h", "prints nothing"),
                (LIB + "io/a.cpp", "gtest/gtest.h", "only tests"),
                ("cli/a.cpp", "curl/curl.h", "only the example"),
                ("inspector/core/a.cpp", "imgui.h", "ImGui only"),
                ("inspector/ui/a.cpp", "GLFW/glfw3.h", "GLFW and OpenGL only"),
                ("cli/a.cpp", "benchmark/benchmark.h", "only bench/"),
                (LIB + "drum/a.cpp", "rocksdb/db.h", "comparison only")]:
            with self.subTest(path=path, name=name):
                self.bad(layer_rules.check_layers, words, {path: f"#include <{name}>\n"})
        self.good(layer_rules.check_layers, {"format/a.cpp": "#include <flatbuffers/base.h>"})


class Cycles(RuleCase):
    def test_headers(self):
        rule = layer_rules.check_cycles
        a, b = LIB + "io/a.h", LIB + "io/b.h"
        self.bad(rule, "includes itself", {a: '#include "io/b.h"', b: '#include "io/a.h"'})
        self.good(rule, {a: '#include "io/b.h"', b: ""})

    def test_sources(self):
        rule, words = layer_rules.check_cycles, "include each other"
        a, b, c = (LIB + "io/" + name for name in "abc")
        headers = {a + ".h": "", b + ".h": "", c + ".h": ""}
        a_to_b = {**headers, a + ".cpp": '#include "io/b.h"'}
        self.bad(rule, words, {**a_to_b, b + ".cpp": '#include "io/a.h"'})
        self.bad(rule, words, {**a_to_b, b + ".cpp": '#include "io/c.h"',
                               c + ".cpp": '#include "io/a.h"'})
        self.good(rule, {**a_to_b, b + ".cpp": '#include "io/c.h"', c + ".cpp": ""})
        self.bad(rule, words, {**a_to_b, b + ".h": '#include "io/a.h"'})


class Lines(RuleCase):
    # A line that each ban rejects, by its tag; the place is LIB + "io/" unless given.
    BANNED = [
        ("raw bytes", "auto* p = reinterpret_cast<const Slot*>(bytes);"),
        ("raw bytes", "std::memcpy(&value, bytes, 8);"),
        ("raw bytes", "memcpy(bytes, &value, 8);"),
        ("raw memory", "auto* x = new Thing();"),
        ("raw memory", "delete thing;"),
        ("raw memory", "void* p = malloc(8);"),
        ("printing", "std::cout << 1;"),
        ("printing", "fprintf(stderr, \"%d\", 1);"),
        ("unbounded", "sprintf(buffer, \"%d\", 1);"),
        ("unbounded", "int i = atoi(text);"),
        ("abort", "std::exit(1);"),
        ("assert", "assert(x == 1);"),
        ("regex", "const std::regex r(\"a*\");"),
        ("random", "int r = rand();"),
        ("random", "std::random_device d;"),
        ("volatile", "volatile int x;"),
        ("const_cast", "auto* p = const_cast<char*>(q);"),
        ("longjmp", "siglongjmp(env, 1);"),
        ("shell", "std::system(\"rm x\");"),
        ("using namespace", "using namespace std;"),
        ("endl", "out << std::endl;"),
        ("expected", "tl::expected<int, Error> f();"),
        ("subset", "#include <format>"),
        ("subset", "auto v = x | std::views::reverse;"),
        ("macro", "#define HELPER(x) x"),
    ]
    ALLOWED = [
        "auto a = reinterpret_cast<std::uintptr_t>(pointer);",
        "std::memcpy(into.data(), from.data(), size);",
        "std::unique_ptr<Thing> t(new Thing());",
        "Thing(const Thing&) = delete;",
        "#include <new>",
        "// assert(x), new Thing, printf(\"\") in a comment",
        "auto s = \"assert(x) volatile\";",
        "static_assert(sizeof(int) == 4);",
        "volatile std::sig_atomic_t flag;",
        "model.rand();",
        "CRAWLSTORE_ASSERT(x == 1);",
        "using namespace std::string_literals;",
        "return tl::unexpected(error);",
        "const auto n = 1'000'000; auto c = 'x';",
    ]

    def test_every_ban_rejects_a_line(self):
        for tag, line in self.BANNED:
            with self.subTest(line=line):
                self.bad(text_rules.check_bans, f"[tidy: {tag}]", {LIB + "io/a.cpp": line})

    def test_system_calls_only_in_io(self):
        line = "::pwrite(fd, p, n, 0);"
        self.bad(text_rules.check_bans, "[tidy: system call]", {LIB + "drum/a.cpp": line})
        self.good(text_rules.check_bans, {LIB + "io/a.cpp": line})

    def test_every_ban_has_a_line_here(self):
        seen = {tag for tag, _ in self.BANNED} | {"system call"}
        self.assertEqual({ban.tag for ban in text_rules.BANS}, seen)

    def test_bans_let_the_rest_through(self):
        for line in self.ALLOWED:
            with self.subTest(line=line):
                self.good(text_rules.check_bans, {LIB + "io/a.cpp": line})
        self.good(text_rules.check_bans, {"format/endian.h": "std::memcpy(&value, bytes, 8);"})
        self.good(text_rules.check_bans, {"cli/a.cpp": "std::cout << 1;"})

    def test_excuses(self):
        line = "auto* p = reinterpret_cast<const Slot*>(bytes);"
        good = [f"{line}  // tidy: raw bytes, checked above",
                f"// tidy: raw bytes, FlatBuffers wants it\n{line}"]
        bad = [f"{line}  // tidy: raw bytes", f"{line}  // tidy: volatile, wrong tag",
               f"// tidy: raw bytes, too far away\n\n{line}", f"{line}  // NOLINT"]
        for text in good:
            self.good(text_rules.check_bans, {LIB + "io/a.cpp": text})
        for text in bad:
            with self.subTest(text=text):
                self.bad(text_rules.check_bans, "raw bytes", {LIB + "io/a.cpp": text})

    def test_mutable_state(self):
        wrap = "namespace crawlstore {\nnamespace {\n%s\n}  // namespace\n}\n"
        for line in ["int count = 0;", "std::atomic<int> count{0};", "static bool ready;",
                     "std::map<int, std::string> names;", "thread_local int depth = 0;",
                     "const char* name = nullptr;", "inline int count = 0;", "char buffer[16];",
                     "void f() { static int calls = 0; ++calls; }",
                     "struct S { static inline int count = 0; };"]:
            with self.subTest(line=line):
                self.bad(text_rules.check_mutable_state, "mutable state",
                         {LIB + "base/a.cpp": wrap % line})
        for line in ["constexpr int kCount = 0;", "const int kCount = 0;", "int f(int a);",
                     "const char* const kName = nullptr;", "using Map = std::map<int, int>;",
                     "template <class T>\nint f(T t) { return 1; }", "struct S {\n  int x = 0;\n};",
                     "inline constexpr std::array<int, 2> kTwo{1, 2};", "struct S;",
                     "enum class E : int { kA, kB };", "extern \"C\" int f(void);",
                     "S::S(int a) : a_{a}, b_(0) {\n  int local = 0;\n}",
                     "S& S::operator=(S&&) = default;",
                     "static int f(int a) {\n  return a;\n}", "static constexpr int kX{3};",
                     "void f() { static const int kX = g(); }",
                     "int counted = 0;  // tidy: mutable state, told why"]:
            with self.subTest(line=line):
                self.good(text_rules.check_mutable_state, {LIB + "base/a.cpp": wrap % line})
        self.good(text_rules.check_mutable_state,
                  {LIB + "io/sigbus_guard.cpp": wrap % "int count = 0;"})

    def test_nodiscard(self):
        rule = text_rules.check_nodiscard
        for bad in ("Result<int> f();", "namespace a {\n\nResult<void> f() { return {}; }\n}",
                    "class A {\n public:\n  static Result<std::vector<int>> f(int a);\n};",
                    "struct A {\n  int a() const { return 1; }\n  virtual Result<A> f() = 0;\n};",
                    "template <class T>\nResult<T> f(T t);", "#include <a>\nResult<int> f();"):
            self.bad(rule, "[[nodiscard]]", {API + "a.h": bad})
        for good in ("[[nodiscard]] Result<int> f();", "[[nodiscard]] static Result<int> f();",
                     "using F = std::function<Result<int>(int)>;", "struct A { Result<int> a; };",
                     "void f(int a,\n       Result<void> (*fill)(int));",
                     "template <class T>\nusing Result = tl::expected<T, Error>;"):
            self.good(rule, {API + "a.h": good})
        self.good(rule, {LIB + "a.h": "Result<int> f();"})

    def test_head(self):
        rule = text_rules.check_head
        self.bad(rule, "SPDX", {"format/a.cpp": "int x;\n"})
        self.bad(rule, "SPDX", {"run-tests": "#!/bin/bash\ntrue\n"})
        self.bad(rule, "SPDX", {"cli/CMakeLists.txt": "add_x()\n"})
        self.bad(rule, "#pragma once", {"format/a.h": HEAD})
        self.good(rule, {"format/a.h": HEAD + "#pragma once\n", "x.py": "#!/p\n# " + HEAD[3:]})

    def test_lines(self):
        rule = text_rules.check_lines
        self.bad(rule, "columns", {"format/a.cpp": "x" * 101 + "\n"})
        self.bad(rule, "ASCII", {"format/a.cpp": "// \u00e9\n"})
        self.bad(rule, "a tab", {"format/a.cpp": "\tint x;\n"})
        self.bad(rule, "blanks", {"README.md": "text \n"})
        self.bad(rule, "newline", {"format/a.cpp": "int x;"})
        self.bad(rule, "newline", {"format/a.cpp": "int x;\n\n"})
        self.good(rule, {"format/a.cpp": "x" * 100 + "\n", "README.md": "\u00e9" * 200 + "\n"})

    def test_todo(self):
        rule = text_rules.check_todo
        self.bad(rule, "before this is committed", {"a.cpp": "// TODO(now): x\n"})
        self.bad(rule, "before this is committed", {"a.cpp": "// FIX" + "ME x\n"})
        self.bad(rule, "write TODO(", {"a.cpp": "// TODO: x\n"})
        self.bad(rule, "write TODO(", {"a.cpp": "// TODO(me): x\n"})
        self.good(rule, {"a.cpp": "// TODO(soon): x\n// TODO(perf): y\n// TODO(format): z\n"})


class Whole(RuleCase):
    def test_sizes(self):
        rule = tree_rules.check_sizes
        self.bad(rule, "501 lines, at most 500", {"format/a.cpp": "\n" * 501})
        self.bad(rule, "601 lines, at most 600", {"tests/a_test.cpp": "\n" * 601})
        self.bad(rule, "201 lines, at most 200", {API + "error.h": "\n" * 201})
        self.bad(rule, "101 lines, at most 100", {"fuzz/fuzz_a.cpp": "\n" * 101})
        self.bad(rule, "301 lines, at most 300", {"README.md": "\n" * 301})
        self.bad(rule, "131 lines, at most 130", {"CONTRIBUTING.md": "\n" * 131})
        self.bad(rule, "at most 90", {"CMakeLists.txt": "\n" * 91})
        self.bad(rule, "f has 72 lines, at most 70",
                 {"format/a.cpp": "void f() {\n" + "  g();\n" * 70 + "}\n"})
        self.bad(rule, "main has 62 lines, at most 60",
                 {"cli/main.cpp": "int main() {\n" + "  f();\n" * 60 + "}\n"})
        self.bad(rule, "501 lines, at most 500", {"spec/drum.md": "\n" * 501})
        self.good(rule, {"spec/example.md": "\n" * 900, "format/a.cpp": "\n" * 500,
                         "model/b.cpp": "void f() {\n" + "  g();\n" * 68 + "}\n"})

    def test_prose(self):
        rule, path = tree_rules.check_prose, API + "error.h"
        self.bad(rule, "33 % of the lines", {path: "// a\nint x;\nint y;\n"})
        self.good(rule, {path: "// a\n/* b\n c */\n\nint x;\nint y;\n"})
        self.good(rule, {path: "int x;  ///< what x is\nint y;\n"})

    def test_documents(self):
        self.bad(tree_rules.check_documents, "one and only", {"a.md": "text\n"})
        self.bad(tree_rules.check_documents, "one and only", {"a.md": "# A\n# B\n"})
        self.good(tree_rules.check_documents, {"a.md": "# A\n\n```\n# a comment\n```\n\n## B\n"})
        self.bad(tree_rules.check_documents, "its head", {"a.md": "# A\n\n| a |\n| b |\n|---|\n"})
        self.good(tree_rules.check_documents, {"a.md": "# A\n\n| a |\n|---|\n| b |\n"})

    def test_assertions_are_listed_with_a_reason(self):
        rule = tree_rules.check_assertions
        code = {"format/a.cpp": "CRAWLSTORE_ASSERT(f(a) ||\n  b);\nCRAWLSTORE_DCHECK(c);"}
        rows = "| `format/a.cpp` | `f(a) or b` | it is |\n| `format/a.cpp` | `c` | so |\n"
        self.good(rule, {**code, "spec/assertions.md": rows})
        self.bad(rule, "lacks: c", {**code, "spec/assertions.md": rows.split("\n")[0]})
        self.bad(rule, "lacks", code)
        self.bad(rule, "does not assert", {"spec/assertions.md": rows.split("\n")[0]})
        self.bad(rule, "lacks", {**code, "spec/assertions.md": rows.replace("it is", "")})

    def test_names(self):
        rule = tree_rules.check_names
        self.bad(rule, "snake_case", {"format/SuperBlock.cpp": ""})
        self.bad(rule, "snake_case", {"python/pycrawlstore/_ffi.py": ""})
        for name in ("util.h", "string_utils.cpp", "lock_manager.h", "helpers.h", "safe_read.cpp"):
            self.bad(rule, "one concept", {f"format/{name}": ""})
        self.bad(rule, "name the type", {"format/a.h": "class LockManager {};"})
        self.good(rule, {"format/key_block.cpp": "struct KeyBlock {};", "format/safety.h": "",
                         "python/pycrawlstore/__init__.py": ""})

    def test_build_lists(self):
        rule = tree_rules.check_build_lists
        self.bad(rule, "never built", {"format/a.cpp": "", "format/CMakeLists.txt": "x b_a.cpp\n"})
        self.bad(rule, "never built", {API + "error.h": "", "libcrawlstore/CMakeLists.txt": ""})
        self.bad(rule, "does not exist", {"format/CMakeLists.txt": "  gone.cpp\n"})
        self.bad(rule, "never built", {"fuzz/fuzz_a.cpp": "", "fuzz/CMakeLists.txt": "fuzz_a\n"})
        self.good(rule, {
            "format/a.cpp": "", "format/CMakeLists.txt": "  a.cpp\n", LIB + "io/b.cpp": "",
            API + "error.h": "", "fuzz/fuzz_a.cpp": "", "tests/io/c_test.cpp": "",
            "libcrawlstore/CMakeLists.txt": "  src/io/b.cpp\n  include/crawlstore/error.h\n",
            "fuzz/CMakeLists.txt": "crawlstore_fuzz_target(fuzz_a)\n",
            "tests/CMakeLists.txt": "crawlstore_test(io SOURCES io/c_test.cpp)\n"})

    def test_covers(self):
        every = "".join(f"// covers: {row}\n" for row in tree_rules.ROWS)
        rule = tree_rules.check_covers
        listed = {"spec/features.md": " ".join(tree_rules.ROWS) + " A3"}
        self.good(rule, {**listed, "tests/a_test.cpp": every + "// covers: A3\n"})
        self.good(rule, {**listed, "tests/a.py": "# covers: " + ", ".join(tree_rules.ROWS)})
        self.bad(rule, "covers: D7",
                 {**listed, "tests/a_test.cpp": every.replace("// covers: D7\n", "")})
        self.bad(rule, "A4 is no row", {**listed, "tests/a_test.cpp": every + "// covers: A4\n"})

    def test_named_documents(self):
        rule = tree_rules.check_named_documents
        documents = {"spec/a.md": "", "bench/b.md": "", "C.md": ""}
        self.good(rule, {**documents, "d.cpp": "// a.md, spec/a.md and C.md\n",
                         "bench/e.py": "# b.md, ../C.md\n", "f.sh": "ls *.md\n"})
        self.bad(rule, "b.md is no document", {**documents, "d.cpp": "// b.md\n"})
        self.bad(rule, "spec/c.md is no document", {**documents, "spec/a.md": "see `spec/c.md`"})

    def test_links(self):
        rule = tree_rules.check_links
        page = "# A\n\n## B, or c\n\n1. one\n\n```\n## Fenced\n```\n\n## D\n\n2. two\n"
        self.good(rule, {"spec/a.md": page + "[x](#b-or-c) [y](e.md) [z](https://e.test/f.md#g)",
                         "spec/e.md": "# E\n[x](a.md#d) [y](../b) `a.md#d rule 2`\n", "b/c.png": "",
                         "f.h": "// spec/a.md#b-or-c rule 1, a.md#d\n"})
        for link in "#e", "#fenced", "b.md", "../a.md":
            self.bad(rule, "a dead link: " + link, {"spec/a.md": page + f"[x]({link})"})
        for cited in "a.md#e", "a.md#d rule 1", "b.md#d":
            self.bad(rule, cited + " is not there", {"spec/a.md": page, "f.h": f"// {cited}\n"})

    def test_musts(self):
        rule, text = tree_rules.check_musts, "# A\n\n1. It MUST.\n   * Here it MUST, too.\n"
        self.good(rule, {"spec/a.md": text, "a.md": "It MUST.\n"})
        for line in "It MUST NOT.", "| a | MUST |", "* It MUST.", "> Why? It MUST.":
            self.bad(rule, "MUST stands outside", {"spec/a.md": text + "\n" + line + "\n"})

    def test_goldens(self):
        rule = tree_rules.check_goldens
        valid, rejected = "tests/golden/valid/", "tests/golden/rejected/"
        self.bad(rule, "without its .json", {}, [valid + "a.crawl"])
        self.bad(rule, "snake_case", {}, [valid + "A.crawl", valid + "A.json"])
        self.bad(rule, "NAME.patch", {}, [rejected + "a.crawl"])
        self.good(rule, {}, [valid + "a.crawl", valid + "a.json", rejected + "b_2.patch"])

    def test_fuzz(self):
        text = HEAD + "// Invariants checked: none.\n"
        self.bad(tree_rules.check_fuzz, "opens with", {"fuzz/fuzz_a.cpp": HEAD},
                 ["fuzz/corpus/fuzz_a.txt"])
        self.bad(tree_rules.check_fuzz, "has no seeds", {"fuzz/fuzz_a.cpp": text})
        self.good(tree_rules.check_fuzz, {"fuzz/fuzz_a.cpp": text}, ["fuzz/corpus/fuzz_a.txt"])

    def test_test_names(self):
        rule = tree_rules.check_test_names
        for line, words in [("TEST(pins, KeepsOne) {}", "TitleCase"),
                            ("TEST(Pins, Basic) {}", "one claim"),
                            ("TEST_F(Pins, Keeps_one) {}", "one claim"),
                            ("TEST(Pin, KeepOne) {}", "one claim"),
                            ("TEST_P(Pins, test1) {}", "one claim")]:
            self.bad(rule, words, {"tests/io/a_test.cpp": line})
        self.good(rule, {"tests/io/a_test.cpp": "TEST(Pins, KeepOne) {}\nTEST_F(Url, IsRead) {}"})


class OwnNames(RuleCase):
    def sources(self, one, other, scope="crawlstore::cli"):
        files = {"cli/a.cpp": ("crawlstore::cli", one), "cli/b.cpp": (scope, other)}
        return {path: f"namespace {name} {{\nnamespace {{\n\n{text}\n\n}}  // namespace\n\n}}"
                      f"  // namespace {name}\n" for path, (name, text) in files.items()}

    def test_two_things_by_one_name(self):
        rule = name_rules.check_own_names
        for one, other in [("struct A {", "class A {"), ("constexpr int kA = 1;",) * 2,
                           ("using A = int;", "struct A {"), ("using A = int;", "using A = char;"),
                           ("enum class A : int { kB };", "struct A final : B {"),
                           ("const char* const kA =", "inline constexpr std::size_t kA{2};"),
                           ("int f(const A& a) {", "bool f(const A& a) {")]:
            with self.subTest(one=one, other=other):
                self.bad(rule, "is also in cli/a.cpp", self.sources(one, other))
        header = {"cli/c.h": "namespace crawlstore::cli {\nstruct A {\n};\n}"
                             "  // namespace crawlstore::cli\n"}
        self.bad(rule, "A is also in cli/c.h", {
            **header, "cli/b.cpp": self.sources("", "struct A {")["cli/b.cpp"]})

    def test_what_may_be_twice(self):
        rule = name_rules.check_own_names
        for one, other in [("using A = int;",) * 2, ("struct A;", "struct A {"),
                           ("int f(const A& a) {", "int f(const B& b) {"),
                           ("  int kA = 1;",) * 2, ("struct A {", "struct B {\n  A a;")]:
            with self.subTest(one=one, other=other):
                self.good(rule, self.sources(one, other))
        self.good(rule, self.sources("struct A {", "struct A {", "crawlstore::other"))


class All(unittest.TestCase):
    def test_every_rule_is_run(self):
        for module in tidy_test.MODULES:
            rules = {rule for name, rule in vars(module).items() if name.startswith("check_")
                     and rule.__code__.co_varnames[:rule.__code__.co_argcount] == ("tree",)}
            with self.subTest(module=module.__name__):
                self.assertTrue(rules)
                self.assertLessEqual(rules, set(tidy_test.RULES))


class Scanner(unittest.TestCase):
    def sizes(self, code):
        return [(name, lines) for name, _, lines in functions(blank(code))]

    def test_finds_functions_of_every_shape(self):
        for code, name in [
                ("void f() {\n}", "f"), ("int S::f(int a) const noexcept {\n}", "S::f"),
                ("template <class T>\nT load(const std::byte* b) {\n}", "load"),
                ("S::S(int a) : a_{a}, b_(1), c_{{1}} {\n}", "S::S"),
                ("S::~S() {\n}", "S::~S"), ("auto f() -> Result<int> {\n}", "f"),
                ("struct S final : Base {\n  int f() { return 1; }\n};", "f"),
                ("bool S::operator==(const S& o) const {\n}", "S::operator=="),
                ("TEST(Pins, Keeps) {\n}", "TEST"), ("extern \"C\" {\nint f(void) {\n}\n}", "f"),
                ("[[nodiscard]] Result<void> f(std::span<int> a = {}) {\n}", "f")]:
            with self.subTest(code=code):
                self.assertIn(name, [found for found, _ in self.sizes(code)])

    def test_counts_one_function_for_what_lies_inside_it(self):
        code = ("void f() {\n  if (x) {\n  }\n  auto g = [&](int a) {\n  };\n  S s{1};\n"
                "  char c = '{';\n  call(\"}\", {1, 2});\n}")
        self.assertEqual(self.sizes(code), [("f", 9)])

    def test_takes_no_type_or_table_for_a_function(self):
        for code in ["struct S {\n  int x = 0;\n};", "enum class E : int {\n  kA,\n};",
                     "constexpr std::array<int, 2> kTwo = {\n  1,\n  2};", "namespace a::b {\n}",
                     "template <class T, class = void>\nstruct S : std::false_type {\n};",
                     "class alignas(64) [[nodiscard]] S {\n};",
                     "constexpr Row kRows[] = {\n {f(1)},\n};"]:
            with self.subTest(code=code):
                self.assertEqual(self.sizes(code), [])

    def test_blanks_comments_and_literals_only(self):
        code = "int a = 1'000; // x\nauto s = R\"(/* \" )\"; /* y\n z */ char c = '\\''; f();"
        clean = blank(code)
        self.assertEqual(len(clean), len(code))
        self.assertIn("1'000", clean)
        self.assertIn("f();", clean)
        for gone in ("x", "y", "z", "/*"):
            self.assertNotIn(gone, clean)

    def test_splits_statements_at_namespace_scope(self):
        code = ("namespace a {\nint x;\nvoid f() { int y; }\nstruct S {\n  int z;\n} s;\n}\n"
                "int w = {1};")
        found = [statement.split("{")[0].strip() for _, statement in namespace_statements(code)]
        self.assertEqual([line for line, _ in namespace_statements(code)][0], 2)
        self.assertIn("int x", found)
        self.assertIn("int w =", found)
        self.assertNotIn("int y", found)


if __name__ == "__main__":
    unittest.main()
