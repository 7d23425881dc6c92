"""Makes files with NumPy, safetensors and Tensogram, and reads what we made of them, for interop.rs."""

import sys

import bintensors.numpy
import numpy
import safetensors.numpy
import tensogram

TYPES = ["bool", "uint8", "int8", "int16", "uint16", "float16", "int32", "uint32", "float32", "float64", "int64", "uint64"]


def arrays(number):
    random = numpy.random.default_rng(number)
    made = {}
    for place in range(int(random.integers(1, 7))):
        shape = tuple(int(n) for n in random.integers(0, 5, size=int(random.integers(0, 4))))
        array = numpy.asarray((random.standard_normal(shape) * 50).astype(TYPES[int(random.integers(0, len(TYPES)))]))
        made[f"t{place}.{'x' * int(random.integers(0, 9))}\u00e9"] = array
    return made


def layouts(number):
    """Every way NumPy may hold an array: by columns, big endian, complex."""
    random = numpy.random.default_rng(1000 + number)
    first = numpy.asfortranarray(random.standard_normal((3, 4, 2)).astype(">f8" if number % 2 else "<f4"))
    second = (random.standard_normal((2, 5)) + 1j * random.standard_normal((2, 5))).astype(">c16" if number % 3 else "<c8")
    return first, second


def no_tensors(number):
    """Arrays that no tensor format has."""
    words = numpy.array(["weight", "\u00e9", str(number)])
    records = numpy.array([(1, 2.5), (number, 0.0)], dtype=[("id", "<i4"), ("x", "<f8")])
    days = numpy.array(["2026-11-16"], dtype="datetime64[D]")
    return {"words": words, "things": numpy.array([{"a": number}, None], dtype=object), "records": records, "days": days}


def make(folder, count):
    for number in range(int(count)):
        made = arrays(number)
        numpy.savez(f"{folder}/{number}.npz", **made)
        numpy.savez_compressed(f"{folder}/{number}.deflated.npz", **made)
        numpy.savez(f"{folder}/{number}.mixed.npz", **no_tensors(number), **made)
        open(f"{folder}/{number}.tgm", "wb").write(messages(made)[1])
        metadata = {"format": "np"} if number % 2 else None
        safetensors.numpy.save_file(made, f"{folder}/{number}.safetensors", metadata)
        for place, array in enumerate(layouts(number)):
            numpy.save(f"{folder}/{number}.{place}.npy", array)


def messages(made):
    """One Tensogram message of these arrays; the format has no bool."""
    held = {name: array for name, array in made.items() if array.dtype != "bool"}
    describe = lambda array: {"type": "ntensor", "shape": list(array.shape), "dtype": str(array.dtype)}
    metadata = {"base": [{"name": name} for name in held], "_extra_": {"made": "by the reference"}}
    return held, tensogram.encode(metadata, [(describe(array), array.tobytes()) for array in held.values()])


def read_messages(path):
    """Arrays by name, with the types that travel as bytes put back."""
    data = open(path, "rb").read()
    assert not tensogram.validate(data, level="full")["issues"], path
    metadata, objects = tensogram.decode(data)
    found = {}
    for entry, (_, array) in zip(metadata.base, objects):
        carried = entry.get("fw.carried")
        found[entry["name"]] = array.view(carried["dtype"]).reshape(carried["shape"]) if carried else array
    return found


def same(expected, found, what):
    assert set(expected) == set(found), (what, set(expected), set(found))
    for name, array in expected.items():
        other = found[name]
        assert other.dtype == array.dtype.newbyteorder("="), (what, name, other.dtype, array.dtype)
        assert other.shape == array.shape, (what, name, other.shape, array.shape)
        assert other.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes(), (what, name)


def check(folder, count):
    for number in range(int(count)):
        made = arrays(number)
        for source in ["npz", "deflated.npz", "safetensors"]:
            same(made, bintensors.numpy.load_file(f"{folder}/{number}.{source}.ours.bt"), (number, source, "bt"))
        for source in ["npz", "safetensors"]:
            same(made, dict(numpy.load(f"{folder}/{number}.{source}.ours.npz")), (number, source, "npz"))
            same(made, safetensors.numpy.load_file(f"{folder}/{number}.{source}.ours.safetensors"), (number, source))
        for source in ["npz", "safetensors"]:
            same(made, read_messages(f"{folder}/{number}.{source}.ours.tgm"), (number, source, "tgm"))
        same(made, dict(numpy.load(f"{folder}/{number}.mixed.ours.npz")), (number, "mixed"))
        same(messages(made)[0], dict(numpy.load(f"{folder}/{number}.tgm.ours.npz")), (number, "tgm", "npz"))
        for place, array in enumerate(layouts(number)):
            ours = f"{folder}/{number}.{place}.ours.npy"
            same({"x": array}, {"x": numpy.load(ours)}, (number, place))
            plain = numpy.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
            numpy.save(f"{folder}/plain.npy", plain)
            assert open(ours, "rb").read() == open(f"{folder}/plain.npy", "rb").read(), (number, place)
    print("same")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
