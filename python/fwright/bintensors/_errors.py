"""What is raised for files of weights. The classes are written in Python so that they can be pickled."""

from __future__ import annotations

from typing import Any

__all__ = ["BintensorError", "SliceError", "TensorNotFoundError", "UnsupportedTypeError", "WriteError"]


class BintensorError(Exception):
    """A file that is wrong, or a request that it cannot answer.

    ``code`` is a stable name of the fault; ``offset`` is the byte of the file where it is, where that is known.
    """

    code: str | None = None
    offset: int | None = None

    def __str__(self) -> str:
        return Exception.__str__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__


class TensorNotFoundError(BintensorError, KeyError):
    """The file has no tensor of that name."""


class SliceError(BintensorError, IndexError):
    """An index outside the tensor."""


class UnsupportedTypeError(BintensorError, KeyError):
    """An element type that the format, or the framework, does not have."""


class WriteError(BintensorError, OSError):
    """A file that could not be written; nothing of it is left behind."""


for _class in (BintensorError, SliceError, TensorNotFoundError, UnsupportedTypeError, WriteError):
    _class.__module__ = "fwright.bintensors"
