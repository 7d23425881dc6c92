"""One end of a link: `peer.py robot|operator tcp|udp|serial|pyserial [PORT or PATH]`. What it says is checked by `links.rs`."""

from __future__ import annotations

import socket
import sys
import threading
import time

from generated import REGISTRY
from generated.robot import (
    Acknowledge,
    Command,
    CommandOrder,
    CommandOrderGoTo,
    CommandOrderHalt,
    GoTo,
    Halt,
    Telemetry,
    Vector3,
)
from generated.runtime import NETWORK, Client, Frame, Link
from generated.runtime.transport import PortTransport, SerialTransport, TcpTransport, UdpTransport


def open_port(path: str) -> Link:
    import serial

    return PortTransport(serial.Serial(path, 115200))


def robot(kind: str, place: str) -> None:
    link: Link
    if kind == "tcp":
        listener = socket.create_server(("127.0.0.1", 0))
        print("ready", listener.getsockname()[1], flush=True)
        with listener:
            link = TcpTransport(listener.accept()[0])
    elif kind == "udp":
        link = UdpTransport(local=("127.0.0.1", 0))
        print("ready", link.port, flush=True)
    else:
        link = open_port(place) if kind == "pyserial" else SerialTransport(place)
        print("ready", flush=True)
    client = Client(link, NETWORK, REGISTRY, system=1)
    ended = threading.Event()

    def obey(command: Command, _: Frame) -> None:
        answer = Acknowledge(command.sequence, log=bytes(range(250)))
        if isinstance(command.order, CommandOrderGoTo):
            answer.accepted = command.order.value.target.x == 1.5 and command.order.value.speed == 0.75
            answer.note = "python: go"
        elif isinstance(command.order, CommandOrderHalt):
            if command.order.value.reason == "hang up":
                return ended.set()
            answer.accepted, answer.note = True, f"python: {command.order.value.reason}"
        client.send(answer)

    client.subscribe(Command, obey)
    with client:
        while not ended.wait(0.02):
            try:
                client.send(Telemetry(ranges_mm=[7] * 32))
            except ConnectionError:
                pass  # over UDP nobody is there before the first command


def operator(kind: str, place: str) -> None:
    link: Link
    if kind == "tcp":
        link = TcpTransport.connect("127.0.0.1", int(place))
    elif kind == "udp":
        link = UdpTransport(("127.0.0.1", int(place)))
    else:
        link = open_port(place) if kind == "pyserial" else SerialTransport(place)
    seen = threading.Semaphore(0)
    with Client(link, NETWORK, REGISTRY, system=2) as client:
        client.subscribe(Telemetry, lambda telemetry, _: seen.release(len(telemetry.ranges_mm) // 32))
        words = []
        orders: list[CommandOrder] = [
            CommandOrderGoTo(GoTo(Vector3(1.5, 0.0, 0.0), 0.75)),
            CommandOrderHalt(Halt("grüße")),
        ]
        for sequence, order in enumerate(orders, 1):
            command = Command(sequence, order)
            answer = client.request(command, Acknowledge, lambda answer: answer.sequence == command.sequence)
            assert answer.accepted and answer.log == bytes(range(250)), answer
            words.append(answer.note)
        for _ in range(3):
            assert seen.acquire(timeout=5)
        assert client.counters.crc_failures == 0
        last = Command(3, CommandOrderHalt(Halt("hang up")))
        if kind == "tcp":
            begin = time.monotonic()
            try:
                client.request(last, Acknowledge)
            except ConnectionError:
                assert time.monotonic() - begin < 4
                words.append("closed")
            assert client.wait(1)
        else:
            client.send(last)
        print(", ".join(words))


if __name__ == "__main__":
    (robot if sys.argv[1] == "robot" else operator)(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
