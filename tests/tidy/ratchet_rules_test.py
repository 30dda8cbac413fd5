# SPDX-License-Identifier: Apache-2.0
"""Tests of what counts and of what asks git; they run as part of tidy_rules_test.py."""

import pathlib
import subprocess
import tempfile
import unittest

import commit_rules
import ratchet_rules
from class_counts import classes
from commit_rules import Commit
from rule_case import API, LIB, RuleCase
from source import Tree, load


class Classes(unittest.TestCase):
    def members(self, body):
        found = classes(Tree({"format/a.h": f"class A final : public B<C> {{\n{body}\n}};\n"}))
        return found["format", "A"].members

    def test_counts_each_member_once(self):
        for body in ["int a = 1;", "int a_{1};", "std::map<int, int> a;", "alignas(64) int a;",
                     "std::function<void(int, int)> f;", "void (*f)(int, int);", "T a[2];",
                     "std::array<int, size(1, 2)> a = {f(1, 2), 3};", "void f(int a, int b);",
                     "std::uint8_t a : 3;", "const A* a = &g();", "F f = [this](int a) { g(); };",
                     "bool operator==(const A& o) const { return true; }", "T& operator*();",
                     "template <class T, int N = 2>\n[[nodiscard]] auto f(T t) -> R<T>;",
                     "public:\n  explicit A(int a) : a_(&a), b_{1, 2} {\n  }", "~A() override;",
                     "virtual R<int> f(std::span<int> a = {}) = 0;", "static A f() { g(); }",
                     "// f();\nint a;  // b;", "explicit operator bool() const;"]:
            with self.subTest(body=body):
                self.assertEqual(self.members(body), 1)
        self.assertEqual(self.members("int a, b = f(1, 2), c{1, 2};\nvoid f();\nvoid f(int);"), 5)

    def test_counts_nothing_that_is_no_member(self):
        for body in ["A(const A&) = delete;", "A& operator=(A&&) = default;", "struct B;",
                     "enum class E : int { kA, kB };", "using T = int;", "friend class B;",
                     "friend bool operator==(const A&, const A&);", "static constexpr int kA = 1;",
                     "struct B {\n  int a;\n  void f() { g(); }\n};", "private:",
                     "static_assert(sizeof(int) == 4);",
                     "template <class T>\nclass B;", "#define X int a;"]:
            with self.subTest(body=body):
                self.assertEqual(self.members(body), 0)

    def test_knows_the_files_of_a_class(self):
        one, two = LIB + "drum/", LIB + "pages/"
        found = classes(Tree({
            API + "a.h": "class A {\n struct Impl;\n void f();\n};\n",
            one + "a.h": "struct A::Impl : Base {\n int a;\n};\nstruct Own {\n void f();\n};\n",
            two + "own.h": "struct Own {};\n", one + "b.cpp": "namespace {\nclass In {};\n}\n",
            one + "a.cpp": "void A::f() {\n B::g();\n}\nvoid Own::f() {}\nR<f()> A::Impl::h() {}\n",
            one + "c.cpp": "space::A::Impl::Impl(int a) : b_(a) {\n}\nA::~A() {}\n"}))
        files = {key[1]: value.files for key, value in found.items() if key[0] != LIB + "pages"}
        self.assertEqual(files, {"A": 2, "A::Impl": 2, "Own": 1, "In": 1})
        self.assertEqual(found[LIB + "pages", "Own"].files, 0)

    def test_misses_what_it_says_that_it_misses(self):
        self.assertEqual(self.members("CRAWLSTORE_FIELDS(a, b)"), 1)
        found = classes(Tree({"format/a.h": "template <class T>\nclass A {};\n",
                              "format/a.cpp": "template <class T>\nvoid A<T>::f() {}\n"}))
        self.assertEqual(found["format", "A"].files, 1)


class Ratchets(RuleCase):
    LINES = {"format/a.cpp": "int a;\n" * 120}

    def limited(self, rows, texts):
        return {**texts, ratchet_rules.LIMITS: rows}

    def test_lines(self):
        rule = ratchet_rules.check_limits
        self.bad(rule, "format is new: write 'lines format 200'", self.LINES)
        self.bad(rule, "120 lines, at most 100", self.limited("lines format 100\n", self.LINES))
        self.bad(rule, "fallen to 120", self.limited("lines format 400\n", self.LINES))
        self.bad(rule, "lines io is no more",
                 self.limited("lines format 200\nlines io 100\n", self.LINES))
        for row in ("lines format 1000x", "lines format 200 1", "members format 200"):
            self.bad(rule, "is no row", self.limited(f"lines format 200\n{row}\n", self.LINES))
        self.good(rule, self.limited("# why\n\nlines format 200\n", self.LINES))
        self.good(rule, {"model/a.cpp": "int a;\n" * 120})

    def test_classes(self):
        rule, rows = ratchet_rules.check_limits, "lines format 100\n"
        large = {"format/a.h": "class A {\n" + "int a;\n" * 31 + "};\n"}
        spread = {"format/a.h": "class A {};\n", **{
            f"format/{name}.cpp": f"void A::{name}() {{}}\n" for name in "abc"}}
        self.bad(rule, "31 members in 0 .cpp files, at most 30 in 2", self.limited(rows, large))
        self.bad(rule, "0 members in 3 .cpp files", self.limited(rows, spread))
        self.good(rule, self.limited(rows + "class format A 31 0\n", large))
        self.good(rule, self.limited(rows + "class format A 0 3\n", spread))
        self.bad(rule, "at most 0 in 2", self.limited(rows + "class format A 0 2\n", spread))
        self.bad(rule, "fallen to 31 0", self.limited(rows + "class format A 32 0\n", large))
        self.bad(rule, "is no more", self.limited(rows + "class format B 32 0\n",
                                                  {"format/a.h": "class A {};\n"}))

    def test_openings_of_comments(self):
        rule = ratchet_rules.check_limits
        for word in ("What it is.", "Of the runs, the last.", "Who waits.", "Is it?", "True: so."):
            for comment in (f"// {word}", f"int a;  /// {word}", f"  /// {word}\n  /// Of it."):
                self.bad(rule, "model: 1 comments open with", {"model/a.h": f"{comment}\nint b;\n"})
        for comment in ("// Returns a.", "// Returns\n// What is.", "// Does nothing.",
                        "// Official.", "int a = \"// What\";", "int a;  // of the runs",
                        "// It is. Who? We."):
            self.good(rule, {"model/a.h": comment + "\n"})
        two = {"model/a.h": "// What a.\nint a;\n// What b.\n"}
        self.bad(rule, "model: 2 comments", self.limited("comments model 1\n", two))
        self.bad(rule, "fallen to 2", self.limited("comments model 8\n", two))
        self.good(rule, self.limited("comments model 7\n", two))

    def test_lowering_raises_nothing(self):
        text = {**self.LINES, "format/b.h": "// What a.\nclass A {};\n"}
        rows = "# why\nlines format 100\ncomments format 9\nclass format A 40 1\nlines io 1\n"
        tree = Tree(self.limited(rows, text))
        self.assertEqual(ratchet_rules.lowered(tree),
                         "# why\nlines format 100\ncomments format 1\n")


