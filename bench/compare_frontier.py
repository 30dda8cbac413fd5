# SPDX-License-Identifier: Apache-2.0
"""Frontiers: crawlstore's beside heaps in RAM, RocksDB as URLFrontier uses it and LMDB as Aduana
does, on the same work (frontier_work.h).

All run in turns, each in a process of its own, and medians count; another process opens what the
run has left. Drivers check each item that they took, and add up which items left in which order. A
comparison in which one is not like the others fails, RocksDB left out: its queues take turns.

In the tables x says how many times better ours is: below 1 we are behind.
"""

import os
import pathlib
import shutil
import tempfile

import seen_table
from compare_shared import (Failure, add_run_options, build, check_cap, install_packages, keeper,
                            median_of, parse_cap, parse_number, run_line, say)

OURS = "crawlstore"
PACKAGES = {"rocksdb": "librocksdb-dev", "lmdb": "liblmdb-dev", "std": None}
IN_RAM = ("std",)
OTHER_ORDER = ("RocksDB",)
GROUP_ITEMS = 10  # items for a group, where it is not said how many groups there are
CALLS = ("take", "finish", "put")


def flat(line):
    """The line with one field for each figure of the tables."""
    if "error" in line:
        return line
    cycles, kept = line["cycles"], line["kept_items"]
    take = line["take"]
    found = {
        "load": line["load_per_s"] / 1e3, "load CPU": line["load_per_cpu_s"] / 1e3,
        "cycles": line["cycle_items_per_s"] / 1e3,
        "cycles CPU": line["cycle_items_per_cpu_s"] / 1e3,
        "take CPU": line["take_per_cpu_s"] / 1e3,
        "p50": take["p50_seconds"] * 1e3, "p99": take["p99_seconds"] * 1e3,
        "worst": take["worst_seconds"] * 1e3,
        "worst CPU": max(line[call]["worst_cpu_seconds"] for call in CALLS) * 1e3,
        "loaded": line["load_file_bytes"] / line["items"], "after": line["file_bytes"] / kept,
        "load written": line["load_written_bytes"] / line["items"],
        "cycle written": line["cycle_written_bytes"] / cycles / 1e3,
        "memory": line["own_bytes"] / 2**20, "resident": line["resident_bytes"] / 2**20,
    }
    if "first_item_seconds" in line:
        found["open"] = line["first_item_seconds"]
        found["open CPU"] = line["first_item_cpu_seconds"]
    return {**line, **found}


# (head, field, digits, whether more is better; None: without a ratio)
RATES = (("put k/s", "load", 0, True), ("of CPU", "load CPU", 0, True),
         ("cycles k/s", "cycles", 1, True), ("of CPU", "cycles CPU", 1, True),
         ("take k/s CPU", "take CPU", 0, True), ("take p50 ms", "p50", 1, False),
         ("p99", "p99", 1, False), ("worst", "worst", 0, None),
         ("worst CPU ms", "worst CPU", 0, None))
ROOM = (("B/item loaded", "loaded", 1, None), ("after cycles", "after", 1, False),
        ("written B/item", "load written", 0, False), ("KB a cycle", "cycle written", 0, False),
        ("open s", "open", 3, False), ("CPU s", "open CPU", 3, False),
        ("own MiB", "memory", 0, False), ("resident MiB", "resident", 0, None))


def cells(columns, runs, ours):
    """A figure and its ratio for each column."""
    for _, field, digits, is_more in columns:
        found = median_of(runs, field)
        yield "" if found is None else f"{found:.{digits}f}"
        if is_more is None:
            continue
        own = median_of(ours, field) if ours else None
        ratio = "" if not found or not own else f"{own / found if is_more else found / own:.2f}"
        yield ratio


def heads(columns):
    for head, _, _, is_more in columns:
        yield head
        if is_more is not None:
            yield "x"


