"""The sz3 codec against the reference package, both ways, on random inputs.

    pip install tensogram==0.24.0 numpy
    cargo build --release -p fw-codec --example sz3
    python crates/codec/tests/interop/sz3.py target/release/examples/sz3 [CASES] [SEED]

Our decode of its payloads must equal its own decode bit for bit; its decode of ours must equal ours and keep the bound.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tensogram

LENGTHS = [*range(1, 13), 15, 16, 17, 31, 32, 33, 34, 35, 63, 64, 65, 66, 67, 95, 96, 97, 127, 128, 129, 255, 256, 257,
           640, 641, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 4098, 4128, 4129, 8191, 8192, 8193,
           12289, 20000, 65535, 65536, 65537, 100003, 262145]


def data(rng, kind, n):
    t = np.arange(n)
    return [
        lambda: np.sin(t / rng.uniform(2, 500)) * 10 ** rng.uniform(-3, 4) + rng.uniform(-100, 100),
        lambda: np.sin(t / rng.uniform(3, 300)) * 10 + rng.standard_normal(n) * 10 ** rng.uniform(-6, 0),
        lambda: np.cumsum(rng.standard_normal(n)) * 10 ** rng.uniform(-2, 2),
        lambda: np.cumsum(np.cumsum(rng.standard_normal(n))),
        lambda: np.repeat(rng.integers(0, 4000, n), rng.integers(1, 12, n))[:n] / 8.0,
        lambda: rng.standard_normal(n) * 10 ** rng.uniform(-5, 5),
        lambda: t * rng.uniform(-3, 3) + 3,
        lambda: np.full(n, rng.standard_normal()),
        lambda: np.round(np.sin(t / 50) * 100),
        lambda: np.where(rng.random(n) < 0.02, rng.standard_normal(n) * 1e12, np.sin(t / 40)),
        lambda: rng.standard_normal(n) * 10 ** rng.uniform(-300, 300, n),
    ][kind % 11]()


def encode(values, mode, bound):
    descriptor = {"type": "ntensor", "dtype": "float64", "ndim": 1, "shape": [len(values)], "strides": [1],
                  "byte_order": "little", "encoding": "none", "filter": "none", "compression": "sz3",
                  "sz3_error_bound_mode": mode, "sz3_error_bound": bound}
    return tensogram.encode({}, [(descriptor, values)])


def decode(message):
    return tensogram.decode(message).objects[0][1]


def frames(message):
    """(type, bytes) of every frame."""
    at = 24
    while message[at:at + 2] == b"FR":
        kind, _, _, length = struct.unpack(">HHHQ", message[at + 2:at + 16])
        yield kind, message[at:at + length]
        at = (at + length + 7) // 8 * 8


def payload(message):
    frame = next(frame for kind, frame in frames(message) if kind == 9)
    return frame[16:struct.unpack(">Q", frame[-20:-12])[0]]


def with_payload(message, new):
    """The message with another payload, without index and hashes."""
    out = bytearray(message[:8] + struct.pack(">HHIQ", 3, 1, 0, 0))
    for kind, frame in frames(message):
        if kind == 1:
            out += struct.pack(">2sHHHQ", b"FR", 1, 1, 0, len(frame)) + frame[16:-12] + bytes(8) + b"ENDF"
        elif kind == 9:
            cbor = frame[struct.unpack(">Q", frame[-20:-12])[0]:-20]
            out += struct.pack(">2sHHHQ", b"FR", 9, 1, 1, 16 + len(new) + len(cbor) + 20) + new + cbor
            out += struct.pack(">Q", 16 + len(new)) + bytes(8) + b"ENDF"
        out += bytes(-len(out) % 8)
    total = len(out) + 24
    out[16:24] = struct.pack(">Q", total)
    return bytes(out) + struct.pack(">QQ", total - 24, total) + b"39277777"


def algorithm(stream):
    config = stream[16 + struct.unpack("<Q", stream[8:16])[0]:]
    return config[3 + (config[2] + 7) // 8 + 8]


def main(example, count=400, seed=1):
    rng = np.random.default_rng(int(seed))
    folder = Path(tempfile.mkdtemp())
    cases, lines = [], []
    for k in range(int(count)):
        n = LENGTHS[k % len(LENGTHS)] if k < 3 * len(LENGTHS) else int(rng.integers(1, 30000))
        values = np.ascontiguousarray(data(rng, k if k % 3 else int(rng.integers(11)), n), dtype="<f8")
        mode = ["abs", "abs", "rel", "psnr"][rng.integers(4)]
        bound = {"abs": float(10 ** rng.uniform(-8, 1)) if rng.random() > 0.05 else 0.0,
                 "rel": float(10 ** rng.uniform(-7, -0.5)), "psnr": float(rng.uniform(15, 140))}[mode]
        message = encode(values, mode, bound)
        values.tofile(folder / f"{k}.in")
        (folder / f"{k}.theirs").write_bytes(payload(message))
        lines += [f"encode {mode} {bound!r} {folder}/{k}.in {folder}/{k}.ours",
                  f"decode {n} {folder}/{k}.theirs {folder}/{k}.theirs.out",
                  f"decode {n} {folder}/{k}.ours {folder}/{k}.ours.out"]
        cases.append((n, mode, bound, message, values))
    (folder / "list").write_text("\n".join(lines) + "\n")
    subprocess.run([example, "run", folder / "list"], check=True)

    failures, sizes, pairs, larger = 0, [0, 0], {}, []
    for k, (n, mode, bound, message, values) in enumerate(cases):
        ours, theirs = (folder / f"{k}.ours").read_bytes(), payload(message)
        found = decode(with_payload(message, ours))
        spread = values.max() - values.min()
        allowed = {"abs": bound, "rel": bound * spread,
                   "psnr": spread * 10 ** (-(bound + 10 * np.log10(0.34)) / 20)}[mode]
        checks = ((folder / f"{k}.theirs.out").read_bytes() == decode(message).tobytes(),
                  (folder / f"{k}.ours.out").read_bytes() == found.tobytes(),
                  np.abs(found - values).max() <= allowed)
        if not all(checks):
            failures += 1
            print("FAILED", k, n, mode, bound, checks)
        pair = (algorithm(theirs), algorithm(ours))
        pairs[pair] = pairs.get(pair, 0) + 1
        sizes = [sizes[0] + len(ours), sizes[1] + len(theirs)]
        if len(ours) > 1.05 * len(theirs) + 8:
            larger.append((round(len(ours) / len(theirs), 3), n, mode, bound, len(ours), len(theirs)))
    print(f"{len(cases)} cases, {failures} failures; algorithms (theirs, ours): {pairs}")
    print(f"bytes: ours {sizes[0]}, theirs {sizes[1]}, ratio {sizes[0] / sizes[1]:.4f}; over 1.05: {sorted(larger)[::-1]}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
