"""``cargo xtask bench python``: our package beside its peers, in one process. Prints the table of ``docs/benchmarks.md``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

import tensogram_rows
import weights
from measure import Found, Row, duel

# As in benches/harness.
FLOOR, MISSED, NO_ROW, AGAIN = 0.95, 3, 4, 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, for a first look")
    parser.add_argument("--check", action="store_true", help="measure rows that miss their target again, and fail when they still do")
    parser.add_argument("--only", action="append", default=[], help="only rows whose names contain this text")
    options = parser.parse_args()
    rounds, turn = (3, 0.03) if options.quick else (7, 0.08)
    table: list[str] = []
    missed: list[str] = []

    def wanted(name: str) -> bool:
        return not options.only or any(text in name for text in options.only)

    def show(name: str, peer: str, ours: float, theirs: float, times: float, median: float, target: float | None) -> None:
        aim = "" if target is None else f"{target:.2f}".rstrip("0").rstrip(".")
        table.append(f"| {name} | {peer} | {spoken(ours)} | {spoken(theirs)} | {number(times)} | {number(median)} | {aim} |")
        print(table[-1], file=sys.stderr, flush=True)
        if max(times, median) < (FLOOR if target is None else target):
            missed.append(f"{name} beside {peer}: {number(max(times, median))} times, wanted {target or FLOOR}")

    def measured(row: Row) -> Found:
        found = duel(row, rounds, turn)
        for _ in range(AGAIN if options.check else 0):
            if max(found.times, found.median) >= (FLOOR if row.target is None else row.target):
                break
            time.sleep(2)
            again = duel(row, rounds, turn)
            found = Found(min(found.ours, again.ours), min(found.peer, again.peer), max(found.median, again.median))
        return found

    with tempfile.TemporaryDirectory() as folder:
        for row in chain(tensogram_rows.rows(Path(folder)), weights.rows(Path(folder), options.quick)):
            if wanted(row.name):
                found = measured(row)
                show(row.name, row.peer_name, found.ours, found.peer, found.times, found.median, row.target)
    print("| row | peer | ours | peer | times | median | target |\n|---|---|---|---|---|---|---|")
    print("\n".join(table))
    limits = [limit for limit in tensogram_rows.limits(rounds) if wanted(limit[0])]
    if limits:
        print("\n| row | found | at most |\n|---|---|---|")
        for name, found_value, most, unit in limits:
            print(f"| {name} | {found_value:.2f} {unit} | {most:g} {unit} |")
            if found_value > most:
                missed.append(f"{name}: {found_value:.2f} {unit}, at most {most:g} {unit} are wanted")
    if not table and not limits:
        return NO_ROW
    print("\n" + (f"Targets missed: {'; '.join(missed)}." if missed else "Every row reaches its target."))
    return MISSED if options.check and missed else 0


def spoken(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def number(times: float) -> str:
    return f"{times:.2f}" if times < 10 else f"{times:.0f}"


if __name__ == "__main__":
    sys.exit(main())
