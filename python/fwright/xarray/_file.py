"""An open file as the engine sees it: handles that pickle and reopen, and what every object says about itself."""

from __future__ import annotations

import math
import mmap
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray
from xarray.backends import CachingFileManager

import fwright
from fwright import Tensor, tensogram

from ._marks import MARK, mark_of

Source: TypeAlias = str | bytes
# Where an object says that it carries a type that Tensogram lacks.
CARRIED = "fw.carried"
A = TypeVar("A")
B = TypeVar("B")

# Requests that one call has under way: stores answer each of them late, and many at once.
WORKERS = 16


@dataclass(frozen=True, repr=False)
class Settings:
    """Settings of a store. What they are set to may be secret, and errors of xarray show what a file was opened with."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"<settings: {', '.join(name for name, _ in self.pairs)}>"


@dataclass(frozen=True)
class Place:
    """Where an object stands: its number among the tensors of the file, and its message and number there."""

    tensor: int
    message: int
    object: int


@dataclass(frozen=True)
class Item:
    """An object as far as its metadata describes it."""

    place: Place
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    entry: dict[str, Any]
    mark: dict[str, Any]
    pipeline: dict[str, Any] = field(default_factory=dict)
    # What the tensor is called where the file has nothing but names.
    name: str | None = None
    # Whether runs of its elements can be decoded apart from the rest.
    in_runs: bool = False
    # Whether it is read through its message alone.
    by_message: bool = False
    # Whether its elements stand in the file as they are.
    raw: bool = False


# How a message begins.
MAGIC = b"TENSOGRM"
# What the names of other formats than Tensogram end in.
_OTHERS = (".bt", ".bintensors", ".safetensors", ".npz", ".npy", ".gguf", ".pt", ".pth", ".ckpt", ".json")


class Opened:
    """The handles of one file: its messages where it has some, and names and tensors where they are needed."""

    def __init__(self, source: Source, options: Settings, mode: str = "r") -> None:
        # xarray opens files with a mode; there is but one.
        assert mode == "r"
        self.source, self.options = source, dict(options.pairs)
        self.lock = threading.Lock()
        self._file: fwright.TensorFile | None = None
        self._tensors: list[Tensor] = []
        self.messages: Messages | None = None
        if _begins_like_messages(source) or self.file.format == "tensogram":
            self.messages = Messages(source, self.options)

    @property
    def file(self) -> fwright.TensorFile:
        """Names and tensors."""
        with self.lock:
            if self._file is None:
                self._file = fwright.open(self.source, storage_options=self.options or None)
                self._tensors = self._file.values()
            return self._file

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors, in file order."""
        return self._tensors if self.file is not None else []

    def close(self) -> None:
        """The handles close when nothing uses them any more."""


