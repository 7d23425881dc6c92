"""Runs the published `bintensors` package as a black box on batches of files, for interop.rs.

A batch is a sequence of chunks: a little-endian 32-bit length, then the bytes.
"""

import hashlib
import json
import re
import struct
import sys

import bintensors

NAMES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
    "I16": "int16", "U16": "uint16", "F16": "float16", "BF16": "bfloat16", "I32": "int32", "U32": "uint32",
    "F32": "float32", "F64": "float64", "I64": "int64", "U64": "uint64",
}


def chunks(path):
    with open(path, "rb") as file:
        while head := file.read(4):
            (length,) = struct.unpack("<I", head)
            yield file.read(length)


def class_of(error):
    text = str(error)
    found = re.search(r"DecoderError\((\w+)", text) or re.search(r"deserializing[^:]*: ?(\w+)", text)
    return found.group(1) if found else "unrecognised: " + text


def summary(tensors):
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors, key=lambda item: item[0].encode()):
        digest.update(name.encode() + b"\0")
        digest.update(tensor["dtype"].encode() + b"\0")
        digest.update(repr(list(tensor["shape"])).encode() + b"\0")
        digest.update(hashlib.sha256(bytes(tensor["data"])).digest())
    return digest.hexdigest()


def verdicts(batch, answers):
    """One line per file: `ok <digest of the content>`, or the error class."""
    with open(answers, "w") as out:
        for data in chunks(batch):
            try:
                out.write("ok " + summary(bintensors.deserialize(data)) + "\n")
            except bintensors.BintensorError as error:
                out.write(class_of(error) + "\n")


def rewrite(batch, answers):
    """Reads each of our files and writes it again; one line: `same`, or what differs. Chunks alternate metadata, file."""
    parts = chunks(batch)
    with open(answers, "w") as out:
        for metadata, data in zip(parts, parts):
            tensors = {
                name: {"dtype": NAMES[tensor["dtype"]], "shape": tensor["shape"], "data": bytes(tensor["data"])}
                for name, tensor in bintensors.deserialize(data)
            }
            again = bintensors.serialize(tensors, json.loads(metadata))
            out.write("same\n" if again == data else f"differs: {again.hex()} {data.hex()}\n")


def numpy_files(folder, count):
    """Writes files with the numpy front end, and what they hold as JSON beside them."""
    import numpy

    from bintensors.numpy import save_file

    random = numpy.random.default_rng(7)
    types = ["bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32", "float64", "int64", "uint64"]
    for number in range(int(count)):
        arrays = {}
        for place in range(int(random.integers(0, 6))):
            shape = tuple(int(n) for n in random.integers(0, 5, size=int(random.integers(0, 4))))
            array = (random.standard_normal(shape) * 50).astype(types[int(random.integers(0, len(types)))])
            array = numpy.asarray(array)
            arrays[f"t{place}.\u00e9{'x' * int(random.integers(0, 300))}"] = array.T if place % 2 else array
        metadata = {"n": str(number)} if number % 3 else None
        save_file(arrays, f"{folder}/{number}.bt", metadata)
        described = {
            name: {"dtype": array.dtype.name, "shape": list(array.shape), "data": array.tobytes().hex()}
            for name, array in arrays.items()
        }
        with open(f"{folder}/{number}.json", "w") as file:
            json.dump({"tensors": described, "metadata": metadata}, file)


def numpy_load(folder, count):
    """Loads our files with the numpy and, where installed, the torch front end; one line each."""
    from bintensors.numpy import load_file

    try:
        from bintensors.torch import load_file as load_torch
    except ImportError:
        load_torch = None  # said in the answer
    for number in range(int(count)):
        with open(f"{folder}/{number}.json") as file:
            expected = json.load(file)
        loaded = load_file(f"{folder}/{number}.bt")
        assert set(loaded) == set(expected), (number, set(loaded), set(expected))
        for name, want in expected.items():
            array = loaded[name]
            assert array.dtype.name == want["dtype"], (number, name, array.dtype)
            assert list(array.shape) == want["shape"], (number, name, array.shape)
            assert array.tobytes().hex() == want["data"], (number, name)
        with bintensors.safe_open(f"{folder}/{number}.bt", "numpy") as file:
            assert list(file.keys()) == sorted(expected)
            assert file.metadata() == {"made": "here"}
        if load_torch is not None:
            for name, tensor in load_torch(f"{folder}/{number}.bt").items():
                want = expected[name]
                assert list(tensor.shape) == want["shape"]
                assert tensor.contiguous().view(-1).numpy().tobytes().hex() == want["data"]
    print("same" if load_torch is not None else "same, without torch")


if __name__ == "__main__":
    {"verdicts": verdicts, "rewrite": rewrite, "numpy_files": numpy_files, "numpy_load": numpy_load}[sys.argv[1]](*sys.argv[2:])
