"""Finding frames in bytes: the one state machine, and the two readers around it.

The *primary* search decides about one position after the other. When a complete frame fails there, it is reported, the
primary goes on behind it, and its inside is searched for good frames of known messages. A candidate in there that
reaches beyond the failed frame cannot be judged yet and nothing waits for it: its place stays ``open`` until the primary
next completes a frame, or the input ends. Every decision depends on bytes up to a position that the bytes themselves
determine; therefore every way of splitting the input gives the same events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Union

from .framing import Framing, Header, HeaderKind, MessageInfo, checksum

Lookup = Union[Mapping[int, MessageInfo], Callable[[int], "MessageInfo | None"]]
"""Knows messages by their effective id: a dictionary or a function."""

_UNBOUNDED = 1 << 62


@dataclass(slots=True)
class Frame:
    """A good frame."""

    id: int
    header: Header
    payload: bytes
    info: MessageInfo | None
    start: int
    end: int
    recovered: bool
    """True when it was found inside damaged bytes."""


@dataclass(slots=True)
class BadChecksum:
    """A complete frame whose checksum is wrong. Nothing in it can be relied upon."""

    id: int
    header: Header
    len: int
    start: int
    end: int
    expected: bytes
    found: bytes


@dataclass(slots=True)
class Skipped:
    """Bytes between frames."""

    start: int
    end: int


@dataclass(slots=True)
class Truncated:
    """A frame that was not complete when the input ended."""

    start: int
    end: int


Event = Union[Frame, BadChecksum, Skipped, Truncated]


@dataclass
class Counters:
    """What a reader has counted."""

    frames: int = 0
    recovered: int = 0
    unknown_ids: int = 0
    crc_failures: int = 0
    sync_recoveries: int = 0
    failed_bytes: int = 0
    noise_bytes: int = 0
    len_errors: int = 0
    seq_gaps: int = 0


class _Found:
    """A header that was read."""

    __slots__ = ("sequence", "system", "component", "len", "id", "info", "total")

    def __init__(
        self, sequence: int, system: int, component: int, len: int, id: int, info: MessageInfo | None, total: int
    ) -> None:
        self.sequence = sequence
        self.system = system
        self.component = component
        self.len = len
        self.id = id
        self.info = info
        self.total = total

    def header(self) -> Header:
        return Header(self.sequence, self.system, self.component)


# What stands at a position: (kind, number of bytes, header).
_NOISE, _FALSE_START, _SHORT, _CLAIMS, _WHOLE = range(5)
_Look = tuple[int, int, Union[_Found, None]]


class _Machine:
    def __init__(self, framing: Framing, lookup: Lookup, capacity: int) -> None:
        self.framing = framing
        self.lookup: Callable[[int], MessageInfo | None] = lookup.get if isinstance(lookup, Mapping) else lookup
        self.capacity = capacity
        self.counters = Counters()
        self.reset(0)

    def reset(self, at: int) -> None:
        self.pos = at  # where the primary search stands
        self.run = at  # where the bytes begin that belong to no event yet
        self.false_bytes = 0  # how many of them were counted as false starts
        self.open: tuple[int, int] | None = None
        self.rescan: tuple[int, int, int, bool] | None = None  # first start, end of starts, end, remember
        self.oversized_end = at  # where the last frame ends that the reader cannot hold
        self.need = at + 1  # nothing can be decided before the window reaches this position
        self.compared = -1  # the frame whose length has been compared with its message
        self.last_sequence: int | None = None

    def retain_from(self) -> int:
        return self.pos if self.open is None else min(self.open[0], self.pos)

    def step(self, window: bytes | bytearray, base: int, more: bool) -> Event | None:
        """The next event, or ``None`` when that takes more bytes than the window has."""
        size = len(window)
        while True:
            if self.rescan is not None:
                event = self._search(window, base)
                if event is not None:
                    return event
                self.rescan = None
            at = self.pos - base
            found: _Found | None
            if at >= size:
                kind, amount, found = _SHORT, 1, None
            elif self.capacity < self.framing.header_len:
                kind, amount, found = _NOISE, size - at, None
            else:
                kind, amount, found = self._examine(window, at, size)
            if kind == _NOISE:
                self.pos += amount
                continue
            if kind == _FALSE_START:
                self._false_start(2)
                continue
            if found is not None:
                if amount > self.capacity:
                    # A frame that the reader could never hold.
                    self.oversized_end = max(self.oversized_end, self.pos + amount)
                    self._false_start(1)
                    continue
                if found.info is None and self.pos < self.oversized_end:
                    # Inside such a frame zeros in its payload must not pass for a frame of an unknown message.
                    self._false_start(1)
                    continue
                self._compare_length(found)
            self._forget_far_candidates(amount)
            if kind == _WHOLE and found is not None:
                event = self._whole(window, base, found)
                if event is not None:
                    return event
                continue
            self.need = self.pos + amount
            event = self._wait(base + size, more)
            if event is not None or self.rescan is None:
                return event

    def _examine(self, data: bytes | bytearray, at: int, end: int) -> _Look:
        """Looks at one position; at least one byte is there."""
        framing = self.framing
        start = framing.start
        if start:
            first = start[0]
            if data[at] != first:
                there = data.find(first, at, end)
                return _NOISE, (end if there < 0 else there) - at, None
            if framing.header is HeaderKind.BASIC:
                if end - at < 2:
                    return _SHORT, 2, None
                second = data[at + 1]
                if second != start[1]:
                    return (_NOISE, 1, None) if second == first else (_FALSE_START, 2, None)
        if end - at < framing.header_len:
            return _SHORT, framing.header_len, None
        i = at + framing.start_len
        sequence = system = component = length = package = 0
        if framing.has_sequence:
            sequence = data[i]
            i += 1
        if framing.has_system:
            system = data[i]
            component = data[i + 1]
            i += 2
        if framing.len_bytes == 1:
            length = data[i]
            i += 1
        elif framing.len_bytes == 2:
            length = data[i] | data[i + 1] << 8
            i += 2
        if framing.has_package:
            package = data[i]
            i += 1
        id = package << 8 | data[i]
        info = self.lookup(id)
        if not framing.has_length:
            if info is None:
                return _NOISE, 1, None
            length = info.max_size
        total = framing.overhead + length
        found = _Found(sequence, system, component, length, id, info, total)
        return (_CLAIMS if end - at < total else _WHOLE), total, found

    def _verify(self, data: bytes | bytearray, at: int, found: _Found) -> tuple[bytes, bytes]:
        """The checksum computed and the one carried."""
        if not self.framing.has_length:
            return b"", b""
        end = at + found.total
        body = bytes(data[at + self.framing.start_len : end - 2])
        computed = checksum(body, self.framing.header_len - self.framing.start_len, found.info)
        return computed, bytes(data[end - 2 : end])

    def _whole(self, window: bytes | bytearray, base: int, found: _Found) -> Event | None:
        """Decides about a complete frame; ``None`` when something else must be looked at first."""
        start, end = self.pos, self.pos + found.total
        computed, carried = self._verify(window, start - base, found)
        if computed == carried:
            if self.open is not None:
                self.rescan = (*self.open, end, False)
                self.open = None
                return None
            event = self._skipped()
            if event is not None:
                return event
            self.pos = self.run = end
            return self._deliver(window, base, start, found, False)
        event = self._skipped()
        if event is not None:
            return event
        self.counters.crc_failures += 1
        self.counters.sync_recoveries += 1
        self.counters.failed_bytes += found.total
        self._fail(start, end, True)
        return BadChecksum(found.id, found.header(), found.len, start, end, computed, carried)

    def _wait(self, end: int, more: bool) -> Event | None:
        """More bytes are needed: at the end of the input, what is left over."""
        if more:
            return None
        event = self._skipped()
        if event is not None:
            return event
        if self.pos < end:
            start = self.pos
            self.counters.failed_bytes += end - start
            self._fail(start, end, False)
            return Truncated(start, end)
        if self.open is not None:
            self.rescan = (*self.open, end, False)
            self.open = None
        return None

    def _fail(self, start: int, end: int, remember: bool) -> None:
        """Goes on after failed bytes, after a search inside them."""
        first = start + 1 if self.open is None else self.open[0]
        self.open = None
        # Without a checksum nothing found inside failed bytes could be trusted.
        if self.framing.has_length:
            self.rescan = (first, end, end, remember)
        self.pos = self.run = end

    def _search(self, window: bytes | bytearray, base: int) -> Event | None:
        """The next good frame of a known message inside failed bytes."""
        assert self.rescan is not None
        at, starts_end, end, remember = self.rescan
        stop = min(end - base, len(window))
        while at < starts_end:
            kind, amount, found = self._examine(window, at - base, stop) if at - base < stop else (_SHORT, 1, None)
            advance = 1
            unresolved = False
            if kind == _NOISE:
                advance = amount
            elif kind == _SHORT:
                unresolved = amount <= self.capacity
            elif found is not None and found.info is not None and amount <= self.capacity:
                if kind == _CLAIMS:
                    unresolved = True
                else:
                    computed, carried = self._verify(window, at - base, found)
                    if computed == carried:
                        next = at + amount
                        self.rescan = (next, starts_end, end, remember)
                        # What began before it and reaches beyond would overlap it.
                        self.open = None
                        self.pos = max(self.pos, next)
                        if next > self.run:
                            self.run, self.false_bytes = next, 0
                        self.counters.recovered += 1
                        return self._deliver(window, base, at, found, True)
            if unresolved and remember and self.open is None:
                self.open = (at, starts_end)
            at += advance
        return None

    def _deliver(self, window: bytes | bytearray, base: int, at: int, found: _Found, recovered: bool) -> Frame:
        counters = self.counters
        counters.frames += 1
        if found.info is None:
            counters.unknown_ids += 1
        if self.framing.has_sequence:
            if self.last_sequence is not None and found.sequence != (self.last_sequence + 1) & 0xFF:
                counters.seq_gaps += 1
            self.last_sequence = found.sequence
        begin, end = at - base + self.framing.header_len, at - base + found.total - self.framing.trailer_len
        payload = bytes(window[begin:end])
        return Frame(found.id, found.header(), payload, found.info, at, at + found.total, recovered)

    def _compare_length(self, found: _Found) -> None:
        if self.framing.has_length and self.compared != self.pos:
            self.compared = self.pos
            if found.info is not None and not found.info.min_size <= found.len <= found.info.max_size:
                self.counters.len_errors += 1

    def _forget_far_candidates(self, total: int) -> None:
        """Keeps no more than the reader can hold together with the frame at ``pos``."""
        if self.open is not None:
            first = self.pos + max(total, self.framing.header_len) - self.capacity
            start = max(self.open[0], first)
            self.open = (start, self.open[1]) if start < self.open[1] else None

    def _false_start(self, size: int) -> None:
        self.counters.sync_recoveries += 1
        self.counters.failed_bytes += size
        self.false_bytes += size
        self.pos += size

    def _skipped(self) -> Event | None:
        """The bytes since the last event, if any."""
        if self.run == self.pos:
            return None
        event = Skipped(self.run, self.pos)
        self.counters.noise_bytes += max(self.pos - self.run - self.false_bytes, 0)
        self.run, self.false_bytes = self.pos, 0
        return event


class BufferReader:
    """Reads a whole buffer: iterate over it for all events, or over ``frames()`` for the good ones only."""

    def __init__(self, framing: Framing, lookup: Lookup, data: bytes | bytearray | memoryview) -> None:
        self.framing = framing
        self._data = bytes(data)
        self._machine = _Machine(framing, lookup, _UNBOUNDED)

    @property
    def counters(self) -> Counters:
        """What was counted."""
        return self._machine.counters

    @property
    def partial_len(self) -> int:
        """Bytes of the incomplete frame that is left, after ``try_next`` returned ``None``."""
        return max(len(self._data) - self._machine.pos, 0)

    def try_next(self) -> Event | None:
        """The next event, or ``None`` when only an incomplete frame, noise or nothing is left."""
        return self._machine.step(self._data, 0, True)

    def __iter__(self) -> Iterator[Event]:
        while (event := self._machine.step(self._data, 0, False)) is not None:
            yield event

    def frames(self) -> Iterator[Frame]:
        """The good frames."""
        return (event for event in self if isinstance(event, Frame))


class AccumulatingReader:
    """Reads chunks of any size, down to one byte, and holds at most ``capacity`` bytes between them.

    A frame longer than ``capacity`` is passed over as if its start bytes were noise. To find every good frame behind a
    damaged length, there should be room for two frames of the longest kind.
    """

    def __init__(self, framing: Framing, lookup: Lookup, capacity: int = 1 << 18) -> None:
        self.framing = framing
        self._machine = _Machine(framing, lookup, capacity)
        self._held = bytearray()
        self._base = 0

    @property
    def counters(self) -> Counters:
        """What was counted."""
        return self._machine.counters

    @property
    def partial_len(self) -> int:
        """Bytes of the incomplete frame that is waited for."""
        return max(self._base + len(self._held) - self._machine.pos, 0)

    def read(self, chunk: bytes | bytearray | memoryview) -> list[Event]:
        """Reads a chunk and returns what it completed."""
        held = self._held
        held += chunk
        events: list[Event] = []
        if self._base + len(held) < self._machine.need:
            return events
        while (event := self._machine.step(held, self._base, True)) is not None:
            events.append(event)
        done = min(self._machine.retain_from() - self._base, len(held))
        del held[:done]
        self._base += done
        return events

    def frames(self, chunk: bytes | bytearray | memoryview) -> list[Frame]:
        """Reads a chunk and returns the good frames that it completed."""
        return [event for event in self.read(chunk) if isinstance(event, Frame)]

    def finish(self) -> list[Event]:
        """Ends the stream: what is left over, also good frames inside an incomplete one."""
        events: list[Event] = []
        while (event := self._machine.step(self._held, self._base, False)) is not None:
            events.append(event)
        self.reset()
        return events

    def reset(self) -> None:
        """Forgets an incomplete frame and the last sequence number."""
        self._base += len(self._held)
        self._held.clear()
        self._machine.reset(self._base)

    def reset_counters(self) -> None:
        """Sets all counters to zero."""
        self._machine.counters = Counters()
