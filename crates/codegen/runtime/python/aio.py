"""A client for asyncio, and its links: TCP, UDP, serial ports. Nothing but the standard library."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, TypeVar, cast

from .client import Client
from .framing import Framing
from .message import Message
from .reader import Counters, Frame
from .registry import Registry
from .transport import serial_descriptor

M = TypeVar("M", bound=Message)

_CHUNK = 1 << 16
_DATAGRAMS = 4096


class AsyncLink(Protocol):
    """What an ``AsyncClient`` talks through."""

    def send(self, data: bytes, /) -> object:
        """Queues all of these bytes; does not wait."""
        ...

    async def drain(self) -> None:
        """Waits until the queue is short again."""
        ...

    async def receive(self) -> bytes:
        """The next bytes; ``b""`` when the other side closed."""
        ...

    async def close(self) -> None:
        """Closes the connection."""
        ...


class AsyncClient:
    """Speaks one framing over a link, on the event loop that enters ``async with client:``.

    Handlers are called on that loop, one after the other, and must not wait; an exception in one goes to ``on_error`` and
    does not stop the others.
    """

    def __init__(
        self,
        link: AsyncLink,
        framing: Framing,
        registry: Registry,
        *,
        system: int = 0,
        component: int = 0,
        capacity: int = 1 << 18,
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        self._link = link
        self._on_error = on_error
        # Its transport is the link: bytes are queued there at once, in the order of the calls.
        self._client = Client(
            link, framing, registry, system=system, component=component, capacity=capacity, on_error=on_error
        )
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> AsyncClient:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def counters(self) -> Counters:
        """What the reader has counted."""
        return self._client.counters

    def start(self) -> None:
        """Starts reading, as a task of the running loop."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._read())

    async def wait(self) -> None:
        """Waits until the other side closes."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stops reading and closes the link."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._link.close()

    async def send(self, message: Message) -> None:
        """Sends a message; sequence numbers count up by themselves."""
        self._client.send(message)
        await self._link.drain()

    def subscribe(self, message: type[M], handler: Callable[[M, Frame], None]) -> Callable[[], None]:
        """Calls ``handler`` with every message of this class; the function returned ends that."""
        return self._client.subscribe(message, handler)

    async def request(
        self,
        message: Message,
        response: type[M],
        predicate: Callable[[M], bool] | None = None,
        timeout: float | None = 5.0,
    ) -> M:
        """Sends a message and waits for its answer: the next message of class ``response`` that ``predicate`` accepts.

        Raises ``TimeoutError`` when none comes in time, and ``ConnectionError`` when the link closes first.
        """
        if self._task is None or self._task.done():
            raise ConnectionError("the client has not been started" if self._task is None else "the link is closed")
        future = asyncio.wrap_future(self._client.start_request(message, response, predicate))
        try:
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            # Before Python 3.11 this is another class.
            raise TimeoutError(f"no {response.__name__} within {timeout} s") from None

    async def _read(self) -> None:
        try:
            while data := await self._link.receive():
                self._client.receive(data)
        except OSError as fault:
            if self._on_error is not None:
                self._on_error(fault)
        finally:
            self._client.closed()


class StreamLink:
    """Streams of asyncio: TCP, TLS, Unix sockets, pipes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes, /) -> None:
        """Queues all of these bytes; does not wait."""
        if self._writer.is_closing():
            raise ConnectionError("the link is closed")
        self._writer.write(data)

    async def drain(self) -> None:
        """Waits until the queue is short again."""
        await self._writer.drain()

    async def receive(self) -> bytes:
        """The next bytes; ``b""`` when the other side closed."""
        try:
            return await self._reader.read(_CHUNK)
        except ConnectionError:
            return b""

    async def close(self) -> None:
        """Sends what is queued and closes the connection."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass


async def open_tcp(host: str, port: int, *, timeout: float = 5.0) -> StreamLink:
    """Connects to a server."""
    return StreamLink(*await asyncio.wait_for(asyncio.open_connection(host, port), timeout))


async def open_serial(path: str | os.PathLike[str], baud: int = 115200) -> StreamLink:
    """Opens a serial port or another terminal device, in raw mode, 8N1. Needs termios, so not for Windows."""
    loop = asyncio.get_running_loop()
    file = serial_descriptor(path, baud)
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    # A pipe of asyncio goes one way: each direction has a descriptor of its own.
    back = os.fdopen(os.dup(file), "wb", buffering=0)
    read_transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(file, "rb", buffering=0))
    write_transport, flow = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), back)
    writer = asyncio.StreamWriter(write_transport, flow, None, loop)
    return _SerialLink(reader, writer, read_transport)


class _SerialLink(StreamLink):
    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, read_transport: asyncio.ReadTransport
    ) -> None:
        super().__init__(reader, writer)
        self._read_transport = read_transport

    async def receive(self) -> bytes:
        try:
            return await super().receive()
        except OSError:
            return b""  # unplugged: EIO

    async def close(self) -> None:
        self._read_transport.close()
        await self.drain()
        self._writer.close()


class UdpLink(asyncio.DatagramProtocol):
    """A UDP socket: a frame per datagram. Made by ``open_udp``.

    Datagrams that nobody read yet are kept up to a number; then the oldest go, as they would in the system's own queue.
    """

    def __init__(self) -> None:
        self._transport: asyncio.DatagramTransport | None = None
        self._queue: deque[bytes] = deque(maxlen=_DATAGRAMS)
        self._arrived = asyncio.Event()
        self._closed = False
        self._connected = False
        self._last: Any = None

    @property
    def port(self) -> int:
        """The local port."""
        port: int = self._open().get_extra_info("sockname")[1]
        return port

    def send(self, data: bytes, /) -> None:
        """Sends a datagram."""
        if not self._connected and self._last is None:
            raise ConnectionError("no peer yet: give one, or receive a datagram first")
        self._open().sendto(data, None if self._connected else self._last)

    async def drain(self) -> None:
        """Returns at once: datagrams are sent or lost."""

    async def receive(self) -> bytes:
        """The next datagram that is not empty; ``b""`` when this socket was closed."""
        while not self._closed:
            while self._queue:
                if data := self._queue.popleft():
                    return data
            self._arrived.clear()
            await self._arrived.wait()
        return b""

    async def close(self) -> None:
        """Closes the socket."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """For asyncio."""
        # Not by isinstance: the class that loops use is derived from it since Python 3.12 only.
        self._transport = cast("asyncio.DatagramTransport", transport)
        self._connected = transport.get_extra_info("peername") is not None

    def datagram_received(self, data: bytes, addr: Any) -> None:
        """For asyncio."""
        self._last = addr
        self._queue.append(data)
        self._arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """For asyncio."""
        self._closed = True
        self._arrived.set()

    def _open(self) -> asyncio.DatagramTransport:
        if self._transport is None or self._closed:
            raise ConnectionError("the link is closed")
        return self._transport


async def open_udp(peer: tuple[str, int] | None = None, *, local: tuple[str, int] | None = None) -> UdpLink:
    """Opens a UDP socket. With a ``peer``, only its datagrams are read; without one, frames go to the sender of the last
    datagram.
    """
    loop = asyncio.get_running_loop()
    _, link = await loop.create_datagram_endpoint(
        UdpLink, local_addr=local or (None if peer else ("0.0.0.0", 0)), remote_addr=peer
    )
    return link
