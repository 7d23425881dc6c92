"""Reads payloads and writes them again: see mod.rs beside this file."""

import sys

from torture import REGISTRY
from torture.runtime import Layout, StructFrameError

for line in sys.stdin:
    id, layout, *rest = line.split()
    message = REGISTRY.message_class(int(id))
    try:
        print(message.decode(bytes.fromhex("".join(rest)), Layout(layout)).encode(Layout(layout)).hex())
    except StructFrameError as fault:
        print("error", fault.code)
