"""Variables as objects: what everybody can read, and a note that gives the dataset back as it was."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray import Dataset, Variable, conventions

from ._marks import MARK, attributes_to

# Keys of an encoding that CF knows: xarray applies them. All others belong to the pipeline.
CF = frozenset(["dtype", "scale_factor", "add_offset", "_FillValue", "missing_value", "units", "calendar", "_Unsigned"])
_STAGES = ("encoding", "filter", "compression")
_PARAMETERS = ("sp_", "shuffle_", "szip_", "zstd_", "lz4_", "blosc2_", "zfp_", "sz3_")
_UNITS = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}


@dataclass
class Ready:
    """A variable, encoded as a whole, so that its parts agree about units; its elements once they are asked for."""

    entry: dict[str, Any]
    pipeline: dict[str, Any]
    variable: Variable
    note: dict[str, Any] = field(default_factory=dict)

    def part(self, at: Mapping[str, int], values: Mapping[str, Any]) -> Ready:
        """The part at some places of grouped dimensions, with its note in its base entry."""
        variable = self.variable.isel(dict(at))
        note = {**self.note, "at": {dim: key_of(values[dim]) for dim in at}} if at else self.note
        names = [str(dim) for dim in variable.dims] + ([f"{self.entry['name']}_bytes"] if "text" in note else [])
        keys = {dim: shown(values[dim]) for dim in at}
        return Ready({**self.entry, "dim_names": names, **keys, MARK: note}, self.pipeline, variable, note)

    def pair(self) -> tuple[dict[str, Any], NDArray[Any]]:
        """Descriptor and elements; this is where those of Dask are computed."""
        values = np.asarray(self.variable.values)
        if "text" in self.note:
            values = _bytes_of(values, np.dtype(self.note["text"]))
        elif "time" in self.note:
            values = values.view("i8") if values.ndim else np.asarray(values).reshape(1).view("i8").reshape(())
        return descriptor(self.pipeline, values), values


def check_names(dataset: Dataset, encoding: Mapping[Hashable, Mapping[str, Any]], group_by: Sequence[str]) -> None:
    """Refuses what cannot be written, before anything is."""
    for name, variable in dataset.variables.items():
        for word in (name, *variable.dims):
            if not isinstance(word, str) or not word:
                raise TypeError(f"variable {name!r}: names of variables and dimensions must be text, not {word!r}")
    for name, index in dataset.xindexes.items():
        if type(index).__name__ == "PandasMultiIndex":
            raise ValueError(f"coordinate {name!r} is a level of a multi-index, which cannot be written: use reset_index first")
    unknown = [name for name in encoding if name not in dataset.variables]
    if unknown:
        raise ValueError(f"encoding names {', '.join(map(repr, unknown))}, which the dataset does not have: it has {', '.join(map(repr, dataset.variables))}")
    for dim in group_by:
        if dim not in dataset.sizes:
            raise ValueError(f"group_by: {dim!r} is not a dimension of the dataset: it has {', '.join(map(repr, dataset.sizes)) or 'none'}")
        if dataset.sizes[dim] == 0:
            raise ValueError(f"group_by: dimension {dim!r} has the length 0")
        if dim in dataset.variables:
            places = [repr(key_of(value)) for value in dataset.variables[dim].values]
            twice = next((place for at, place in enumerate(places) if place in places[:at]), None)
            if twice is not None:
                raise ValueError(f"group_by: coordinate {dim!r} has the value {twice} more than once, so that messages could not be told apart")


def split(encoding: Mapping[str, Any], where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The part of an encoding that CF knows, and the pipeline.

    Raises ``ValueError`` for a key that is neither.
    """
    cf: dict[str, Any] = {}
    pipeline: dict[str, Any] = dict(encoding.get("pipeline") or {})
    for key, value in encoding.items():
        if key in CF:
            cf[key] = value
        elif key in _STAGES or key.startswith(_PARAMETERS):
            pipeline[key] = value
        elif key != "pipeline":
            raise ValueError(f"{where}: unknown key {key!r} in encoding: stages are {', '.join(_STAGES)}; CF has {', '.join(sorted(CF))}")
    return cf, pipeline


