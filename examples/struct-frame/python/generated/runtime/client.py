"""A client: messages in and out over any transport, subscriptions, and requests with answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from .errors import DecodeError
from .framing import Framing, Header
from .message import Message, write_message
from .reader import AccumulatingReader, Counters, Frame
from .registry import Registry

M = TypeVar("M", bound=Message)


class Transport(Protocol):
    """What a client sends through: a socket, a serial port, a pipe."""

    def send(self, data: bytes, /) -> object:
        """Sends all of these bytes."""
        ...


class Client:
    """Speaks one framing over a transport.

    Whoever receives bytes hands them to ``receive``, from any thread. Handlers are called there; an exception in one goes
    to ``on_error`` and stops nobody else.
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
        self._send_lock = threading.Lock()
        self._receive_lock = threading.RLock()

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
        future.add_done_callback(lambda _: unsubscribe())
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
        """Sends a message and waits for its answer, while another thread calls ``receive``.

        Raises ``TimeoutError`` when none comes in time.
        """
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
        """To be called when the transport closed: an incomplete frame is forgotten."""
        with self._receive_lock:
            self._reader.reset()

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
