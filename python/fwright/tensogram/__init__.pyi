from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from os import PathLike
from typing import IO, Any, Literal, NamedTuple, SupportsIndex, TypeAlias, TypedDict, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__version__: str
__has_grib__: bool
__has_netcdf__: bool
WIRE_VERSION: int

Array: TypeAlias = NDArray[Any]
Path: TypeAlias = str | PathLike[str]
Ranges: TypeAlias = Sequence[tuple[int, int]]
Level: TypeAlias = Literal["quick", "default", "checksum", "full"]
Hash: TypeAlias = Literal["xxh3", "none"] | None
MaskMethod: TypeAlias = Literal["none", "rle", "roaring", "lz4", "zstd", "blosc2"] | None
Aggregate: TypeAlias = Literal["auto", "none", "header", "footer", "both"] | None
Pairs: TypeAlias = Sequence[tuple[dict[str, Any], Any] | list[Any]]

class IntegrityError(Exception): ...

class HashMismatchError(IntegrityError):
    object_index: int | None
    expected: str
    actual: str

class MissingHashError(IntegrityError):
    object_index: int

class Message(NamedTuple):
    metadata: Metadata
    objects: list[Any]

class Metadata(Mapping[str, Any]):
    @property
    def version(self) -> int: ...
    @property
    def base(self) -> list[dict[str, Any]]: ...
    @property
    def extra(self) -> dict[str, Any]: ...
    @property
    def reserved(self) -> dict[str, Any]: ...
    @property
    def num_objects(self) -> int: ...
    def get(self, key: str, default: Any = None) -> Any: ...
    def get_path(self, path: str, default: Any = None) -> Any: ...
    def has_path(self, path: str) -> bool: ...
    def get_path_at(self, obj: int, path: str, default: Any = None) -> Any: ...
    def has_path_at(self, obj: int, path: str) -> bool: ...
    def keys(self) -> list[str]: ...  # type: ignore[override]
    def values(self) -> list[Any]: ...  # type: ignore[override]
    def items(self) -> list[tuple[str, Any]]: ...  # type: ignore[override]
    def __getitem__(self, key: str) -> Any: ...
    def __contains__(self, key: object) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...

class DataObjectDescriptor:
    @property
    def obj_type(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def strides(self) -> list[int]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def byte_order(self) -> Literal["little", "big"]: ...
    @property
    def encoding(self) -> str: ...
    @property
    def filter(self) -> str: ...
    @property
    def compression(self) -> str: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def hash(self) -> None: ...
    @property
    def masks(self) -> dict[str, dict[str, Any]]: ...

class ObjectDict(TypedDict):
    metadata: Metadata
    descriptor: DataObjectDescriptor
    data: Array

class DescriptorsDict(TypedDict):
    metadata: Metadata
    descriptors: list[DataObjectDescriptor]

class MessageIter:
    def __iter__(self) -> MessageIter: ...
    def __next__(self) -> Message: ...
    def __len__(self) -> int: ...

class TensogramFileIter:
    def __iter__(self) -> TensogramFileIter: ...
    def __next__(self) -> Message: ...
    def __len__(self) -> int: ...

class TensogramFile:
    @staticmethod
    def open(source: Path, *, bidirectional: bool = True) -> TensogramFile: ...
    @staticmethod
    def open_remote(
        source: str, storage_options: dict[str, Any] | None = None, *, bidirectional: bool = True
    ) -> TensogramFile: ...
    @staticmethod
    def create(path: Path) -> TensogramFile: ...
    def message_count(self) -> int: ...
    def append(
        self,
        global_meta_dict: dict[str, Any],
        descriptors_and_data: Pairs,
        hash: Hash = "xxh3",
        threads: int = 0,
        allow_nan: bool = False,
        allow_inf: bool = False,
        nan_mask_method: MaskMethod = None,
        pos_inf_mask_method: MaskMethod = None,
        neg_inf_mask_method: MaskMethod = None,
        small_mask_threshold_bytes: int | None = None,
        aggregate_hash: Aggregate = None,
    ) -> None: ...
    def decode_message(
        self,
        index: int,
        native_byte_order: bool = True,
        threads: int = 0,
        restore_non_finite: bool = True,
        verify_hash: bool = False,
        *,
        copy: bool = True,
    ) -> Message: ...
    def file_decode_metadata(self, msg_index: int) -> Metadata: ...
    def file_decode_descriptors(self, msg_index: int) -> DescriptorsDict: ...
    def file_decode_object(
        self,
        msg_index: int,
        obj_index: int,
        native_byte_order: bool = True,
        threads: int = 0,
        verify_hash: bool = False,
        *,
        copy: bool = True,
    ) -> ObjectDict: ...
    @overload
    def file_decode_range(
        self, msg_index: int, obj_index: int, ranges: Ranges, join: Literal[False] = False, native_byte_order: bool = True, threads: int = 0
    ) -> list[Array]: ...
    @overload
    def file_decode_range(
        self, msg_index: int, obj_index: int, ranges: Ranges, join: Literal[True], native_byte_order: bool = True, threads: int = 0
    ) -> Array: ...
    def file_decode_object_batch(
        self, msg_indices: Sequence[int], obj_index: int, native_byte_order: bool = True, threads: int = 0, verify_hash: bool = False
    ) -> list[ObjectDict]: ...
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[int],
        obj_index: int,
        ranges: Ranges,
        join: bool = False,
        native_byte_order: bool = True,
        threads: int = 0,
    ) -> list[Any]: ...
    def read_message(self, index: int) -> bytes: ...
    def messages(self) -> list[bytes]: ...
    def is_remote(self) -> bool: ...
    def source(self) -> str: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Message: ...
    @overload
    def __getitem__(self, key: slice) -> list[Message]: ...
    def __iter__(self) -> TensogramFileIter: ...
    def __enter__(self) -> TensogramFile: ...
    def __exit__(self, _exc_type: Any = None, _exc_val: Any = None, _exc_tb: Any = None) -> bool: ...

