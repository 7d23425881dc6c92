"""Arrays that read what an index asks for, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core.indexing import ExplicitIndexer, VectorizedIndexer

from ._file import Handle, Item

# What an index takes of one axis: a row of places with equal steps, or any places. None is negative.
Axis: TypeAlias = range | NDArray[np.int64]
Array: TypeAlias = NDArray[Any]

# Elements that are worth naming one by one; more are read as one block.
MOST_APART = 1 << 16


class LazyArray(BackendArray):
    """An array of a file; subclasses read outer products of places, and single points."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def outer(self, axes: Sequence[Axis]) -> Array:
        """The elements at every combination of places, one axis of the result for each of ours."""
        raise NotImplementedError

    def points(self, places: Sequence[NDArray[np.int64]]) -> Array:
        """The elements at points: one flat array of places for each axis."""
        raise NotImplementedError

    def __getitem__(self, key: ExplicitIndexer) -> Array:
        if isinstance(key, VectorizedIndexer):
            return self._vectorised(key.tuple)
        axes: list[Axis] = []
        dropped = []
        for axis, (part, length) in enumerate(zip(key.tuple, self.shape)):
            if isinstance(part, slice):
                axes.append(range(*part.indices(length)))
            elif np.ndim(part) == 0:
                place = _inside(np.asarray(part, np.int64), length)
                axes.append(range(int(place), int(place) + 1))
                dropped.append(axis)
            else:
                axes.append(evenly(_inside(np.asarray(part, np.int64), length)))
        taken = self.outer(axes)
        return taken.reshape([length for axis, length in enumerate(taken.shape) if axis not in dropped])

    def _vectorised(self, key: tuple[Any, ...]) -> Array:
        """Arrays that are broadcast against each other, then slices, in that order."""
        arrays = [_inside(np.asarray(part, np.int64), length) if not isinstance(part, slice) else part for part, length in zip(key, self.shape)]
        rank = max((part.ndim for part in arrays if not isinstance(part, slice)), default=0)
        slices = sum(isinstance(part, slice) for part in arrays)
        spread: list[NDArray[np.int64]] = []
        seen = 0
        for part, length in zip(arrays, self.shape):
            if isinstance(part, slice):
                seen += 1
                part = np.arange(length)[part].reshape([-1 if axis == rank + seen - 1 else 1 for axis in range(rank + slices)])
            else:
                part = part.reshape((1,) * (rank - part.ndim) + part.shape + (1,) * slices)
            spread.append(part)
        shape = np.broadcast_shapes(*(part.shape for part in spread)) if spread else ()
        longer = [[axis for axis, length in enumerate(part.shape) if length != 1] for part in spread]
        used = [axis for axes in longer for axis in axes]
        if all(len(axes) <= 1 for axes in longer) and len(set(used)) == len(used):
            # Each varies along an axis of its own: an outer product whose axes stand in another order.
            taken = self.outer([evenly(part.reshape(-1)) for part in spread])
            order = sorted(range(len(spread)), key=lambda axis: longer[axis] or [-1])
            return taken.transpose(order).reshape(shape)
        return self.points([np.broadcast_to(part, shape).reshape(-1) for part in spread]).reshape(shape)


