"""The reference implementation as a black box: one JSON line per object on stdin, one answer per line on stdout.

In: descriptor, data (hex), options, ranges, ours (our message, hex), encode (whether the reference can encode this).
Out: its own message, what it decodes from it, and what it decodes from ours.
"""

import json
import sys

import tensogram


def read(message, ranges):
    """A message of one object: values in native and in wire order, and the ranges."""
    (_, native), = tensogram.decode(message, verify_hash=True).objects
    (_, wire), = tensogram.decode(message, native_byte_order=False).objects
    out = {"native": native.tobytes().hex(), "wire": wire.tobytes().hex(), "ranges": None}
    if ranges:
        try:
            parts = tensogram.decode_range(message, 0, [tuple(part) for part in ranges])
            out["ranges"] = [part.tobytes().hex() for part in parts]
        except Exception as error:
            out["ranges"] = f"{type(error).__name__}: {error}"
    return out


def answer(case):
    out = {"ours": read(bytes.fromhex(case["ours"]), case["ranges"])}
    if case["encode"]:
        pair = (case["descriptor"], bytes.fromhex(case["data"]))
        message = tensogram.encode({"base": [{}]}, [pair], **case["options"])
        out["message"] = message.hex()
        out["theirs"] = read(message, case["ranges"])
    return out


def warm_up():
    """A fresh process cannot decode a mask compressed with blosc2 until a payload went through it."""
    descriptor = {"type": "ntensor", "shape": [16], "dtype": "uint8", "byte_order": "little", "compression": "blosc2"}
    tensogram.decode(tensogram.encode({"base": [{}]}, [(descriptor, bytes(range(16)))]))


warm_up()
for line in sys.stdin:
    try:
        result = answer(json.loads(line))
    except Exception as error:  # whatever it is, the test wants to see it
        result = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), flush=True)
