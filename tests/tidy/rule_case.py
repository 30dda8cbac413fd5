# SPDX-License-Identifier: Apache-2.0
"""The shared parts of the tests of rules: a case is a small tree of files."""

import unittest

from source import Tree

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"
LIB = "libcrawlstore/src/"
API = "libcrawlstore/include/crawlstore/"


def messages(rule, texts, paths=()):
    return [finding.message for finding in rule(Tree(texts, paths))]


class RuleCase(unittest.TestCase):
    def bad(self, rule, words, texts, paths=()):
        found = messages(rule, texts, paths)
        self.assertTrue(found, f"no finding in {texts}")
        self.assertTrue(all(words in message for message in found), found)

    def good(self, rule, texts, paths=()):
        self.assertEqual(messages(rule, texts, paths), [])
