"""Loads files with digests and signatures with the published packages, and computes the digests by the words of BT-10 alone."""

import hashlib
import json
import struct
import sys

import bintensors.numpy
import safetensors
import safetensors.numpy

plain, folder = sys.argv[1:]
expected = safetensors.numpy.load_file(plain)
names = {"float32": "F32", "int64": "I64", "uint8": "U8", "float16": "F16"}


def number(value):
    return struct.pack("<Q", value)


def digest(name, array):
    text, kind = name.encode(), names[str(array.dtype)].encode()
    head = b"bt.digest\0" + number(len(text)) + text + number(len(kind)) + kind
    head += number(array.ndim) + b"".join(number(dim) for dim in array.shape)
    return "sha256:" + hashlib.sha256(head + array.tobytes()).hexdigest()


def escaped(name):
    return "".join(f"%{ord(letter):02X}" if ord(letter) <= 0x20 or letter in "%\x7f" else letter for letter in name)


lines = ["bt.manifest 1"]
for name in sorted(expected, key=str.encode):
    array = expected[name]
    dims = ",".join(str(dim) for dim in array.shape)
    lines.append(f"{digest(name, array)} {names[str(array.dtype)]} [{dims}] {escaped(name)}")
manifest = "sha256:" + hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()


def same(found):
    assert found.keys() == expected.keys(), found.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape, name
        assert found[name].tobytes() == array.tobytes(), name


def kept(metadata):
    assert metadata["bt.manifest"] == manifest, (metadata["bt.manifest"], manifest)
    for name, array in expected.items():
        assert metadata["bt.digest/" + name] == digest(name, array), name


same(safetensors.numpy.load_file(f"{folder}/m.safetensors"))
with safetensors.safe_open(f"{folder}/m.safetensors", "numpy") as file:
    kept(file.metadata())
same(bintensors.numpy.load_file(f"{folder}/m.bt"))
with bintensors.safe_open(f"{folder}/m.bt", "numpy") as file:
    kept(file.metadata())
with open(f"{folder}/s.safetensors.index.json") as file:
    index = json.load(file)
kept(index["metadata"])
whole = {}
for shard in set(index["weight_map"].values()):
    part = safetensors.numpy.load_file(f"{folder}/{shard}")
    assert all(index["weight_map"][name] == shard for name in part)
    whole.update(part)
same(whole)
print(manifest)
