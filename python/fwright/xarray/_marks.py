"""What our writer notes beside an object, so that a dataset comes back as it was.

The note stands in the base entry of an object (and in the message for the dataset) under one key, and repeats nothing that other
readers look for: names, dimension names and attributes stand where everybody has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# The key of the note.
MARK = "fw.xarray"
# Keys of a base entry or a message that mean something to readers: attributes of these names go into the note.
TAKEN = frozenset(
    ["name", "param", "mars", "dim_names", "dims", "netcdf", "cf", "base", "version", "extra", "_extra_", "_reserved_", "_ARRAY_DIMENSIONS", "fw.carried", MARK]
)


def mark_of(value: Any) -> dict[str, Any]:
    """The note, where there is one that this version understands."""
    return value if isinstance(value, dict) and value.get("version") == 1 else {}


def attributes_to(attributes: dict[Any, Any], where: str, also_taken: frozenset[str] = frozenset()) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keys for everybody to read, and what the note needs to give the attributes back.

    Raises ``TypeError`` for what metadata cannot hold.
    """
    keys: dict[str, Any] = {}
    note: dict[str, Any] = {"keys": []}
    for key, value in attributes.items():
        if not isinstance(key, str):
            raise TypeError(f"{where}: attribute {key!r}: names of attributes must be text")
        plain, kind = _plain(value, f"{where}: attribute {key!r}")
        if kind is not None:
            note.setdefault("types", {})[key] = kind
        if key in TAKEN or key in also_taken:
            note.setdefault("attributes", {})[key] = plain
        else:
            keys[key] = plain
        note["keys"].append(key)
    return keys, note


def attributes_from(entry: dict[str, Any], note: dict[str, Any]) -> dict[str, Any]:
    """The attributes that were written."""
    hidden, types = note.get("attributes", {}), note.get("types", {})
    names = [key for key in note.get("keys", []) if key in hidden or key in entry]
    return {key: _typed(hidden[key] if key in hidden else entry[key], types.get(key)) for key in names}


def _plain(value: Any, where: str) -> tuple[Any, str | None]:
    """A value that metadata holds, and the NumPy type that it had."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biufUS":
            raise TypeError(f"{where}: values of type {value.dtype} cannot be written: use text or a number")
        kind = value.dtype.str if isinstance(value, np.generic) else f"{value.dtype.str}{list(value.shape)}"
        return _plain(value.tolist(), where)[0], kind
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where}: key {key!r} must be text")
        return {key: _plain(inner, where)[0] for key, inner in value.items()}, None
    if isinstance(value, (list, tuple)):
        return [_plain(inner, where)[0] for inner in value], "tuple" if isinstance(value, tuple) else None
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value, None
    raise TypeError(f"{where}: values of type {type(value).__name__} cannot be written: use text or a number")


def _typed(value: Any, kind: str | None) -> Any:
    if kind is None:
        return value
    if kind == "tuple":
        return tuple(value)
    name, bracket, shape = kind.partition("[")
    dtype = np.dtype(name)
    if not bracket:
        return dtype.type(value)
    lengths = [int(length) for length in shape.rstrip("]").split(",") if length.strip()]
    return np.asarray(value, dtype).reshape(lengths)
