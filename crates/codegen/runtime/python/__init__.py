"""struct-frame for Python 3.10 and newer: framings, readers, messages, a client. Fixed: no part of it depends on a schema."""

from .client import Client, Link, Transport
from .errors import DecodeError, EncodeError, StructFrameError
from .framing import (
    BULK,
    IPC,
    NETWORK,
    SENSOR,
    STANDARD,
    Framing,
    Header,
    HeaderKind,
    Layout,
    MessageInfo,
    PayloadKind,
)
from .message import (
    Message,
    OpenEnum,
    UnknownVariant,
    Variant,
    default_image,
    read_message,
    write_message,
)
from .reader import (
    AccumulatingReader,
    BadChecksum,
    BufferReader,
    Counters,
    Event,
    Frame,
    Lookup,
    Skipped,
    Truncated,
)
from .registry import Registry
from .wire import f32

__all__ = [
    "BULK",
    "IPC",
    "NETWORK",
    "SENSOR",
    "STANDARD",
    "AccumulatingReader",
    "BadChecksum",
    "BufferReader",
    "Client",
    "Counters",
    "DecodeError",
    "EncodeError",
    "Event",
    "Frame",
    "Framing",
    "Header",
    "HeaderKind",
    "Layout",
    "Link",
    "Lookup",
    "Message",
    "MessageInfo",
    "OpenEnum",
    "PayloadKind",
    "Registry",
    "Skipped",
    "StructFrameError",
    "Transport",
    "Truncated",
    "UnknownVariant",
    "Variant",
    "default_image",
    "f32",
    "read_message",
    "write_message",
]
