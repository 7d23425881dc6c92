from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypedDict, final

from typing_extensions import Buffer, Self

from ._errors import BintensorError as BintensorError
from ._errors import SliceError as SliceError
from ._errors import TensorNotFoundError as TensorNotFoundError
from ._errors import UnsupportedTypeError as UnsupportedTypeError
from ._errors import WriteError as WriteError

__all__ = [
    "BintensorError",
    "PySafeSlice",
    "SliceError",
    "TensorNotFoundError",
    "UnsupportedTypeError",
    "WriteError",
    "__version__",
    "deserialize",
    "digest",
    "generate_key",
    "manifest",
    "safe_open",
    "serialize",
    "serialize_file",
    "sign",
    "verify",
]

__version__: str

@final
class safe_open:
    def __new__(
        cls,
        filename: str | bytes | PathLike[str],
        framework: str,
        device: Any = "cpu",
        *,
        mmap: bool = True,
        verify: bool = False,
    ) -> Self: ...
    @property
    def format(self) -> str: ...
    def keys(self) -> list[str]: ...
    def offset_keys(self) -> list[str]: ...
    def metadata(self) -> dict[str, str] | None: ...
    def get_tensor(self, name: str) -> Any: ...
    def get_slice(self, name: str) -> PySafeSlice: ...
    def verify(self, *, progress: Callable[[int, int], object] | None = None) -> int: ...
    def __getitem__(self, key: str, /) -> Any: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _exc_type: type[BaseException] | None,
        _exc_value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None: ...

@final
class PySafeSlice:
    def get_shape(self) -> list[int]: ...
    def get_dtype(self) -> str: ...
    def __getitem__(self, key: Any, /) -> Any: ...

def serialize(
    tensor_dict: Mapping[str, Mapping[str, Any]],
    metadata: Mapping[str, str] | None = None,
    *,
    digest: str | None = None,
) -> bytes: ...
def serialize_file(
    filename: str | bytes | PathLike[str],
    tensor_dict: Mapping[str, Mapping[str, Any]],
    metadata: Mapping[str, str] | None = None,
    *,
    digest: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None: ...

class _Described(TypedDict):
    shape: list[int]
    dtype: str
    data: bytearray

def deserialize(bytes: Buffer) -> list[tuple[str, _Described]]: ...
def digest(
    source: str | PathLike[str] | Buffer | IO[bytes],
    *,
    expect: str | None = None,
    storage_options: dict[str, Any] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str: ...
def manifest(
    source: str | PathLike[str] | Buffer | IO[bytes],
    *,
    storage_options: dict[str, Any] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> str: ...
def generate_key(filename: str | bytes | PathLike[str]) -> Path: ...
def sign(
    filename: str | bytes | PathLike[str],
    key: str | bytes | PathLike[str],
    output: str | bytes | PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> str: ...
def verify(
    source: str | PathLike[str] | Buffer | IO[bytes],
    digest: bytes | str | Sequence[int] | None = None,
    algorithm: str = "sha1",
    *,
    key: str | bytes | PathLike[str] | None = None,
    expect: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> int: ...
