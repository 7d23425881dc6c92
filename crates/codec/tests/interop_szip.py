#!/usr/bin/env python3
"""Records szip payloads of the reference package as a corpus that the Rust tests read.

    python interop_szip.py OUT_DIR [CASES] [SEED] [MAX_SAMPLES]

Needs `pip install tensogram==0.24.0 numpy`. Then check our codec against it, both ways, with

    FW_SZIP_CORPUS=OUT_DIR cargo test -p fw-codec --test szip

OUT_DIR gets `index.json` (parameters, offsets, digests of the decoded bytes) and `payloads.bin`.
"""
import json
import math
import pathlib
import struct
import sys

import numpy as np
import tensogram


def payload_of(message):
    """The payload region of the only data object in a message."""
    at = 24
    while True:
        kind, length = struct.unpack(">2xH4xQ", message[at : at + 16])
        if kind == 9:
            (end,) = struct.unpack(">Q", message[at + length - 20 : at + length - 12])
            return message[at + 16 : at + end]
        at = (at + length + 7) // 8 * 8


def encode(array, **keys):
    descriptor = {"type": "ntensor", "shape": list(array.shape), "dtype": str(array.dtype)} | keys
    return bytes(tensogram.encode({}, [(descriptor, array.tobytes())]))


def values(rng, count, bits):
    """Samples of one of several characters, as 64-bit integers of at most `bits` bits."""
    top = (1 << bits) - 1
    kind = rng.choice(["noise", "walk", "steep", "sparse", "constant", "zeros", "steps", "ends", "mixed", "small"])
    if kind == "noise":
        data = rng.integers(0, top, count, endpoint=True)
    elif kind in ("walk", "steep"):
        step = 3 if kind == "walk" else max(1, top >> 5)
        data = top // 2 + np.cumsum(rng.integers(-step, step, count, endpoint=True))
    elif kind == "sparse":
        hit = rng.integers(0, int(rng.choice([9, 40, 150])), count) == 0
        data = np.where(hit, rng.integers(0, top, count, endpoint=True), top // 3)
    elif kind == "constant":
        data = np.full(count, rng.integers(0, top, endpoint=True))
    elif kind == "zeros":
        data = np.zeros(count)
    elif kind == "steps":
        data = np.repeat(rng.integers(0, top, count // 200 + 1, endpoint=True), 200)[:count]
    elif kind == "ends":
        data = rng.choice([0, 1, top // 2, top // 2 + 1, max(top - 1, 0), top], count)
    elif kind == "small":
        data = rng.integers(0, int(rng.choice([1, 2, 3])), count, endpoint=True) + top // 2
    else:
        scale = np.repeat(rng.integers(0, bits, count // 50 + 1, endpoint=True), 50)[:count]
        data = rng.integers(0, top, count, endpoint=True) >> scale
    return np.clip(data.astype(np.int64), 0, top)


def length(rng, block, rsi, most):
    """None, one, a border of a block, segment or interval, or any other number of samples."""
    border = int(rng.choice([0, 1, block, block * rsi, block * min(rsi, 64), block * rsi * 2]))
    near = border + int(rng.integers(-1, 2))
    free = int(rng.integers(0, most))
    return min(most, max(0, near if rng.integers(0, 2) else free))


def case(rng, index, most):
    """One message, as (name, parameters, payload, decoded stage bytes, offsets)."""
    rsi = int(rng.choice([1, 2, 3, 8, 16, 64, 65, 128, 130, 4096]))
    block = int(rng.choice([8, 16, 32, 64]))
    flags = 8 if rng.integers(0, 5) else 0
    if rng.integers(0, 6) == 0:
        flags |= 64
        block = int(rng.choice([2, 4, 6, 10, 14, 22, 100, 256]))
    count = length(rng, block, rsi, most)
    if block > 64 and 0 < count < 4 * block:
        count = 4 * block  # the reference overruns its buffers when a wide block is mostly padding
    form = str(rng.choice(["plain", "plain", "packed", "packed", "odd", "shuffle"]))
    stage = {}
    if form == "plain":
        dtype = np.dtype(str(rng.choice(["uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32"])))
        bits = dtype.itemsize * 8
        flags |= int(rng.choice([0, 0, 1, 4, 5]))
        array = values(rng, count, bits).astype(f"u{dtype.itemsize}").view(dtype)
        if dtype.kind == "f":
            array = np.nan_to_num(array, nan=1.5, posinf=2.0, neginf=-3.0)
        effective = flags
    elif form == "shuffle":
        array = values(rng, count, 32).astype("uint32")
        bits, effective = 8, flags
        stage = {"filter": "shuffle", "shuffle_element_size": 4}
    else:
        if form == "packed":
            bits = int(rng.choice([8, 16, 24, 32]))
            flags |= int(rng.choice([0, 0, 0, 1]))
            numbers = values(rng, count, bits)
        else:
            # Any width up to 32: numbers whose packed bits, read as whole containers, are samples of that width.
            bits = int(rng.integers(1, 33))
            if bits <= 4 and rng.integers(0, 2):
                flags |= 16
            container = 8 * math.ceil(bits / 8)
            count -= count % (bits // math.gcd(bits, container))
            packed = 0
            for sample in values(rng, count, bits):
                packed = packed << container | int(sample)
            total, mask = count * container, (1 << bits) - 1
            numbers = [packed >> (total - bits * (i + 1)) & mask for i in range(total // bits)]
        array = np.array(numbers, dtype="float64")
        effective = flags | 4
        stage = {
            "encoding": "simple_packing",
            "sp_bits_per_value": bits,
            "sp_reference_value": 0.0,
            "sp_binary_scale_factor": 0,
            "sp_decimal_scale_factor": 0,
        }
    keys = {"compression": "szip", "szip_rsi": rsi, "szip_block_size": block, "szip_flags": flags}
    message = encode(array, **keys, **stage)
    decoded = payload_of(encode(array, **stage))
    offsets = tensogram.decode_descriptors(message)[1][0].params["szip_block_offsets"]
    parameters = {"rsi": rsi, "block_size": block, "flags": effective, "bits_per_sample": bits}
    return f"{index:04}-{form}-{array.dtype}", parameters, payload_of(message), decoded, offsets


def main():
    out = pathlib.Path(sys.argv[1])
    given = sys.argv[2:]
    cases, seed, most = (int(argument) for argument in given + ["240", "1", "1500"][len(given) :])
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    payloads, index = bytearray(), []
    for number in range(cases):
        name, parameters, payload, decoded, offsets = case(rng, number, most)
        index.append(
            {"id": name, **parameters, "offsets": offsets}
            | {"payload_start": len(payloads), "payload_len": len(payload)}
            | {"decoded_len": len(decoded), "decoded_xxh3": tensogram.compute_hash(decoded)}
        )
        payloads += payload
    (out / "payloads.bin").write_bytes(payloads)
    (out / "index.json").write_text("[\n" + ",\n".join(json.dumps(entry) for entry in index) + "\n]\n")
    print(f"{cases} cases, {len(payloads)} payload bytes")


if __name__ == "__main__":
    main()
