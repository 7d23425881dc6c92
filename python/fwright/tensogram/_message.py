"""The named tuple that decoding returns."""

from __future__ import annotations

from collections import namedtuple

from .._fwright import tensogram as _native


class Message(namedtuple("Message", ["metadata", "objects"])):
    """A decoded message: its metadata, and a list of pairs of descriptor and array."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        page: str = _native._message_html(self.metadata, self.objects)
        return page


Message.__module__ = "fwright.tensogram"