class Commits(unittest.TestCase):
    GOOD = "Keep a\n\nIt was lost.\n\nTest: all\n"

    def found(self, *words, **more):
        return [finding.message for finding in commit_rules.check_commits(
            Tree({}, commits=[Commit("abc", *words, **more)]))]

    def test_messages(self):
        for message, words in [
                ("K" * 73 + self.GOOD[6:], "73 characters"), ("Keep a\n\nTest: all\n", "a body"),
                ("Keep a\n\nIt was lost.\n", "last paragraph"), ("Keep a\n", "last paragraph"),
                ("Keep a\nand b\n\nIt was.\n\nTest: all\n", "the subject"),
                ("Keep a\n\nTest: all\n\nIt was lost.\n", "last paragraph"),
                ("Keep a\n\nIt was lost.\n\nTest:\n", "last paragraph")]:
            with self.subTest(message=message):
                self.assertIn(words, "\n".join(self.found(False, message)))
        for message in (self.GOOD, "K" * 72 + self.GOOD[6:], "Keep a\n\nLost.\nTest: a,\nb\n"):
            self.assertEqual(self.found(False, message), [])
        self.assertEqual(self.found(True, "Merge branch 'main'\n"), [])
        self.assertEqual(len(self.found(False, None)), 1)

    def test_raised_limits(self):
        reason = self.GOOD.replace("Test", "Limits: two files more\n\nTest")
        before = "lines format 100\nclass format A 40 2\n"
        grown, large = before.replace("100", "200"), before.replace("40 2", "39 3")
        self.assertIn("raises lines", self.found(False, self.GOOD, grown, (before,))[0])
        self.assertIn("raises lines", self.found(True, "Merge", grown, (before, before))[0])
        for message in (self.GOOD, reason):
            self.assertIn("only fall", self.found(False, message, large, (before,))[0])
        for row in ("comments format 3\n", "class format B 31 1\n"):
            self.assertEqual(len(self.found(False, self.GOOD, before + row, (before,))), 1)
            self.assertEqual(self.found(False, reason, before + row, (before,)), [])
        for message, limits, parents in [
                (reason, grown, (before,)), (self.GOOD, before, (grown,)), (self.GOOD, grown, ()),
                (self.GOOD, before + "lines io 900\n", (before,)),
                (self.GOOD, grown, (before, grown))]:
            self.assertEqual(self.found(False, message, limits, parents), [])

    def test_reads_them_from_git(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two = pathlib.Path(folder, "one"), pathlib.Path(folder, "two")
            (one / "tests/tidy").mkdir(parents=True)

            def run(*words):
                return subprocess.run(
                    ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=one,
                    check=True, stdout=subprocess.PIPE).stdout.decode().strip()

            def commit(limit, message):
                (one / ratchet_rules.LIMITS).write_text(f"lines format {limit}\n", encoding="ascii")
                run("add", "-A")
                run("commit", "-q", "--no-verify", "-m", message)
                return run("rev-parse", "HEAD")

            (one / "build").mkdir()
            (one / "build/a.h").touch()
            (one / "b.h").touch()
            with self.assertRaises(commit_rules.NotChecked):
                commit_rules.read_commits(one)
            self.assertEqual(load(one).paths, ["b.h"])
            (one / "b.h").unlink()
            (one / "build/a.h").unlink()
            run("init", "-q")
            start = commit(100, "Start")
            self.assertEqual(commit_rules.read_commits(one, start), [])
            name = commit(200, "Grow")
            self.assertEqual(commit_rules.read_commits(one, start), [Commit(
                name[:12], False, "Grow\n", "lines format 200\n", ("lines format 100\n",))])
            self.assertIsNone(commit_rules.read_commits(one, "0" * 40)[0].message)
            run("clone", "-q", "--depth", "1", f"file://{one}", str(two))
            with self.assertRaises(commit_rules.NotChecked):
                commit_rules.read_commits(two, start)
            self.assertEqual(load(two).paths, [ratchet_rules.LIMITS])
