# SPDX-License-Identifier: Apache-2.0
"""The claims of the paper on priority queues, measured with counters of comparisons and blocks.

Each run is a process of its own. Counts are exact and the same again; only times need a quiet
machine, so they are medians of runs in turns.
"""

import os
import pathlib

import seen_table
from compare_shared import build, keeper, median_of, parse_number, run_line, say

HEAPS = ("heap", "bottom-up")
TOURNAMENTS = ("tournament", "filtered")
BLOCKS = (*HEAPS, "quickheap", *TOURNAMENTS)
MANY = (*TOURNAMENTS, "quickheap", "ahead")  # those whose threads need nothing of each other
ENGINES = {"comparisons": (*BLOCKS, "ahead"), "blocks": BLOCKS, "queues": (*MANY, "exact"),
           "time": MANY}
CHUNKS = (1, 10, 100, 1000, 10_000, 100_000)
QUEUES = (1, 2, 4, 8, 16, 32, 64)
PARTS = ("comparisons", "blocks", "queues", "time")
QUEUES_R = 8000  # the paper's
PERCENTS = (10, 30)
HEADS = {
    "comparisons": ("engine", "R", "extract", "insert", "both"),
    "blocks": ("engine", "R", "reads a cycle", "writes a cycle", "both a key"),
    "queues": ("engine", "T", "extract X/Y", "insert X/Y", "of sums", "of sums", "extract",
               "insert", "not top at first", "not top", "mean off by", "worst"),
    "time": ("engine", "T", "us a cycle", "CPU us", "speed-up", "by CPU", "runs"),
}


def cells(part, line, runs):
    def text(name, form):
        return form.format(line[name])

    if part == "comparisons":
        both = line["extract_comparisons"] + line["insert_comparisons"]
        return [str(line["r"]), text("extract_comparisons", "{:.2f}"),
                text("insert_comparisons", "{:.2f}"), f"{both:.2f}"]
    if part == "blocks":
        both = line["block_reads_a_cycle"] + line["block_writes_a_cycle"]
        return [str(line["r"]), text("block_reads_a_cycle", "{:.3g}"),
                text("block_writes_a_cycle", "{:.3g}"), f'{both / line["r"]:.3g}']
    if part == "queues":
        return [str(line["queues"]),
                *(text(f"{verb}_efficiency{what}", "{:.3f}")
                  for what in ("", "_of_sums") for verb in ("extract", "insert")),
                *(text(f"{verb}_comparisons", "{:.1f}") for verb in ("extract", "insert")),
                *(text(name, "{:.2%}") for name in ("not_among_top_at_first", "not_among_top")),
                text("mean_displacement", "{:.0f}"), str(line["worst_displacement"])]
    ours = [run for run in runs if run["engine"] == line["engine"]]
    found = []
    for name in ("wall_us_a_cycle", "cpu_us_a_cycle_of_the_slowest"):
        one, all_of_t = (median_of([run for run in ours if run["threads"] == count], name)
                         for count in (1, line["threads"]))
        found.append((all_of_t, one / all_of_t))
    return [str(line["threads"]), *(f"{time:.0f}" for time, _ in found),
            *(f"{ratio:.2f}" for _, ratio in found),
            str(len([run for run in ours if run["threads"] == line["threads"]]))]


def table(lines):
    """The text for one case."""
    good = [line for line in lines if "error" not in line]
    text = [f'Queues of the paper: {lines[0]["case"]}']
    if good:
        part = good[0]["case"].split(",")[0]
        first = good[0]
        text += [f'{first["cpu"]}; commit {first["commit"]}; {first["date"][:10]}', ""]
        rows = {}  # of several runs of the same the first one
        for line in good:
            rows.setdefault((line["engine"], line["r"], line.get("queues"), line.get("threads")),
                            [line["engine"], *cells(part, line, good)])
        text += seen_table.align([HEADS[part], *rows.values()])
    text += [f'{line["engine"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)


def cases(options):
    """(title, [words of a run])"""
    chunks = [r for r in CHUNKS if r <= max(options.entries)]
    for part in options.parts:
        engines = [name for name in ENGINES[part] if name in (options.engines or ENGINES[part])]
        if part in ("comparisons", "blocks"):
            for entries in options.entries if part == "comparisons" else options.entries[:1]:
                for percent in (0,) if part == "comparisons" else PERCENTS:
                    where = f", {percent} % of them in memory" if percent else ""
                    yield (f"{part}, {seen_table.short(entries)} entries{where}",
                           [("cycles", engine, entries, r, percent) for engine in engines
                            for r in chunks if r <= entries])
        else:
            counts = QUEUES if part == "queues" else (1, 2)
            turns = 1 if part == "queues" else options.runs
            r = min(QUEUES_R, options.queues_entries // 1000)
            yield (f"{part}, {seen_table.short(options.queues_entries)} entries in all, R = {r}",
                   [(part, engine, options.queues_entries, r, count) for _ in range(turns)
                    for engine in engines for count in counts if r % count == 0])


def paper(options):
    """The verb."""
    folder = pathlib.Path(options.build_dir).resolve()
    if not options.no_build:
        build(folder, "queue_paper")
    keep, kept = keeper(options.save)
    if "time" in options.parts and os.getloadavg()[0] > 0.5:
        say(f"warning: the load is {os.getloadavg()[0]:.1f} already; something else runs here")
    for title, runs in cases(options):
        lines = []
        for words in runs:
            line = run_line([str(folder / "bin/queue_paper"), *map(str, words)], 0, options.limit,
                            {"bench": "paper", "engine": words[1]})
            line.update(case=title)
            say(f'  {title}: {" ".join(map(str, words[1:]))}: {line.get("error", "done")}')
            keep(line)
            lines.append(line)
        print(table(lines) + "\n", flush=True)
    if kept:
        say(f"kept in {kept}")


def parse_parts(text):
    parts = PARTS if text == "all" else tuple(text.split(","))
    if not set(parts) <= set(PARTS):
        raise ValueError
    return parts


def add_verb(verbs):
    verb = verbs.add_parser("paper", help="count what the queues of the paper cost")
    verb.add_argument("--parts", type=parse_parts, default=PARTS, metavar="A,B",
                      help=f'all (default), or of: {", ".join(PARTS)}')
    verb.add_argument("--engines", default=None, metavar="A,B", type=lambda text: text.split(","),
                      help=f'all (default), or of: {", ".join(ENGINES["comparisons"])}, exact')
    verb.add_argument("--entries", default="1M,10M", metavar="A,B",
                      type=lambda text: [parse_number(count) for count in text.split(",")],
                      help="entries of one queue; blocks are counted with the first "
                           "(default 1M,10M)")
    verb.add_argument("--queues-entries", type=parse_number, default=8 * 10**6, metavar="N",
                      help="entries of T queues in all, 1000 or more for each of R (default 8M)")
    verb.add_argument("--runs", type=int, default=5, metavar="N",
                      help="of those that are timed; medians count (default 5)")
    verb.add_argument("--limit", type=int, default=900, metavar="SECONDS",
                      help="a run that takes longer is ended (default 900)")
    return verb
