"""The engine: what xarray calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from xarray import Coordinates, Dataset, DataTree, conventions
from xarray.backends import BackendEntrypoint

import fwright

from . import _found, _restored
from ._draft import Built, Choices
from ._file import MAGIC, Handle, Said, Settings, read, source_of

# Other formats are recognised by their header, which is only read where the name speaks for it.
_ENDINGS = (".tgm", ".tensogram", ".bt", ".bintensors", ".safetensors", ".npz")

Decoding = Mapping[str, Any]


class FwrightBackendEntrypoint(BackendEntrypoint):
    """Tensogram, BinTensors, safetensors and npz files as datasets, read as far as they are asked for.

    >>> import numpy as np, xarray as xr, fwright as fw
    >>> fw.save("field.tgm", {"t": np.arange(6.0).reshape(2, 3)})
    >>> xr.open_dataset("field.tgm", engine="fwright")["t"][1, ::2].values
    array([3., 5.])
    """

    description: ClassVar[str] = "Tensogram, BinTensors, safetensors and npz files (fwright)"
    url: ClassVar[str] = ""
    supports_groups: ClassVar[bool] = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the content is that of a file of ours; of files in stores, the name."""
        if isinstance(filename_or_obj, (bytes, memoryview)):
            return bytes(filename_or_obj[:16]).startswith(MAGIC)
        if isinstance(filename_or_obj, (str, os.PathLike)):
            name = os.fspath(filename_or_obj)
            named = str(name).split("?", 1)[0].lower().endswith(_ENDINGS)
            if "://" in str(name):
                return named
            try:
                with open(name, "rb") as file:
                    head = file.read(16)
            except OSError:
                return False
            return head.startswith(MAGIC) or (named and _opens(name))
        if hasattr(filename_or_obj, "read") and hasattr(filename_or_obj, "seek"):
            at = filename_or_obj.tell()
            filename_or_obj.seek(0)
            head = filename_or_obj.read(16)
            filename_or_obj.seek(at)
            return isinstance(head, bytes) and head.startswith(MAGIC)
        return False

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        dim_names: Sequence[str] | None = None,
        variable_key: str | None = None,
        message_index: int | None = None,
        merge_objects: bool = True,
        range_threshold: float = 1.0,
        storage_options: Mapping[str, Any] | None = None,
        verify_hash: bool = False,
    ) -> Dataset:
        """Opens a file: all of its messages, or the one of ``message_index``."""
        decoding = _decoding(mask_and_scale, decode_times, concat_characters, decode_coords, drop_variables, use_cftime, decode_timedelta)
        choices = chosen(dim_names, variable_key, merge_objects, range_threshold, verify_hash)
        handle = handle_of(filename_or_obj, storage_options)
        return dataset(handle, read(handle, one_message(message_index)), choices, decoding)

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        dim_names: Sequence[str] | None = None,
        variable_key: str | None = None,
        merge_objects: bool = True,
        range_threshold: float = 1.0,
        storage_options: Mapping[str, Any] | None = None,
        verify_hash: bool = False,
    ) -> dict[str, Dataset]:
        """A dataset for each message, as ``/message_0``, …, and names with slashes as groups in it."""
        decoding = _decoding(mask_and_scale, decode_times, concat_characters, decode_coords, drop_variables, use_cftime, decode_timedelta)
        choices = chosen(dim_names, variable_key, merge_objects, range_threshold, verify_hash)
        handle = handle_of(filename_or_obj, storage_options)
        said = read(handle, None)
        groups: dict[str, Dataset] = {"/": Dataset()}
        for message, extra in said.messages.items():
            part = Said(said.format, [item for item in said.items if item.place.message == message], {message: extra})
            whole = dataset(handle, part, choices, decoding)
            prefix = "/" if len(said.messages) == 1 else f"/message_{message}"
            groups.update(_groups(whole, prefix))
        return groups

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """The groups of :meth:`open_groups_as_dict` as a tree."""
        return DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def open_datasets(
    path: Any,
    *,
    dim_names: Sequence[str] | None = None,
    variable_key: str | None = None,
    range_threshold: float = 1.0,
    verify_hash: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> list[Dataset]:
    """One dataset for each combination of dimensions, so that no two of them disagree about a name.

    >>> import numpy as np, fwright as fw, fwright.xarray
    >>> fw.save("two.tgm", {"t": np.zeros((2, 3)), "w": np.zeros(5)})
    >>> [sorted(dataset) for dataset in fwright.xarray.open_datasets("two.tgm")]
    [['t'], ['w']]
    """
    return datasets(handle_of(path, storage_options), chosen(dim_names, variable_key, True, range_threshold, verify_hash), {})


def datasets(handle: Handle, choices: Choices, decoding: Decoding) -> list[Dataset]:
    """A dataset for each combination of dimensions of the data variables."""
    built = _built(handle, read(handle, None), choices)
    kinds: dict[tuple[Any, ...], list[Any]] = {}
    for draft in built.drafts:
        if not draft.is_coordinate:
            kinds.setdefault(tuple(zip(draft.dims, draft.shape)), []).append(draft)
    coordinates = [draft for draft in built.drafts if draft.is_coordinate]
    made = []
    for kind, drafts in kinds.items() or [((), [])]:
        dims = {dim for dim, _ in kind}
        fitting = [draft for draft in coordinates if set(draft.dims) <= dims or not kind]
        made.append(_dataset(handle, Built([*fitting, *drafts], dict(built.attrs)), decoding))
    return made


def dataset(handle: Handle, said: Said, choices: Choices, decoding: Decoding) -> Dataset:
    """The dataset of what a file says, decoded as CF asks."""
    return _dataset(handle, _built(handle, said, choices), decoding)


def _built(handle: Handle, said: Said, choices: Choices) -> Built:
    builder: Callable[[Handle, Said, Choices], Built] = _found.build
    if _restored.is_ours(said) and choices.flatten and choices.dim_names is None and choices.variable_key is None and choices.merge_objects:
        builder = _restored.build
    return builder(handle, said, choices)


def _dataset(handle: Handle, built: Built, decoding: Decoding) -> Dataset:
    encoded: Any = {draft.name: draft.variable(handle.title) for draft in built.drafts}
    names: set[Any] = {draft.name for draft in built.drafts if draft.is_coordinate}
    variables, attrs, more = conventions.decode_cf_variables(encoded, built.attrs, **decoding)
    names |= more | {name for name, variable in variables.items() if variable.dims == (name,)}
    data = {name: variable for name, variable in variables.items() if name not in names}
    coords = Coordinates({name: variable for name, variable in variables.items() if name in names}, indexes={})
    made = Dataset(data, coords=coords, attrs=attrs)
    made.encoding = {"source": handle.title}
    made.set_close(handle.manager.close)
    return made


def handle_of(source: Any, storage_options: Mapping[str, Any] | None) -> Handle:
    """A handle of a path, a URL, bytes or a binary file."""
    options = sorted((str(key), str(value)) for key, value in (storage_options or {}).items())
    return Handle(source_of(source), Settings(tuple(options)))


def one_message(index: int | None) -> list[int] | None:
    """The messages to read."""
    return None if index is None else [index]


def chosen(dim_names: Sequence[str] | None, variable_key: str | None, merge_objects: bool, range_threshold: float, verify_hash: bool, *, flatten: bool = True) -> Choices:
    """The choices of a user, checked."""
    if isinstance(dim_names, str):
        raise TypeError("dim_names: a list of names is needed, not text")
    names = None if dim_names is None else tuple(dim_names)
    return Choices(names, variable_key, merge_objects, range_threshold, verify_hash, flatten)


def _decoding(
    mask_and_scale: Any, decode_times: Any, concat_characters: Any, decode_coords: Any, drop_variables: str | Iterable[str] | None, use_cftime: Any, decode_timedelta: Any
) -> Decoding:
    return {
        "mask_and_scale": mask_and_scale,
        "decode_times": decode_times,
        "concat_characters": concat_characters,
        "decode_coords": decode_coords,
        "drop_variables": drop_variables,
        "use_cftime": use_cftime,
        "decode_timedelta": decode_timedelta,
    }


def _opens(path: str | os.PathLike[Any]) -> bool:
    """Whether the file is what its name says."""
    try:
        fwright.open(path)
    except Exception:
        return False
    return True


def _groups(whole: Dataset, prefix: str) -> dict[str, Dataset]:
    """A dataset split at the slashes of its names."""
    paths: dict[str, list[str]] = {"": []}
    for name in whole.variables:
        path, _, _ = str(name).rpartition("/")
        paths.setdefault(path.strip("/"), []).append(str(name))
    made = {}
    for path, names in paths.items():
        part = whole[names].rename({name: name.rpartition("/")[2] for name in names if "/" in name})
        made["/".join(piece for piece in (prefix.rstrip("/"), path) if piece) or "/"] = part if path == "" else part.drop_attrs(deep=False)
    return made
