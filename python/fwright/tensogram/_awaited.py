"""The streaming encoder, awaited."""

from __future__ import annotations

import asyncio
from typing import Any

from .._fwright import tensogram as _native


class AsyncStreamingEncoder:
    """A ``StreamingEncoder`` whose methods are awaited: encoding and writing run off the event loop.

    Arguments are those of ``StreamingEncoder``. Calls are made one after the other, as objects of one message are.

    >>> import asyncio, numpy as np
    >>> async def write():
    ...     encoder = AsyncStreamingEncoder({"run": "00Z"})
    ...     await encoder.write_preceder({"param": "2t"})
    ...     await encoder.write_object({}, np.zeros(3))
    ...     return await encoder.finish_backfilled()
    >>> len(_native.scan(asyncio.run(write())))
    1
    """

    def __init__(self, global_meta_dict: dict[str, Any], *args: Any, **keywords: Any) -> None:
        self._encoder = _native.StreamingEncoder(global_meta_dict, *args, **keywords)

    async def write_preceder(self, metadata: dict[str, Any]) -> None:
        """Write metadata of the next object, before the object itself is there."""
        await asyncio.to_thread(self._encoder.write_preceder, metadata)

    async def write_object(self, descriptor: dict[str, Any], data: Any) -> None:
        """Encode an object and write it."""
        await asyncio.to_thread(self._encoder.write_object, descriptor, data)

    async def write_object_pre_encoded(self, descriptor: dict[str, Any], data: Any) -> None:
        """Write an object whose payload is encoded already."""
        await asyncio.to_thread(self._encoder.write_object_pre_encoded, descriptor, data)

    async def finish(self) -> bytes | None:
        """End the message, whose lengths stay zero as in a stream; in memory it is returned."""
        return await asyncio.to_thread(self._encoder.finish)

    async def finish_backfilled(self) -> bytes | None:
        """End the message and fill its lengths in; in memory it is returned."""
        return await asyncio.to_thread(self._encoder.finish_backfilled)

    @property
    def object_count(self) -> int:
        """Number of objects written so far."""
        return self._encoder.object_count

    @property
    def bytes_written(self) -> int:
        """Number of bytes written so far."""
        return self._encoder.bytes_written
