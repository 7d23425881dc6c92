"""Pieces of payloads: what generated code calls to write and read fields."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from .errors import DecodeError, EncodeError

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)

_SINGLE = struct.Struct("<f")


class _Writes(Protocol):
    def _write(self, out: bytearray, wire: bool) -> None: ...


class _Reads(Protocol[R_co]):
    def _read(self, data: bytes, at: int) -> R_co: ...


def f32(value: float) -> float:
    """The ``float`` nearest to a number: what a reader will get back."""
    return float(_SINGLE.unpack(_SINGLE.pack(value))[0])


def exact(items: Sequence[T], count: int, field: str) -> Sequence[T]:
    """An array that always has this many elements."""
    if len(items) != count:
        raise EncodeError("array_length", f"{field}: {len(items)} elements, the array has {count}")
    return items


def text(value: str, limit: int, field: str) -> bytes:
    """UTF-8 of a text of at most this many bytes. Bytes that came as no UTF-8 (lone surrogates) go out as they came."""
    try:
        data = value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as fault:
        raise EncodeError("text_not_unicode", f"{field}: {fault}") from None
    return blob(data, limit, field)


def fixed_text(value: str, limit: int, field: str) -> bytes:
    """UTF-8 of a text without a length of its own, to be padded with zeros."""
    data = text(value, limit, field)
    if 0 in data:
        raise EncodeError("text_with_zero", f"{field}: a zero byte would end this fixed text")
    return data


def blob(data: bytes, limit: int, field: str) -> bytes:
    """Bytes, at most this many."""
    if len(data) > limit:
        raise EncodeError("too_long", f"{field}: {len(data)} bytes, the field has {limit}")
    return data


def unfixed_text(data: bytes) -> str:
    """Fixed text up to its first zero byte."""
    return data.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def put_blob(out: bytearray, data: bytes, prefix: int, limit: int, trim: bool) -> None:
    """A length, content that is known to fit, and zeros up to the bound unless trimmed."""
    out += len(data).to_bytes(prefix, "little")
    out += data if trim else data.ljust(limit, b"\0")


def put_count(out: bytearray, items: Sequence[object], prefix: int, limit: int, field: str) -> None:
    """The count of an array."""
    if len(items) > limit:
        raise EncodeError("array_length", f"{field}: {len(items)} elements, the array has at most {limit}")
    out += len(items).to_bytes(prefix, "little")


def put_numbers(
    out: bytearray, items: Sequence[float], code: str, unit: int, prefix: int, limit: int, trim: bool, field: str
) -> None:
    """A bounded array of numbers, bools or enums."""
    put_count(out, items, prefix, limit, field)
    out += struct.pack(f"<{len(items)}{code}", *items)
    if not trim:
        out += bytes(unit * (limit - len(items)))


def put_messages(
    out: bytearray, items: Sequence[_Writes], unit: int, prefix: int, limit: int, trim: bool, field: str
) -> None:
    """A bounded array of messages."""
    put_count(out, items, prefix, limit, field)
    for item in items:
        item._write(out, False)
    if not trim:
        out += bytes(unit * (limit - len(items)))


def put_texts(out: bytearray, items: Sequence[str], unit: int, prefix: int, limit: int, trim: bool, field: str) -> None:
    """A bounded array of texts."""
    put_blobs(out, [fixed_text(item, unit, field) for item in items], unit, prefix, limit, trim, field)


def put_blobs(
    out: bytearray, items: Sequence[bytes], unit: int, prefix: int, limit: int, trim: bool, field: str
) -> None:
    """A bounded array of blobs."""
    put_count(out, items, prefix, limit, field)
    for item in items:
        out += blob(item, unit, field).ljust(unit, b"\0")
    if not trim:
        out += bytes(unit * (limit - len(items)))


def count(data: bytes, at: int, prefix: int, limit: int) -> int:
    """A count or length, clamped to its bound."""
    found = data[at] if prefix == 1 else data[at] | data[at + 1] << 8
    return min(found, limit)


def get_blob(data: bytes, at: int, prefix: int, limit: int) -> bytes:
    """A bounded blob in the fixed layout."""
    begin = at + prefix
    return data[begin : begin + count(data, at, prefix, limit)]


def get_text(data: bytes, at: int, prefix: int, limit: int) -> str:
    """A bounded text in the fixed layout."""
    return get_blob(data, at, prefix, limit).decode("utf-8", "surrogateescape")


def get_numbers(data: bytes, at: int, code: str, prefix: int, limit: int) -> list[Any]:
    """A bounded array of numbers in the fixed layout."""
    return list(struct.unpack_from(f"<{count(data, at, prefix, limit)}{code}", data, at + prefix))


def get_items(data: bytes, at: int, unit: int, amount: int) -> list[bytes]:
    """Elements of the same size."""
    return [data[begin : begin + unit] for begin in range(at, at + amount * unit, unit)]


def get_messages(message: _Reads[R_co], data: bytes, at: int, unit: int, amount: int) -> list[R_co]:
    """Messages one after the other."""
    return [message._read(data, begin) for begin in range(at, at + amount * unit, unit)]


class WireReader:
    """Reads a trimmed payload from front to back."""

    __slots__ = ("data", "at")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        at, end = self.at, self.at + size
        if end > len(self.data):
            raise DecodeError("truncated", f"need {size} bytes, have {len(self.data) - at} at byte {at}")
        self.at = end
        return self.data[at:end]

    def skip(self, size: int) -> int:
        """Where the next bytes begin, when all of them are there."""
        at, end = self.at, self.at + size
        if end > len(self.data):
            raise DecodeError("truncated", f"need {size} bytes, have {len(self.data) - at} at byte {at}")
        self.at = end
        return at

    def count(self, prefix: int, limit: int) -> int:
        """A count or length that must not exceed its bound: what follows could not be found."""
        at = self.at
        found = int.from_bytes(self.take(prefix), "little")
        if found > limit:
            raise DecodeError("count_exceeds_bound", f"count {found} exceeds the bound {limit} at byte {at}")
        return found

    def blob(self, prefix: int, limit: int) -> bytes:
        """A bounded blob."""
        return self.take(self.count(prefix, limit))

    def text(self, prefix: int, limit: int) -> str:
        """A bounded text."""
        return self.blob(prefix, limit).decode("utf-8", "surrogateescape")

    def numbers(self, code: str, unit: int, prefix: int, limit: int) -> list[Any]:
        """A bounded array of numbers."""
        amount = self.count(prefix, limit)
        return list(struct.unpack(f"<{amount}{code}", self.take(amount * unit)))

    def items(self, unit: int, prefix: int, limit: int) -> list[bytes]:
        """A bounded array of elements of the same size."""
        amount = self.count(prefix, limit)
        return get_items(self.data, self.skip(amount * unit), unit, amount)

    def messages(self, message: _Reads[R_co], unit: int, prefix: int, limit: int) -> list[R_co]:
        """A bounded array of messages."""
        amount = self.count(prefix, limit)
        return get_messages(message, self.data, self.skip(amount * unit), unit, amount)

    def region(self, region: int, base: int) -> bytes:
        """A union without a tag: an older sender's region ends with its base."""
        size = min(region, max(len(self.data) - self.at, base))
        return self.take(size).ljust(region, b"\0")
