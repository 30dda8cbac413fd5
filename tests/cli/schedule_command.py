# SPDX-License-Identifier: Apache-2.0
"""For tests of `crawlstore schedule`."""

import json

from pages_command import PagesTest


class ScheduleTest(PagesTest):
    def schedule(self, *words, code=0):
        answer = self.run_command("schedule", "x.crawl", "--json", *words)
        self.assertEqual(answer.code, code, answer.err)
        return json.loads(answer.out)

    def take(self, *words):
        """{URL: (ID, host)}"""
        answer = self.run_command("take", "x.crawl", *words)
        self.assertEqual(answer.code, 0 if answer.out else 1, answer.err)
        rows = [line.split("\t") for line in answer.out.decode().splitlines()]
        return {url: (item, host) for item, host, url in rows}

    def add(self, events):
        text = "\n".join(json.dumps(event) for event in events)
        self.run_checked("import", "x.crawl", "-", "--format", "jsonl", data=text.encode())

    def json(self, *words):
        return json.loads(self.succeed(*words, "--json").out)

    def run_checked(self, *words, data=b""):
        answer = self.run_command(*words, data=data)
        self.assertEqual(answer.code, 0, answer.err)
        return answer
