"""What generated messages, enums and unions are built on."""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, TypeVar, Union, cast

from .errors import DecodeError, EncodeError
from .framing import Framing, Header, Layout, MessageInfo
from .reader import Frame
from .wire import WireReader

M = TypeVar("M", bound="Message")
E = TypeVar("E", bound="OpenEnum")


# What Python raises for a value that does not fit.
_FAULTS = (struct.error, OverflowError, TypeError, AttributeError, ValueError)


class OpenEnum(enum.IntEnum):
    """An enum that keeps values it has no name for: ``Mode(200)`` is a ``Mode`` like any other."""

    @classmethod
    def _missing_(cls: type[E], value: object) -> E | None:
        if not isinstance(value, int) or not 0 <= value <= 0xFF:
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        # At most 256 of them: the next time it is found without coming here.
        return cast(E, cls._value2member_map_.setdefault(value, member))

    @property
    def is_known(self) -> bool:
        """True when the schema has a name for it."""
        return self._name_ in type(self).__members__


class Column(NamedTuple):
    """A part of the fixed layout: what a NumPy structured array calls it, and where it stands."""

    name: str
    attribute: str
    """The attribute of the message that holds it; empty for counts, tags and regions."""
    type: Union[str, type["Message"]]
    repeat: int
    """How many, or 0 for a single one."""
    offset: int


class Message:
    """A message. Two messages are equal when all their fields are; as everywhere in Python, NaN is not equal to NaN."""

    __slots__ = ()

    INFO: ClassVar[MessageInfo | None] = None
    """Id, sizes and seeds; ``None`` for a message that can only be nested."""
    MSG_ID: ClassVar[int | None] = None
    MAX_SIZE: ClassVar[int]
    BASE_SIZE: ClassVar[int]
    MIN_SIZE: ClassVar[int]
    VARIABLE: ClassVar[bool]
    _KEYS: ClassVar[Mapping[str, str]] = {}
    """Names of the schema that are called otherwise here, by what they are called."""
    _FLATTENED: ClassVar[tuple[str, ...]] = ()
    """Attributes whose own fields are presented in their place."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by their names in the schema, nested messages as dictionaries; those of a field with ``flatten``
        stand in its place.

        A union is ``None``, ``{"which": member, "value": …}``, ``{"tag": …, "region": …}`` for a tag that nobody here
        knows, or its bytes when it has no tag: as `fw dump --json` has it.
        """
        out: dict[str, Any] = {}
        for one in fields(cast(Any, self)):
            value = _plain(getattr(self, one.name))
            if one.name in self._FLATTENED:
                out.update(value)
            else:
                out[self._KEYS.get(one.name, one.name)] = value
        return out

    def encode(self, layout: Layout = Layout.WIRE) -> bytes:
        """The payload in one of the two layouts. Raises ``EncodeError`` when a value does not fit its field."""
        out = bytearray()
        try:
            self._write(out, layout is Layout.WIRE)
        except _FAULTS as fault:
            raise _blame(self, fault) from fault
        return bytes(out)

    @classmethod
    def decode(cls: type[M], payload: bytes | bytearray | memoryview, layout: Layout = Layout.WIRE) -> M:
        """Reads a payload. Missing bytes are defaults where the format says so, surplus ones are ignored.

        Raises ``DecodeError`` when bytes are missing that must be there.
        """
        data = bytes(payload)
        if cls.VARIABLE and layout is Layout.WIRE:
            return cls._read_wire(WireReader(data))
        if len(data) < cls.MAX_SIZE:
            data += default_image(cls)[len(data) :]
        return cls._read(data, 0)

    def _write(self, out: bytearray, wire: bool) -> None:
        """Appends the payload."""
        raise NotImplementedError

    @classmethod
    def _read(cls: type[M], data: bytes, at: int) -> M:
        """Reads the fixed layout, which is all there."""
        raise NotImplementedError

    @classmethod
    def _read_wire(cls: type[M], wire: WireReader) -> M:
        """Reads the wire layout of a variable message."""
        raise NotImplementedError

    @classmethod
    def _columns(cls) -> tuple[Column, ...]:
        """The fixed layout, piece by piece."""
        raise NotImplementedError