def _inside(places: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    if places.size and (int(places.min()) < -length or int(places.max()) >= length):
        raise IndexError(f"index {int(places.max())} is out of bounds for an axis of length {length}")
    return np.where(places < 0, places + length, places)


def evenly(places: NDArray[np.int64]) -> Axis:
    """The places as a row with equal steps, where they are one."""
    if places.size == 0:
        return range(0)
    first = int(places[0])
    if places.size == 1:
        return range(first, first + 1)
    step = int(places[1]) - first
    if step == 0 or not bool(np.all(np.diff(places) == step)):
        return places
    return range(first, first + step * places.size, step)


def as_slice(row: range) -> slice:
    """The slice that takes the places of a row."""
    if len(row) == 0:
        return slice(0, 0)
    if row.step > 0:
        return slice(row.start, row[-1] + 1, row.step)
    # Before the first place there is no number to stop at.
    return slice(row.start, row[-1] - 1 if row[-1] > 0 else None, row.step)


class ObjectArray(LazyArray):
    """One object of a file."""

    def __init__(self, handle: Handle, item: Item, verify: bool, threshold: float) -> None:
        self.handle, self.place, self.in_runs, self.by_message, self.raw = handle, item.place, item.in_runs, item.by_message, item.raw
        self.shape, self.dtype = item.shape, item.dtype
        self.verify, self.threshold = verify, threshold

    def _checked(self, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        if tuple(shape) != self.shape or dtype != self.dtype:
            raise ValueError(f"{self.handle.title}: the file has changed since the dataset was opened: open it again")

    def _tensor(self) -> Any:
        tensors = self.handle.opened().tensors
        tensor = tensors[self.place.tensor] if self.place.tensor < len(tensors) else None
        self._checked(() if tensor is None else tensor.shape, np.dtype("V1") if tensor is None else tensor.dtype)
        return tensor

    def _whole(self) -> Array:
        messages = self.handle.opened().messages
        if messages is not None and (self.by_message or self.verify):
            array = messages.whole(self.place, self.verify)
            if self.dtype == np.bool_ and array.dtype == np.uint8:
                size = int(np.prod(self.shape, dtype=np.int64))
                array = np.unpackbits(array, count=size).astype(bool).reshape(self.shape)
            if self.by_message:
                self._checked(array.shape, array.dtype)
            # A type that Tensogram lacks is stored as another one, whose hash was compared.
            if array.shape == self.shape and array.dtype == self.dtype:
                return array
        return np.asarray(self._tensor().numpy(copy=True))

    def _view(self) -> Array | None:
        """The elements where they stand in memory or in a mapped file, if they do."""
        if self.handle.is_far or self.verify or (self.by_message and not self.raw):
            return None
        if self.by_message:
            messages = self.handle.opened().messages
            assert messages is not None
            array = messages.view(self.place)
            self._checked(array.shape, array.dtype)
            return array
        try:
            return np.asarray(self._tensor().numpy(copy=False))
        except ValueError as error:
            if "no view" not in str(error):
                raise
            return None

    def _reads_all(self, count: int) -> bool:
        size = int(np.prod(self.shape, dtype=np.int64))
        # Nothing smaller can be decoded of those of a message that cannot be decoded in runs.
        return self.verify or not self.shape or (self.in_runs and count > self.threshold * size) or (self.by_message and not self.in_runs)

    def outer(self, axes: Sequence[Axis]) -> Array:
        lengths = [len(axis) for axis in axes]
        count = int(np.prod(lengths, dtype=np.int64))
        if count == 0:
            return np.empty(lengths, self.dtype)
        if (view := self._view()) is not None:
            return np.array(_taken(view, axes))
        if self._reads_all(count):
            return _taken(self._whole(), axes)
        if self.by_message:
            return self._in_runs(axes)
        # What is read through its tensor: a slice of it, and for other places one block around them.
        return _taken(np.asarray(self._tensor()[tuple(as_slice(_around(axis)) for axis in axes)]).reshape([len(_around(axis)) for axis in axes]), [_within(axis) for axis in axes])

    def _in_runs(self, axes: Sequence[Axis]) -> Array:
        """The elements as runs of the flattened object, each read once and in order."""
        unique = [np.unique(np.asarray(axis, np.int64), return_inverse=True) for axis in axes]
        starts, length, lengths, back = runs_of([places for places, _ in unique], self.shape)
        messages = self.handle.opened().messages
        assert messages is not None
        joined = messages.runs(self.place, [(start, length) for start in starts.tolist()])
        self._checked(self.shape, joined.dtype)
        block = joined.reshape(lengths)
        return _taken(block, [evenly(inside[inverse.reshape(-1)]) for inside, (_, inverse) in zip(back, unique)])

    def points(self, places: Sequence[NDArray[np.int64]]) -> Array:
        if not places:
            return self.outer([]).reshape(-1)
        count = places[0].size
        if count == 0:
            return np.empty(0, self.dtype)
        if (view := self._view()) is not None:
            return np.array(view[tuple(places)])
        if self._reads_all(count):
            return np.asarray(self._whole()[tuple(places)])
        messages = self.handle.opened().messages
        if not self.by_message or messages is None or count > MOST_APART:
            block = self.outer([_around(axis) for axis in places])
            return np.asarray(block[tuple(axis - int(axis.min()) for axis in places)])
        flat, inverse = np.unique(np.ravel_multi_index(tuple(places), self.shape), return_inverse=True)
        ends = np.flatnonzero(np.diff(flat) != 1)
        starts = flat[np.concatenate([[0], ends + 1])]
        counts = flat[np.concatenate([ends, [flat.size - 1]])] - starts + 1
        joined = messages.runs(self.place, list(zip(starts.tolist(), counts.tolist())))
        self._checked(self.shape, joined.dtype)
        return np.asarray(joined[inverse.reshape(-1)])


def runs_of(axes: Sequence[NDArray[np.int64]], shape: Sequence[int]) -> tuple[NDArray[np.int64], int, list[int], list[NDArray[np.int64]]]:
    """Runs of the flattened array that hold an outer product of ascending places.

    Gives where the runs begin, their length, the shape of all of them together, and where the places stand in that block.
    """
    spans = [(places, np.arange(places.size)) for places in axes]
    while True:
        length, rest = 1, len(spans)
        # Whole axes at the end, and one more that has no gaps, are one run.
        while rest > 0 and length == int(np.prod(shape[rest:], dtype=np.int64)):
            places = spans[rest - 1][0]
            if int(places[-1]) - int(places[0]) + 1 != places.size:
                break
            length *= places.size
            rest -= 1
        count = int(np.prod([places.size for places, _ in spans[:rest]], dtype=np.int64))
        if count <= MOST_APART:
            break
        # So many runs cost more than what lies between them.
        places, inside = spans[rest - 1]
        full = np.arange(int(places[0]), int(places[-1]) + 1)
        wide = rest - 1
        if full.size == places.size:
            # It has no gaps: what cuts the runs is that the axis after it is not whole.
            (places, inside), full, wide = spans[rest], np.arange(shape[rest]), rest
        spans[wide] = (full, places[inside] - int(full[0]))
    starts = np.zeros(1, np.int64)
    for axis, (places, _) in enumerate(spans):
        stride = int(np.prod(shape[axis + 1 :], dtype=np.int64))
        starts = (starts[:, None] + (places if axis < rest else places[:1]) * stride).reshape(-1)
    return starts, length, [places.size for places, _ in spans], [inside for _, inside in spans]


def _taken(array: Array, axes: Sequence[Axis]) -> Array:
    """Part of an array at hand."""
    for axis, places in enumerate(axes):
        key = as_slice(places) if isinstance(places, range) else places
        array = array[(slice(None),) * axis + (key,)]
    return array


def _around(axis: Axis) -> range:
    return axis if isinstance(axis, range) else range(int(axis.min()), int(axis.max()) + 1)


def _within(axis: Axis) -> Axis:
    return range(len(axis)) if isinstance(axis, range) else axis - int(axis.min())


class StackedArray(LazyArray):
    """Arrays of one shape as a cube: ``parts`` has the outer axes, and ``None`` where the cube has a hole.

    ``order`` says where the axes stand: axis ``i`` of the result is axis ``order[i]`` of outer and inner axes.
    """

    def __init__(self, handle: Handle, parts: NDArray[np.object_], inner: tuple[int, ...], dtype: np.dtype[Any], order: Sequence[int]) -> None:
        self.handle, self.parts, self.dtype, self.order = handle, parts, dtype, tuple(order)
        natural = (*parts.shape, *inner)
        self.shape = tuple(natural[axis] for axis in self.order)

    def _natural(self, places: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Places of outer and of inner axes."""
        natural: list[Any] = [None] * len(self.order)
        for axis, place in zip(self.order, places):
            natural[axis] = place
        return natural[: self.parts.ndim], natural[self.parts.ndim :]

    def _hole(self) -> Any:
        # Only types that have a NaN get holes.
        return np.nan if self.dtype.kind in "fc" else 0

    def outer(self, axes: Sequence[Axis]) -> Array:
        outer, inner = self._natural(axes)
        unique = [np.unique(np.asarray(axis, np.int64), return_inverse=True) for axis in outer]
        taken = np.full([places.size for places, _ in unique] + [len(axis) for axis in inner], self._hole(), self.dtype)

        def fill(cell: tuple[int, ...]) -> None:
            part = self.parts[tuple(int(places[at]) for (places, _), at in zip(unique, cell))]
            if part is not None:
                taken[cell] = part.outer(inner)

        if taken.size:
            self.handle.together(fill, list(np.ndindex(*(places.size for places, _ in unique))))
        taken = _taken(taken, [evenly(back.reshape(-1)) for _, back in unique])
        return taken.transpose(self.order)

    def points(self, places: Sequence[NDArray[np.int64]]) -> Array:
        outer, inner = self._natural(places)
        cells, back = np.unique(np.ravel_multi_index(tuple(outer), self.parts.shape), return_inverse=True)
        back = back.reshape(-1)
        taken = np.full(back.size, self._hole(), self.dtype)

        def fill(number: int) -> None:
            part = self.parts.reshape(-1)[cells[number]]
            if part is not None:
                here = np.flatnonzero(back == number)
                if inner:
                    taken[here] = part.points([axis[here] for axis in inner])
                else:
                    taken[here] = part.outer([]).reshape(())

        self.handle.together(fill, range(cells.size))
        return taken


class DerivedArray(LazyArray):
    """An array whose elements are made of those of another one, which may have one axis more: the bytes of each element."""

    def __init__(self, stored: LazyArray, dtype: np.dtype[Any], make: Callable[[Array, np.dtype[Any]], Array], *, last: bool) -> None:
        self.stored, self.dtype, self.make, self.last = stored, dtype, make, last
        self.shape = stored.shape[:-1] if last else stored.shape

    def outer(self, axes: Sequence[Axis]) -> Array:
        more = [range(self.stored.shape[-1])] if self.last else []
        return self.make(self.stored.outer([*axes, *more]), self.dtype)

    def points(self, places: Sequence[NDArray[np.int64]]) -> Array:
        if not self.last:
            return self.make(self.stored.points(places), self.dtype)
        width, count = self.stored.shape[-1], places[0].size
        spread = [np.repeat(axis, width) for axis in places] + [np.tile(np.arange(width), count)]
        return self.make(self.stored.points(spread).reshape(count, width), self.dtype)


def as_times(array: Array, dtype: np.dtype[Any]) -> Array:
    """Dates and durations of their counts."""
    return np.asarray(array, order="C").view(dtype)


def as_text(array: Array, dtype: np.dtype[Any]) -> Array:
    """Text of its UTF-8 bytes, which end with zeros."""
    rows = np.asarray(array, order="C")
    width = rows.shape[-1]
    plain = rows.view(f"S{width}")[..., 0] if rows.size else np.zeros(rows.shape[:-1], "S1")
    if dtype.kind == "S":
        return plain.astype(dtype)
    text = np.char.decode(plain, "utf-8")
    return text.astype(object) if dtype.kind == "O" else text.astype(dtype)