def table(lines):
    """The text for one case."""
    text = [f'Frontier, {lines[0]["case"]}']
    stores = {}
    for line in lines:
        if "error" not in line:
            stores.setdefault(line["store"], []).append(flat(line))
    if stores:
        first = next(iter(stores.values()))[0]
        loads = [line["load_before"] for line in lines]
        ours = next((runs for store, runs in stores.items() if store.startswith(OURS)), None)
        text += [f'{first["cpu"]}; commit {first["commit"]}; {first["date"][:10]}; load before a '
                 f"run {min(loads):.1f} to {max(loads):.1f}; runs of each: {len(ours or [])}"]
        for columns in (RATES, ROOM):
            text += ["", *seen_table.align(
                [("store", *heads(columns))] +
                [(store, *cells(columns, runs, ours)) for store, runs in stores.items()])]
    text += [f'{line["store"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)


def check_sums(lines):
    """All must have taken the same items in the same order."""
    sums = {line["store"]: line["sum"] for line in lines
            if "sum" in line and not line["store"].startswith(OTHER_ORDER)}
    if len(set(sums.values())) > 1:
        raise Failure("not all took the same items: " +
                      ", ".join(f"{store} {found}" for store, found in sums.items()))


def title(options, body):
    cap = f", {options.cap / 2**20:g} MiB" if options.cap else ""
    return (f"{seen_table.short(options.items)} items in {seen_table.short(options.groups)} groups,"
            f" bodies of {body} bytes, {options.cycles} cycles of {options.take}{cap}")


def run(options, folder, name, body):
    """One run, and another process that opens what it has left: its line, or one with an error."""
    path = folder / "frontier"
    load = round(os.getloadavg()[0], 2)
    driver = str(pathlib.Path(options.build_dir).resolve() / f"bin/frontier_{name}")
    words = [driver, str(path), *map(str, (options.items, options.groups, body, options.cycles,
                                           options.take))]
    line = run_line(words, options.cap, options.limit, {"bench": "frontier", "store": name})
    if "error" not in line and name not in IN_RAM:
        os.sync()
        opened = run_line([driver, str(path), "--open", str(options.cycles)], options.cap,
                          options.limit, {})
        peak = line.get("peak_group_bytes")
        line.update(opened)
        if peak:
            line["peak_group_bytes"] = peak
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    os.sync()
    line.update(case=title(options, body), load_before=load)
    return line


def check_drivers(options):
    missing = [name for name in (OURS, *options.peers)
               if not (pathlib.Path(options.build_dir) / f"bin/frontier_{name}").exists()]
    if missing:
        raise Failure(f"not built: {', '.join(missing)}; --install-peers, or name others with "
                      "--peers", 3)


def run_case(options, folder, body, keep):
    """All runs with bodies of one length; their lines."""
    lines = []
    for turn in range(options.runs):
        for name in (OURS, *options.peers):
            line = run(options, folder, name, body)
            found = line.get("error") or f'{line["cycle_items_per_s"] / 1e3:.1f} k items/s'
            say(f"  {turn + 1}: {name}, {body} bytes: {found}")
            keep(line)
            lines.append(line)
    return lines


def frontier(options):
    """The verb."""
    check_cap(options.cap)
    options.groups = options.groups or max(options.items // GROUP_ITEMS, 1)
    if options.install_peers:
        install_packages([PACKAGES[name] for name in options.peers if PACKAGES[name]])
    if not options.no_build:
        build(pathlib.Path(options.build_dir).resolve(), "crawlstore_frontier")
    check_drivers(options)
    keep, kept = keeper(options.save)
    with tempfile.TemporaryDirectory(prefix="crawlstore-frontier-", dir=options.dir) as folder:
        if os.getloadavg()[0] > 0.5:
            say(f"warning: the load is {os.getloadavg()[0]:.1f} already; something else runs here")
        for body in options.body:
            lines = run_case(options, pathlib.Path(folder), body, keep)
            print(table(lines) + "\n", flush=True)
            check_sums(lines)
    if kept:
        say(f"kept in {kept}")


def add_verb(verbs):
    verb = verbs.add_parser("frontier", help="take what may be fetched, finish it, put more")
    verb.add_argument("--items", type=parse_number, default=10**6, metavar="N",
                      help="put before the first cycle (default 1M; the goals are about 10M)")
    verb.add_argument("--groups", type=parse_number, default=0, metavar="N",
                      help=f"default: one for {GROUP_ITEMS} items")
    verb.add_argument("--body", default="5,115", metavar="A,B",
                      type=lambda text: [parse_number(bytes_) for bytes_ in text.split(",")],
                      help="bytes of a body: two tables each (default 5,115)")
    verb.add_argument("--cycles", type=parse_number, default=200, metavar="N",
                      help="each takes items, finishes those before, puts two for one "
                           "(default 200)")
    verb.add_argument("--take", type=parse_number, default=1000, metavar="N",
                      help="items that a cycle takes (default 1000)")
    verb.add_argument("--cap", type=parse_cap, default=0, metavar="SIZE",
                      help="memory, page cache included; needs root (default none)")
    add_run_options(verb, PACKAGES, "frontiers")
    return verb
