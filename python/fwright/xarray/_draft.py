"""Variables in the making."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray import Variable
from xarray.core.indexing import LazilyIndexedArray

from ._arrays import LazyArray, ObjectArray
from ._file import Handle, Item


@dataclass(frozen=True)
class Choices:
    """What a user of the engine chose."""

    dim_names: tuple[str, ...] | None = None
    variable_key: str | None = None
    merge_objects: bool = True
    range_threshold: float = 1.0
    verify_hash: bool = False
    flatten: bool = True


@dataclass
class Draft:
    """A variable: in memory, or read when it is asked for."""

    name: str
    dims: list[str]
    data: LazyArray | NDArray[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    is_coordinate: bool = False
    pipeline: dict[str, Any] = field(default_factory=dict)
    # Axes over objects: one of them is the smallest piece that is worth reading.
    outer: tuple[str, ...] = ()
    # Its place among the objects, for names of dimensions that are its own.
    number: int = 0
    # Whether its dimension names were given, not found.
    explicit: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    def variable(self, source: str) -> Variable:
        """The variable of xarray."""
        if not isinstance(self.data, LazyArray):
            return Variable(self.dims, self.data, self.attrs)
        # An object at a time; where one is cut costs little, so that nothing is said about its own axes.
        chunks = {dim: 1 for dim in self.outer}
        encoding: dict[str, Any] = {"source": source, "preferred_chunks": chunks}
        if self.pipeline:
            encoding["pipeline"] = self.pipeline
        return Variable(self.dims, LazilyIndexedArray(self.data), self.attrs, encoding)


@dataclass
class Built:
    """All that a dataset is made of."""

    drafts: list[Draft]
    attrs: dict[str, Any]


def stored(handle: Handle, item: Item, choices: Choices) -> ObjectArray:
    """The elements of an object."""
    return ObjectArray(handle, item, choices.verify_hash, choices.range_threshold)


def values_of(handle: Handle, arrays: Sequence[LazyArray]) -> list[NDArray[Any]]:
    """All elements of some arrays."""
    return handle.together(lambda array: array.outer([range(length) for length in array.shape]), arrays)


def equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays are the same, to the bit."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def own_dimensions(drafts: Sequence[Draft]) -> None:
    """Gives axes names of their own where others have the same name at another length. Those of coordinates stay."""
    lengths: defaultdict[str, Counter[int]] = defaultdict(Counter)
    held: dict[str, int] = {}
    for draft in drafts:
        for dim, length in zip(draft.dims, draft.shape):
            lengths[dim][length] += 1
            if draft.is_coordinate and draft.dims == [draft.name]:
                held[dim] = length
    for draft in drafts:
        for axis, (dim, length) in enumerate(zip(list(draft.dims), draft.shape)):
            if len(lengths[dim]) < 2 or held.get(dim) == length:
                continue
            if draft.explicit and not dim.startswith("dim_"):
                others = ", ".join(str(other) for other in sorted(lengths[dim]))
                warnings.warn(f"dimension {dim!r} has the lengths {others}: an axis of {draft.name!r} gets a name of its own", stacklevel=2)
            draft.dims[axis] = f"obj_{draft.number}_dim_{axis}"


def float_like(dtype: np.dtype[Any]) -> bool:
    """Whether the type has a NaN, which marks what is missing."""
    return dtype.kind in "fc"
