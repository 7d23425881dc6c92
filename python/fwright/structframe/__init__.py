"""Frames of small devices, read and written by a schema: no generated code.

>>> from fwright.structframe import Schema
>>> schema = Schema.parse("package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }")
>>> data = schema.encode("Ping", {"seq": 4660, "ack": True}, profile="standard")
>>> [frame] = schema.decode(data)
>>> frame.message, frame.values
('Ping', {'seq': 4660, 'ack': True})
>>> schema.columns(data * 3)["Ping"]["seq"]
array([4660, 4660, 4660], dtype=uint16)
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._fwright import structframe as _native
from ._columns import Capture as Capture
from ._columns import Table as Table
from ._errors import Finding as Finding
from ._errors import FrameError as FrameError
from ._errors import SchemaError as SchemaError
from ._records import Records, values_of
from ._sources import is_live, pieces, whole, with_profile
from ._types import Damage as Damage
from ._types import Decoder as Decoder
from ._types import Frame as Frame

__all__ = ["Capture", "Damage", "Decoder", "Finding", "Frame", "FrameError", "Record", "Schema", "SchemaError", "Table"]


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """A good frame whose values are an object with attributes: ``record.values.seq``."""

    message: str
    values: Any
    frame: Frame


class Schema:
    """A schema: what messages there are, and how their bytes are laid out.

    ``Schema.load`` reads a file and the files that it imports, ``Schema.parse`` takes a text. With ``packed=False`` every message is of
    variable length, as with ``--no-packed`` of the command line; both ends of a line must agree on that.
    """

    def __init__(self, native: Any, name: str, packed: bool) -> None:
        self._native = native
        self._name = name
        self._packed = packed
        self._messages: dict[str, dict[str, Any]] = native.messages
        self._records = Records(self._messages)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, packed: bool = True, include: Iterable[str | os.PathLike[str]] = ()
    ) -> Schema:
        """Compile the schema in a file. ``SchemaError`` shows every fault with its line."""
        return cls(_native.Schema.load(path, packed, list(include)), os.fspath(path), packed)

    @classmethod
    def parse(cls, text: str, *, name: str = "schema.sf", packed: bool = True) -> Schema:
        """Compile the text of a schema that imports nothing."""
        return cls(_native.Schema.parse(text, name, packed), name, packed)

    @property
    def messages(self) -> dict[str, dict[str, Any]]:
        """The messages by name: ``id``, ``size``, ``min_size``, ``variable``, ``fields``, ``oneofs`` and ``docs``."""
        return self._messages

    @property
    def enums(self) -> dict[str, dict[str, int]]:
        """The numbers of each enum by name."""
        found: dict[str, dict[str, int]] = self._native.enums
        return found

    def record_type(self, message: str) -> type[Any]:
        """The dataclass of a message.

        >>> schema = Schema.parse("package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }")
        >>> Ping = schema.record_type("Ping")
        >>> [record] = schema.decode(schema.encode(Ping(seq=5)), records=True)
        >>> record.values
        Ping(seq=5, ack=False)
        """
        if message not in self._messages:
            raise self._unknown(message)
        return self._records.type_of(message)

    def decode(
        self,
        source: Any,
        profile: str | None = None,
        *,
        records: bool = False,
        enums: str = "names",
        strict: bool = False,
        damage: bool = True,
        idle_timeout: float | None = None,
    ) -> Iterator[Any]:
        """The frames of a source, as they come.

        ``source`` is bytes, a path, a binary file, a socket or a port of pyserial. Each frame is a :class:`Frame` whose ``values`` is a dict,
        or with ``records=True`` a :class:`Record` whose ``values`` has attributes. What is not a good frame is a :class:`Damage` between
        them; ``damage=False`` leaves it out. Frames that cannot be read (an unknown id, a payload that does not fit) are frames
        without values.

        Without ``profile`` (``standard``, ``sensor``, ``ipc``, ``bulk``, ``network``, or ``HEADER+PAYLOAD``) the first bytes tell. A port or a socket
        ends when it is closed, or when nothing arrives for ``idle_timeout`` seconds.
        """
        found = pieces(source, idle_timeout)
        chosen, found = with_profile(found, profile, is_live(source), self._native.detect)
        if chosen is None:
            return
        decoder = self.decoder(chosen, enums=enums, strict=strict)
        for piece in found:
            yield from self._shown(decoder.feed(piece), records, damage)
        yield from self._shown(decoder.finish(), records, damage)

    def decoder(self, profile: str, *, enums: str = "names", strict: bool = False) -> Decoder:
        """A decoder that bytes are fed to.

        >>> schema = Schema.parse("package demo; message Ping { option msgid = 7; uint16 seq = 1; bool ack = 2; }")
        >>> decoder = schema.decoder("standard")
        >>> data = schema.encode("Ping", {"seq": 1})
        >>> decoder.feed(data[:4]), decoder.feed(data[4:])
        ([], [Frame(Ping, {'seq': 1, 'ack': False}, at=0)])
        """
        made: Decoder = self._native.decoder(profile, enums, strict)
        return made

    def encode(
        self,
        message: Any,
        values: Any = None,
        *,
        profile: str = "standard",
        sequence: int = 0,
        system: int = 0,
        component: int = 0,
    ) -> bytes:
        """A message as a frame: its name or id and its values, or a record. Fields that are not given have their defaults.

        ``values`` may also be ``bytes``: a payload that is framed as it is.
        """
        data: bytes = self._native.encode([self._outgoing(message, values, sequence, system, component)], profile)
        return data

    def encode_all(self, frames: Iterable[Any], *, profile: str = "standard") -> bytes:
        """Frames one after the other: those of :meth:`decode` with their headers and payloads, records, or pairs of name and values.

        Pairs and records are numbered from 0 on where the profile has a sequence.
        """
        listed = []
        for number, item in enumerate(frames):
            if isinstance(item, Damage):
                continue
            if isinstance(item, Record):
                item = item.frame
            if isinstance(item, Frame):
                listed.append((item.id, item.payload, item.sequence or 0, item.system or 0, item.component or 0))
            elif isinstance(item, tuple):
                message, values = item
                listed.append(self._outgoing(message, values, number % 256, 0, 0))
            else:
                listed.append(self._outgoing(item, None, number % 256, 0, 0))
        data: bytes = self._native.encode(listed, profile)
        return data

    def columns(self, source: Any, profile: str | None = None, *, strict: bool = False, idle_timeout: float | None = None) -> Capture:
        """All frames of a source as arrays, by message: ``schema.columns(source)["Pose"]["x"]``.

        ``Table.array()`` is a structured array of one message, ``Table.dataframe()`` a data frame of pandas.
        """
        data = whole(source, idle_timeout)
        chosen, _ = with_profile(pieces(data, None), profile, False, self._native.detect)
        if chosen is None:
            return Capture({}, [], {}, {})
        tables, unread, counters = self._native.columns(data, chosen, strict)
        return Capture(tables, unread, counters, self.enums)

    def __repr__(self) -> str:
        return f"Schema({self._name!r}, messages={len(self._messages)}{'' if self._packed else ', packed=False'})"

    def _shown(self, events: list[Any], records: bool, damage: bool) -> Iterator[Any]:
        for event in events:
            if isinstance(event, Damage):
                if damage:
                    yield event
            elif records and event.message is not None and event.values is not None:
                yield Record(event.message, self._records.record(event.message, event.values), event)
            else:
                yield event

    def _outgoing(self, message: Any, values: Any, sequence: int, system: int, component: int) -> tuple[Any, ...]:
        name = getattr(type(message), "_message", None)
        if name is not None and values is None:
            message, values = name, message
        if isinstance(values, (bytearray, memoryview)):
            values = bytes(values)
        if not isinstance(values, (bytes, Mapping)) and values is not None and not hasattr(type(values), "_names"):
            raise TypeError(f"values must be a dict, a record or bytes, not {type(values).__name__}")
        values = values if isinstance(values, bytes) else values_of(dict(values) if isinstance(values, Mapping) else values or {})
        return message, values, sequence, system, component

    def _unknown(self, message: object) -> FrameError:
        error = FrameError(f"the schema has no message {message!r}")
        error.code = "unknown_message"
        return error
