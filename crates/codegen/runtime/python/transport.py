"""Links for a ``Client``: TCP, UDP, serial ports. Nothing but the standard library.

Each has ``send``, ``receive`` and ``close``; ``receive`` returns as soon as bytes are there. A write that the other side
does not take within ``send_timeout`` seconds raises ``TimeoutError``.
"""

from __future__ import annotations

import os
import selectors
import socket
import time
from typing import Any, Protocol

_CHUNK = 1 << 16


class _Selected:
    """Waits for a file that does not block. Reading and writing have a selector each, because they have a thread each."""

    def __init__(self, file: int | socket.socket, send_timeout: float) -> None:
        self._send_timeout = send_timeout
        self._readable = selectors.DefaultSelector()
        self._readable.register(file, selectors.EVENT_READ)
        self._writable = selectors.DefaultSelector()
        self._writable.register(file, selectors.EVENT_WRITE)

    def _read(self) -> bytes:
        raise NotImplementedError

    def _write(self, data: memoryview) -> int:
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError

    def send(self, data: bytes, /) -> None:
        """Sends all of these bytes."""
        rest, deadline = memoryview(data), time.monotonic() + self._send_timeout
        while rest:
            try:
                rest = rest[self._write(rest) :]
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0 or not self._writable.select(left):
                    raise TimeoutError(f"{len(rest)} of {len(data)} bytes were not sent in time") from None

    def receive(self, timeout: float, /) -> bytes | None:
        """Waits up to ``timeout`` seconds for bytes; ``b""`` when none came, ``None`` when the other side closed."""
        if not self._readable.select(max(timeout, 0)):
            return b""
        try:
            return self._read() or None
        except BlockingIOError:
            return b""
        except ConnectionError:
            return None

    def close(self) -> None:
        """Closes the connection."""
        self._readable.close()
        self._writable.close()
        self._close()


class TcpTransport(_Selected):
    """A TCP connection, or any other connected stream socket."""

    def __init__(self, connection: socket.socket, *, send_timeout: float = 5.0) -> None:
        connection.setblocking(False)
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        super().__init__(connection, send_timeout)

    @classmethod
    def connect(cls, host: str, port: int, *, timeout: float = 5.0) -> TcpTransport:
        """Connects to a server."""
        return cls(socket.create_connection((host, port), timeout))

    def _read(self) -> bytes:
        return self._connection.recv(_CHUNK)

    def _write(self, data: memoryview) -> int:
        return self._connection.send(data)

    def _close(self) -> None:
        self._connection.close()


class UdpTransport(_Selected):
    """A UDP socket: a frame per datagram.

    With a ``peer``, only its datagrams are read. Without one, frames go to whoever sent the last datagram.
    """

    def __init__(
        self, peer: tuple[str, int] | None = None, *, local: tuple[str, int] | None = None, send_timeout: float = 5.0
    ) -> None:
        family, _, _, _, there = socket.getaddrinfo(*(peer or local or ("0.0.0.0", 0)), type=socket.SOCK_DGRAM)[0]
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            if local is not None:
                self._socket.bind(local)
            if peer is not None:
                self._socket.connect(there)
        except OSError:
            self._socket.close()
            raise
        self._connected = peer is not None
        self._last: tuple[Any, ...] | None = None
        super().__init__(self._socket, send_timeout)

    @property
    def port(self) -> int:
        """The local port."""
        port: int = self._socket.getsockname()[1]
        return port

    def receive(self, timeout: float, /) -> bytes | None:
        """Waits up to ``timeout`` seconds for a datagram; ``b""`` when none came."""
        # An empty datagram, and the news that an earlier one was not delivered, are no end.
        return super().receive(timeout) or b""

    def _read(self) -> bytes:
        data, self._last = self._socket.recvfrom(_CHUNK)
        return data

    def _write(self, data: memoryview) -> int:
        if not self._connected:
            if self._last is None:
                raise ConnectionError("no peer yet: give one, or receive a datagram first")
            return self._socket.sendto(data, self._last)
        try:
            return self._socket.send(data)
        except ConnectionRefusedError:
            # The news is about an earlier datagram; this one has not been sent.
            try:
                return self._socket.send(data)
            except ConnectionRefusedError:
                return len(data)

    def _close(self) -> None:
        self._socket.close()


class SerialTransport(_Selected):
    """A serial port or another terminal device, in raw mode, 8N1. Needs termios, so not for Windows: use ``PortTransport``
    with a port of the package pyserial there.
    """

    def __init__(self, path: str | os.PathLike[str], baud: int = 115200, *, send_timeout: float = 5.0) -> None:
        self._file = serial_descriptor(path, baud)
        super().__init__(self._file, send_timeout)

    def receive(self, timeout: float, /) -> bytes | None:
        """Waits up to ``timeout`` seconds for bytes; ``b""`` when none came, ``None`` when the device is gone."""
        try:
            return super().receive(timeout)
        except OSError:
            return None  # unplugged: EIO or ENXIO

    def _read(self) -> bytes:
        return os.read(self._file, _CHUNK)

    def _write(self, data: memoryview) -> int:
        return os.write(self._file, data)

    def _close(self) -> None:
        os.close(self._file)


class Port(Protocol):
    """What ``PortTransport`` needs of a port of pyserial, or of something like it."""

    timeout: float | None

    @property
    def in_waiting(self) -> int:
        """How many bytes can be read at once."""
        ...

    def read(self, size: int = 1, /) -> bytes:
        """Up to ``size`` bytes; fewer when ``timeout`` passes."""
        ...

    def write(self, data: bytes, /) -> int | None:
        """Writes bytes."""
        ...

    def close(self) -> None:
        """Closes the port."""
        ...


class PortTransport:
    """A port object of the package pyserial."""

    def __init__(self, port: Port) -> None:
        self._port = port

    def send(self, data: bytes, /) -> None:
        """Sends all of these bytes."""
        self._port.write(data)

    def receive(self, timeout: float, /) -> bytes | None:
        """Waits up to ``timeout`` seconds for bytes; ``b""`` when none came, ``None`` when the device is gone."""
        try:
            if self._port.timeout != timeout:
                self._port.timeout = timeout
            # The first byte is waited for; what came with it is there already.
            return self._port.read(max(1, self._port.in_waiting))
        except OSError:
            return None

    def close(self) -> None:
        """Closes the port."""
        self._port.close()


def serial_descriptor(path: str | os.PathLike[str], baud: int) -> int:
    """Opens a terminal device in raw mode, 8N1, without blocking; returns its file descriptor."""
    import termios
    import tty

    speed = getattr(termios, f"B{baud}", None)
    if speed is None:
        raise ValueError(f"{baud} baud is not a speed that this system has a name for")
    file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        tty.setraw(file, termios.TCSANOW)
        settings = termios.tcgetattr(file)
        settings[2] = (settings[2] & ~(termios.CSTOPB | termios.PARENB)) | termios.CLOCAL | termios.CREAD
        settings[4] = settings[5] = speed
        termios.tcsetattr(file, termios.TCSANOW, settings)
    except termios.error as fault:
        os.close(file)
        raise OSError(*fault.args, os.fspath(path)) from None
    return file
