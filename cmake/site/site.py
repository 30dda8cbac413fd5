#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site.py OUT COMMAND: writes the documentation into the folder OUT, as HTML without scripts.

All Markdown files of the tree become pages, and files that they link to become pages or copies.
COMMAND, the crawlstore program, prints its manual; Doxygen, where it is installed, reads the public
headers. A link to a file that is not there ends it with exit code 1."""

import html
import os
import pathlib
import re
import shutil
import string
import subprocess
import sys
import urllib.parse

import pygments
import pygments.formatters
import pygments.lexers
from markdown_it import MarkdownIt

import headers
import reference

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
TEMPLATE = string.Template((HERE / "page.html").read_text())
VERSION = re.search(r'\n  VERSION ([\d.]+)', (SOURCE / "CMakeLists.txt").read_text())[1]
LIBRARY = "reference/library/"
LIBRARY_PAGE = LIBRARY[:-1] + ".md"
HEADERS = "libcrawlstore/include/crawlstore"
# What Doxygen writes for scripts, pictures that belong to them, and lists that nothing links to.
SCRIPTED = re.compile(r'\sonclick="[^"]*"|<img[^>]*>|<div class="(?:levels|summary)">.*?</div>',
                      re.DOTALL)
UNLINKED = re.compile(
    r'functions|globals|namespacemembers|hierarchy|classes\.|index\.|.*-members\.')
SKIPPED = {"build", "cmake", ".git"}
# Groups of the menu: a title, and patterns of its pages in their order, without their suffix.
MENU = [
    ("Guide", ["guide/embed", "guide/crawl", "guide/operate", "guide/look-inside",
               "guide/many-machines", "guide/*"]),
    ("Reference", ["reference/crawlstore", "reference/library", "reference/python",
                   "reference/*", "spec/inspector", "spec/service", "spec/json",
                   "python/README", "examples/*/README"]),
    ("Reasons", ["spec/design", "spec/papers", "spec/decisions/*"]),
    ("Format", ["spec/reading", "spec/format", "spec/container", "spec/commit", "spec/urls",
                "spec/drum", "spec/pages", "spec/events", "spec/links", "spec/scores",
                "spec/queue", "spec/frontier", "spec/values", "spec/vectors", "spec/shards",
                "spec/registry", "spec/example", "spec/glossary", "spec/*"]),
    ("Measurements", ["bench/README", "bench/*"]),
    ("Project", ["CHANGELOG", "CONTRIBUTING", "SECURITY", "*", "**/*"]),
]


class Broken(Exception):
    """A link that leads nowhere."""


def highlight(code, language):
    """Code as HTML; of a language that Pygments does not know as it is."""
    try:
        lexer = pygments.lexers.get_lexer_by_name(language)
    except pygments.util.ClassNotFound:
        return html.escape(code)
    return pygments.highlight(code, lexer, pygments.formatters.HtmlFormatter(nowrap=True))


MARKDOWN = MarkdownIt("commonmark").enable("table")
MARKDOWN.options["highlight"] = lambda code, language, _: highlight(code, language)


def slug(title, taken):
    """The anchor of a heading, as GitHub makes it."""
    name = re.sub(r'[^\w\- ]', "", title.lower()).replace(" ", "-")
    unique, count = name, 0
    while unique in taken:
        count += 1
        unique = f"{name}-{count}"
    taken.add(unique)
    return unique


def html_path(path):
    """The page of a Markdown file."""
    folder, name = os.path.split(path)
    return os.path.join(folder, "index" if name == "README.md" else name[:-3]) + ".html"


class Site:
    """All pages, and what they link to."""

    def __init__(self, out, command):
        self.out = pathlib.Path(out)
        tops = [path for path in SOURCE.iterdir() if path.name not in SKIPPED]
        files = [path for top in tops for path in (top.rglob("*.md") if top.is_dir() else [top])]
        self.texts = {path.relative_to(SOURCE).as_posix(): path.read_text()
                      for path in sorted(files) if path.suffix == ".md"}
        self.texts |= {f"reference/{name}.md": text
                       for name, text in reference.pages(SOURCE, command).items()}
        self.has_library = shutil.which("doxygen") is not None
        if self.has_library:
            self.texts[LIBRARY_PAGE] = (HERE / "library.md").read_text()
        self.titles = {path: re.search(r'(?m)^# (.*)$', text)[1].replace("`", "")
                       for path, text in self.texts.items()}
        self.titles["README.md"] = "Start"
        self.groups = self.grouped()
        self.copied = set()
        self.anchors = {}

    def grouped(self):
        """The titles of MENU with their pages, each of which stands in the first that it fits."""
        left = [path for path in self.texts if path != "README.md"]
        groups = []
        for title, patterns in MENU:
            chosen = []
            for pattern in patterns:
                fit = [path for path in left
                       if pathlib.PurePath("/" + path[:-3]).match("/" + pattern)]
                chosen += fit
                left = [path for path in left if path not in fit]
            groups.append((title, chosen))
        groups[-1][1].extend(left)
        return groups

    def menu(self, current, root, headings=()):
        """The list of all pages; the group of the current one is open, with its headings."""
        def item(path, more=""):
            here = ' aria-current="page"' if path == current else ""
            title = re.sub(r'^0*(\d+)[.:] ', r'\1. ', self.titles[path])
            return (f'<li><a href="{root}{html_path(path)}"{here}>{html.escape(title)}</a>'
                    f'{more}</li>')

        inner = "".join(f'<li><a href="#{anchor}">{html.escape(title)}</a></li>'
                        for level, title, anchor in headings if level == "h2")
        parts = [f'<ul>{item("README.md")}</ul>']
        # Doxygen writes hundreds of pages: their menu has one group.
        for title, paths in self.groups if current != LIBRARY else self.groups[1:2]:
            is_open = current in paths or (
                current in ("README.md", LIBRARY) and title in ("Guide", "Reference"))
            items = "".join(item(path, f"<ul>{inner}</ul>" if path == current and inner else "")
                            for path in paths)
            parts.append(f"<details{' open' if is_open else ''}><summary>{title}</summary>"
                         f"<ul>{items}</ul></details>")
        return "".join(parts)

    def write(self, target, title, body, menu):
        """Writes a page around its body."""
        path = self.out / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEMPLATE.substitute(root="../" * target.count("/"), title=title, menu=menu,
                                            body=body, version=VERSION))

    def target_of(self, page, href):
        """Where a link of a page leads in the site; what it names is put there."""
        address, _, anchor = href.partition("#")
        if re.match(r'[a-z]+:', href) or not address:
            return href
        name = os.path.normpath(os.path.join(os.path.dirname(page), urllib.parse.unquote(address)))
        if name in self.texts:
            target = html_path(name)
        elif name.startswith((LIBRARY, HEADERS)) and self.has_library:
            target = self.library_page(name)
        elif (SOURCE / name / "README.md").exists():
            target = html_path(os.path.join(name, "README.md"))
        elif (SOURCE / name).exists():
            target = self.copy(name)
        else:
            raise Broken(f"{page}: {href} is not there")
        back = os.path.relpath(target, os.path.dirname(html_path(page)) or ".")
        return back + ("#" + anchor if anchor else "")

    @staticmethod
    def library_page(name):
        """The page of a header, of the folder of headers, or one that Doxygen names itself."""
        if name.endswith(".h"):
            mangled = os.path.basename(name).replace("_", "__").replace(".", "_8")
            return f"{LIBRARY}{mangled}.html"
        return html_path(LIBRARY_PAGE) if name == HEADERS else name

    def copy(self, name):
        """A picture as it is; a source as a page, a folder as a page of its files' names."""
        path = SOURCE / name
        if path.suffix in (".png", ".svg"):
            if name not in self.copied:
                (self.out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, self.out / name)
                self.copied.add(name)
            return name
        target = name + ("/index.html" if path.is_dir() else ".html")
        if target in self.copied:
            return target
        self.copied.add(target)
        if path.is_dir():
            links = (f'<li><a href="{child.name}.html">{html.escape(child.name)}</a></li>'
                     for child in sorted(path.iterdir())
                     if child.is_file() and self.copy(f"{name}/{child.name}"))
            body = f"<ul>{''.join(links)}</ul>"
        else:
            lexer = {".h": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash"}.get(path.suffix)
            body = f"<pre>{highlight(path.read_text(), lexer or path.suffix[1:])}</pre>"
        title = html.escape(name)
        self.write(target, title, f"<h1>{title}</h1>{body}",
                   self.menu(None, "../" * target.count("/")))
        return target

    def render(self, page):
        """Writes the page of a Markdown file."""
        tokens = MARKDOWN.parse(self.texts[page])
        taken, headings = set(), []
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                title = "".join(part.content for part in tokens[index + 1].children)
                token.attrs["id"] = slug(title, taken)
                headings.append((token.tag, title, token.attrs["id"]))
            for part in token.children or ():
                for key in ("href", "src"):
                    if key in part.attrs:
                        part.attrs[key] = self.target_of(page, part.attrs[key])
        self.anchors[page] = taken
        body = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
        target = html_path(page)
        self.write(target, html.escape(self.titles[page]), body,
                   self.menu(page, "../" * target.count("/"), headings))

    def doxygen(self):
        """Writes the reference of the library; returns the warnings of Doxygen."""
        folder = self.out / LIBRARY
        folder.mkdir(parents=True)
        root = "../" * LIBRARY.count("/")
        frame = TEMPLATE.substitute(root=root, title="$title", body="<!-- body -->",
                                    menu=self.menu(LIBRARY, root), version=VERSION)
        inputs = self.out / "inputs"
        for path in (SOURCE / "libcrawlstore/include").rglob("*.h*"):
            copy = inputs / path.relative_to(SOURCE / "libcrawlstore/include")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text("\n".join(headers.filtered(path.read_text())) + "\n")
        for name, part in zip(("header.html", "footer.html"), frame.split("<!-- body -->")):
            (inputs / name).write_text(part)
        done = subprocess.run(
            ["doxygen", "-"], cwd=inputs, text=True, capture_output=True, check=True,
            input=(HERE / "Doxyfile").read_text() +
            f"\nOUTPUT_DIRECTORY = {folder.parent.resolve()}\n")
        shutil.rmtree(inputs)
        for path in folder.iterdir():
            if path.suffix != ".html" or UNLINKED.match(path.name):
                path.unlink()
            else:
                text = SCRIPTED.sub("", path.read_text())
                path.write_text(re.sub(r'\b(spec/[\w/]+\.md)(?:#([\w-]+))?', self.named, text))
        return done.stderr

    def named(self, match):
        """A document that a comment names, as a link; its section may be on another page now."""
        page, anchor = match.groups()
        if page not in self.texts:
            return match[0]
        pages = [page, *(path for path in self.texts if path.startswith("spec/"))]
        page = next((path for path in pages if anchor in self.anchors[path]), page)
        anchor = f"#{anchor}" if anchor in self.anchors[page] else ""
        root = "../" * LIBRARY.count("/")
        return f'<a href="{root}{html_path(page)}{anchor}">{match[0]}</a>'

    def make(self):
        """Writes all pages."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        styles = [f"@media (prefers-color-scheme: {scheme}) {{\n"
                  f"{pygments.formatters.HtmlFormatter(style=style).get_style_defs('pre')}\n}}\n"
                  for scheme, style in (("light", "default"), ("dark", "github-dark"))]
        (self.out / "site.css").write_text((HERE / "site.css").read_text() + "".join(styles))
        for page in self.texts:
            self.render(page)
        warnings = self.doxygen() if self.has_library else ""
        print(warnings, file=sys.stderr, end="")
        if not self.has_library:
            print("doxygen is not installed: the site has no reference of the library")


if __name__ == "__main__":
    try:
        Site(sys.argv[1], sys.argv[2]).make()
    except Broken as broken:
        sys.exit(str(broken))
