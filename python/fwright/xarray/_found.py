"""Datasets of files that anybody wrote: names, dimensions, coordinates and cubes from what the metadata says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _grid
from ._arrays import LazyArray, StackedArray
from ._cubes import MESSAGE, Cube, aligned, as_values, cubes, short
from ._dims import Axis, Names, dimensions
from ._draft import Built, Choices, Draft, equal, float_like, own_dimensions, stored, values_of
from ._file import Handle, Item, Said
from ._keys import attributes, constant, coordinate_name, flattened, hinted, variable_name
from ._marks import MARK


@dataclass
class _Field:
    """An object that is no coordinate."""

    number: int
    item: Item
    name: str
    dims: list[str]
    explicit: bool
    # Its own keys, and those of its message that not all messages share.
    keys: dict[str, Any]


def build(handle: Handle, said: Said, choices: Choices) -> Built:
    """The dataset of a file."""
    return _Builder(handle, said, choices).build()


class _Builder:
    def __init__(self, handle: Handle, said: Said, choices: Choices) -> None:
        self.handle, self.said, self.choices = handle, said, choices
        self.names = Names()
        self.drafts: list[Draft] = []
        self.extras = {message: {key: value for key, value in extra.items() if key != MARK} for message, extra in said.messages.items()}
        self.shared = constant(list(self.extras.values())) if self.extras else {}
        # Per message: the coordinates with one axis, and the names of grids.
        self.axes: dict[int, list[Axis]] = {}
        self.grids: dict[bytes, tuple[str, str]] = {}

    def build(self) -> Built:
        entries = [self._entry(item) for item in self.said.items]
        canonical = [coordinate_name(entry) for entry in entries]
        numbered = list(enumerate(zip(self.said.items, entries, canonical)))
        lines = [(number, item, entry, name) for number, (item, entry, name) in numbered if name is not None and len(item.shape) <= 1]
        self._coordinates(lines)
        apart = {number for number, *_ in lines}
        fields = [self._field(number, item, entry, name) for number, (item, entry, name) in numbered if number not in apart]
        self._cubes(fields)
        own_dimensions(self.drafts)
        return Built(self.drafts, self._attributes())

    def _entry(self, item: Item) -> dict[str, Any]:
        return item.entry if item.name is None else {"name": item.name, **item.entry}

    def _attributes(self) -> dict[str, Any]:
        attrs = {key: value for key, value in self.shared.items() if key != "dim_names"}
        if self.choices.flatten:
            attrs = flattened(attrs)
            given = [entry["netcdf"]["_global"] for entry in map(self._entry, self.said.items) if _has_global(entry)]
            for key, value in (constant(given) if given else {}).items():
                attrs.setdefault(key, value)
        if self.said.format == "tensogram":
            attrs["tensogram_wire_version"] = 3
        return attrs

    def _attributes_of(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        if not self.choices.flatten:
            return {key: value for key, value in entry.items() if key != "dim_names"}
        attrs = attributes(entry)
        if self.said.format != "tensogram":
            attrs.pop("name", None)
        return attrs

    def _coordinates(self, lines: Sequence[tuple[int, Item, dict[str, Any], str | None]]) -> None:
        """Coordinates with one axis or none. Of equal ones in several messages there is one; others of the same name are numbered."""
        kinds: dict[tuple[Any, ...], list[tuple[int, Item, dict[str, Any]]]] = {}
        for number, item, entry, usual in lines:
            kinds.setdefault((usual, item.shape, item.dtype, tuple(hinted(entry, len(item.shape)) or ())), []).append((number, item, entry))
        for (usual, shape, _, hint), alike in kinds.items():
            variants: list[tuple[str, Any]] = []
            values = values_of(self.handle, [stored(self.handle, item, self.choices) for _, item, _ in alike]) if len(alike) > 1 else [None]
            for (number, item, entry), value in zip(alike, values):
                name = next((name for name, other in variants if value is not None and equal(other, value)), None)
                if name is None:
                    name = self.names.free(usual)
                    variants.append((name, value))
                    dims = list(hint) or ([name] if shape else [])
                    array = stored(self.handle, item, self.choices)
                    self.drafts.append(Draft(name, dims, array, self._attributes_of(entry), True, item.pipeline, number=number, explicit=bool(hint)))
                if shape:
                    # A coordinate along a dimension of another name labels that one.
                    along = hint[0] if hint else name
                    self.axes.setdefault(item.place.message, []).append(Axis(along, usual, shape[0]))

    def _field(self, number: int, item: Item, entry: dict[str, Any], usual: str | None) -> _Field:
        message = item.place.message
        extra = self.extras.get(message, {})
        axes = self.axes.get(message, [])
        # Messages without coordinates use those of the first that has some.
        axes = axes or next(iter(self.axes.values()), [])
        given, explicit = dimensions(entry, extra, item.shape, axes, self.choices.dim_names)
        self._grid(entry, item.shape, given)
        dims = [name or f"dim_{axis}" for axis, name in enumerate(given)]
        name = item.name if item.name is not None and self.choices.variable_key is None else None
        name = name or variable_name(entry, self.choices.variable_key, item.place.object)
        if usual in ("latitude", "longitude") and len(item.shape) > 1:
            name = usual
        keys = flattened({key: value for key, value in entry.items() if key != "dim_names"})
        for key, value in flattened(extra).items():
            if key not in self.shared and key.split(".", 1)[0] not in self.shared and key.split(".", 1)[0] != "dim_names":
                keys.setdefault(key, value)
        return _Field(number, item, name, dims, explicit, keys)

    def _grid(self, entry: Mapping[str, Any], shape: Sequence[int], dims: list[str | None]) -> None:
        """Names the last two axes of a regular grid, where they have no names, and makes their coordinates."""
        if len(shape) < 2 or dims[-1] is not None or dims[-2] is not None or not self.choices.flatten:
            return
        made = _grid.regular(entry, shape)
        if made is None:
            return
        identity = made[0].tobytes() + b"/" + made[1].tobytes()
        if identity not in self.grids:
            self.grids[identity] = (self.names.free("latitude"), self.names.free("longitude"))
            for name, values, units in zip(self.grids[identity], made, ("degrees_north", "degrees_east")):
                usual = name.split("_")[0]
                self.drafts.append(Draft(name, [name], values, {"standard_name": usual, "units": units}, True))
        dims[-2:] = self.grids[identity]

    def _cubes(self, fields: Sequence[_Field]) -> None:
        groups: dict[tuple[Any, ...], list[_Field]] = {}
        for found in fields:
            groups.setdefault((found.name, tuple(found.dims), found.item.shape, found.item.dtype), []).append(found)
        # All names first: a dimension never takes that of a variable.
        self.names.taken.update(found.name for found in fields)
        self.names.taken.update(dim for found in fields for dim in found.dims)
        made: list[tuple[list[_Field], Cube]] = []
        for group in groups.values():
            if self.choices.merge_objects and len(group) > 1:
                holes = float_like(group[0].item.dtype)
                made += [(group, cube) for cube in cubes([found.keys for found in group], [found.item.place.message for found in group], holes=holes)]
            else:
                made += [(group, Cube(np.array(number))) for number in range(len(group))]
        aligned([(cube, float_like(group[0].item.dtype)) for group, cube in made])
        used: set[str] = set()
        shown: dict[tuple[str, str], str] = {}
        for group, cube in made:
            name = group[0].name
            # The first of a name has it.
            name = self.names.free(name) if name in used else name
            used.add(name)
            self._draft(name, group, cube, shown)

    def _draft(self, name: str, group: Sequence[_Field], cube: Cube, shown: dict[tuple[str, str], str]) -> None:
        first = group[cube.first]
        outer = [self._dimension(key, values, shown) for key, values in cube.axes]
        parts = np.empty(cube.members.shape, object)
        for cell, number in np.ndenumerate(cube.members):
            parts[cell] = stored(self.handle, group[int(number)].item, self.choices) if number >= 0 else None
        array: LazyArray = stored(self.handle, first.item, self.choices)
        if outer:
            array = StackedArray(self.handle, parts, array.shape, array.dtype, range(len(outer) + len(array.shape)))
        members = [group[int(number)] for number in cube.members.reshape(-1) if number >= 0]
        kept = constant([self._attributes_of(self._entry(member.item)) for member in members])
        if not self.choices.merge_objects:
            kept = {**{key: value for key, value in first.keys.items() if key in _varying(self.extras, self.shared)}, **kept}
        is_coordinate = name in ("latitude", "longitude")
        self.drafts.append(Draft(name, outer + first.dims, array, kept, is_coordinate, first.item.pipeline, tuple(outer), first.number, first.explicit))
        for key, (axes, table) in cube.along.items():
            identity = (f"{key} along {[outer[axis] for axis in axes]}", repr(table.tolist()))
            if identity not in shown:
                shown[identity] = self.names.free(short(key), key)
                self.drafts.append(Draft(shown[identity], [outer[axis] for axis in axes], table, {}, True))

    def _dimension(self, key: str, values: list[Any], shown: dict[tuple[str, str], str]) -> str:
        """The dimension of a key with these values: its own short name where that is free."""
        identity = (key, repr(values))
        if identity not in shown:
            shown[identity] = self.names.free(short(key), key)
            if key != MESSAGE:
                self.drafts.append(Draft(shown[identity], [shown[identity]], as_values(values), {}, True))
        return shown[identity]


def _has_global(entry: Mapping[str, Any]) -> bool:
    netcdf = entry.get("netcdf")
    return isinstance(netcdf, Mapping) and isinstance(netcdf.get("_global"), Mapping)


def _varying(extras: Mapping[int, Mapping[str, Any]], shared: Mapping[str, Any]) -> set[str]:
    return {key for extra in extras.values() for key in flattened(extra) if key.split(".", 1)[0] not in shared}
