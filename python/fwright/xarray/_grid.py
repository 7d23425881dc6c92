"""Latitudes and longitudes of regular grids, from what MARS keys say about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._keys import found

# How far corners may be from a whole number of increments, in increments.
SLACK = 0.01


def regular(entry: Mapping[str, Any], shape: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Latitudes and longitudes of the last two axes, where area, increments and shape agree.

    The area is ``[north, west, south, east]``, also as text with slashes; ``grid`` is two increments, or the name of the grid with
    increments that follow from the area.
    """
    if len(shape) < 2:
        return None
    rows, columns = shape[-2:]
    area = _numbers(_either(entry, "area"), 4)
    grid = _either(entry, "grid")
    if area is None or rows < 1 or columns < 1 or not (grid is None or grid == "regular_ll" or _numbers(grid, 2)):
        return None
    north, west, south, east = area
    if not (-90.0 - 1e-9 <= south <= north <= 90.0 + 1e-9) or east - west >= 720:
        return None
    while east < west:
        east += 360.0
    increments = _numbers(grid, 2)
    if increments is None:
        if grid != "regular_ll" or rows < 2 or columns < 2:
            return None
        increments = [(east - west) / (columns - 1), (north - south) / (rows - 1)]
    across, down = increments
    if across <= 0 or down <= 0 or abs(north - (rows - 1) * down - south) > SLACK * down:
        return None
    # Whole circles are also given with the first meridian as the last one.
    if all(abs(west + (columns - 1) * across - end) > SLACK * across for end in (east, east - across)):
        return None
    if abs(west + (columns - 1) * across - east) > SLACK * across and abs(columns * across - 360.0) > SLACK * across:
        return None
    return np.linspace(north, north - (rows - 1) * down, rows), np.linspace(west, west + (columns - 1) * across, columns)


def _either(entry: Mapping[str, Any], key: str) -> Any:
    value = found(entry, f"mars.{key}")
    return found(entry, key) if value is None else value


def _numbers(value: Any, count: int) -> list[float] | None:
    parts = value.split("/") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or len(parts) != count:
        return None
    try:
        numbers = [float(part) for part in parts]
    except (TypeError, ValueError):
        return None
    return numbers if all(np.isfinite(numbers)) else None
