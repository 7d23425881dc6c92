"""Loads changed checkpoints with the published packages, and compares them with what the changes should have made of `plain.safetensors`.

Digests are computed by the words of BT-10 alone.
"""

import hashlib
import struct
import sys

import bintensors
import numpy
import safetensors

folder = sys.argv[1]
NUMPY = {"F32": numpy.float32, "F16": numpy.float16, "I64": numpy.int64}


def read(name):
    """Names to (type, shape, bytes), and the metadata, as the package reads them."""
    package = bintensors if name.endswith(".bt") else safetensors
    with open(f"{folder}/{name}", "rb") as file:
        found = package.deserialize(file.read())
    with package.safe_open(f"{folder}/{name}", "numpy") as file:
        metadata, keys = file.metadata() or {}, file.keys()
    tensors = {name: (one["dtype"], tuple(one["shape"]), bytes(one["data"])) for name, one in found}
    assert sorted(keys) == sorted(tensors), (keys, tensors.keys())
    return tensors, metadata


def number(value):
    return struct.pack("<Q", value)


def digest(name, kind, shape, data):
    text, kind = name.encode(), kind.encode()
    head = b"bt.digest\0" + number(len(text)) + text + number(len(kind)) + kind
    head += number(len(shape)) + b"".join(number(dim) for dim in shape)
    return "sha256:" + hashlib.sha256(head + data).hexdigest()


def same(name, expected):
    for end in ("bt", "safetensors"):
        found, metadata = read(f"{name}.{end}")
        assert found.keys() == expected.keys(), (name, end, found.keys())
        for tensor, (kind, shape, data) in expected.items():
            assert found[tensor] == (kind, shape, data), (name, end, tensor, found[tensor][:2])
            assert metadata["bt.digest/" + tensor] == digest(tensor, kind, shape, data), (name, end, tensor)
        lines = ["bt.manifest 1"]
        for tensor in sorted(expected, key=str.encode):
            kind, shape, data = expected[tensor]
            lines.append(f"{digest(tensor, kind, shape, data)} {kind} [{','.join(map(str, shape))}] {tensor}")
        text = "\n".join(lines) + "\n"
        assert metadata["bt.manifest"] == "sha256:" + hashlib.sha256(text.encode()).hexdigest(), (name, end)
        assert metadata["author"] == "me"
        assert len(metadata) == len(expected) + 2, metadata.keys()


def array(tensor):
    kind, shape, data = tensor
    return numpy.frombuffer(data, NUMPY[kind]).reshape(shape)


def bf16(values):
    """The nearest of the upper halves, ties to even."""
    bits = values.astype(numpy.float32).view(numpy.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    upper = numpy.where(numpy.isnan(values), (bits >> 16) | 0x40, rounded >> 16)
    return upper.astype(numpy.uint16).tobytes()


def e4m3(values):
    """The nearest of all values, of two the even one; NaN beyond them."""
    codes = numpy.arange(128)
    exponents, fractions = codes >> 3, codes & 7
    grid = numpy.where(exponents == 0, fractions / 8 * 2.0**-6, (1 + fractions / 8) * 2.0 ** (exponents - 7.0))
    out = bytearray()
    for value in values.astype(numpy.float64).ravel():
        sign = 0x80 if numpy.signbit(value) else 0
        if not abs(value) <= 480:
            out.append(sign | 0x7F)
            continue
        distance = numpy.abs(grid - abs(value))
        nearest = numpy.flatnonzero(distance == distance.min())
        out.append(sign | int(nearest[0] if len(nearest) == 1 or nearest[0] % 2 == 0 else nearest[1]))
    return bytes(out)


plain, _ = read("plain.safetensors")
floats = [name for name, tensor in plain.items() if tensor[0] == "F32"]
same("plain_again", plain)
same("renamed", {name.replace("h.", "blk.").replace(".w", ".weight"): tensor for name, tensor in plain.items()})
same("subset", {name: tensor for name, tensor in plain.items() if not name.startswith("h.0.")})
kind, shape, data = plain["h.1.w"]
same("replaced", {**plain, "h.0.w": (kind, shape, data)})
same("adopted", {**plain, "h.0.w": plain["ids"]})
for name, kind, cast in [
    ("f16", "F16", lambda values: values.astype(numpy.float16).tobytes()),
    ("bf16", "BF16", bf16),
    ("f8_e4m3", "F8_E4M3", e4m3),
]:
    with numpy.errstate(over="ignore"):
        made = {one: (kind, plain[one][1], cast(array(plain[one]))) for one in floats}
    same(name, {**plain, **made})
same("set", plain)
same("merged", plain)
for end in ("bt", "safetensors"):
    with open(f"{folder}/aligned.{end}", "rb") as file:
        assert (8 + struct.unpack("<Q", file.read(8))[0]) % 4096 == 0
same("aligned", plain)
print("all equal")
