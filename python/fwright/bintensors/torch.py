"""Tensors of PyTorch in files of weights, under the names of ``bintensors.torch``.

>>> import torch
>>> from fwright.bintensors.torch import load_file, save_file
>>> save_file({"w": torch.ones(2, 2)}, "torch.bt")
>>> load_file("torch.bt")["w"].sum()
tensor(4.)
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._fwright import bintensors as _native
from ._errors import UnsupportedTypeError
from ._frameworks import torch_types

try:
    import torch  # type: ignore[import-not-found, unused-ignore]
except ImportError as _missing:
    raise ImportError("fwright.bintensors.torch needs PyTorch: run `pip install torch`") from _missing

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["load", "load_file", "load_model", "save", "save_file", "save_model", "save_with_checksum"]

_SHARED = """
Some tensors share memory, which would be stored twice and no longer be shared when they are loaded again: {groups}.
Save one of each group, or save the model with `fwright.bintensors.torch.save_model`."""

_NOT_CONTIGUOUS = (
    "You are trying to save a non contiguous tensor: `{name}` which is not allowed. Save the tensor that it is a view of, or call "
    "`.contiguous()` on it before."
)


def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None, *, digest: str | None = None) -> bytes:
    """Put tensors into bytes; ``digest`` (``sha256`` for example) adds a digest of each."""
    made: bytes = _native.serialize(_described(tensors), metadata, digest=digest)
    return made


def save_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    digest: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Put tensors into a file, which is replaced as a whole; ``digest`` (``sha256`` for example) adds a digest of each.

    ``progress`` hears ``(done, total)`` in bytes, a few times a second and at the end.
    """
    _native.serialize_file(filename, _described(tensors), metadata, digest=digest, progress=progress)


def save_with_checksum(
    tensor_dict: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
    hasher: Callable[[bytes], Any] = hashlib.sha1,
) -> tuple[bytes, bytes]:
    """Put tensors into bytes, and return the digest of all of them first."""
    data = save(tensor_dict, metadata)
    return hasher(data).digest(), data


def load(data: Buffer) -> dict[str, Any]:
    """All tensors in bytes, in file order; each has memory of its own."""
    loaded: dict[str, Any] = _native.load(data, "torch")
    return loaded


def load_file(filename: str | os.PathLike[str], device: Any = "cpu", *, mmap: bool = True, verify: bool = False) -> dict[str, Any]:
    """All tensors of a file, in file order.

    On the CPU they are views of a private map of the file: nothing is read before it is used, and what is written to them does not
    reach the file. The file must not be cut short while they live; ``mmap=False`` reads it into memory instead.
    ``verify=True`` compares all data with the digests in the file first, and fails where it has none.
    """
    loaded: dict[str, Any] = _native.load_file(filename, "torch", device, mmap=mmap, verify=verify)
    return loaded