class AsyncTensogramFileIter:
    def __aiter__(self) -> AsyncTensogramFileIter: ...
    def __anext__(self) -> Awaitable[Message]: ...
    def __len__(self) -> int: ...

class AsyncTensogramFile:
    @staticmethod
    def open(source: Path, *, bidirectional: bool = True) -> Awaitable[AsyncTensogramFile]: ...
    @staticmethod
    def open_remote(
        source: str, storage_options: dict[str, Any] | None = None, *, bidirectional: bool = True
    ) -> Awaitable[AsyncTensogramFile]: ...
    @property
    def storage_options(self) -> dict[str, str]: ...
    def message_count(self) -> Awaitable[int]: ...
    def decode_message(
        self, index: int, native_byte_order: bool = True, threads: int = 0, verify_hash: bool = False
    ) -> Awaitable[Message]: ...
    def file_decode_metadata(self, msg_index: int) -> Awaitable[Metadata]: ...
    def file_decode_descriptors(self, msg_index: int) -> Awaitable[DescriptorsDict]: ...
    def file_decode_object(
        self, msg_index: int, obj_index: int, native_byte_order: bool = True, threads: int = 0, verify_hash: bool = False
    ) -> Awaitable[ObjectDict]: ...
    def file_decode_range(
        self, msg_index: int, obj_index: int, ranges: Ranges, join: bool = False, native_byte_order: bool = True, threads: int = 0
    ) -> Awaitable[Any]: ...
    def file_decode_object_batch(
        self, msg_indices: Sequence[int], obj_index: int, native_byte_order: bool = True, threads: int = 0, verify_hash: bool = False
    ) -> Awaitable[list[ObjectDict]]: ...
    def file_decode_range_batch(
        self,
        msg_indices: Sequence[int],
        obj_index: int,
        ranges: Ranges,
        join: bool = False,
        native_byte_order: bool = True,
        threads: int = 0,
    ) -> Awaitable[list[Any]]: ...
    def prefetch_layouts(self, msg_indices: Sequence[int]) -> Awaitable[tuple[()]]: ...
    def read_message(self, index: int) -> Awaitable[bytes]: ...
    def messages(self) -> Awaitable[list[bytes]]: ...
    def is_remote(self) -> bool: ...
    def source(self) -> str: ...
    def __len__(self) -> int: ...
    def __aiter__(self) -> AsyncTensogramFileIter: ...
    def __aenter__(self) -> Awaitable[AsyncTensogramFile]: ...
    def __aexit__(self, _exc_type: Any = None, _exc_val: Any = None, _exc_tb: Any = None) -> Awaitable[bool]: ...

