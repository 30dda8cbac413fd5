# SPDX-License-Identifier: Apache-2.0
"""Lines of JSON from the URL-seen drivers, as bench/compare keeps them, become a table of ratios.

A case is one stream of one length under one memory cap. A peer that was stopped early is compared
with a run of ours over exactly the requests that it finished, so both have done the same work, to
the last answer. Where there are several runs of the same, their median counts.
"""

import collections
import json
import statistics

OURS = "crawlstore"
# Ourselves with other promises: shown, but no peers. Name: options of our driver.
VARIANTS = {"crawlstore repeats=drop": ("--drop", "1")}
# Loses everything at the end of the program: a bound, no peer.
BOUNDS = ("absl::flat_hash_set",)

Row = collections.namedtuple("Row", "line runs rate ours ratio")


def parse_lines(text):
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def by_case(lines):
    """{case: its lines}, in the order in which cases appear."""
    cases = collections.OrderedDict()
    for line in lines:
        cases.setdefault(line["case"], []).append(line)
    return cases


def succeeded(lines):
    return [line for line in lines if "error" not in line]


def of_store(lines, store, operations):
    """The runs of a store over exactly so many requests."""
    return [line for line in succeeded(lines)
            if line["store"] == store and line["operations"] == operations]


def median_line(lines):
    """The run with the median rate: of an even number the slower one of the middle."""
    ordered = sorted(lines, key=lambda line: line["ops_per_s"])
    return ordered[(len(ordered) - 1) // 2]


def is_cut(line):
    return line["operations"] < line["case_operations"]


def row_of(lines, store):
    """The row of a peer: over the fewest requests that one of its runs finished, and ours there."""
    own = [line for line in succeeded(lines) if line["store"] == store]
    operations = min(line["operations"] for line in own)
    same = of_store(lines, store, operations)
    rate = statistics.median(line["ops_per_s"] for line in same)
    ours = of_store(lines, OURS, operations)
    ours_rate = statistics.median(line["ops_per_s"] for line in ours) if ours else None
    return Row(median_line(same), len(same), rate, ours_rate,
               ours_rate / rate if ours else None)


def ours_row(lines):
    """Our own row, over all requests of the case; None when there is no such run."""
    same = [line for line in succeeded(lines) if line["store"] == OURS and not is_cut(line)]
    if not same:
        return None
    rate = statistics.median(line["ops_per_s"] for line in same)
    return Row(median_line(same), len(same), rate, None, None)


def peer_rows(lines):
    """Rows of all other stores, the one that comes nearest to us first."""
    stores = dict.fromkeys(line["store"] for line in succeeded(lines) if line["store"] != OURS)
    rows = [row_of(lines, store) for store in stores]
    return sorted(rows, key=lambda row: (row.ratio is None, row.ratio or 0))


def best_peer(rows):
    """The peer that comes nearest to us over the same requests; None without peers."""
    return next((row for row in rows
                 if row.ratio is not None and row.line["store"] not in BOUNDS
                 and row.line["store"] not in VARIANTS), None)


def cuts(lines):
    """The numbers of requests at which peers were stopped, and no run of ours ends yet."""
    ends = {line["operations"] for line in succeeded(lines) if line["store"] != OURS}
    return sorted(end for end in ends if not of_store(lines, OURS, end))


def short(count):
    """50000000 as 50 M."""
    return f"{count / 1e6:.4g} M"


HEAD = ("store", "requests", "M op/s", "ours", "ratio", "first", "last", "B/key", "read",
        "written", "RSS MiB", "runs")


def cells(row):
    line = row.line
    rate = "{:.2f}".format
    return (
        f'{line["store"]} {line["version"]}',
        short(line["operations"]) + (" cut" if is_cut(line) else ""),
        rate(row.rate / 1e6),
        "" if row.ours is None else rate(row.ours / 1e6),
        "" if row.ratio is None else rate(row.ratio),
        rate(line["first_window_ops_per_s"] / 1e6),
        rate(line["last_window_ops_per_s"] / 1e6),
        f'{line["file_bytes_per_key"]:.1f}' if line["file_bytes"] else "-",
        f'{line["read_bytes_per_op"]:.1f}',
        f'{line["written_bytes_per_op"]:.1f}',
        f'{line["peak_rss_bytes"] / 2**20:.0f}',
        str(row.runs),
    )


def align(rows):
    """Lines of text: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        rest = "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:]))
        yield f"{row[0]:<{widths[0]}}  {rest}".rstrip()


def closing_lines(ours, rows):
    """Tells the table's results in words."""
    if ours is not None and "repository_bytes_per_key" in ours.line:
        yield (f'{OURS}: {ours.line["repository_bytes_per_key"]:.2f} B/key in the repository, the '
               "rest of the file is free space and what earlier generations hold")
    best = best_peer(rows)
    if best is not None:
        yield (f'best peer: {best.line["store"]}; {OURS} does {best.ratio:.2f} x its rate over '
               f'the same {short(best.line["operations"])} requests')
    for row in rows:
        if row.line["store"] in BOUNDS and row.ratio is not None:
            yield f'bound in RAM: {row.line["store"]}; {OURS} does {row.ratio:.2f} x its rate'


def table(lines):
    """The text for one case."""
    ours, rows = ours_row(lines), peer_rows(lines)
    shown = ([] if ours is None else [ours]) + rows
    text = [f'URL-seen, {lines[0]["case"]}']
    if shown:
        line = shown[0].line
        text.append(f'{line["cpu"]}; commit {line["commit"]}; {line["date"][:10]}; rates in M op/s,'
                    " read and written in bytes a request")
        text += ["", *align([HEAD] + [cells(row) for row in shown]), *closing_lines(ours, rows)]
    text += [f'{line["store"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)
