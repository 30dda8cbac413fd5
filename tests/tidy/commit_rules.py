# SPDX-License-Identifier: Apache-2.0
"""Messages of commits, and limits that they raise (CONTRIBUTING.md, "Commits").

Git is asked for the commits after START that were made since; START moves to each release. Where
git cannot tell, in a shallow clone or without git, tidy says so instead.
"""

import collections
import re

from ratchet_rules import LIMITS, parse_limits
from source import Finding, git

START = "be63692f5f5a3508f1b6e7e6afe176529d97967b"

# name: as much of its hash as people read; limits: the text of limits.txt, and before: its texts in
# all parents, where the commit changes it; None and () otherwise, so that work from before there
# were limits can be merged. No message: START is lost.
Commit = collections.namedtuple("Commit", "name is_merge message limits before",
                                defaults=(False, "", None, ()))


class NotChecked(Exception):
    """Why git cannot tell."""


def read_commits(root, start=START):
    """The Commits after `start`, newest first."""
    top = git(root, "rev-parse", "--show-prefix", "HEAD")
    if top is None or top.split("\n")[0]:
        raise NotChecked("this is no clone of git")
    is_shallow = (git(root, "rev-parse", "--is-shallow-repository") or "").strip() == "true"
    if git(root, "merge-base", "--is-ancestor", start, "HEAD") is None:
        if is_shallow:
            raise NotChecked("this clone is too shallow")
        return [Commit(start[:12], message=None)]
    since = int(git(root, "show", "-s", "--format=%ct", start))
    changed = set((git(root, "log", "--full-history", "--format=%H", f"{start}..HEAD", "--",
                       LIMITS) or "").split())
    commits = []
    for entry in git(root, "log", "--format=%H%n%P%n%ct%n%B%x00", f"{start}..HEAD").split("\0"):
        if not entry.strip():
            continue
        name, parents, time, message = entry.lstrip("\n").split("\n", 3)
        # A commit without parents ends a shallow clone, and may be a merge.
        if int(time) < since or not parents:
            continue
        texts = [git(root, "show", f"{commit}:{LIMITS}") if name in changed else None
                 for commit in (name, *parents.split())]
        commits.append(Commit(name[:12], " " in parents, message, texts[0],
                              () if None in texts else tuple(texts[1:])))
    return commits


def has_line(message, word):
    return re.search(rf'^{word}: *\S', message, re.MULTILINE) is not None


def check_message(commit):
    """The subject, the body and the last paragraph of a message."""
    subject, *body = re.split(r'\n\s*\n', commit.message.strip())
    if len(subject) > 72 or "\n" in subject:
        yield f"the subject has {len(subject)} characters, at most 72: {subject[:40]}..."
    if not body or not has_line(body[-1], "Test"):
        yield f"the last paragraph says what was run, 'Test: ...': {subject[:72]}"
    if not re.match(r'(?!Test:)\S', "\n".join(body)):
        yield f"a body says why: {subject[:72]}"


def check_raised(commit):
    """Checks the changes that a commit makes to the limits. A merge may take the larger limit of
    its parents."""
    if commit.limits is None or not commit.before:
        return
    before = {}
    for text in commit.before:
        for key, limit in parse_limits(text)[0].items():
            before[key] = tuple(map(max, limit, before.get(key, limit)))
    for key, limit in parse_limits(commit.limits)[0].items():
        kind = key.split()[0]
        is_raised = key in before and any(map(int.__gt__, limit, before[key]))
        if is_raised and kind == "class":
            yield f"raises {key} to {' '.join(map(str, limit))}: a class's limits only fall"
        elif (is_raised or (key not in before and kind != "lines")) and not has_line(
                commit.message, "Limits"):
            yield f"raises {key} to {limit[0]}: a line 'Limits: ...' of the message says why"


def check_commits(tree):
    """Each commit has a subject, a body and a test, and says why it raises limits."""
    for commit in tree.commits:
        if commit.message is None:
            yield Finding("tests/tidy/commit_rules.py", 1, "START is no ancestor of HEAD")
            continue
        for message in (*(check_message(commit) if not commit.is_merge else ()),
                        *check_raised(commit)):
            yield Finding(f"commit {commit.name}", 0, message)


RULES = [check_commits]