class StreamingEncoder:
    def __new__(
        cls,
        global_meta_dict: dict[str, Any],
        hash: Hash = "xxh3",
        threads: int = 0,
        allow_nan: bool = False,
        allow_inf: bool = False,
        nan_mask_method: MaskMethod = None,
        pos_inf_mask_method: MaskMethod = None,
        neg_inf_mask_method: MaskMethod = None,
        small_mask_threshold_bytes: int | None = None,
        aggregate_hash: Aggregate = None,
        *,
        sink: Path | IO[bytes] | Any | None = None,
    ) -> StreamingEncoder: ...
    def write_preceder(self, metadata: dict[str, Any]) -> None: ...
    def write_object(self, descriptor: dict[str, Any], data: Any) -> None: ...
    def write_object_pre_encoded(self, descriptor: dict[str, Any], data: Buffer) -> None: ...
    def finish(self) -> bytes: ...
    def finish_backfilled(self) -> bytes: ...
    def finish_and_reset(self) -> bytes: ...
    def finish_and_reset_backfilled(self) -> bytes: ...
    @property
    def object_count(self) -> int: ...
    @property
    def bytes_written(self) -> int: ...

def encode(
    global_meta_dict: dict[str, Any],
    descriptors_and_data: Pairs,
    hash: Hash = "xxh3",
    threads: int = 0,
    allow_nan: bool = False,
    allow_inf: bool = False,
    nan_mask_method: MaskMethod = None,
    pos_inf_mask_method: MaskMethod = None,
    neg_inf_mask_method: MaskMethod = None,
    small_mask_threshold_bytes: int | None = None,
    aggregate_hash: Aggregate = None,
) -> bytes: ...
def encode_pre_encoded(
    global_meta_dict: dict[str, Any], descriptors_and_data: Pairs, hash: Hash = "xxh3", threads: int = 0
) -> bytes: ...
def decode(
    buf: Buffer,
    native_byte_order: bool = True,
    threads: int = 0,
    restore_non_finite: bool = True,
    verify_hash: bool = False,
    *,
    copy: bool = True,
) -> Message: ...
def decode_with_masks(buf: Buffer, native_byte_order: bool = True, threads: int = 0) -> Message: ...
def decode_metadata(buf: Buffer) -> Metadata: ...
def decode_descriptors(buf: Buffer) -> tuple[Metadata, list[DataObjectDescriptor]]: ...
def decode_object(
    buf: Buffer,
    index: int,
    native_byte_order: bool = True,
    threads: int = 0,
    restore_non_finite: bool = True,
    verify_hash: bool = False,
    *,
    copy: bool = True,
) -> tuple[Metadata, DataObjectDescriptor, Array]: ...
@overload
def decode_range(
    buf: Buffer,
    object_index: int,
    ranges: Ranges,
    join: Literal[False] = False,
    native_byte_order: bool = True,
    threads: int = 0,
    restore_non_finite: bool = True,
) -> list[Array]: ...
@overload
def decode_range(
    buf: Buffer,
    object_index: int,
    ranges: Ranges,
    join: Literal[True],
    native_byte_order: bool = True,
    threads: int = 0,
    restore_non_finite: bool = True,
) -> Array: ...
def scan(buf: Buffer) -> list[tuple[int, int]]: ...
def iter_messages(buf: Buffer, *, verify_hash: bool = False) -> MessageIter: ...
def validate(buf: Buffer, level: Level = "default", check_canonical: bool = False) -> dict[str, Any]: ...
def validate_file(path: Path, level: Level = "default", check_canonical: bool = False) -> dict[str, Any]: ...
def compute_hash(data: Buffer, algo: str = "xxh3") -> str: ...
def compute_packing_params(
    values: NDArray[np.floating[Any] | np.integer[Any]], bits_per_value: int, decimal_scale_factor: int
) -> dict[str, int | float]: ...
def is_remote_url(source: str) -> bool: ...
def doctor() -> dict[str, Any]: ...
def convert_grib(
    path: Path,
    *,
    grouping: str = "merge_all",
    preserve_all_keys: bool = False,
    encoding: str = "none",
    bits: int | None = None,
    filter: str = "none",
    compression: str = "none",
    compression_level: int | None = None,
    threads: int = 0,
    hash: Hash = "xxh3",
) -> list[bytes]: ...
def convert_grib_buffer(
    buffer: Buffer,
    *,
    grouping: str = "merge_all",
    preserve_all_keys: bool = False,
    encoding: str = "none",
    bits: int | None = None,
    filter: str = "none",
    compression: str = "none",
    compression_level: int | None = None,
    threads: int = 0,
    hash: Hash = "xxh3",
) -> list[bytes]: ...
def convert_netcdf(
    path: Path,
    *,
    split_by: str = "file",
    cf: bool = False,
    encoding: str = "none",
    bits: int | None = None,
    filter: str = "none",
    compression: str = "none",
    compression_level: int | None = None,
    threads: int = 0,
    hash: Hash = "xxh3",
) -> list[bytes]: ...
def to_grib(messages: Sequence[Buffer]) -> bytes: ...
def to_netcdf(messages: Sequence[Buffer], path: Path) -> None: ...
