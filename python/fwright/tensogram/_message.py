"""The named tuple that decoding returns."""

from __future__ import annotations

from collections import namedtuple

Message = namedtuple("Message", ["metadata", "objects"])
Message.__module__ = "fwright.tensogram"
Message.__doc__ = "A decoded message: its metadata, and a list of pairs of descriptor and array."
