"""What links do when something is wrong. Says `done` when all is as it should be; run by `links.rs`."""

from __future__ import annotations

import asyncio
import os
import pty
import socket
import tempfile
import time
from collections.abc import Callable

from generated import REGISTRY
from generated.robot import Acknowledge, Command, Telemetry
from generated.runtime import NETWORK, Client, Frame, Link, write_message
from generated.runtime.aio import AsyncClient, StreamLink, open_tcp, open_udp
from generated.runtime.transport import SerialTransport, TcpTransport, UdpTransport


def refuses(fault: type[BaseException], call: Callable[[], object], words: str = "") -> None:
    try:
        call()
    except fault as found:
        assert words in str(found), found
    else:
        raise AssertionError(f"expected {fault.__name__}")


def pair() -> tuple[TcpTransport, socket.socket]:
    ours, theirs = socket.socketpair()
    return TcpTransport(ours, send_timeout=0.2), theirs


# Opening what is not there, or is something else.
refuses(ConnectionRefusedError, lambda: TcpTransport.connect("127.0.0.1", 1))
refuses(FileNotFoundError, lambda: SerialTransport("/dev/no-such-port"))
refuses(ValueError, lambda: SerialTransport("/dev/null", 12345), "12345 baud")
with tempfile.NamedTemporaryFile() as file:
    refuses(OSError, lambda: SerialTransport(file.name), "ioctl")

# A transport that can only send does not start.
class Mute:
    def send(self, data: bytes) -> None:
        pass


refuses(TypeError, lambda: Client(Mute(), NETWORK, REGISTRY).start(), "Mute")

# A peer that reads nothing does not hold a sender for ever.
link, theirs = pair()
begin = time.monotonic()
refuses(TimeoutError, lambda: link.send(bytes(1 << 24)), "were not sent in time")
assert time.monotonic() - begin < 5
link.close()
theirs.close()

# Datagrams: nobody to answer, nobody there, an empty one.
udp = UdpTransport(local=("127.0.0.1", 0))
refuses(ConnectionError, lambda: udp.send(b"x"), "no peer yet")
lonely = UdpTransport(("127.0.0.1", 1))
for _ in range(5):
    lonely.send(b"x")
    assert lonely.receive(0.01) == b""
other = UdpTransport(("127.0.0.1", udp.port))
other.send(b"")
other.send(b"y")
assert any(udp.receive(1.0) == b"y" for _ in range(3))
for one in (udp, lonely, other):
    one.close()

# A request fails when the link closes, also when it was closed before, and cannot wait inside a handler.
link, theirs = pair()
faults: list[Exception] = []
client = Client(link, NETWORK, REGISTRY, on_error=faults.append)
client.subscribe(Telemetry, lambda telemetry, frame: print(client.request(Command(), Acknowledge)))
with client:
    refuses(RuntimeError, client.start, "already")
    theirs.sendall(b"noise" + write_message(NETWORK, Telemetry()))
    waiting = client.start_request(Command(), Acknowledge)
    while not faults:
        time.sleep(0.01)
    theirs.close()
    refuses(ConnectionError, lambda: waiting.result(5))
    assert client.wait(5)
    refuses(ConnectionError, lambda: client.request(Command(), Acknowledge))
assert isinstance(faults[0], RuntimeError) and client.counters.noise_bytes == 5, faults

# A device that is unplugged ends the link.
master, device = pty.openpty()
port: Link = SerialTransport(os.ttyname(device))
os.close(device)
assert port.receive(0.01) == b""
os.close(master)
assert port.receive(1.0) is None
port.close()


async def main() -> None:
    udp = await open_udp(local=("127.0.0.1", 0))
    try:
        udp.send(b"x")
    except ConnectionError:
        pass
    else:
        raise AssertionError("nobody to answer")
    await udp.close()
    done = asyncio.Event()

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with AsyncClient(StreamLink(reader, writer), NETWORK, REGISTRY) as robot:
            came: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            def first(command: Command, frame: Frame) -> None:
                came.set_result(None)

            robot.subscribe(Command, first)
            await came
        done.set()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    link = await open_tcp(*server.sockets[0].getsockname())
    async with AsyncClient(link, NETWORK, REGISTRY) as client:
        for _ in range(2):
            try:
                await client.request(Command(), Acknowledge)
            except ConnectionError:
                pass
            else:
                raise AssertionError("the link is closed")
        await client.wait()
    await done.wait()
    server.close()
    writers: list[asyncio.StreamWriter] = []
    quiet = await asyncio.start_server(lambda reader, writer: writers.append(writer), "127.0.0.1", 0)
    link = await open_tcp(*quiet.sockets[0].getsockname())
    async with AsyncClient(link, NETWORK, REGISTRY) as client:
        try:
            await client.request(Command(), Acknowledge, timeout=0.05)
        except TimeoutError:
            pass
        else:
            raise AssertionError("nobody answers")
    quiet.close()
    for writer in writers:
        writer.close()
        await writer.wait_closed()


asyncio.run(main())
print("done")
