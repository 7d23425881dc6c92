"""Two sides of a row, measured in turn in one process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Row:
    """A job, done by us and by a peer: ``times`` is the peer's time divided by ours."""

    name: str
    ours: Callable[[], object]
    peer_name: str
    peer: Callable[[], object]
    target: float | None = None
    calls: int = 1
    """Calls between two looks at the clock, for jobs that are about as short as that."""


@dataclass
class Found:
    """What was measured: seconds of the best calls, and the median of the ratios of the rounds."""

    ours: float
    peer: float
    median: float

    @property
    def times(self) -> float:
        return self.peer / self.ours


def once(work: Callable[[], object], turn: float, calls: int) -> float:
    """Seconds of the best of the calls that fit into a turn; the last result is let go outside the clock."""
    best, spent = float("inf"), 0.0
    while spent < turn or best == float("inf"):
        begun = time.perf_counter()
        for _ in range(calls - 1):
            work()
        result = work()
        took = time.perf_counter() - begun
        del result
        best, spent = min(best, took / calls), spent + took
    return best


def duel(row: Row, rounds: int, turn: float) -> Found:
    """Measures both sides, who begins changing each round."""
    gc.collect()
    gc.disable()
    try:
        row.ours(), row.peer()
        ours: list[float] = []
        peer: list[float] = []
        for number in range(rounds):
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                (ours, peer)[side].append(once((row.ours, row.peer)[side], turn, row.calls))
    finally:
        gc.enable()
    ratios = sorted(theirs / mine for mine, theirs in zip(ours, peer))
    return Found(min(ours), min(peer), ratios[len(ratios) // 2])
