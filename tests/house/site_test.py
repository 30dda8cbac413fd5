# SPDX-License-Identifier: Apache-2.0
"""site_test.py COMMAND: the documentation site is whole: each link leads to a page and a place in
it, nothing is a script, each verb of the command has a section, and Doxygen warns of nothing."""

import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="crawlstore-site-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.made = subprocess.run(
            [sys.executable, "-B", SOURCE / "cmake/site/site.py", cls.folder / "html", COMMAND],
            text=True, capture_output=True, check=False)
        if cls.made.returncode != 0:
            raise AssertionError(cls.made.stdout + cls.made.stderr)
        print(cls.made.stdout, end="")
        cls.pages = {path.relative_to(cls.folder / "html").as_posix(): path.read_text()
                     for path in (cls.folder / "html").rglob("*.html")}

    def test_doxygen_warns_of_nothing(self):
        self.assertEqual(self.made.stderr, "")
        self.assertEqual("reference/library/files.html" in self.pages,
                         shutil.which("doxygen") is not None)

    def test_each_link_leads_somewhere(self):
        anchors = {path: {html.unescape(name) for name in
                          re.findall(r'\s(?:id|name)="([^"]*)"', text)}
                   for path, text in self.pages.items()}
        broken = set()
        for page, text in self.pages.items():
            for link in set(re.findall(r'\s(?:href|src)="([^"]*)"', text)):
                address, _, anchor = html.unescape(link).partition("#")
                if re.match(r'[a-z]+:', address):
                    continue
                path = (self.folder / "html" / page).parent / urllib.parse.unquote(address)
                target = path if address else self.folder / "html" / page
                name = target.resolve().relative_to(self.folder.resolve() / "html").as_posix()
                if not target.is_file() or anchor and anchor not in anchors[name]:
                    broken.add((page, link))
        self.assertEqual(broken, set())
        self.assertGreater(len(self.pages), 60)

    def test_nothing_is_a_script_or_comes_from_elsewhere(self):
        for page, text in self.pages.items():
            with self.subTest(page):
                self.assertNotRegex(text, r'(?i)<script|\son\w+="|javascript:')
                self.assertNotRegex(text, r'(?i)<(?:img|link|iframe)[^>]*(?:href|src)="[a-z]+:')

    def test_each_verb_has_its_section(self):
        told = subprocess.run([COMMAND, "--help"], text=True, capture_output=True, check=True)
        verbs = re.findall(r'(?m)^  (\w+)  ', re.split("Subcommands:|Exit codes:", told.stdout)[1])
        self.assertIn("verify", verbs)
        sections = re.findall(r'<h2 id="([^"]*)"', self.pages["reference/crawlstore.html"])
        self.assertLessEqual(set(verbs), set(sections))

    def test_each_document_is_in_the_menu(self):
        menu = self.pages["index.html"].partition("<main>")[0]
        for folder in ("guide", "spec", "spec/decisions"):
            for path in (SOURCE / folder).glob("*.md"):
                self.assertIn(f'href="{folder}/{path.stem}.html"', menu)

    def test_names_no_folder_of_this_machine(self):
        for page, text in self.pages.items():
            self.assertNotIn(str(SOURCE), text, page)
            self.assertNotIn(str(self.folder), text, page)


if __name__ == "__main__":
    try:
        import markdown_it  # noqa: F401
    except ImportError:
        print("skipped: without python3-markdown-it; ./run-tests installs the packages")
        sys.exit(77)
    COMMAND = sys.argv.pop(1)
    unittest.main()
