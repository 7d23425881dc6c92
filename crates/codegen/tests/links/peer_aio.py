"""One end of a link with asyncio: `peer_aio.py robot|operator tcp|udp|serial [PORT or PATH]`. Checked by `links.rs`."""

from __future__ import annotations

import asyncio
import sys
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
from generated.runtime import NETWORK, Frame
from generated.runtime.aio import AsyncClient, AsyncLink, StreamLink, open_serial, open_tcp, open_udp


async def serve(link: AsyncLink) -> None:
    ended = asyncio.Event()
    orders: asyncio.Queue[Command] = asyncio.Queue()
    async with AsyncClient(link, NETWORK, REGISTRY, system=1) as client:
        client.subscribe(Command, lambda command, _: orders.put_nowait(command))

        async def tell() -> None:
            while not ended.is_set():
                try:
                    await client.send(Telemetry(ranges_mm=[7] * 32))
                except ConnectionError:
                    pass  # over UDP nobody is there before the first command
                await asyncio.sleep(0.02)

        telling = asyncio.create_task(tell())
        while True:
            command = await orders.get()
            answer = Acknowledge(command.sequence, log=bytes(range(250)))
            if isinstance(command.order, CommandOrderGoTo):
                answer.accepted = command.order.value.target.x == 1.5 and command.order.value.speed == 0.75
                answer.note = "asyncio: go"
            elif isinstance(command.order, CommandOrderHalt):
                if command.order.value.reason == "hang up":
                    break
                answer.accepted, answer.note = True, f"asyncio: {command.order.value.reason}"
            await client.send(answer)
        ended.set()
        await telling


async def robot(kind: str, place: str) -> None:
    if kind == "tcp":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await serve(StreamLink(reader, writer))
            done.set_result(None)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        print("ready", server.sockets[0].getsockname()[1], flush=True)
        await done
        server.close()
    elif kind == "udp":
        link = await open_udp(local=("127.0.0.1", 0))
        print("ready", link.port, flush=True)
        await serve(link)
    else:
        port = await open_serial(place)
        print("ready", flush=True)
        await serve(port)


async def operator(kind: str, place: str) -> None:
    link: AsyncLink
    if kind == "tcp":
        link = await open_tcp("127.0.0.1", int(place))
    elif kind == "udp":
        link = await open_udp(("127.0.0.1", int(place)))
    else:
        link = await open_serial(place)
    seen = asyncio.Semaphore(0)

    def count(telemetry: Telemetry, _: Frame) -> None:
        assert len(telemetry.ranges_mm) == 32
        seen.release()

    async with AsyncClient(link, NETWORK, REGISTRY, system=2) as client:
        client.subscribe(Telemetry, count)
        words = []
        orders: list[CommandOrder] = [
            CommandOrderGoTo(GoTo(Vector3(1.5, 0.0, 0.0), 0.75)),
            CommandOrderHalt(Halt("grüße")),
        ]
        for sequence, order in enumerate(orders, 1):
            command = Command(sequence, order)
            answer = await client.request(command, Acknowledge, lambda answer: answer.sequence == command.sequence)
            assert answer.accepted and answer.log == bytes(range(250)), answer
            words.append(answer.note)
        for _ in range(3):
            await asyncio.wait_for(seen.acquire(), 5)
        assert client.counters.crc_failures == 0
        last = Command(3, CommandOrderHalt(Halt("hang up")))
        if kind == "tcp":
            begin = time.monotonic()
            try:
                await client.request(last, Acknowledge)
            except ConnectionError:
                assert time.monotonic() - begin < 4
                words.append("closed")
            await asyncio.wait_for(client.wait(), 1)
        else:
            await client.send(last)
        print(", ".join(words))


asyncio.run((robot if sys.argv[1] == "robot" else operator)(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""))