def _begins_like_messages(source: Source) -> bool:
    """Whether these are messages, as far as that costs no request."""
    if isinstance(source, str) and tensogram.is_remote_url(source):
        return not source.split("?", 1)[0].lower().endswith(_OTHERS)
    if isinstance(source, bytes):
        return source.startswith(MAGIC)
    with open(source, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


class Handle:
    """A file that is opened when it is asked for, kept open among others, and opened again where it is unpickled."""

    def __init__(self, source: Source, options: Settings) -> None:
        self.source = source
        self.manager: CachingFileManager[Opened] = CachingFileManager(Opened, source, options, mode="r")

    @property
    def is_far(self) -> bool:
        """Whether the file is in a store, where requests take long and run side by side."""
        return isinstance(self.source, str) and tensogram.is_remote_url(self.source)

    @property
    def title(self) -> str:
        """What the file is called in messages."""
        return self.source if isinstance(self.source, str) else f"<{len(self.source)} bytes>"

    def opened(self) -> Opened:
        return self.manager.acquire()

    def together(self, work: Callable[[A], B], things: Sequence[A]) -> list[B]:
        """Does the work for all of them; side by side where each waits for a store."""
        if not self.is_far or len(things) < 2:
            return [work(thing) for thing in things]
        with ThreadPoolExecutor(min(WORKERS, len(things))) as pool:
            return list(pool.map(work, things))


class Messages:
    """The messages of a file or of bytes, one like the other."""

    def __init__(self, source: Source, options: dict[str, Any]) -> None:
        self.data: bytes | None = None
        self.file: tensogram.TensogramFile | None = None
        self.spans: list[tuple[int, int]] = []
        if isinstance(source, bytes):
            self.data, self.spans = source, tensogram.scan(source)
        elif tensogram.is_remote_url(source):
            self.file = tensogram.TensogramFile.open_remote(source, options)
        else:
            self.file = tensogram.TensogramFile.open(source)

    def __len__(self) -> int:
        return len(self.spans) if self.file is None else self.file.message_count()

    def _bytes(self, message: int) -> memoryview:
        start, length = self.spans[message]
        assert self.data is not None
        return memoryview(self.data)[start : start + length]

    def described(self, message: int) -> tuple[tensogram.Metadata, list[tensogram.DataObjectDescriptor]]:
        """Metadata and descriptors; no elements are read."""
        if self.file is None:
            return tensogram.decode_descriptors(self._bytes(message))
        said = self.file.file_decode_descriptors(message)
        return said["metadata"], said["descriptors"]

    def runs(self, place: Place, runs: list[tuple[int, int]]) -> NDArray[Any]:
        """Runs of elements, one after the other."""
        if self.file is None:
            return tensogram.decode_range(self._bytes(place.message), place.object, runs, join=True)
        return self.file.file_decode_range(place.message, place.object, runs, join=True)

    def view(self, place: Place) -> NDArray[Any]:
        """All elements where they stand."""
        if self.file is None:
            return tensogram.decode_object(self._bytes(place.message), place.object, copy=False)[2]
        return self.file.file_decode_object(place.message, place.object, copy=False)["data"]

    def outside(self) -> int:
        """Bytes that are part of no message, as far as that costs no request."""
        if self.data is not None:
            return len(self.data) - sum(length for _, length in self.spans)
        assert self.file is not None
        if self.file.is_remote():
            return 0
        with open(self.file.source(), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            return len(whole) - sum(length for _, length in tensogram.scan(whole))

    def whole(self, place: Place, verify: bool) -> NDArray[Any]:
        """All elements; after their hash was compared, where that is asked for."""
        if self.file is None:
            return tensogram.decode_object(self._bytes(place.message), place.object, verify_hash=verify)[2]
        return self.file.file_decode_object(place.message, place.object, verify_hash=verify)["data"]


def source_of(given: str | os.PathLike[Any] | bytes | memoryview | IO[bytes] | Any) -> Source:
    """A path or URL as text, or bytes. What a file object holds is read, unless it is a file of this machine."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given)
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        text = os.fsdecode(text) if isinstance(text, bytes) else text
        if text.startswith("file://"):
            return unquote(urlsplit(text).path)
        return text if "://" in text else os.path.abspath(os.path.expanduser(text))
    if hasattr(given, "read"):
        name = getattr(given, "name", None)
        if isinstance(name, str) and type(given).__module__ in ("_io", "io") and os.path.isfile(name):
            return os.path.abspath(name)
        given.seek(0)
        return bytes(given.read())
    raise TypeError(f"cannot open '{type(given).__name__}': a path, a URL, bytes or a binary file is needed")


@dataclass(frozen=True)
class Said:
    """What a file says: its objects, and the keys of each message."""

    format: str
    items: list[Item]
    messages: dict[int, dict[str, Any]]


def read(handle: Handle, messages: Iterable[int] | None) -> Said:
    """Reads the metadata of some messages, or of all of them.

    Raises ``ValueError`` for a message that is not there, and for one with an object that cannot be read.
    """
    opened = handle.opened()
    if opened.messages is None:
        keys: dict[str, Any] = dict(opened.file.metadata)
        found = [Item(Place(at, 0, at), tensor.shape, tensor.dtype, tensor.metadata, {}, name=tensor.name) for at, tensor in enumerate(opened.tensors)]
        return Said(opened.file.format, found, {0: keys})
    count = len(opened.messages)
    wanted = list(range(count) if messages is None else messages)
    if messages is None and (outside := opened.messages.outside()) > 0:
        words = f"{outside} bytes are not part of any readable message, so that objects may be missing; fw validate shows what they are"
        warnings.warn(f"{handle.title}: {words}", stacklevel=2)
    for message in wanted:
        if not 0 <= message < count:
            raise ValueError(f"{handle.title}: message index {message} out of range: the file has {count} messages")
    described = handle.together(opened.messages.described, wanted)
    # Types that Tensogram lacks are what names and tensors make of them.
    by_message = all(_is_plain(metadata.base) for metadata, _ in described)
    places = {} if by_message else _places(opened.tensors, count)
    items: list[Item] = []
    extras: dict[int, dict[str, Any]] = {}
    for message, (metadata, descriptors) in zip(wanted, described):
        tensors = range(len(descriptors)) if by_message else places.get(message, [])
        if len(tensors) != len(descriptors):
            words = f"{len(descriptors) - len(tensors)} of {len(descriptors)} objects cannot be read; fw validate shows which"
            raise ValueError(f"{handle.title}: message {message}: {words}")
        extras[message] = metadata.extra
        for number, (descriptor, at) in enumerate(zip(descriptors, tensors)):
            base = metadata.base[number] if number < len(metadata.base) else {}
            tensor = None if by_message else opened.tensors[at]
            items.append(_item(Place(at, message, number), tensor, base, descriptor))
    return Said("tensogram", items, extras)


def _is_plain(base: Iterable[dict[str, Any]]) -> bool:
    return all(CARRIED not in entry for entry in base)


def _type_of(name: str) -> np.dtype[Any]:
    """The NumPy type of elements, as decoding gives them."""
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            name = "uint16"
        else:
            brain: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
            return brain
    # One bit for each element: truth values.
    return np.dtype(bool if name == "bitmask" else name)


def _places(tensors: list[Tensor], messages: int) -> dict[int, list[int]]:
    """The tensors of each message: in a file of several, names begin with the number of the message."""
    places: dict[int, list[int]] = {}
    for at, tensor in enumerate(tensors):
        message = int(tensor.name.split("/", 1)[0]) if messages > 1 else 0
        places.setdefault(message, []).append(at)
    return places


_CODECS = ("sp_", "shuffle_", "szip_", "zstd_", "lz4_", "blosc2_", "zfp_", "sz3_")
# What an encoder derives from the data.
_DERIVED = ("szip_block_offsets", "sp_reference_value", "sp_binary_scale_factor")
# Compressions that decode a part without the rest.
_IN_PARTS = ("none", "szip", "blosc2")


def _item(place: Place, tensor: Tensor | None, base: dict[str, Any], descriptor: tensogram.DataObjectDescriptor) -> Item:
    entry = {key: value for key, value in base.items() if key not in ("_reserved_", CARRIED)}
    mark = mark_of(entry.pop(MARK, None))
    stages = {"encoding": descriptor.encoding, "filter": descriptor.filter, "compression": descriptor.compression}
    pipeline: dict[str, Any] = {stage: name for stage, name in stages.items() if name != "none"}
    for key, value in descriptor.params.items():
        if not key.startswith(_CODECS):
            entry.setdefault(key, value)
        elif key not in _DERIVED:
            pipeline[key] = value
    in_parts = descriptor.compression in _IN_PARTS or descriptor.params.get("zfp_mode") == "fixed_rate"
    is_bits = descriptor.dtype == "bitmask"
    shape, dtype = (tuple(descriptor.shape), _type_of(descriptor.dtype)) if tensor is None or is_bits else (tensor.shape, tensor.dtype)
    # A type that Tensogram lacks is stored as bytes, whose runs are not those of the elements.
    is_plain = list(shape) == descriptor.shape and (tensor is None or tensor.type_name == descriptor.dtype)
    in_runs = is_plain and in_parts and not is_bits and descriptor.filter == "none" and math.prod(shape) > 0
    raw = not pipeline and not is_bits and not descriptor.masks and descriptor.byte_order == sys.byteorder
    return Item(place, shape, dtype, entry, mark, pipeline, in_runs=in_runs, by_message=tensor is None or is_bits, raw=raw)
