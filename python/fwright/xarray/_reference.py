"""The engine ``tensogram`` of the package ``tensogram-xarray``, under its names and with its defaults; see ``fwright.compat``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from xarray import Dataset

from ._backend import FwrightBackendEntrypoint, chosen, dataset, datasets, handle_of, one_message
from ._file import read

__all__ = ["TensogramBackendEntrypoint", "open_datasets"]

# Elements and attributes as they are stored.
_PLAIN = {"mask_and_scale": False, "decode_times": False, "concat_characters": False, "decode_coords": False, "decode_timedelta": False}


class TensogramBackendEntrypoint(FwrightBackendEntrypoint):
    """The first message, every object a variable, attributes as they are nested, nothing decoded unless it is asked for."""

    description: ClassVar[str] = "Tensogram files, as tensogram-xarray opens them (fwright)"

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = False,
        decode_times: Any = False,
        concat_characters: Any = False,
        decode_coords: Any = False,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = False,
        dim_names: Sequence[str] | None = None,
        variable_key: str | None = None,
        message_index: int | None = 0,
        merge_objects: bool = False,
        range_threshold: float = 0.5,
        storage_options: Mapping[str, Any] | None = None,
        verify_hash: bool = False,
    ) -> Dataset:
        """Opens one message."""
        choices = chosen(dim_names, variable_key, merge_objects, range_threshold, verify_hash, flatten=False)
        handle = handle_of(filename_or_obj, storage_options)
        decoding = {
            "mask_and_scale": mask_and_scale,
            "decode_times": decode_times,
            "concat_characters": concat_characters,
            "decode_coords": decode_coords,
            "drop_variables": drop_variables,
            "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta,
        }
        return dataset(handle, read(handle, one_message(message_index)), choices, decoding)


def open_datasets(
    path: str,
    *,
    dim_names: Sequence[str] | None = None,
    variable_key: str | None = None,
    range_threshold: float = 0.5,
    verify_hash: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> list[Dataset]:
    """The datasets of all messages."""
    choices = chosen(dim_names, variable_key, True, range_threshold, verify_hash, flatten=False)
    return datasets(handle_of(path, storage_options), choices, _PLAIN)
