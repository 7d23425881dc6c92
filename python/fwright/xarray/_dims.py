"""Names of dimensions: what was asked for, what the producer says, then coordinates of the same length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._keys import COORDINATES, USUAL_ORDER, hinted, is_names


@dataclass(frozen=True)
class Axis:
    """A coordinate with one axis, by the name it has in the dataset and the one that it usually has."""

    name: str
    usual: str
    length: int


def dimensions(
    entry: Mapping[str, Any],
    message: Mapping[str, Any],
    shape: Sequence[int],
    coordinates: Sequence[Axis],
    asked: Sequence[str] | None,
) -> tuple[list[str | None], bool]:
    """A name for each axis, ``None`` where nothing gives one, and whether they are explicit.

    Raises ``ValueError`` when the names that were asked for are not as many as there are axes.
    """
    if asked is not None:
        if len(asked) != len(shape):
            raise ValueError(f"dim_names: {len(asked)} names for an object with {len(shape)} axes")
        return list(asked), True
    if (names := hinted(entry, len(shape)) or _of_message(message, shape)) is not None:
        return [_known(name, length, coordinates) for name, length in zip(names, shape)], True
    return _by_length(shape, coordinates), False


def _of_message(message: Mapping[str, Any], shape: Sequence[int]) -> list[str] | None:
    """The hint of a message: names for objects of so many axes, or a map from lengths to names."""
    hint = message.get("dim_names")
    if is_names(hint, len(shape)):
        return list(hint or [])
    if isinstance(hint, Mapping) and shape:
        names = [hint.get(str(length)) for length in shape]
        return [str(name) for name in names] if is_names(names, len(shape)) else None
    return None


def _known(name: str, length: int, coordinates: Sequence[Axis]) -> str:
    """The name in the dataset of the coordinate that a hint means: ``lat`` is ``latitude`` where there is one of that length."""
    if any(axis.name == name and axis.length == length for axis in coordinates):
        return name
    usual = COORDINATES.get(name.lower())
    return next((axis.name for axis in coordinates if axis.usual == usual and axis.length == length), name)


def _by_length(shape: Sequence[int], coordinates: Sequence[Axis]) -> list[str | None]:
    """Coordinates of the same lengths. Where several fit they come in the usual order; where too few do, it is open which axis one means."""
    names: list[str | None] = [None] * len(shape)
    for length in set(shape):
        axes = [axis for axis, other in enumerate(shape) if other == length]
        fitting = [coordinate for coordinate in coordinates if coordinate.length == length]
        fitting.sort(key=lambda coordinate: USUAL_ORDER.index(coordinate.usual))
        if len(fitting) >= len(axes):
            for axis, coordinate in zip(axes, fitting[len(fitting) - len(axes) :]):
                names[axis] = coordinate.name
    return names


class Names:
    """Names that are taken, and free ones like those that are wished for."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def free(self, *wishes: str) -> str:
        """The first wish that is free, or the last one with a number."""
        name = next((wish for wish in wishes if wish not in self.taken), None)
        number = 0
        while name is None:
            number += 1
            if f"{wishes[-1]}_{number}" not in self.taken:
                name = f"{wishes[-1]}_{number}"
        self.taken.add(name)
        return name