def save_model(
    model: torch.nn.Module,
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Save the state of a model. Of tensors that share all their memory one is stored, and the metadata says for which others."""
    state = model.state_dict()
    notes = dict(metadata or {})
    for kept, dropped in _duplicates(state, preferred=()).items():
        for name in dropped:
            notes.setdefault(name, kept)
            del state[name]
    if force_contiguous:
        state = {name: tensor.contiguous() for name, tensor in state.items()}
    try:
        save_file(state, filename, notes or metadata)
    except ValueError as error:
        hint = " Or save the model with `force_contiguous=True`, which makes a copy of such tensors."
        raise ValueError(f"{error}{hint}") from None


def load_model(
    model: torch.nn.Module, filename: str | os.PathLike[str], strict: bool = True, device: Any = "cpu"
) -> tuple[set[str], list[str]]:
    """Load the state of a model, and return the names that were missing and those that were not expected.

    ``strict`` makes both a ``RuntimeError``.
    """
    state = load_file(filename, device=device)
    own = model.state_dict()
    missing, unexpected = model.load_state_dict(state, strict=False)
    absent = set(missing)
    for dropped in _duplicates(own, preferred=state).values():
        for name in dropped:
            # Its memory is that of a tensor that was loaded.
            if name in absent:
                absent.remove(name)
            elif name in state:
                unexpected.append(name)
    if strict and (absent or unexpected):
        lines = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        for what, names in (("Missing", absent), ("Unexpected", unexpected)):
            if names:
                quoted = ", ".join(f'"{name}"' for name in sorted(names))
                lines.append(f"    {what} key(s) in state_dict: {quoted}")
        raise RuntimeError("\n".join(lines))
    return absent, unexpected


def _described(tensors: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Tensors as ``serialize`` takes them."""
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    sparse = []
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
        if tensor.layout != torch.strided:
            sparse.append(name)
    if sparse:
        raise ValueError(
            f"You are trying to save a sparse tensors: `{sparse}` which the format does not have. Make them dense with `.to_dense()`."
        )
    groups = [group for group in _sharing(tensors) if len(group) > 1]
    if groups:
        raise RuntimeError(_SHARED.format(groups=[sorted(group) for group in groups]))
    return {
        name: {"dtype": _type_name(tensor), "shape": tensor.shape, "data": _elements(tensor, name)}
        for name, tensor in tensors.items()
    }


def _elements(tensor: torch.Tensor, name: str) -> Any:
    """The bytes of a tensor, where they are if they are in the memory of this machine."""
    if not tensor.is_contiguous():
        raise ValueError(_NOT_CONTIGUOUS.format(name=name))
    # A tensor without data fails here.
    return tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy()


def _type_name(tensor: torch.Tensor) -> str:
    name = next((name for name, known in torch_types().items() if known == tensor.dtype), None)
    if name not in _STORED:
        raise UnsupportedTypeError(f"{tensor.dtype} is not an element type of the format")
    return str(name)


def _sharing(tensors: Mapping[str, Any]) -> list[set[str]]:
    """Names whose tensors overlap in memory."""
    storages: dict[Any, list[tuple[int, int, str]]] = defaultdict(list)
    for name, tensor in tensors.items():
        start = tensor.data_ptr()
        end = _end(tensor)
        storage = tensor.untyped_storage()
        if tensor.device.type != "meta" and storage.data_ptr() and end > start:
            storages[tensor.device, storage.data_ptr(), storage.nbytes()].append((start, end, name))
    groups: list[set[str]] = []
    for places in storages.values():
        reach = None
        for start, end, name in sorted(places):
            # What begins before everything earlier has ended overlaps one of them.
            if reach is not None and start < reach:
                groups[-1].add(name)
                reach = max(reach, end)
            else:
                groups.append({name})
                reach = end
    return groups


def _end(tensor: Any) -> int:
    """One past the last byte that a tensor reaches."""
    if tensor.numel() == 0:
        return int(tensor.data_ptr())
    last: int = sum((axis - 1) * stride for axis, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return int(tensor.data_ptr()) + (last + 1) * int(tensor.element_size())


def _duplicates(state: Mapping[str, Any], preferred: Iterable[str]) -> dict[str, list[str]]:
    """For each group of tensors that share memory, the name to keep, and those that follow from it."""
    wanted = set(preferred)
    found = {}
    for group in _sharing(state):
        if len(group) < 2:
            continue
        complete = {name for name in group if _is_complete(state[name])}
        if not complete:
            raise RuntimeError(
                "Error while trying to find names to remove to save state dict, but found no suitable name to keep for saving "
                f"amongst: {sorted(group)}. None is covering the entire storage."
            )
        kept = min(complete & wanted or complete)
        found[kept] = sorted(group - {kept})
    return found


def _is_complete(tensor: Any) -> bool:
    storage = tensor.untyped_storage()
    return bool(tensor.data_ptr() == storage.data_ptr() and tensor.nbytes == storage.nbytes())


# The element types of BinTensors files; PyTorch has more.
_STORED = frozenset(
    ("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "F64", "I64", "U64")
)
