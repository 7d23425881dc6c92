"""Messages of several packages, by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .framing import Framing, MessageInfo
from .message import Message
from .reader import Frame


class Registry(Mapping[int, MessageInfo]):
    """Messages of any number of packages by their effective id; readers take it as their lookup.

    When an id occurs twice, the package given first wins.
    """

    def __init__(self, *packages: Mapping[int, type[Message]]) -> None:
        self._messages: dict[int, type[Message]] = {}
        for package in packages:
            for id, message in package.items():
                self._messages.setdefault(id, message)
        self._infos = {id: message.INFO for id, message in self._messages.items() if message.INFO is not None}

    def __getitem__(self, id: int) -> MessageInfo:
        return self._infos[id]

    def __iter__(self) -> Iterator[int]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def info(self, id: int) -> MessageInfo | None:
        """Sizes and seeds of a message."""
        return self._infos.get(id)

    def message_class(self, id: int) -> type[Message] | None:
        """The class of a message."""
        return self._messages.get(id)

    def decode(self, framing: Framing, frame: Frame) -> Message | None:
        """The message in a frame; ``None`` when its id is unknown. Raises ``DecodeError`` when it is damaged."""
        message = self._messages.get(frame.id)
        return None if message is None else message.decode(frame.payload, framing.layout)
