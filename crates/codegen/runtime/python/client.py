"""A client: messages in and out over any transport, subscriptions, and requests with answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Protocol, TypeVar, runtime_checkable

from .errors import DecodeError
from .framing import Framing, Header
from .message import Message, write_message
from .reader import AccumulatingReader, Counters, Frame
from .registry import Registry

M = TypeVar("M", bound=Message)
C = TypeVar("C", bound="Client")


class Transport(Protocol):
    """What a client sends through: a socket, a serial port, a pipe."""

    def send(self, data: bytes, /) -> object:
        """Sends all of these bytes."""
        ...


@runtime_checkable
class Link(Transport, Protocol):
    """A transport that can also be read: what ``Client.start`` and ``with client:`` need. The module ``transport`` has
    links over TCP, UDP and serial ports.
    """

    def receive(self, timeout: float, /) -> bytes | None:
        """Waits up to ``timeout`` seconds for bytes; ``b""`` when none came, ``None`` when the other side closed."""
        ...

    def close(self) -> object:
        """Closes the connection."""
        ...


# How long a reading thread waits before it looks whether it was told to stop, in seconds.
_PATIENCE = 0.1


class Client:
    """Speaks one framing over a transport.

    Over a ``Link``, ``with client:`` reads in a thread of its own until the block ends. Over any other transport, pass what
    arrives to ``receive``, from any thread. Handlers are called on the thread that reads, and must not wait for an answer
    there; an exception in one goes to ``on_error`` and does not stop the others.
    """

    def __init__(
        self,
        transport: Transport,
        framing: Framing,
        registry: Registry,
        *,
        system: int = 0,
        component: int = 0,
        capacity: int = 1 << 18,
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        self._transport = transport
        self._framing = framing
        self._registry = registry
        self._system = system
        self._component = component
        self._sequence = 0
        self._on_error = on_error
        self._reader = AccumulatingReader(framing, registry, capacity)
        self._handlers: dict[int, list[Callable[[Any, Frame], None]]] = {}
        self._pending: set[Future[Any]] = set()
        self._send_lock = threading.Lock()
        self._receive_lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._ended = False

    def __enter__(self: C) -> C:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Starts a thread that reads the transport until it closes, or until ``close``."""
        self._link()
        if self._thread is not None:
            raise RuntimeError("this client has been started already")
        self._thread = threading.Thread(target=self.run, name="struct-frame client", daemon=True)
        self._thread.start()

    def run(self) -> None:
        """Reads the transport on this thread until it closes, or until ``close`` on another one."""
        link = self._link()
        try:
            while not self._stop.is_set():
                data = link.receive(_PATIENCE)
                if data is None:
                    break
                self.receive(data)
        except OSError as fault:
            self._report(fault)
        finally:
            with self._receive_lock:
                self._ended = True
                self.closed()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the other side closes; false when it did not in time."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._ended

    def close(self) -> None:
        """Stops reading and closes the transport."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._link().close()

    def _link(self) -> Link:
        if not isinstance(self._transport, Link):
            raise TypeError(f"{type(self._transport).__name__} cannot be read: it has no receive and close")
        return self._transport

    @property
    def counters(self) -> Counters:
        """What the reader has counted."""
        return self._reader.counters

    def send(self, message: Message) -> None:
        """Sends a message; sequence numbers count up by themselves."""
        with self._send_lock:
            frame = write_message(self._framing, message, Header(self._sequence, self._system, self._component))
            self._transport.send(frame)
            self._sequence = (self._sequence + 1) & 0xFF

    def subscribe(self, message: type[M], handler: Callable[[M, Frame], None]) -> Callable[[], None]:
        """Calls ``handler`` with every message of this class; the function returned ends that."""
        if message.MSG_ID is None:
            raise ValueError(f"{message.__name__} has no message id")
        id = message.MSG_ID
        with self._receive_lock:
            self._handlers.setdefault(id, []).append(handler)

        def unsubscribe() -> None:
            with self._receive_lock:
                handlers = self._handlers.get(id, [])
                if handler in handlers:
                    handlers.remove(handler)

        return unsubscribe

    def start_request(
        self, message: Message, response: type[M], predicate: Callable[[M], bool] | None = None
    ) -> Future[M]:
        """Sends a message and returns its answer as a future: the next message of class ``response`` that ``predicate``
        accepts. ``asyncio.wrap_future`` makes it awaitable; cancelling it ends the waiting.
        """
        future: Future[M] = Future()

        def handler(answer: M, _: Frame) -> None:
            if (predicate is None or predicate(answer)) and not future.done():
                future.set_result(answer)

        unsubscribe = self.subscribe(response, handler)

        def end(_: Future[M]) -> None:
            unsubscribe()
            self._pending.discard(future)

        future.add_done_callback(end)
        with self._receive_lock:
            if self._ended:
                future.set_exception(ConnectionError("the link is closed"))
                return future
            self._pending.add(future)
        try:
            self.send(message)
        except BaseException:
            future.cancel()
            raise
        return future

    def request(
        self,
        message: Message,
        response: type[M],
        predicate: Callable[[M], bool] | None = None,
        timeout: float | None = 5.0,
    ) -> M:
        """Sends a message and waits for its answer, while another thread reads.

        Raises ``TimeoutError`` when none comes in time, and ``ConnectionError`` when the link closes first.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError("a handler cannot wait for an answer: use start_request there")
        future = self.start_request(message, response, predicate)
        try:
            return future.result(timeout)
        except BaseException as fault:
            future.cancel()
            # Before Python 3.11 futures have a timeout of their own.
            if type(fault).__name__ == "TimeoutError" and not isinstance(fault, TimeoutError):
                raise TimeoutError(str(fault)) from None
            raise

    def receive(self, data: bytes) -> None:
        """Takes what the transport received and calls the handlers of what it completed."""
        with self._receive_lock:
            for frame in self._reader.frames(data):
                self._dispatch(frame)

    def closed(self) -> None:
        """To be called when the transport closed: an incomplete frame is dropped and waiting requests fail."""
        with self._receive_lock:
            self._reader.reset()
            for future in list(self._pending):
                if not future.done():
                    future.set_exception(ConnectionError("the link closed before an answer came"))

    def _dispatch(self, frame: Frame) -> None:
        handlers = self._handlers.get(frame.id)
        if not handlers:
            return
        try:
            message = self._registry.decode(self._framing, frame)
        except DecodeError as fault:
            self._report(fault)
            return
        for handler in list(handlers):
            try:
                handler(message, frame)
            except Exception as fault:
                self._report(fault)

    def _report(self, fault: Exception) -> None:
        if self._on_error is not None:
            self._on_error(fault)
