"""Objects that differ by their keys, as cubes with an axis for each key."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The axis of objects that nothing but their messages tells apart.
MESSAGE = "message"
# Keys that make good axes, best first. Others that say the same follow along them.
_GOOD = ["step", "levelist", "level", "number", "member", "date", "time", "hour", "levtype", "type", "stream", "expver", "class"]
# Copies of what other keys say, kept for conversions.
_COPIES = ("grib.", "grib_repro.")
# Cells of a cube beyond which one that is mostly holes is not worth it.
_SMALL, _SPARSE = 64, 8


@dataclass
class Cube:
    """Which object stands in which cell; -1 for a hole."""

    members: NDArray[np.int64]
    # The key of each axis with its values.
    axes: list[tuple[str, list[Any]]] = field(default_factory=list)
    # Keys that follow from some of the axes: those axes, and the values.
    along: dict[str, tuple[tuple[int, ...], NDArray[Any]]] = field(default_factory=dict)

    @property
    def first(self) -> int:
        return int(self.members.reshape(-1)[self.members.reshape(-1) >= 0][0])


def short(key: str) -> str:
    """The name of a key without the maps that it is in."""
    return key.rsplit(".", 1)[-1]


def cubes(keys: Sequence[Mapping[str, Any]], messages: Sequence[int], *, holes: bool) -> list[Cube]:
    """The cubes of objects with these keys, from these messages. With ``holes`` a cube may lack cells.

    Objects whose keys are all the same become cubes of their own, and so do those of a cube that would have holes where it may not.
    """
    candidates = _candidates(keys)
    chosen = _identifying(keys, candidates)
    if not chosen and len(keys) > 1 and len(set(messages)) == len(messages):
        return [Cube(np.arange(len(keys)), [(MESSAGE, list(messages))])]
    layers: list[dict[tuple[Any, ...], int]] = []
    times: Counter[tuple[Any, ...]] = Counter()
    for number, said in enumerate(keys):
        cell = tuple(said[key] for key in chosen)
        if times[cell] == len(layers):
            layers.append({})
        layers[times[cell]][cell] = number
        times[cell] += 1
    made = [cube for layer in layers for cube in _cubes_of(layer, chosen, holes)]
    for cube in made:
        _follow(cube, keys, [key for key in candidates if key not in chosen])
    return made


def _candidates(keys: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys that all objects have, with single values of one kind that differ."""
    able = []
    for key, value in keys[0].items():
        values = [said.get(key) for said in keys]
        alike = all(isinstance(value, str) for value in values) or all(isinstance(value, (int, float)) and value == value for value in values)
        if alike and any(other != value for other in values) and not key.startswith(_COPIES):
            able.append(key)
    return able


def _rank(key: str) -> tuple[int, int, str]:
    name = short(key)
    return (_GOOD.index(name) if name in _GOOD else len(_GOOD), key.count("."), key)


def _identifying(keys: Sequence[Mapping[str, Any]], candidates: Sequence[str]) -> list[str]:
    """The fewest keys that still tell all objects apart that can be told apart; by name."""

    def told_apart(by: Sequence[str]) -> int:
        return len({tuple(said[key] for key in by) for said in keys})

    chosen = sorted(candidates, key=_rank)
    most = told_apart(chosen)
    for key in reversed(chosen[:]):
        fewer = [other for other in chosen if other != key]
        if told_apart(fewer) == most:
            chosen = fewer
    return sorted(chosen, key=lambda key: (short(key), key))


def _cubes_of(layer: Mapping[tuple[Any, ...], int], chosen: Sequence[str], holes: bool) -> list[Cube]:
    # Of a layer, a key may have one value only: it is no axis there.
    values = [list(dict.fromkeys(cell[place] for cell in layer)) for place in range(len(chosen))]
    axes = [place for place, of_key in enumerate(values) if len(of_key) > 1]
    cells = math.prod(len(values[place]) for place in axes)
    if cells != len(layer) and (not holes or cells > max(_SMALL, _SPARSE * len(layer))):
        return [Cube(np.array(number)) for number in layer.values()]
    members = np.full([len(values[place]) for place in axes], -1)
    places = {place: {value: at for at, value in enumerate(values[place])} for place in axes}
    for cell, number in layer.items():
        members[tuple(places[place][cell[place]] for place in axes)] = number
    return [Cube(members, [(chosen[place], values[place]) for place in axes])]


def _follow(cube: Cube, keys: Sequence[Mapping[str, Any]], others: Sequence[str]) -> None:
    """Adds the keys that follow from the axes, along as few of them as possible."""
    cells = [(cell, int(number)) for cell, number in np.ndenumerate(cube.members) if number >= 0]
    for key in others:
        values = [keys[number][key] for _, number in cells]
        if len(set(values)) < 2:
            continue
        for count in range(1, len(cube.axes) + 1):
            axes = next((axes for axes in itertools.combinations(range(len(cube.axes)), count) if _is_function(cells, values, axes)), None)
            if axes is not None:
                break
        else:
            continue
        shape = [len(cube.axes[axis][1]) for axis in axes]
        table = np.full(shape, None, object)
        for (cell, _), value in zip(cells, values):
            table[tuple(cell[axis] for axis in axes)] = value
        repeats = len(axes) == 1 and table.tolist() == cube.axes[axes[0]][1]
        # A cell that no object has says nothing about the key.
        if not repeats and all(value is not None for value in table.reshape(-1)):
            cube.along[key] = (axes, as_values(table.reshape(-1).tolist()).reshape(shape))


def _is_function(cells: Sequence[tuple[tuple[int, ...], int]], values: Sequence[Hashable], axes: tuple[int, ...]) -> bool:
    known: dict[tuple[int, ...], Hashable] = {}
    return all(known.setdefault(tuple(cell[axis] for axis in axes), value) == value for (cell, _), value in zip(cells, values))


def as_values(values: Sequence[Any]) -> NDArray[Any]:
    """Values of a key as an array: text, truth values, whole numbers where all are, else floats."""
    return np.array(values)


def aligned(many: Sequence[tuple[Cube, bool]]) -> None:
    """Gives axes of the same key the same values in the same order, where one has all values of the other and holes are allowed."""
    longest: dict[str, list[Any]] = {}
    for cube, _ in many:
        for key, values in cube.axes:
            if len(values) > len(longest.get(short(key), [])):
                longest[short(key)] = values
    for cube, holes in many:
        for axis, (key, values) in enumerate(cube.axes):
            whole = longest[short(key)]
            same = set(whole) == set(values)
            if key == MESSAGE or values == whole or not set(values) <= set(whole) or not (holes or same):
                continue
            if any(axis in axes for axes, _ in cube.along.values()) and not same:
                continue
            known = {value: at for at, value in enumerate(values)}
            places = [known.get(value, -1) for value in whole]
            members = np.take(cube.members, places, axis)
            members[(slice(None),) * axis + (np.array(places) < 0,)] = -1
            cube.members, cube.axes[axis] = members, (key, whole)
            for other, (axes, table) in cube.along.items():
                if axis in axes:
                    cube.along[other] = (axes, np.take(table, places, axes.index(axis)))
