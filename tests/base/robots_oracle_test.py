# SPDX-License-Identifier: Apache-2.0
"""robots_oracle_test.py BIN_DIR: RobotsRules answers as Protego, the parser of Scrapy, does.

Protego differs from RFC 9309, so the random files and paths here have none of these:
- names of crawlers that contain each other, or that a version follows: Protego looks for the name
  in a file anywhere in the name of the crawler, the RFC compares product tokens;
- other lines between names and the first rule: they end a group of Protego, and none of the RFC's;
- misspelt keywords, rules without a colon, patterns without "/": Protego guesses;
- patterns that begin with "*": Protego puts "/" before them and counts it;
- "$" in the middle of a pattern or in a path, where Protego counts three octets and, for a last
  "$", adds a rule that ends with the byte; and "$" after a query, before which Protego puts it;
- "/index.html" at the end of an allowed pattern, which Protego reads as "/", too;
- reserved bytes but for "/", "?", "=" and "*": Protego takes them and their escapes for the same;
- escapes and bytes beyond ASCII in queries, which Protego leaves as they are;
- a "?" with nothing after it, ";" and "//" in front, which its parser of URLs takes apart;
- a lone "%", "/robots.txt", a BOM, and line ends other than CR and LF;
- more than one Crawl-delay, of which Protego takes the last, and those that are out of bounds."""

import json
import os
import pathlib
import random
import subprocess
import sys
import unittest

import protego

TOOL = pathlib.Path(sys.argv.pop(1)).resolve() / "robots_answers"
SEED = os.environ.get("CRAWLSTORE_TEST_SEED", "1")
FILES, PATHS = 2000, 20
NAMES = ["alpha", "be-ta", "gam_ma", "*"]
PIECES = ["a", "b", "ab", "/", "/", ".", "-", "~", "%61", "%7e", "%2F", "%2f", "%2A", "\u00fc",
          "%C3%BC", "%c3%bc", "\u6f22", " ", "{", "%7B"]
QUERY = ["a", "b", "=", "a=b", "?", "/", "-"]


class Files:
    def __init__(self):
        self.random = random.Random(f"robots {SEED}")

    def some(self, pieces, most):
        return "".join(self.random.choices(pieces, k=self.random.randint(0, most)))

    def path(self, stars, stars_in_query):
        path = "/" + self.some(PIECES + ["*"] * stars, 5).lstrip("/").rstrip()
        if self.random.random() < 0.3:
            path += "?" + self.some(QUERY + ["*"] * stars_in_query, 3) + "a"
        return path

    def rule(self):
        keyword = self.random.choice(["Allow", "Disallow", "allow", "DISALLOW"])
        pattern = self.path(4, 4)
        pattern += self.random.choice(["", "", "*", "$" if "?" not in pattern else ""])
        if self.random.random() < 0.1:
            pattern = ""
        return f"{keyword}:{self.random.choice(['', ' ', '  '])}{pattern}"

    def group(self, delay):
        names = self.random.choices(NAMES, k=self.random.randint(1, 2))
        other = ["", "# a comment: x", "Unknown: /", "nonsense", "Sitemap: http://a.test/s"]
        lines = [self.rule() for _ in range(self.random.randint(1, 5))]
        lines += self.random.choices(other, k=self.random.randint(0, 2)) + delay
        self.random.shuffle(lines)
        cased = [self.random.choice([str.lower, str.upper])(name) for name in names]
        return [f"User-agent: {name}" for name in cased] + lines

    def text(self):
        count = self.random.randint(0, 4)
        delayed = self.random.randint(0, 2 * count)
        lines = []
        for index in range(count):
            delay = self.random.choice(["0", "1", "2.5", "x", "86400", "0.001"])
            lines += self.group([f"Crawl-delay: {delay}"] if index == delayed else [])
        end = self.random.choice(["\n", "\r", "\r\n"])
        return "".join(line + self.random.choice(["", " ", " # x"]) + end for line in lines)


class Oracle(unittest.TestCase):
    def test_answers_as_protego_does(self):
        files = Files()
        asked = [{"text": files.text(), "agent": files.random.choice(NAMES[:3] + ["other"]),
                  "paths": [files.path(1, 0) for _ in range(PATHS)]} for _ in range(FILES)]
        lines = "".join(json.dumps(question) + "\n" for question in asked)
        done = subprocess.run([TOOL], input=lines.encode(), capture_output=True, timeout=300,
                              check=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(answers), FILES)
        denied_count = 0
        for question, answer in zip(asked, answers):
            text, agent, paths = question.values()
            other = protego.Protego.parse(text)
            said = f"seed {SEED}, for {agent}:\n{text}"
            expected = {path: other.can_fetch(path, agent) for path in paths}
            self.assertEqual(dict(zip(paths, answer["allowed"])), expected, said)
            self.assertEqual(answer["sitemaps"], list(other.sitemaps), said)
            delay = other.crawl_delay(agent)
            self.assertEqual(answer["delay_ms"], delay and round(delay * 1000), said)
            denied_count += list(expected.values()).count(False)
        self.assertGreater(denied_count, FILES * PATHS // 20)
        self.assertLess(denied_count, FILES * PATHS // 2)


if __name__ == "__main__":
    unittest.main()
