#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks spec/commit.pml with SPIN (spec/features.md, T9): the protocol as it is has no error in
the whole state space, and each of its seeded errors is found.

usage: run_spin.py [NAME...]    only the configurations of these names; -h lists them
With CRAWLSTORE_LONG set: the long configurations in addition (hours, up to 16 GiB).
Exit code: 0 all as expected, 1 not, 77 spin or cc is missing."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", ".")).resolve()
MODEL = SOURCE / "spec" / "commit.pml"

ONE_READER = "READERS=1 GUESS"
REAL_READER = "READERS=1"

# Complete searches without an error, and the situations each of them must have been in: GOAL(n).
SOUND = {
    "one reader": (ONE_READER, {0, 1, 2, 3, 7}),
    "one reader, first read": (f"{REAL_READER} FAILSYNC=1", {0, 1, 2, 3, 7}),
    "two readers": ("READERS=2 GUESS", {0, 1, 2, 3, 7}),
    "rollbacks and damage": (ONE_READER + " ROLLBACK DAMAGE NO_TEAR", {0, 1, 2, 3, 4, 5, 7}),
    "failing write-back, rollbacks": ("READERS=0 ROLLBACK FAILSYNC=2", {0, 1, 3, 4}),
    "failing write-back, long builds": ("READERS=0 BUILD FAILSYNC=2", {0, 1, 3, 6}),
}
SOUND_LONG = {
    "three readers": ("READERS=3 GUESS", {0, 1, 2, 3, 7}),
    "two readers, five commits, no kills": ("READERS=2 GUESS LAST=7 NO_KILL", {3, 7}),
    "one reader, failing write-back": (ONE_READER + " FAILSYNC=1 BUILD", {0, 1, 2, 3, 6, 7}),
    "everything, one reader": (ONE_READER + " ROLLBACK DAMAGE", {0, 1, 2, 3, 4, 5, 7}),
}
# A long history without accidents: what takes five generations to go wrong.
CALM = "NO_KILL NO_TEAR LAST=6"
SEEDED = {
    "ERR_ANY_SLOT": f"{REAL_READER} GRAIN=2 {CALM}",
    "ERR_ASK_BEFORE_PUBLISH": ONE_READER,
    "ERR_BASE_FIRST": "READERS=0",
    "ERR_BORN_STRICT": ONE_READER,
    "ERR_GO_ON_AFTER_FAILSYNC": "READERS=0 BUILD FAILSYNC=1",
    "ERR_LISTED": REAL_READER,
    "ERR_NO_LOST_ASK": f"{ONE_READER} FAILSYNC=1",
    "ERR_NO_MEND": "READERS=0 FAILSYNC=2",
    "ERR_NO_SECOND_READ": REAL_READER,
    "ERR_NO_STEP0": ONE_READER,
    "ERR_NO_SYNC1": ONE_READER,
    "ERR_NO_SYNC2": ONE_READER,
    "ERR_ONE_COPY": ONE_READER,
    "ERR_PUBLISH_PASS": "READERS=0 FAILSYNC=1",
    "ERR_REUSE_EARLY": ONE_READER,
    "ERR_ROLLBACK_BORN": f"{ONE_READER} ROLLBACK {CALM}",
    "ERR_ROLLBACK_ROOT": f"{ONE_READER} ROLLBACK",
    "ERR_ROOT_FROM_FIRST_READ": f"{REAL_READER} FAILSYNC=1",
    "ERR_SAME_PASS": "READERS=0 FAILSYNC=1",
    "ERR_SB_BEFORE_LOCK": ONE_READER,
    "ERR_STEP0_NO_SYNC": ONE_READER,
    "ERR_STEP0_NO_SYNC0": "READERS=0",
    "ERR_STEP0_NO_SYNC2": "READERS=0 FAILSYNC=2",
}
DEPTH_MAX = 5_000_000
MEMORY_MIB = 16_000


@dataclass
class Outcome:
    errors: int
    states: int
    complete: bool
    goals: set
    seconds: float


def search(definitions, wanted_error):
    """One SPIN run: model to C, C to program, program over the state space."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crawlstore-spin.") as folder:
        run = lambda *command: subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True).stdout
        run("spin", "-a", *(f"-D{name}" for name in definitions.split()), str(MODEL))
        options = ["-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DNOREDUCE", f"-DMEMLIM={MEMORY_MIB}"]
        if not wanted_error:
            options.append("-DPRINTF")
        run("cc", *options, "pan.c", "-o", "pan")
        text = run("./pan", "-E", f"-m{DEPTH_MAX}")
    return Outcome(
        errors=int(re.search(r"errors: (\d+)", text)[1]),
        states=int(re.search(r"(\d+) states, stored", text)[1]),
        complete="Search not completed" not in text and "depth limit reached" not in text,
        goals={int(n) for n in re.findall(r"reached (\d+)", text)},
        seconds=time.monotonic() - start)


def check(name, definitions, goals):
    """The line to print, and whether the outcome is the expected one. goals = None: an error."""
    outcome = search(definitions, goals is None)
    if goals is None:
        passed, verdict = outcome.errors > 0, "caught" if outcome.errors else "NOT CAUGHT"
    else:
        missing = goals - outcome.goals
        passed = outcome.errors == 0 and outcome.complete and not missing
        verdict = "no error" if passed else (
            "AN ERROR" if outcome.errors else
            f"NOT REACHED: {sorted(missing)}" if missing else "NOT COMPLETE")
    return passed, (f"{name:34} {verdict:10} {outcome.states:>11,} states "
                    f"{outcome.seconds:6.1f} s   {definitions}")


def configurations():
    sound = SOUND | (SOUND_LONG if os.environ.get("CRAWLSTORE_LONG") else {})
    yield from ((name, definitions, goals) for name, (definitions, goals) in sound.items())
    for name, definitions in SEEDED.items():
        yield name, f"{definitions} {name}", None


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        print(__doc__, *(name for name, _, _ in configurations()), sep="\n")
        return 0
    if not shutil.which("spin") or not shutil.which("cc"):
        print("skipped: spin or cc is missing")
        return 77
    seeded = set(re.findall(r"\bERR_[A-Z0-9_]+", MODEL.read_text()))
    if seeded != set(SEEDED):
        print(f"model and list differ: {sorted(seeded ^ set(SEEDED))}")
        return 1
    chosen = [c for c in configurations() if not arguments or c[0] in arguments]
    if not chosen:
        print("no configuration of that name; -h lists them")
        return 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = []
        for passed, line in pool.map(lambda c: check(*c), chosen):
            print(line, flush=True)
            results.append(passed)
    print(f"{sum(results)} of {len(results)} as expected")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
