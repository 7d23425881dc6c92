"""Many payloads at once, as NumPy structured arrays. NumPy is needed only here.

A row is the fixed layout of a message: ``array["battery_volts"]`` is a column without a copy. Counts are named
``ranges_mm@count``, lengths ``note@len``, tags of unions ``order@tag``, their bytes ``order@region``, and members
``order.go_to``; they lie over the region and say something only in rows with their tag.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .framing import Framing, Layout
from .message import Message, default_image
from .reader import BufferReader
from .registry import Registry

if TYPE_CHECKING:
    import numpy  # type: ignore[import-not-found, unused-ignore]


_DTYPES: dict[type[Message], Any] = {}


def dtype(message: type[Message]) -> numpy.dtype[Any]:
    """The fixed layout of a message as a NumPy type."""
    import numpy

    known: numpy.dtype[Any] | None = _DTYPES.get(message)
    if known is not None:
        return known
    names, formats, offsets = [], [], []
    for column in message._columns():
        item: Any = column.type if isinstance(column.type, str) else dtype(column.type)
        names.append(column.name)
        formats.append((item, (column.repeat,)) if column.repeat else item)
        offsets.append(column.offset)
    spec: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": message.MAX_SIZE}
    made: numpy.dtype[Any] = numpy.dtype(spec)
    _DTYPES[message] = made
    return made


def to_array(
    message: type[Message], payloads: Iterable[bytes], layout: Layout = Layout.WIRE
) -> numpy.ndarray[Any, numpy.dtype[Any]]:
    """Payloads of one message as rows. Raises ``DecodeError`` for a payload that ``Message.decode`` would refuse."""
    import numpy

    size = message.MAX_SIZE
    if message.VARIABLE and layout is Layout.WIRE:
        rows = [message.decode(payload, layout).encode(Layout.FIXED) for payload in payloads]
    else:
        rows = [
            payload if len(payload) == size else (payload + default_image(message)[len(payload) :])[:size]
            for payload in payloads
        ]
    if size == 0:
        return numpy.zeros(len(rows), dtype(message))
    return numpy.frombuffer(b"".join(rows), dtype(message))


def frames_to_arrays(
    framing: Framing, registry: Registry, data: bytes | bytearray | memoryview
) -> dict[type[Message], numpy.ndarray[Any, numpy.dtype[Any]]]:
    """All good frames of a capture as one array per message, rows in the order they came; unknown ids are left out."""
    payloads: dict[int, list[bytes]] = {}
    for frame in BufferReader(framing, registry, data).frames():
        payloads.setdefault(frame.id, []).append(frame.payload)
    arrays = {}
    for id, rows in payloads.items():
        message = registry.message_class(id)
        if message is not None:
            arrays[message] = to_array(message, rows, framing.layout)
    return arrays
