"""Arrays of MLX in files of weights, under the names of ``bintensors.mlx``.

>>> import mlx.core as mx
>>> from fwright.bintensors.mlx import load, save
>>> load(save({"w": mx.ones(2)}))
{'w': array([1, 1], dtype=float32)}
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import mlx.core as mx  # type: ignore[import-not-found, import-untyped, unused-ignore]
import numpy as np

from .._fwright import bintensors as _native
from . import numpy as _numpy

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["load", "load_file", "save", "save_file", "save_with_checksum"]


def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None, *, digest: str | None = None) -> bytes:
    """Put arrays into bytes; ``digest`` (``sha256`` for example) adds a digest of each."""
    return _numpy.save(_arrays(tensors), metadata, digest=digest)


def save_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    digest: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Put arrays into a file, which is replaced as a whole; ``digest`` (``sha256`` for example) adds a digest of each.

    ``progress`` hears ``(done, total)`` in bytes, a few times a second and at the end.
    """
    _numpy.save_file(_arrays(tensors), filename, metadata, digest=digest, progress=progress)


def save_with_checksum(
    tensor_dict: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
    hasher: Callable[[bytes], Any] = hashlib.sha1,
) -> tuple[bytes, bytes]:
    """Put arrays into bytes, and return the digest of all of them first."""
    return _numpy.save_with_checksum(_arrays(tensor_dict), metadata, hasher)


def load(data: Buffer) -> dict[str, Any]:
    """All arrays in bytes, in file order."""
    loaded: dict[str, Any] = _native.load(data, "mlx")
    return loaded


def load_file(filename: str | os.PathLike[str], *, mmap: bool = True, verify: bool = False) -> dict[str, Any]:
    """All arrays of a file, in file order. ``mmap=False`` reads the file into memory first.

    ``verify=True`` compares all data with the digests in the file first, and fails where it has none.
    """
    loaded: dict[str, Any] = _native.load_file(filename, "mlx", mmap=mmap, verify=verify)
    return loaded


def _arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _array(array) for name, array in tensors.items()}


def _array(array: Any) -> Any:
    if isinstance(array, mx.array) and array.dtype == mx.bfloat16:
        import ml_dtypes  # type: ignore[import-not-found, import-untyped, unused-ignore]

        # MLX gives NumPy no type that NumPy lacks: the bits travel as integers.
        return np.array(array.view(mx.uint16)).view(ml_dtypes.bfloat16)
    return np.array(array)
