"""A robot and an operator talk over a TCP socket; both run here, in two threads."""

from __future__ import annotations

import socket
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
    Mode,
    Telemetry,
    Vector3,
)
from generated.runtime import NETWORK, Client, Frame, UnknownVariant
from generated.runtime.transport import TcpTransport


def robot(listener: socket.socket) -> None:
    """Sends telemetry ten times a second and obeys orders."""
    connection, _ = listener.accept()
    client = Client(TcpTransport(connection), NETWORK, REGISTRY, system=1)
    state = Telemetry(mode=Mode.MANUAL, wheel_speed=[0.5, 0.5, 0.5, 0.5], ranges_mm=[1200, 800, 2500])

    def obey(command: Command, _: Frame) -> None:
        match command.order:
            case CommandOrderGoTo(go_to):
                state.mode, state.position = Mode.AUTOMATIC, go_to.target
                answer = Acknowledge(command.sequence, True, f"going at {go_to.speed:.2f} m/s")
            case CommandOrderHalt(halt):
                state.mode = Mode.EMERGENCY_STOP
                answer = Acknowledge(command.sequence, True, f"stopped: {halt.reason}", log=bytes(range(8)))
            case UnknownVariant(tag, _):
                answer = Acknowledge(command.sequence, False, f"unknown order {tag}")
            case None:
                answer = Acknowledge(command.sequence, False, "no order")
        client.send(answer)

    client.subscribe(Command, obey)
    begin = time.monotonic()
    try:
        with client:
            while not client.wait(0.1):
                state.time_us = int((time.monotonic() - begin) * 1e6)
                client.send(state)
    except OSError:
        pass  # the operator has gone


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=robot, args=(listener,), daemon=True).start()
    link = TcpTransport.connect(*listener.getsockname())

    def show(telemetry: Telemetry, frame: Frame) -> None:
        place = telemetry.position
        print(f"telemetry #{frame.header.sequence}: {telemetry.mode.name} at ({place.x}, {place.y}, {place.z})")

    orders: list[CommandOrder] = [
        CommandOrderGoTo(GoTo(Vector3(1.0, 2.0, 0.5), speed=0.75)),
        CommandOrderHalt(Halt("enough for today")),
    ]
    with Client(link, NETWORK, REGISTRY, system=2) as client:
        client.subscribe(Telemetry, show)
        for sequence, order in enumerate(orders, 1):
            time.sleep(0.3)
            command = Command(sequence, order)
            answer = client.request(command, Acknowledge, lambda answer: answer.sequence == command.sequence)
            print(f"command {sequence}: {'accepted' if answer.accepted else 'refused'}, {answer.note}")
        time.sleep(0.3)
        print(f"{client.counters.frames} frames, {client.counters.crc_failures} damaged")


if __name__ == "__main__":
    main()
