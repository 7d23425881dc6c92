"""Keys of objects: nested maps as dotted names, what objects share and what tells them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Names of coordinates, by the name that they get.
COORDINATES = {
    "lat": "latitude",
    "latitude": "latitude",
    "lon": "longitude",
    "longitude": "longitude",
    **{name: name for name in ("x", "y", "time", "level", "pressure", "height", "depth", "frequency", "step")},
}
# The order in which axes usually stand; the last ones are the surest.
USUAL_ORDER = ["time", "step", "frequency", "level", "pressure", "height", "depth", "latitude", "y", "longitude", "x"]

_NAMES = ("name", "mars.param", "param", "mars.shortName", "shortName")
# Keys that name dimensions, best first.
_HINTS = ("dim_names", "netcdf._dims", "dims", "_ARRAY_DIMENSIONS")


def found(entry: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, or ``None``."""
    value: Any = entry
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return entry.get(path)
        value = value[part]
    return value


def flattened(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Nested maps as dotted names: ``{"mars": {"step": 6}}`` is ``{"mars.step": 6}``. An empty map says nothing."""
    flat: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, Mapping):
            flat.update((f"{key}.{inner}", deep) for inner, deep in flattened(value).items())
        else:
            flat[key] = value
    return flat


def variable_name(entry: Mapping[str, Any], variable_key: str | None, number: int) -> str:
    """What the object is called."""
    for path in (variable_key, *_NAMES):
        value = found(entry, path) if path else None
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return f"object_{number}"


def coordinate_name(entry: Mapping[str, Any]) -> str | None:
    """The name of the coordinate that the object is, where its own name is that of one."""
    for path in ("name", "param", "mars.param"):
        value = found(entry, path)
        if isinstance(value, str) and value:
            return COORDINATES.get(value.lower())
    return None


def hinted(entry: Mapping[str, Any], rank: int) -> list[str] | None:
    """The dimension names that the producer gives: as many different ones as there are axes."""
    for path in _HINTS:
        names = found(entry, path)
        if is_names(names, rank):
            return list(names)
    return None


def is_names(names: Any, rank: int) -> bool:
    """Whether these are dimension names for so many axes."""
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != rank:
        return False
    return all(isinstance(name, str) and name for name in names) and len(set(names)) == rank


def attributes(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of a variable: dotted names, with what converters of NetCDF files keep in maps of their own brought up."""
    own = {key: value for key, value in entry.items() if key not in (*_HINTS, "netcdf", "cf")}
    flat = flattened(own)
    for path in ("cf", "netcdf"):
        inner = entry.get(path)
        if isinstance(inner, Mapping):
            for key, value in inner.items():
                # What begins with an underscore describes the file, but for the value that stands for missing ones.
                if not isinstance(value, Mapping) and (key == "_FillValue" or not key.startswith("_")) and key != "record_index":
                    flat.setdefault(key, value)
        elif inner is not None:
            flat[path] = inner
    return flat


def same(one: Any, other: Any) -> bool:
    """Whether two values of metadata are the same; NaN is itself."""
    return type(one) is type(other) and (one == other or (one != one and other != other))


def constant(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all of them say alike."""
    first, *others = entries
    return {key: value for key, value in first.items() if all(key in other and same(other[key], value) for other in others)}
