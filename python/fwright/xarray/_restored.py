"""Datasets of files that our writer wrote: what its notes say, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import DerivedArray, LazyArray, StackedArray, as_text, as_times
from ._dims import Names
from ._draft import Built, Choices, Draft, equal, float_like, stored, values_of
from ._file import Handle, Item, Said
from ._marks import MARK, attributes_from, mark_of


def is_ours(said: Said) -> bool:
    """Whether every object and every message carries the note of our writer."""
    notes = [item.mark for item in said.items] + [mark_of(extra.get(MARK)) for extra in said.messages.values()]
    return bool(said.messages) and all(notes)


def build(handle: Handle, said: Said, choices: Choices) -> Built:
    """The dataset that was written."""
    messages = list(said.messages.values())
    first = messages[0]
    groups: dict[str, dict[str, Any]] = {}
    for extra in messages:
        for dim, group in extra[MARK].get("groups", {}).items():
            groups.setdefault(dim, group)
    # Where each value of a dimension over messages stands.
    places: dict[str, dict[Any, int]] = {dim: {} for dim in groups}
    values: dict[str, list[Any]] = {dim: [] for dim in groups}
    by_name: dict[str, list[Item]] = {}
    for item in said.items:
        by_name.setdefault(item.entry["name"], []).append(item)
    for extra in messages:
        for dim, value in extra[MARK].get("at", {}).items():
            if _key(value) not in places[dim]:
                places[dim][_key(value)] = len(places[dim])
                values[dim].append(value)
    drafts: list[Draft] = []
    names = Names()
    names.taken.update(by_name, groups)
    for dim, group in groups.items():
        if group["coordinate"]:
            # Dates are counts here.
            array = np.array(values[dim], "i8" if group["dtype"][1] in "mM" else None).astype(group["dtype"])
            drafts.append(Draft(dim, [dim], array, attributes_from({}, group), True))
    for name, items in by_name.items():
        drafts += _variables(handle, name, items, places, names, choices)
    return Built(drafts, attributes_from(first, first[MARK]))


def _variables(handle: Handle, name: str, items: Sequence[Item], places: dict[str, dict[Any, int]], names: Names, choices: Choices) -> list[Draft]:
    """One variable, and more where the same cell was written more than once."""
    layers: list[dict[tuple[int, ...], Item]] = []
    kept = _without_repeats(handle, items, choices)
    for item in kept:
        cell = tuple(places[dim][_key(item.mark["at"][dim])] for dim in item.mark.get("at", {}))
        # What has another type or shape is another variable.
        fits = [layer for layer in layers if cell not in layer and _alike(item, next(iter(layer.values())))]
        if fits:
            fits[0][cell] = item
        else:
            layers.append({cell: item})
    made: list[Draft] = []
    for layer in layers:
        outer = list(next(iter(layer.values())).mark.get("at", {}))
        lengths = [len(places[dim]) for dim in outer]
        cells = int(np.prod(lengths, dtype=np.int64))
        if cells == len(layer) or float_like(next(iter(layer.values())).dtype):
            made.append(_stacked(handle, names.free(name) if made else name, layer, outer, lengths, choices))
        else:
            for cell, item in layer.items():
                alone = _stacked(handle, names.free(name) if made else name, {(0,) * len(outer): item}, outer, [1] * len(outer), choices)
                # Without its cells along them, it has no part in the dimensions.
                keep = [axis for axis, dim in enumerate(alone.dims) if dim not in outer]
                alone.data = _one(handle, item, choices)
                alone.dims = [alone.dims[axis] for axis in keep]
                alone.attrs |= {dim: value for dim, value in item.mark["at"].items()}
                made.append(alone)
    return made


def _key(value: Any) -> Any:
    """What finds a value again; NaN, which is equal to nothing, as well."""
    return value if value == value else "nan"


def _alike(one: Item, other: Item) -> bool:
    """Whether two objects can be cells of one variable."""

    def form(item: Item) -> tuple[Any, ...]:
        # Text of one cell may be longer than that of another.
        shape = item.shape[:-1] if "text" in item.mark else item.shape
        return (shape, item.dtype, item.mark["dims"], list(item.mark.get("at", {})), item.mark.get("text"), item.mark.get("time"))

    return form(one) == form(other)


def _without_repeats(handle: Handle, items: Sequence[Item], choices: Choices) -> list[Item]:
    """Equal coordinates of several messages are one."""
    still = [item for item in items if not item.mark.get("at") and item.mark.get("coordinate")]
    if len(still) < 2:
        return list(items)
    values = values_of(handle, [stored(handle, item, choices) for item in still])
    gone = {item.place for at, item in enumerate(still) if any(equal(values[at], other) for other in values[:at])}
    return [item for item in items if item.place not in gone]


def _one(handle: Handle, item: Item, choices: Choices) -> LazyArray:
    array: LazyArray = stored(handle, item, choices)
    if "text" in item.mark:
        return DerivedArray(array, np.dtype(item.mark["text"]), as_text, last=True)
    if "time" in item.mark:
        return DerivedArray(array, np.dtype(item.mark["time"]), as_times, last=False)
    return array


def _stacked(handle: Handle, name: str, layer: dict[tuple[int, ...], Item], outer: list[str], lengths: list[int], choices: Choices) -> Draft:
    first = next(iter(layer.values()))
    dims: list[str] = first.mark["dims"]
    array = _one(handle, first, choices)
    if outer:
        parts = np.full(lengths, None, object)
        for cell, item in layer.items():
            parts[cell] = _one(handle, item, choices)
        inner = [dim for dim in dims if dim not in outer]
        array = StackedArray(handle, parts, array.shape, array.dtype, [[*outer, *inner].index(dim) for dim in dims])
    attrs = attributes_from(first.entry, first.mark)
    return Draft(name, list(dims), array, attrs, bool(first.mark.get("coordinate")), first.pipeline, tuple(outer), explicit=True)
