"""The program of the matrix: see conformance/src/matrix/program.rs for its command line."""

import struct
import sys

from cases import CASES, FRAMINGS
from generated import REGISTRY
from generated.runtime import (
    AccumulatingReader,
    BadChecksum,
    BufferReader,
    EncodeError,
    Frame,
    Header,
    StructFrameError,
    read_message,
    write_message,
)

REFUSED = 0xFFFFFFFF


def encode(path):
    with open(path, "wb") as out:
        for framing, header, message, _ in CASES:
            try:
                frame = write_message(framing, message, header)
            except EncodeError:
                out.write(struct.pack("<I", REFUSED))
            else:
                out.write(struct.pack("<I", len(frame)) + frame)


def records(data):
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        if size == REFUSED:
            yield None
        else:
            yield data[at : at + size]
            at += size


def in_chunks(framing, data, size):
    reader = AccumulatingReader(framing, REGISTRY)
    events = []
    for at in range(0, len(data), size):
        events += reader.read(data[at : at + size])
    return events + reader.finish(), reader.counters


def read_all(framing, data):
    """The events that every reader gives, which must be the same."""
    whole = BufferReader(framing, REGISTRY, data)
    events = list(whole)
    for size in (1, 7):
        others, counters = in_chunks(framing, data, size)
        if others != events:
            return f"chunks of {size} give {others}, the whole buffer {events}"
        if counters != whole.counters:
            return f"chunks of {size} count {counters}, the whole buffer {whole.counters}"
    return events


def check(case, data):
    framing, header, message, has_nan = case
    events = read_all(framing, data)
    if isinstance(events, str):
        return events
    if len(events) != 1 or not isinstance(events[0], Frame):
        return f"expected one frame, found {events}"
    frame = events[0]
    sequence = header.sequence if framing.has_sequence else 0
    system, component = (header.system, header.component) if framing.has_system else (0, 0)
    if frame.header != Header(sequence, system, component):
        return f"header {frame.header}"
    found = read_message(type(message), framing, frame)
    same = found == message
    if has_nan:
        same = found.encode() == message.encode()
    if not same:
        return f"read {found}, expected {message}"
    if write_message(framing, found, header) != data:
        return "written again, it has other bytes"
    return None


def decode(path):
    with open(path, "rb") as file:
        data = file.read()
    for case, frame in zip(CASES, records(data)):
        try:
            why = None if frame is None else check(case, frame)
        except StructFrameError as fault:
            why = f"{fault.code}: {fault}"
        print("ok" if why is None else "bad " + why.replace("\n", " ")[:500])


def hostile(path):
    with open(path, "rb") as file:
        data = file.read()
    at = frames = bad = accepted = total = 0
    while at < len(data):
        framing = FRAMINGS[data[at]]
        (size,) = struct.unpack_from("<I", data, at + 1)
        at += 5
        record = data[at : at + size]
        at += size
        events = read_all(framing, record)
        if isinstance(events, str):
            sys.exit(events)
        for event in events:
            if isinstance(event, BadChecksum):
                bad += 1
            if isinstance(event, Frame):
                frames += 1
                try:
                    message = REGISTRY.decode(framing, event)
                    if message is not None:
                        for byte in write_message(framing, message, event.header):
                            total = (total * 31 + byte) & 0xFFFFFFFF
                        accepted += 1
                except StructFrameError:
                    pass
    print("done", frames, bad, accepted, total)


{"encode": encode, "decode": decode, "hostile": hostile}[sys.argv[1]](sys.argv[2])