class Variant:
    """A member of a union that is set."""

    __slots__ = ()

    NAME: ClassVar[str]
    """Of the member, in the schema."""
    TAG: ClassVar[int]
    SIZE: ClassVar[int]

    def _write(self, out: bytearray) -> None:
        raise NotImplementedError

    @classmethod
    def _read(cls: type[V], data: bytes) -> V:
        raise NotImplementedError

    @classmethod
    def _default(cls) -> bytes:
        """What fills the bytes that a shorter member lacks."""
        return bytes(cls.SIZE)


V = TypeVar("V", bound=Variant)


@dataclass(frozen=True)
class UnknownVariant:
    """A tag that this schema does not know, and what stands in the union's region."""

    tag: int
    region: bytes


class Untagged:
    """A union without a tag: what stands in its region."""

    __slots__ = ()


FULL, TRIMMED, PREFIXED = range(3)


_IMAGES: dict[type[Message], bytes] = {}


def default_image(message: type[Message]) -> bytes:
    """The fixed layout of a new message: what fills bytes that a shorter payload lacks."""
    image = _IMAGES.get(message)
    if image is None:
        image = _IMAGES[message] = message().encode(Layout.FIXED)
    return image


def put_union(
    out: bytearray,
    value: Variant | UnknownVariant | None,
    variants: Mapping[int, type[Variant]],
    place: str,
    tag_len: int,
    region: int,
    min_size: int,
    style: int,
) -> None:
    """Appends a union that has a tag; ``place`` names the message and the union."""
    held = bytearray()
    tag = 0
    if isinstance(value, UnknownVariant):
        tag = value.tag
        held += value.region
        if style != FULL:
            # The length of what nobody here knows: up to its last byte that says something.
            held = held.rstrip(b"\0")
        if not 0 <= tag < 1 << 8 * tag_len or len(held) > region:
            raise EncodeError("unknown_tag", f"{place}: tag {tag} with {len(held)} bytes does not fit")
    elif value is not None:
        # Also a member of another union is none of this one, whatever its tag.
        if not isinstance(value, Variant) or not isinstance(value, variants.get(value.TAG, ())):
            raise _no_member(place, value, variants)
        tag = value.TAG
        try:
            value._write(held)
        except _FAULTS as fault:
            raise _blame_member(place, value, fault) from fault
    out += tag.to_bytes(tag_len, "little")
    size = region if style == FULL else max(len(held), min_size)
    if style == PREFIXED:
        out += size.to_bytes(2, "little")
    out += held.ljust(size, b"\0")


def put_region(out: bytearray, value: Untagged, union: type[Untagged], place: str, size: int) -> None:
    """Appends a union that has no tag; ``place`` names the message and the union."""
    if not isinstance(value, union):
        made = ", ".join(f"{union.__name__}.{name}" for name in vars(union) if name.startswith("from_"))
        raise EncodeError("unknown_member", f"{place}: {_shown(value)} is not a {union.__name__}; create one with {made}")
    region: bytes = cast(Any, value).region
    if len(region) > size:
        raise EncodeError("untagged_region", f"{place}: {len(region)} bytes for a union of {size}")
    out += region.ljust(size, b"\0")


def get_union(
    variants: Mapping[int, type[V]], data: bytes, at: int, tag_len: int, region: int
) -> V | UnknownVariant | None:
    """Reads a union in the fixed layout."""
    tag = int.from_bytes(data[at : at + tag_len], "little")
    held = data[at + tag_len : at + tag_len + region]
    return choose(variants, tag, held)


def choose(variants: Mapping[int, type[V]], tag: int, held: bytes) -> V | UnknownVariant | None:
    """The variant of a tag."""
    known = variants.get(tag)
    if known is not None:
        return known._read(held)
    return None if tag == 0 else UnknownVariant(tag, held)


def get_wire_union(
    variants: Mapping[int, type[V]], wire: WireReader, tag_len: int, region: int, min_size: int, style: int, last: bool
) -> V | UnknownVariant | None:
    """Reads a trimmed or length-prefixed union."""
    begin = wire.at
    tag = int.from_bytes(wire.take(tag_len), "little")
    known = variants.get(tag)
    if style == PREFIXED:
        held = wire.take(int.from_bytes(wire.take(2), "little"))
        if known is not None and len(held) < known.SIZE:
            held += known._default()[len(held) :]
    elif known is None and tag != 0:
        if not last:
            raise DecodeError("unknown_tag", f"unknown tag {tag} hides what follows at byte {begin}")
        held = wire.take(len(wire.data) - wire.at)
    else:
        size = 0 if known is None else known.SIZE
        held = wire.take(size)
        wire.take(max(min_size - size, 0))
    return choose(variants, tag, held[:region].ljust(region, b"\0"))


