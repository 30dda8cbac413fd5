# SPDX-License-Identifier: Apache-2.0
"""The core of crawlstored, below gRPC, beside URLFrontier's scheme in RocksDB, on the same work
(service_work.h).

Both run in turns, each in a process of its own, and medians count. Other processes open what a run
has left, twice, the second time after an end without a close; the page cache is dropped before, if
we may. Another one takes from queues in which nothing is due. Drivers check all answers.

In the table x says how many times better ours is: below 1 we are behind.
"""

import os
import pathlib
import shutil
import tempfile

import seen_table
from compare_shared import (Failure, add_run_options, build, install_packages, keeper, median_of,
                            parse_number, run_line, say)

OURS = "crawlstore"
PACKAGES = {"rocksdb": "librocksdb-dev"}
QUEUE_URLS = 100  # URLs for a queue, where it is not said how many queues there are


def flat(line):
    """The line with one field for each figure of the table."""
    found = {f"{phase} {unit}": line[phase][unit]
             for phase in ("put", "again", "cycle", "take", "update", "discover", "commits")
             for unit in ("cpu_us", "us")}
    for percent in ("p50", "p99", "worst"):
        found[f"take {percent}"] = line["take"][f"{percent}_seconds"] * 1e3
    found["put file"] = line["put_file_bytes"] / line["urls"]
    found["file"] = line["file_bytes"] / line["known"]
    found["rss"] = line["peak_rss_bytes"] / 2**20
    for field in ("clean_seconds", "clean_cpu_seconds", "killed_seconds", "killed_cpu_seconds",
                  "close_cpu_seconds"):
        found[field] = line.get(field)
    if "idle_take" in line:
        found["idle put"] = line["idle_update"]["cpu_us"]
        found["idle p50"] = line["idle_take"]["p50_seconds"] * 1e6
        found["idle worst"] = line["idle_take"]["worst_seconds"] * 1e6
    return {name: value for name, value in found.items() if value is not None}


# (what it is, field, digits); less is better.
ROWS = (("put, us of the processor a URL", "put cpu_us", 2), ("by the clock", "put us", 2),
        ("again, us of the processor a URL", "again cpu_us", 2), ("by the clock", "again us", 2),
        ("cycle, us of the processor a taken URL", "cycle cpu_us", 2),
        ("by the clock", "cycle us", 2),
        ("of it take", "take cpu_us", 2), ("update", "update cpu_us", 2),
        ("discover", "discover cpu_us", 2), ("commit", "commits cpu_us", 2),
        ("take of 100, ms by the clock: p50", "take p50", 2), ("p99", "take p99", 2),
        ("worst", "take worst", 1),
        ("file, B a known URL: after put", "put file", 1), ("after the cycle", "file", 1),
        ("open after a close, s", "clean_seconds", 3), ("of the processor", "clean_cpu_seconds", 3),
        ("open after a kill, s", "killed_seconds", 3),
        ("of the processor", "killed_cpu_seconds", 3),
        ("close, s of the processor", "close_cpu_seconds", 2),
        ("a URL to an idle queue, us of the processor", "idle put", 2),
        ("take beside idle queues, us: p50", "idle p50", 1), ("worst", "idle worst", 1),
        ("peak resident, MiB", "rss", 0))


def table(lines):
    """The text for all runs."""
    stores = {}
    for line in lines:
        if "error" not in line:
            stores.setdefault(line["store"], []).append(flat(line))
    text = [f'Service, {lines[0]["case"]}']
    if stores:
        first = next(line for line in lines if "error" not in line)
        loads = [line["load_before"] for line in lines]
        text.append(f'{first["cpu"]}; commit {first["commit"]}; {first["date"][:10]}; load before '
                    f"a run {min(loads):.1f} to {max(loads):.1f}")
        ours = next((runs for store, runs in stores.items() if store.startswith(OURS)), None)
        rows = [("", *(head for store in stores for head in
                       ((store,) if store.startswith(OURS) else (store, "x"))))]
        for name, field, digits in ROWS:
            cells = [name]
            for store, runs in stores.items():
                found, own = median_of(runs, field), median_of(ours or [], field)
                cells.append("" if found is None else f"{found:.{digits}f}")
                if not store.startswith(OURS):
                    cells.append(f"{found / own:.2f}" if found is not None and own else "")
            rows.append(tuple(cells))
        text += seen_table.align(rows)
    text += [f'{line["store"]}: {line["error"]}' for line in lines if "error" in line]
    return "\n".join(text)


def drop_caches():
    """Makes the next reads come from the disk, if we may say so."""
    os.sync()
    try:
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3\n", encoding="ascii")
    except OSError:
        return False
    return True


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    os.sync()


def run(options, folder, name):
    """One run, what opens what it has left, and idle queues: its line, or one with an error."""
    path = folder / "service"
    driver = str(pathlib.Path(options.build_dir).resolve() / f"bin/service_{name}")

    def call(*words):
        return run_line([driver, str(path), *map(str, words)], 0, options.limit,
                        {"bench": "service", "store": name})

    load = round(os.getloadavg()[0], 2)
    line = call(options.urls, options.queues, options.url_bytes)
    for end in ("clean", "killed"):
        if "error" in line:
            break
        line["is_cold"] = drop_caches()
        opened = call("--open")
        line.update({"error": opened["error"]} if "error" in opened else
                    {f"{end}_{field.removeprefix('open_')}": value
                     for field, value in opened.items()})
    remove(path)
    if options.idle and "error" not in line:
        line.update(call("--idle", options.idle))
        remove(path)
    line.update(load_before=load,
                case=f"{seen_table.short(options.urls)} URLs of {options.url_bytes} bytes in "
                     f"{seen_table.short(options.queues)} queues; "
                     f"{seen_table.short(options.idle)} idle queues")
    return line


def service(options):
    """The verb."""
    options.queues = options.queues or max(options.urls // QUEUE_URLS, 1)
    if options.install_peers:
        install_packages([PACKAGES[name] for name in options.peers])
    if not options.no_build:
        build(pathlib.Path(options.build_dir).resolve(), "crawlstore_service_bench")
    names = (OURS, *options.peers)
    missing = [name for name in names
               if not (pathlib.Path(options.build_dir) / f"bin/service_{name}").exists()]
    if missing:
        raise Failure(f"not built: {', '.join(missing)}; --install-peers, or --peers none", 3)
    keep, kept = keeper(options.save)
    lines = []
    with tempfile.TemporaryDirectory(prefix="crawlstore-service-", dir=options.dir) as folder:
        for turn in range(options.runs):
            for name in names:
                line = run(options, pathlib.Path(folder), name)
                found = line.get("error") or f'{line["cycle"]["cpu_us"]:.1f} us a URL of the cycle'
                say(f"  {turn + 1}: {name}: {found}")
                keep(line)
                lines.append(line)
    print(table(lines), flush=True)
    if kept:
        say(f"kept in {kept}")


def add_verb(verbs):
    verb = verbs.add_parser("service", help="discover, take and update URLs as URLFrontier does")
    verb.add_argument("--urls", type=parse_number, default=10**6, metavar="N",
                      help="discovered before the first take (default 1M)")
    verb.add_argument("--queues", type=parse_number, default=0, metavar="N",
                      help=f"default: one for {QUEUE_URLS} URLs")
    verb.add_argument("--url-bytes", type=parse_number, default=80, metavar="N",
                      help="bytes of a URL (default 80)")
    verb.add_argument("--idle", type=parse_number, default=10**6, metavar="N",
                      help="queues in which nothing is due, 0: none (default 1M)")
    add_run_options(verb, PACKAGES, "stores")
    return verb
