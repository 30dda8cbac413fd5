#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the whole tree against the rules of CONTRIBUTING.md that a program can see.

    tests/tidy/tidy_test.py [PATH-PREFIX]...     only findings in these places

Prints file:line: message and exits with 1 when there is a finding. Each rule has a test of its own
in tidy_rules_test.py, which shows that it can fail.
"""

import pathlib
import sys

import layer_rules
import text_rules
import tree_rules
from source import load

RULES = layer_rules.RULES + text_rules.RULES + tree_rules.RULES


def check(tree):
    """All findings, by place."""
    return sorted(set(finding for rule in RULES for finding in rule(tree)))


def main():
    tree = load(pathlib.Path(__file__).resolve().parents[2])
    findings = [finding for finding in check(tree)
                if finding.path.startswith(tuple(sys.argv[1:]) or "")]
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.message}")
    print(f"tidy: {len(tree.paths)} files, {len(RULES)} groups of rules, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