def write_message(framing: Framing, message: Message, header: Header = Header()) -> bytes:
    """A frame around a message. Raises ``EncodeError`` when a value does not fit, or the framing cannot carry it."""
    info = message.INFO
    if info is None:
        raise EncodeError("no_message_id", f"{type(message).__name__} has no message id: it can only be nested")
    if info.id > 0xFF and not framing.has_package:
        return framing.write(info, b"", header)  # raises
    return framing.write(info, message.encode(framing.layout), header)


def read_message(message: type[M], framing: Framing, frame: Frame) -> M:
    """The message in a frame of this framing. Raises ``DecodeError`` when it holds another one, or is damaged."""
    if frame.id != message.MSG_ID:
        raise DecodeError("other_message", f"expected message {message.MSG_ID}, found {frame.id}")
    return message.decode(frame.payload, framing.layout)


def _plain(value: Any) -> Any:
    """A value as `Message.to_dict` shows it."""
    if isinstance(value, Message):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Variant):
        return {"which": value.NAME, "value": _plain(cast(Any, value).value)}
    if isinstance(value, UnknownVariant):
        return {"tag": value.tag, "region": value.region}
    if isinstance(value, Untagged):
        return cast(Any, value).region
    return value


# NumPy's names of numbers as those of `struct`.
_CODES = {
    "u1": "B", "i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<u8": "Q", "<i8": "q", "<f4": "f",
    "<f8": "d", "?": "?",
}  # fmt: skip


def _blame(message: Message, fault: Exception) -> EncodeError:
    """Finds the field that does not fit."""
    found = _find(message)
    if found is not None:
        return EncodeError("value_out_of_range", f"{type(message).__name__}.{found}")
    return EncodeError("wrong_type", f"{type(message).__name__}: {fault}")


def _blame_member(place: str, variant: Variant, fault: Exception) -> EncodeError:
    """What does not fit in a member of a union."""
    value: Any = cast(Any, variant).value
    code = "value_out_of_range" if isinstance(fault, (struct.error, OverflowError)) else "wrong_type"
    found = _find(value) if isinstance(value, Message) else None
    if found is not None:
        return EncodeError("value_out_of_range", f"{place}.{variant.NAME}.{found}")
    return EncodeError(code, f"{place}.{variant.NAME}: {_shown(value)} does not fit: {fault}")


def _no_member(place: str, value: object, variants: Mapping[int, type[Variant]]) -> EncodeError:
    """Says what a union was given and what it takes."""
    members = [f"{one.__name__} (`{one.NAME}`)" for one in variants.values()]
    words = f"{place}: {_shown(value)} is not a member; members are {', '.join(members)}, UnknownVariant, or None for unset"
    # Whoever gives what a member holds has forgotten to say which member.
    for one in variants.values():
        held = str(cast(Any, one).__annotations__["value"]).rpartition(".")[2]
        if held == type(value).__name__:
            return EncodeError("unknown_member", f"{words}: was {one.__name__}({held}(...)) meant?")
    return EncodeError("unknown_member", words)


def _shown(value: object) -> str:
    """A value in a message for people: what it is, and no more of it than they want to read."""
    text = repr(value)
    return f"{type(value).__name__} {text[:60]}..." if len(text) > 63 else f"{type(value).__name__} {text}"


def _find(message: Message) -> str | None:
    for column in message._columns():
        if not column.attribute:
            continue
        value: Any = getattr(message, column.attribute)
        for item in value if column.repeat else (value,):
            if isinstance(item, Message):
                inner = _find(item)
                if inner is not None:
                    return f"{column.attribute}.{inner}"
            elif isinstance(column.type, str) and column.type in _CODES:
                try:
                    struct.pack("<" + _CODES[column.type], item)
                except (struct.error, OverflowError, TypeError) as fault:
                    return f"{column.attribute}: {item!r} does not fit: {fault}"
    return None
