"""Arrays of NumPy in files of weights, under the names of ``bintensors.numpy``.

>>> import numpy as np
>>> from fwright.bintensors.numpy import load, load_file, save, save_file
>>> save_file({"w": np.ones((2, 2), np.float32)}, "ones.bt")
>>> load_file("ones.bt")["w"].sum()
np.float32(4.0)
>>> load(save({"w": np.arange(3)}))
{'w': array([0, 1, 2])}
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .._fwright import bintensors as _native
from ._errors import UnsupportedTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

__all__ = ["load", "load_file", "save", "save_file", "save_with_checksum"]


def save(
    tensor_dict: Mapping[str, NDArray[Any]], metadata: Mapping[str, str] | None = None, *, digest: str | None = None
) -> bytes:
    """Put arrays into bytes; ``digest`` (``sha256`` for example) adds a digest of each."""
    made: bytes = _native.save(_listed(tensor_dict), metadata, digest)
    return made


def save_file(
    tensor_dict: Mapping[str, NDArray[Any]],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    digest: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Put arrays into a file, which is replaced as a whole; ``digest`` (``sha256`` for example) adds a digest of each.

    ``progress`` hears ``(done, total)`` in bytes, a few times a second and at the end.
    """
    _native.save_file(filename, _listed(tensor_dict), metadata, digest, progress)


def save_with_checksum(
    tensor_dict: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str] | None = None,
    hasher: Callable[[bytes], Any] = hashlib.sha1,
) -> tuple[bytes, bytes]:
    """Put arrays into bytes, and return the digest of all of them first. ``fwright.bintensors.verify`` compares it."""
    data = save(tensor_dict, metadata)
    return hasher(data).digest(), data


def load(data: Buffer) -> dict[str, NDArray[Any]]:
    """All arrays in bytes, in file order; each has memory of its own."""
    loaded: dict[str, NDArray[Any]] = _native.load(data, "numpy")
    return loaded


def load_file(filename: str | os.PathLike[str], *, mmap: bool = True, verify: bool = False) -> dict[str, NDArray[Any]]:
    """All arrays of a file, in file order.

    They are views of a private map of the file: nothing is read before it is used, and what is written to them does not reach the
    file. The file must not be cut short while they live; ``mmap=False`` reads it into memory instead.
    ``verify=True`` compares all data with the digests in the file first, and fails where it has none.
    """
    loaded: dict[str, NDArray[Any]] = _native.load_file(filename, "numpy", mmap=mmap, verify=verify)
    return loaded


def _listed(tensors: Mapping[str, NDArray[Any]]) -> list[tuple[str, NDArray[Any]]]:
    listed = []
    for name, array in tensors.items():
        if hasattr(array, "mask") and hasattr(array, "filled"):
            raise UnsupportedTypeError(f"tensor {name!r} is a masked array: save array.filled(…) or array.data")
        # What is not an array of NumPy has no such name.
        array.dtype.name
        listed.append((name, array))
    return listed
