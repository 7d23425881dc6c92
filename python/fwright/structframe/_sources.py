"""Bytes from buffers, files, sockets and serial ports, piece by piece."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from ._errors import FrameError

PIECE = 1 << 16
# Bytes of a live stream after which any profile that fits is taken.
PATIENCE = 1 << 12


def pieces(source: Any, idle_timeout: float | None) -> Iterator[Any]:
    """What a source has, as it comes. A live source ends when it is closed, or is silent for ``idle_timeout`` seconds."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            yield from iter(lambda: file.read(PIECE), b"")
    elif hasattr(source, "recv"):
        yield from _socket(source, idle_timeout)
    elif hasattr(source, "in_waiting"):
        yield from _port(source, idle_timeout)
    elif hasattr(source, "read"):
        yield from _file(source)
    else:
        view = memoryview(source).cast("B")
        for start in range(0, len(view), PIECE):
            yield view[start : start + PIECE]


def whole(source: Any, idle_timeout: float | None = None) -> Any:
    """All bytes of a source."""
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "recv") or hasattr(source, "read"):
        return b"".join(pieces(source, idle_timeout))
    return source


def _file(file: Any) -> Iterator[bytes]:
    # A buffered reader waits for all that is asked for; read1 gives what is there.
    read: Callable[[int], Any] = getattr(file, "read1", file.read)
    while True:
        piece = read(PIECE)
        if piece is None:
            # A file that does not block, and has nothing yet.
            time.sleep(0.001)
        elif isinstance(piece, str):
            raise TypeError("the file is open in text mode: open it with 'rb'")
        elif not piece:
            return
        else:
            yield piece


def _socket(socket: Any, idle_timeout: float | None) -> Iterator[bytes]:
    before = socket.gettimeout()
    if idle_timeout is not None:
        socket.settimeout(idle_timeout)
    try:
        while piece := socket.recv(PIECE):
            yield piece
    except TimeoutError:
        if idle_timeout is None:
            raise
    finally:
        if idle_timeout is not None and socket.fileno() >= 0:
            socket.settimeout(before)


def _port(port: Any, idle_timeout: float | None) -> Iterator[bytes]:
    """A port of pyserial: reading waits for one byte, and then takes what has arrived with it."""
    heard = time.monotonic()
    while getattr(port, "is_open", True):
        if idle_timeout is not None and not port.in_waiting:
            if time.monotonic() - heard >= idle_timeout:
                return
            time.sleep(min(0.001, idle_timeout))
            continue
        piece = port.read(max(1, min(port.in_waiting, PIECE)))
        if piece:
            heard = time.monotonic()
            yield piece


def with_profile(
    found: Iterator[Any], profile: str | None, live: bool, detect: Callable[[Any], tuple[str, bool] | None]
) -> tuple[str | None, Iterator[Any]]:
    """The profile that was asked for, or the one that the first bytes have, and all pieces. ``None`` for an empty source."""
    if profile is not None:
        return profile, found
    held = bytearray()
    for piece in found:
        held += piece
        enough = len(held) >= (PATIENCE if live else PIECE)
        seen = detect(bytes(held))
        if seen is not None and (enough or live and seen[1]):
            return seen[0], _after(held, found)
        if enough:
            break
    if not held:
        return None, iter(())
    seen = detect(bytes(held))
    if seen is None:
        error = FrameError(f"no profile fits: {len(held)} bytes hold no frame of a message of the schema; give profile=")
        error.code = "no_frame"
        raise error
    return seen[0], _after(held, found)


def _after(held: bytearray, rest: Iterator[Any]) -> Iterator[Any]:
    yield bytes(held)
    yield from rest


def is_live(source: Any) -> bool:
    """Whether somebody may be waiting at the other end."""
    if isinstance(source, (str, os.PathLike)):
        return not os.path.isfile(source)
    return hasattr(source, "recv") or hasattr(source, "in_waiting") or hasattr(source, "read")
