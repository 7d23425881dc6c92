"""Which bytes stand around a payload: framings, profiles, the checksum, and writing frames."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from .errors import EncodeError


class Layout(enum.Enum):
    """The two layouts of a payload; the framing decides which one a frame carries."""

    WIRE = "wire"
    """What framings with a length carry: variable messages are trimmed."""
    FIXED = "fixed"
    """What framings without a length carry: every field at a constant offset."""


class HeaderKind(enum.IntEnum):
    """Which start bytes a frame has."""

    NONE = 0
    TINY = 1
    BASIC = 2


class PayloadKind(enum.IntEnum):
    """What follows the start bytes."""

    MINIMAL = 0
    DEFAULT = 1
    EXTENDED_MSG_IDS = 2
    EXTENDED_LENGTH = 3
    EXTENDED = 4
    SYS_COMP = 5
    SEQ = 6
    MULTI_SYSTEM_STREAM = 7
    EXTENDED_MULTI_SYSTEM_STREAM = 8


@dataclass(frozen=True)
class MessageInfo:
    """What readers and writers need to know about a message."""

    id: int
    max_size: int
    base_size: int
    min_size: int
    magic: bytes


class Header(NamedTuple):
    """What a frame says besides id and payload; zero where its framing has no such field."""

    sequence: int = 0
    system: int = 0
    component: int = 0


# Payload kinds: sequence, system and component, bytes of the length, package.
_ROWS: Final = (
    (False, False, 0, False),
    (False, False, 1, False),
    (False, False, 1, True),
    (False, False, 2, False),
    (False, False, 2, True),
    (False, True, 1, False),
    (True, False, 1, False),
    (True, True, 1, False),
    (True, True, 2, True),
)


class Framing:
    """A header kind and a payload kind. The five profiles have names: ``STANDARD``, ``SENSOR``, ``IPC``, ``BULK``, ``NETWORK``."""

    __slots__ = (
        "header", "payload", "start", "start_len", "has_sequence", "has_system", "len_bytes", "has_package",
        "has_length", "layout", "header_len", "trailer_len", "overhead", "max_payload_len",
    )  # fmt: skip

    def __init__(self, header: HeaderKind, payload: PayloadKind) -> None:
        self.header = header
        self.payload = payload
        kind = 0x70 + payload
        self.start = (b"", bytes([kind]), bytes([0x90, kind]))[header]
        self.start_len = len(self.start)
        self.has_sequence, self.has_system, self.len_bytes, self.has_package = _ROWS[payload]
        self.has_length = self.len_bytes > 0
        self.layout = Layout.WIRE if self.has_length else Layout.FIXED
        fields = self.has_sequence + 2 * self.has_system + self.len_bytes + self.has_package + 1
        self.header_len = self.start_len + fields
        self.trailer_len = 2 if self.has_length else 0
        self.overhead = self.header_len + self.trailer_len
        self.max_payload_len = 0xFF if self.len_bytes == 1 else 0xFFFF

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Framing) and (self.header, self.payload) == (other.header, other.payload)

    def __hash__(self) -> int:
        return hash((self.header, self.payload))

    def __repr__(self) -> str:
        return f"Framing(HeaderKind.{self.header.name}, PayloadKind.{self.payload.name})"

    def write(self, info: MessageInfo, payload: bytes, header: Header = Header()) -> bytes:
        """A frame around a payload that has this framing's layout.

        Raises ``EncodeError`` when the framing cannot carry the id or the payload.
        """
        size = len(payload)
        if info.id > 0xFF and not self.has_package:
            message = f"id {info.id} does not fit into a framing without package id (at most 255)"
            raise EncodeError("id_too_large", message)
        if not self.has_length and size != info.max_size:
            message = f"payload of {size} bytes, a framing without length needs exactly {info.max_size}"
            raise EncodeError("payload_not_whole", message)
        if size > self.max_payload_len:
            message = f"payload of {size} bytes, the framing carries at most {self.max_payload_len}"
            raise EncodeError("payload_too_long", message)
        fields = bytearray()
        try:
            if self.has_sequence:
                fields.append(header.sequence)
            if self.has_system:
                fields.append(header.system)
                fields.append(header.component)
        except (ValueError, TypeError):
            raise EncodeError("header_out_of_range", f"{header} does not fit into single bytes") from None
        if self.has_length:
            fields += size.to_bytes(self.len_bytes, "little")
        if self.has_package:
            fields.append(info.id >> 8)
        fields.append(info.id & 0xFF)
        if not self.has_length:
            return self.start + bytes(fields) + payload
        body = bytes(fields) + payload
        return self.start + body + checksum(body, len(fields), info)


def checksum(body: bytes, fields_len: int, info: MessageInfo | None) -> bytes:
    """The checksum of everything between start bytes and checksum, with the seeds after the base part."""
    if info is None:
        seeded = body + b"\0\0"
    else:
        split = fields_len + info.base_size
        seeded = body[:split] + info.magic + body[split:]
    return bytes((sum(seeded) & 0xFF, sum(accumulate(seeded)) & 0xFF))


STANDARD: Final = Framing(HeaderKind.BASIC, PayloadKind.DEFAULT)
SENSOR: Final = Framing(HeaderKind.TINY, PayloadKind.MINIMAL)
IPC: Final = Framing(HeaderKind.NONE, PayloadKind.MINIMAL)
BULK: Final = Framing(HeaderKind.BASIC, PayloadKind.EXTENDED)
NETWORK: Final = Framing(HeaderKind.BASIC, PayloadKind.EXTENDED_MULTI_SYSTEM_STREAM)
