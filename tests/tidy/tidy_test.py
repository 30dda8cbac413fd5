#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the whole tree against the rules of CONTRIBUTING.md that a program can see.

    tests/tidy/tidy_test.py [PATH-PREFIX]...     only findings in these places
    tests/tidy/tidy_test.py --lower              lowers limits.txt to the figures of today, first

Prints file:line: message and exits with 1 when there is a finding. Each rule has a test of its own
in tidy_rules_test.py, which shows that it can fail.
"""

import pathlib
import sys

import comment_rules
import commit_rules
import layer_rules
import name_rules
import ratchet_rules
import sentence_rules
import text_rules
import tree_rules
from source import load

MODULES = [comment_rules, commit_rules, layer_rules, name_rules, ratchet_rules, sentence_rules,
           text_rules, tree_rules]
RULES = [rule for module in MODULES for rule in module.RULES]


def check(tree):
    """All findings, by place."""
    return sorted(set(finding for rule in RULES for finding in rule(tree)))


def lower(root, tree):
    """Writes limits.txt anew, and reads it again."""
    text = ratchet_rules.lowered(tree)
    pathlib.Path(root, ratchet_rules.LIMITS).write_text(text, encoding="ascii")
    tree.texts[ratchet_rules.LIMITS] = text


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    tree, unchecked = load(root), ""
    try:
        tree.commits = commit_rules.read_commits(root)
    except commit_rules.NotChecked as why:
        unchecked = f"; commits not checked: {why}"
    places = [word for word in sys.argv[1:] if word != "--lower"]
    if "--lower" in sys.argv[1:]:
        lower(root, tree)
    findings = [finding for finding in check(tree) if finding.path.startswith(tuple(places) or "")]
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.message}")
    print(f"tidy: {comment_rules.told(comment_rules.counted(tree))}")
    print(f"tidy: {len(tree.paths)} files, {len(tree.commits)} commits, {len(RULES)} groups of "
          f"rules, {len(findings)} findings{unchecked}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
