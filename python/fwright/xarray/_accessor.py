"""``ds.fw``: datasets to Tensogram files."""

from __future__ import annotations

import errno
import itertools
import os
import secrets
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import xarray as xr
from xarray import Dataset

from fwright import tensogram

from ._backend import FwrightBackendEntrypoint
from ._file import source_of
from ._marks import MARK, attributes_to
from ._write import Ready, check_names, key_of, ready

Append = Callable[[dict[str, Any], list[Ready]], None]


@xr.register_dataset_accessor("fw")  # type: ignore[no-untyped-call]
class FwAccessor:
    """Writes datasets: ``ds.fw.to_tgm("f.tgm")``."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def to_tgm(
        self,
        path: str | os.PathLike[str],
        *,
        mode: Literal["w", "a"] = "w",
        encoding: Mapping[Hashable, Mapping[str, Any]] | None = None,
        group_by: str | Sequence[str] | None = None,
        storage_options: Mapping[str, Any] | None = None,
        threads: int = 0,
    ) -> None:
        """Writes the dataset to a Tensogram file, from which ``engine="fwright"`` reads it back as it was.

        ``encoding`` gives variables a pipeline, with keys of CF beside it. With ``group_by`` every value of a dimension is a message of
        its own, and no more than one of them is in memory; ``mode="a"`` adds messages to a file. URLs are written through ``fsspec``,
        with its ``storage_options``. A local file appears when it is complete.

        >>> import numpy as np, xarray as xr, fwright.xarray
        >>> ds = xr.Dataset({"t": (("step", "x"), np.arange(6.0).reshape(2, 3))}, {"step": [0, 6]})
        >>> ds.fw.to_tgm("f.tgm", encoding={"t": {"compression": "zstd"}}, group_by="step")
        >>> xr.open_dataset("f.tgm", engine="fwright").identical(ds)
        True
        """
        if mode not in ("w", "a"):
            raise ValueError(f"mode: {mode!r} must be 'w' (write) or 'a' (append)")
        dims = [group_by] if isinstance(group_by, str) else list(group_by or [])
        whole = self._dataset
        asked = dict(encoding or {})
        check_names(whole, asked, dims)
        target = os.fspath(path)
        appends = mode == "a" and "://" not in target and os.path.exists(target) and os.path.getsize(target) > 0
        still = _known(whole, target, dims) if appends else set()
        messages = _messages(whole, dims, asked, still)
        with _target(target, mode, dict(storage_options or {}), threads) as append:
            for extra, objects in messages:
                append(extra, objects)


def _messages(whole: Dataset, dims: list[str], asked: dict[Hashable, Mapping[str, Any]], still: set[str]) -> Iterator[tuple[dict[str, Any], list[Ready]]]:
    """The messages of a dataset, one after the other; ``still`` are variables that are in the file already."""
    groups: dict[str, Any] = {}
    for dim in dims:
        coordinate = whole.variables.get(dim)
        if coordinate is not None and coordinate.dtype.kind == "O" and not all(isinstance(value, str) for value in coordinate.values):
            raise TypeError(f"group_by: coordinate {dim!r} has elements of a type that keys of metadata cannot hold: {type(coordinate.values[0]).__name__}")
        note = attributes_to(dict(coordinate.attrs), f"coordinate {dim!r}", frozenset(coordinate.attrs))[1] if coordinate is not None else {}
        dtype = "O" if coordinate is not None and coordinate.dtype.kind == "O" else coordinate.dtype.str if coordinate is not None else "<i8"
        groups[dim] = {"coordinate": coordinate is not None, "dtype": dtype if dtype != "O" else "|O", **note}
    keys, note = attributes_to(dict(whole.attrs), "the dataset")
    rest = [str(name) for name in whole.variables if name not in dims]
    # Coordinates come first, as everywhere.
    rest.sort(key=lambda name: name not in whole.coords)
    taken = frozenset(dims)
    prepared = {
        name: ready(name, whole.variables[name], asked.get(name), coordinate=name in whole.coords, also_taken=taken)
        for name in rest
        if name not in still
    }
    cells: Iterator[tuple[int, ...]] = itertools.product(*(range(whole.sizes[dim]) for dim in dims))
    written: set[tuple[str, tuple[int, ...]]] = set()
    for cell in cells:
        at = dict(zip(dims, cell))
        values = {dim: whole.variables[dim][place].values if dim in whole.variables else np.int64(place) for dim, place in at.items()}
        extra = {**keys, MARK: {"version": 1, **note, "groups": groups, "at": {dim: key_of(value) for dim, value in values.items()}}}
        objects = []
        for name, made in prepared.items():
            mine = {dim: place for dim, place in at.items() if dim in made.variable.dims}
            # What has only some of the dimensions is written with the first message that shows its cell.
            once = (name, tuple(mine.values()))
            if once not in written:
                written.add(once)
                objects.append(made.part(mine, values))
        yield extra, objects


def _known(whole: Dataset, path: str, dims: list[str]) -> set[str]:
    """The variables without a grouped dimension that the file has already.

    Raises ``ValueError`` where the file has something else under such a name.
    """
    for dim in dims:
        if dim not in whole.variables:
            raise ValueError(f"mode='a': dimension {dim!r} needs a coordinate, so that its new values can be told from those in {path}")
    known: set[str] = set()
    with FwrightBackendEntrypoint().open_dataset(path) as there:
        for name, variable in whole.variables.items():
            if name in dims or set(variable.dims) & set(dims):
                continue
            if name in there.variables:
                if not there[name].variable.equals(variable):  # type: ignore[no-untyped-call]
                    raise ValueError(f"mode='a': {path} has other values of {name!r}: only variables with a dimension of group_by can differ")
                known.add(str(name))
        if not dims:
            raise ValueError("mode='a': group_by must name the dimension along which messages are added")
    return known


@contextmanager
def _target(path: str, mode: str, storage_options: dict[str, Any], threads: int) -> Iterator[Append]:
    """Something to add messages to: a file that takes its place at the end, a file that grows, or an object of a store."""
    if "://" in path and not path.startswith("file://"):
        with _remote(path, mode, storage_options) as sink:
            yield lambda extra, objects: _to_sink(sink, extra, objects, threads)
        return
    path = str(source_of(path))
    if storage_options:
        raise ValueError("storage_options: a local file has none")
    if mode == "a" and os.path.exists(path):
        file = tensogram.TensogramFile.open(path) if os.path.getsize(path) else tensogram.TensogramFile.create(path)
        yield lambda extra, objects: _to_file(file, extra, objects, threads)
        return
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    sink = open(temporary, "xb")
    try:
        with sink:
            yield lambda extra, objects: _to_sink(sink, extra, objects, threads)
        if os.path.exists(path):
            # The rights stay those of the file that is replaced.
            os.chmod(temporary, os.stat(path).st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@contextmanager
def _remote(url: str, mode: str, storage_options: dict[str, Any]) -> Iterator[Any]:
    if mode == "a":
        raise ValueError(f"{url}: objects in stores cannot grow: write a new one")
    if url.startswith(("http://", "https://")):
        raise ValueError(f"{url}: web servers take no files: write to a local file or to a store (s3://, gs://, az://)")
    try:
        import fsspec  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError(f"{url}: writing to stores needs fsspec: pip install fsspec") from None
    # Of its own, because a transaction belongs to all that use an instance. What fails on the way is not put in place.
    system, place = fsspec.core.url_to_fs(url, **{**storage_options, "skip_instance_cache": True})
    with system.transaction, system.open(place, "wb") as sink:
        yield sink


def _base(objects: Sequence[Ready]) -> list[dict[str, Any]]:
    return [made.entry for made in objects]


def _to_file(file: tensogram.TensogramFile, extra: dict[str, Any], objects: list[Ready], threads: int) -> None:
    pairs = [made.pair() for made in objects]
    file.append({"_extra_": extra, "base": _base(objects)}, pairs, threads=threads, allow_nan=True, allow_inf=True)


def _to_sink(sink: Any, extra: dict[str, Any], objects: list[Ready], threads: int) -> None:
    pairs = [made.pair() for made in objects]
    sink.write(tensogram.encode({"_extra_": extra, "base": _base(objects)}, pairs, threads=threads, allow_nan=True, allow_inf=True))