def ready(name: str, variable: Variable, asked: Mapping[str, Any] | None, *, coordinate: bool, also_taken: frozenset[str]) -> Ready:
    """A variable with its base entry. Its elements stay where they are."""
    where = f"variable {name!r}"
    cf, pipeline = split(asked or {}, where)
    # What a file was decoded from is encoded alike, as with every engine.
    carried = {key: value for key, value in variable.encoding.items() if key in CF}
    note: dict[str, Any] = {"version": 1, "dims": list(variable.dims)}
    if coordinate:
        note["coordinate"] = True
    variable = Variable(variable.dims, variable._data, variable.attrs, {**carried, **cf})
    kind = variable.dtype.kind
    if kind in "mM" and not variable.encoding:
        unit = np.datetime_data(variable.dtype)[0]
        if unit not in _UNITS:
            raise ValueError(f"{where}: {variable.dtype} cannot be written: use units of s, ms, us or ns")
        note["time"] = variable.dtype.str
    elif kind in "US" or (kind == "O" and _is_text(variable, where)):
        note["text"] = variable.dtype.str if kind in "US" else "O"
    elif kind == "V" or kind == "T":
        raise ValueError(f"{where}: elements of type {variable.dtype} cannot be written")
    elif kind in "ObmM" or variable.encoding:
        # No value stands for missing ones unless it was chosen: NaN is kept as it is.
        variable.encoding.setdefault("_FillValue", None)
        variable = conventions.encode_cf_variable(variable, name=name)
    keys, more = attributes_to(dict(variable.attrs), where, also_taken)
    note |= more
    entry = {"name": name, **keys}
    if "time" in note:
        entry |= _time_keys(keys, note, kind)
    return Ready(entry, pipeline, variable, note)


def _time_keys(keys: Mapping[str, Any], note: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """CF attributes for other readers, where the variable has none of these names."""
    units = _UNITS[np.datetime_data(np.dtype(note["time"]))[0]]
    said = {"units": f"{units} since 1970-01-01", "calendar": "proleptic_gregorian"} if kind == "M" else {"units": units}
    return {key: value for key, value in said.items() if key not in keys}


def _is_text(variable: Variable, where: str) -> bool:
    """Whether objects are text. Those that are neither text nor dates are refused."""
    values = np.asarray(variable.values).reshape(-1)
    if values.size and all(isinstance(value, str) for value in values):
        return True
    odd = next((value for value in values if not hasattr(value, "calendar")), None)
    if odd is not None or not values.size:
        found = type(odd).__name__ if values.size else "object"
        raise TypeError(f"{where}: elements of type {found} cannot be written: use text, numbers, truth values or dates")
    return False


def _bytes_of(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """UTF-8 bytes, as long as the longest needs, filled with zeros."""
    plain = values.astype("S") if dtype.kind == "S" else np.char.encode(values.astype(str), "utf-8")
    plain = np.asarray(plain, order="C")
    width = max(plain.dtype.itemsize, 1)
    return np.frombuffer(plain.astype(f"S{width}").tobytes(), "u1").reshape((*values.shape, width))


def descriptor(pipeline: Mapping[str, Any], values: NDArray[Any]) -> dict[str, Any]:
    """The pipeline with the parameters that follow from the elements, or that have a usual value."""
    full: dict[str, Any] = dict(pipeline)
    if full.get("filter") == "shuffle":
        full.setdefault("shuffle_element_size", values.dtype.itemsize)
    if full.get("compression") == "szip":
        full = {"szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8, **full}
    if full.get("encoding") == "simple_packing" and values.dtype != np.float64:
        raise ValueError(f"simple_packing takes float64, not {values.dtype}: convert the variable with astype('float64') first")
    return full


def key_of(value: Any) -> Any:
    """The value of a coordinate as metadata has it, and as a key of a group: dates are counts."""
    scalar = np.asarray(value)
    return int(scalar.astype("i8")) if scalar.dtype.kind in "mM" else scalar.item()


def shown(value: Any) -> Any:
    """The value as people select by it: dates as text."""
    scalar = np.asarray(value)
    return str(scalar) if scalar.dtype.kind == "M" else key_of(value)
