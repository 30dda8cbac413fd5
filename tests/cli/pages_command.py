# SPDX-License-Identifier: Apache-2.0
"""The shared parts of the tests of pages and links on the command line."""

import json
import re
import shutil
import subprocess

import command

DATA = command.SOURCE.parent / "shared/data"
NO_PAGES = r"the store has no page database `pages`; `crawlstore import FILE --format urls\|edges"


def named(url):
    """A URL as JSON carries it."""
    try:
        return {"url": url.decode("utf-8")}
    except UnicodeDecodeError:
        return {"url_hex": url.hex()}


def url_in(named_page):
    if "url_hex" in named_page:
        return bytes.fromhex(named_page["url_hex"])
    return named_page["url"].encode()


def json_line(event):
    """An event of the model as a line, in one of the ways that it may be written."""
    row = {**{key: value for key, value in event.items() if key not in ("url", "links")},
           **named(event["url"])}
    if "content_hash" in row:
        row["content_hash"] = row["content_hash"].hex()
    if "links" in event:
        row["links"] = [{**named(url), "score": score} if score or "url_hex" in named(url)
                        else url.decode() for url, score in event["links"]]
    return json.dumps(row, ensure_ascii=event["time"] % 2 == 0).encode() + b"\n"


def lines_of(name):
    """Lines of a compressed file of ../shared/data; empty where it is not there."""
    path = DATA / name
    if not path.exists() or not shutil.which("zstd"):
        return []
    return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE,
                          check=True).stdout.split(b"\n")


class PagesTest(command.CommandTest):
    def need_turn(self, turn, turns):
        """Skips what takes long under sanitizers unless the seed, or the long run, wants it."""
        if command.IS_SANITIZED and not command.IS_LONG and command.SEED % turns != turn:
            self.skipTest(f"runs where CRAWLSTORE_TEST_SEED % {turns} is {turn}")

    def load(self, data, form, *words, name="x.crawl"):
        return self.succeed("import", name, "--format", form, "-", *words, data=data)

    def counts(self, answer):
        return {name: int(value.replace(",", "")) for name, value in
                re.findall(r"(?m)^(\w+) +([\d,]+)$", answer.out.decode())}

    def export(self, form, *words, name="x.crawl", code=0):
        answer = self.run_command("export", name, "--format", form, *words)
        self.assertEqual(answer.code, code, answer.err)
        return answer.out

    def rows(self, *words, name="x.crawl"):
        return json.loads(self.succeed("pages", name, "--json", *words).out)["pages"]

    def edges(self, name="x.crawl", code=0):
        lines = self.export("edges", name=name, code=code).split(b"\n")
        self.assertEqual(lines.pop(), b"")
        found = [tuple(line.split(b"\t")) for line in lines]
        self.assertEqual(len(set(found)), len(found))
        return set(found)

    def info(self, name="x.crawl"):
        return json.loads(self.succeed("info", name, "--json").out)
