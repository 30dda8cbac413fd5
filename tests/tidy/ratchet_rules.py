# SPDX-License-Identifier: Apache-2.0
"""Figures that may fall and not rise: limits.txt has today's. A figure above its limit is a
finding, and so is a limit that has become too generous, so that what was gained stays:
`tidy_test.py --lower` writes lower limits. The reasons that may raise one are in commit_rules.py.

    lines FOLDER LIMIT             lines of the engine's C++ in a folder, rounded up to hundreds
    comments FOLDER LIMIT          comments that open with a word of OPENING
    class FOLDER NAME LIMIT LIMIT  members and .cpp files of a class (class_counts.py) that has more
                                   than MEMBERS_MAX or FILES_MAX; no other class may
"""

import collections
import re

from class_counts import classes, folder_of
from source import LIBRARY, Finding

LIMITS = "tests/tidy/limits.txt"
ROW = re.compile(r'((?:lines|comments) \S+|class \S+ \S+)((?: \d+)+)')
MEMBERS_MAX, FILES_MAX = 30, 2
# How far a figure may lie below its limit.
SLACK = {"lines": 200, "comments": 5, "class": 0}
# Openings of a question or of half a sentence: "Of the runs, the last" for "The last run".
OPENING = re.compile(r'(?:What|Who|Whoever|Whose|Whom|Which|Why|How|Where|Of|As|So|True|False'
                     r'|Is|Are|Was|Were|Does(?! nothing| not| so| the same| what)|Do|Did'
                     r'|Has|Have|Had|May|Can|Could|Should|Would)\b')
COMMENT = re.compile(r'(.*?)//+!?<? ?(.*)')


def parse_limits(text):
    """kind and place -> limits, of a text like limits.txt; and (line, text) of what is no row."""
    limits, wrong = {}, []
    for number, line in enumerate(text.split("\n"), 1):
        row = ROW.fullmatch(line)
        limit = tuple(map(int, row[2].split())) if row else ()
        if row and row[1] not in limits and len(limit) == (2 if line.startswith("class") else 1):
            limits[row[1]] = limit
        elif line and not line.startswith("#"):
            wrong.append((number, line))
    return limits, wrong


def opening_comments(tree, path):
    """(line, text) of the first line of each comment, also of one that follows code."""
    bare, goes_on = tree.code(path).split("\n"), False
    for number, (line, code) in enumerate(zip(tree.texts[path].split("\n"), bare), 1):
        # In the blanked code a comment is spaces, and a literal keeps its quotes.
        found = COMMENT.match(line, len(code.rstrip()))
        if found and not goes_on:
            yield number, found[2]
        goes_on = found is not None and (goes_on or not code.strip())


def comment_folder(path):
    return folder_of(path) or path.split("/")[0]


def figures(tree):
    """kind and place -> (figures, path, line) of all that can have a limit."""
    lines, openings, first, found = collections.Counter(), collections.Counter(), {}, {}
    for path, text in tree.cxx():
        if path.startswith(LIBRARY):
            lines[folder_of(path)] += text.count("\n")
        for line, comment in opening_comments(tree, path):
            if OPENING.match(comment):
                openings[comment_folder(path)] += 1
                first[comment_folder(path)] = path, line
    for folder, count in lines.items():
        found[f"lines {folder}"] = (count,), folder, 0
    for folder, count in openings.items():
        found[f"comments {folder}"] = (count,), *first[folder]
    for (folder, name), value in classes(tree).items():
        found[f"class {folder} {name}"] = value[:2], value.path, value.line
    return found


def is_large(figure):
    return figure[0] > MEMBERS_MAX or figure[1] > FILES_MAX


def limit_for(key, figure):
    """The row that a figure gets when it is written anew; None if it needs none."""
    kind = key.split()[0]
    if kind == "lines":
        return (-(-figure[0] // 100) * 100,)
    return None if kind == "class" and not is_large(figure) or figure == (0,) else figure


def told(key, figure):
    kind = key.split()[0]
    return (f"{figure[0]} members in {figure[1]} .cpp files" if kind == "class"
            else f"{figure[0]} lines" if kind == "lines"
            else f"{figure[0]} comments open with What, Of, Who, As, a question")


def check_limits(tree):
    """No figure is above its limit, and no limit far above its figure."""
    limits, wrong = parse_limits(tree.texts.get(LIMITS, ""))
    for line, text in wrong:
        yield Finding(LIMITS, line, f"is no row, or one that is there already: {text}")
    found = figures(tree)
    for key, (figure, path, line) in found.items():
        kind, place = key.split(" ", 1)
        usual = {"lines": None, "comments": (0,), "class": (MEMBERS_MAX, FILES_MAX)}[kind]
        limit = limits.get(key, usual)
        if limit is None:
            yield Finding(path, line, f"{place} is new: write 'lines {place} "
                          f"{limit_for(key, figure)[0]}' into {LIMITS}")
        elif any(count > most for count, most in zip(figure, limit)):
            yield Finding(path, line, f"{place}: {told(key, figure)}, at most "
                          + " in ".join(map(str, limit)))
        elif key in limits and (limit_for(key, figure) is None or any(
                most - count > SLACK[kind] for count, most in zip(figure, limit))):
            yield Finding(LIMITS, 1, f"{key} has fallen to {' '.join(map(str, figure))}: "
                          "tidy_test.py --lower")
    for key in limits.keys() - found.keys():
        yield Finding(LIMITS, 1, f"{key} is no more: tidy_test.py --lower")


def lowered(tree):
    """The text of limits.txt with each limit as low as its figure lets it be; none is raised or
    added, and what is no more goes."""
    limits, _ = parse_limits(tree.texts[LIMITS])
    found, lines = figures(tree), []
    for line in tree.texts[LIMITS].split("\n"):
        row = ROW.fullmatch(line)
        if row is None:
            lines.append(line)
            continue
        key = row[1]
        lowest = limit_for(key, found[key][0]) if key in found else None
        if lowest is not None:
            lines.append(" ".join([key, *map(str, map(min, lowest, limits[key]))]))
    return "\n".join(lines)


RULES = [check_limits]
