"""All frames of a capture as arrays: columns, structured arrays, data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Capture", "Table"]


class Table(Mapping[str, "NDArray[Any]"]):
    """All messages of one kind: a mapping from field paths such as ``pose.x`` to arrays whose first axis counts messages.

    ``arrival`` is the place of each message among all frames; ``sequence``, ``system`` and ``component`` are there when the profile has
    them. Arrays of a bounded field are padded, with the used length in ``path@count``; text and bytes are ``uint8`` with ``path@len``; a
    oneof has ``path@tag``, and each of its members ``path.member@valid``.
    """

    def __init__(self, name: str, found: dict[str, Any], enums: dict[str, dict[str, int]]) -> None:
        self.name = name
        self.arrival: NDArray[Any] = found["arrival"]
        self.sequence: NDArray[Any] | None = found.get("sequence")
        self.system: NDArray[Any] | None = found.get("system")
        self.component: NDArray[Any] | None = found.get("component")
        self._columns = {path: _Column(meaning, of, array) for path, meaning, of, array in found["columns"]}
        self._enums = enums

    def __getitem__(self, path: str) -> NDArray[Any]:
        return self._columns[path].array

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """How many messages there are."""
        return len(self.arrival)

    def __repr__(self) -> str:
        return f"Table({self.name}, rows={self.rows}, columns={list(self)})"

    def array(self) -> NDArray[Any]:
        """One structured array: a row for each message, a field for each column."""
        import numpy as np

        fields = [(path, column.array.dtype, column.array.shape[1:]) for path, column in self._columns.items()]
        made = np.empty(self.rows, dtype=fields)
        for path, column in self._columns.items():
            made[path] = column.array
        return made

    def dataframe(self, *, enums: str = "names") -> Any:
        """A data frame of pandas: text as text, enums by name, elements of arrays in columns of their own (``v[0]``, ``v[1]``)."""
        import numpy as np
        import pandas as pd  # type: ignore[import-untyped, import-not-found, unused-ignore]

        columns: dict[str, Any] = {}
        for name in ("sequence", "system", "component"):
            if getattr(self, name) is not None:
                columns[f"@{name}"] = getattr(self, name)
        for path, column in self._columns.items():
            if path.endswith("@len"):
                continue
            array, inner = column.array, column.array.shape[1:]
            if column.meaning in ("string", "bytes"):
                inner = inner[:-1]
                array = self._texts(path, column)
            elif column.meaning == "enum" and enums == "names":
                names = {number: name for name, number in self._enums[column.of].items()}
                array = np.array([names.get(number, number) for number in array.ravel().tolist()], dtype=object).reshape(array.shape)
            for place in np.ndindex(*inner):
                columns[path + "".join(f"[{index}]" for index in place)] = array[(slice(None), *place)]
        return pd.DataFrame(columns, index=pd.Index(self.arrival, name="arrival"))

    def _texts(self, path: str, column: _Column) -> NDArray[Any]:
        """Text or bytes of a column, as objects."""
        import numpy as np

        array = column.array
        lengths = self._columns.get(f"{path}@len")
        count = array.shape[:-1]
        made = np.empty(count, dtype=object)
        for place in np.ndindex(*count):
            held = array[place].tobytes()
            if lengths is not None:
                held = held[: int(lengths.array[place])]
            elif column.meaning == "string":
                held = held.split(b"\0", 1)[0]
            made[place] = held.decode("utf-8", "replace") if column.meaning == "string" else held
        return made


class _Column(NamedTuple):
    meaning: str
    of: str
    array: NDArray[Any]


class Capture(Mapping[str, Table]):
    """The frames of a capture by message: ``capture["Pose"]["x"]`` is an array.

    ``unread`` lists frames that are in no table, because their id is unknown or their payload cannot be read. ``counters`` says how many
    frames there were, and how much damage.
    """

    def __init__(
        self, tables: dict[str, Any], unread: list[dict[str, Any]], counters: dict[str, int], enums: dict[str, dict[str, int]]
    ) -> None:
        self._tables = {name: Table(name, found, enums) for name, found in tables.items()}
        self.unread = unread
        self.counters = counters

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {table.rows}" for name, table in self._tables.items())
        return f"Capture({{{rows}}}, unread={len(self.unread)})"
