"""Every name of the package ``bintensors``, called on both with the same inputs."""

import hashlib
import importlib
import inspect
import itertools
import json
import os
import pathlib
import tempfile
import types
import zlib

import ml_dtypes
import numpy as np
import pytest
from beside import Raised, assert_same, call

MODULES = ["", "numpy", "torch", "flax", "mlx"]


def side(package):
    """The modules of a package, as far as their frameworks are installed."""
    found = types.SimpleNamespace()
    for name in MODULES:
        try:
            module = importlib.import_module(f"{package}.{name}" if name else package)
        except ImportError:
            module = None
        setattr(found, name or "root", module)
    return found


THEIRS, OURS = side("bintensors"), side("fwright.bintensors")
MISSING = [name for name in MODULES[1:] if getattr(THEIRS, name) is None]


@pytest.mark.parametrize("name", MODULES[1:])
def test_frameworks(name):
    if name in MISSING:
        pytest.skip(f"{name} is not installed: fwright.bintensors.{name} is not compared with the reference")
    assert getattr(OURS, name) is not None


def offered():
    """Every name that the reference offers, by introspection."""
    for name in MODULES:
        module = getattr(THEIRS, name or "root")
        if module is None:
            continue
        listed = getattr(module, "__all__", None)
        for member, value in vars(module).items():
            if member.startswith("_") and member != "__version__" or inspect.ismodule(value):
                continue
            if listed is None and name and getattr(value, "__module__", None) != module.__name__:
                continue
            if listed is None or member in listed:
                yield f"{name}.{member}" if name else member
    with tempfile.TemporaryDirectory() as folder:
        classes = {"safe_open": THEIRS.root.safe_open, "slice": type(opened(THEIRS, pathlib.Path(folder)).get_slice("a"))}
    for name, value in classes.items():
        # What every class has says nothing about this one.
        yield from (f"{name}.{member}" for member in vars(value) if member not in vars(object) and member != "__module__")


A = np.arange(24, dtype="f4").reshape(2, 3, 4)
KEYS = [
    slice(None), 0, 1, -1, 2, -3, slice(0, 1), slice(1, None), slice(1, 1), (), (0, 0), (0, slice(1, 2)), (0, 0, 0),
    (slice(None), slice(0, 2), 3), "x", 1.5, slice(0, "x"), 2**70, np.int64(1),
]  # fmt: skip
# Where the reference gives wrong elements, or refuses what NumPy takes: see the table of docs/python.md.
BETTER_KEYS = [
    slice(None, None, 2), slice(None, None, -1), (slice(None), slice(None, None, 2)), slice(-1, None), slice(0, 5), slice(2, 1),
    (..., 0), ..., None, [0], [0, 1], (slice(None), [0, 2]), np.array([0, 1]), slice(0, 2**70), (0, slice(2, 0, -1), slice(-3, -1)),
]  # fmt: skip

DTYPES = ["bool", "u1", "i1", "i2", "u2", "f2", "i4", "u4", "f4", "f8", "i8", "u8", ml_dtypes.bfloat16]
SHAPES = [(), (0,), (1,), (7,), (2, 3), (0, 4), (2, 1, 3)]
ONE = {"dtype": "float32", "shape": [2], "data": b"abcdefgh"}


def trees(side):
    rng = np.random.default_rng(5)
    for number, (dtype, shape) in enumerate(itertools.product(DTYPES, SHAPES)):
        bits = rng.integers(0, 2 if dtype == "bool" else 255, size=(*shape, np.dtype(dtype).itemsize), dtype="u1")
        yield number, {f"t{number}": bits.view(dtype).reshape(shape), "other": A}


def described(**changes):
    return {"a": {**ONE, **changes}}


def without(key):
    return {"a": {name: value for name, value in ONE.items() if name != key}}


def raw(folder, data):
    path = folder / "raw.bt"
    path.write_bytes(data)
    return path


def file_of(side, folder, metadata=None):
    path = folder / "file.bt"
    side.numpy.save_file({"a": A, "b": np.arange(3), "c": np.zeros((0, 2), "u1")}, path, metadata)
    return path


def opened(side, folder, framework="np", **keywords):
    return side.root.safe_open(file_of(side, folder, {"k": "v", "a": ""}), framework, **keywords)


def closed(side, folder):
    with opened(side, folder) as file:
        return file


def read_back(path):
    return pathlib.Path(path).read_bytes()


def root_cases():
    serialize = [
        described(), described(shape=(2,)), described(shape=np.array([2])), described(dtype="float64", shape=[]),
        described(dtype="uint8", shape=[2, 4]), described(shape=[3]), described(dtype="complex64"), described(dtype=5), without("dtype"),
        without("shape"), without("data"), described(shape=[-1]), described(shape=[2**64]), described(shape="ab"), described(shape=[2.0]),
        described(shape=2), described(data=[0] * 8), described(data="abcdefgh"), {}, 5, [], {"a": 5}, {5: ONE}, {"\ud800": ONE},
        {"b": ONE, "a": {**ONE, "more": 1}, "\u00e9": {**ONE, "dtype": "int64", "shape": [1]}},
        described(shape=[2**40, 2**40, 0], data=b""), described(shape=[0, 2**40, 2**40], data=b""),
    ]  # fmt: skip
    metadata = [None, {}, {"k": "v", "a": "\u00e9"}, {"a": 5}, {5: "a"}, 5, []]
    for number, tensors in enumerate(serialize):
        yield f"serialize {number}", lambda s, f, t=tensors: s.root.serialize(t)
        yield f"serialize_file {number}", lambda s, f, t=tensors: (s.root.serialize_file(f / "x.bt", t), read_back(f / "x.bt"))
    for number, map_ in enumerate(metadata):
        yield f"serialize metadata {number}", lambda s, f, m=map_: s.root.serialize(described(), m)
        yield f"serialize_file metadata {number}", lambda s, f, m=map_: s.root.serialize_file(str(f / "x.bt"), described(), m)
    yield "serialize keywords", lambda s, f: s.root.serialize(tensor_dict=described(), metadata={"a": "b"})
    yield "serialize_file keywords", lambda s, f: s.root.serialize_file(tensor_dict=described(), filename=f / "x.bt", metadata=None)
    yield "serialize_file swapped", lambda s, f: s.root.serialize_file(described(), f / "x.bt")
    yield "serialize_file no directory", lambda s, f: s.root.serialize_file(f / "no/x.bt", described())
    yield "serialize_file a directory", lambda s, f: s.root.serialize_file(f, described())
    yield "serialize nothing", lambda s, f: s.root.serialize()
    good = THEIRS.root.serialize({"b": ONE, "a": {**ONE, "dtype": "int64", "shape": [1]}}, {"k": "v"})
    for number, data in enumerate([good, b"", b"x", good[:-1], good + b"x", b"\xff" * 8, (50).to_bytes(8, "little") + b"x", "x", 5, [1]]):
        # The reference lists tensors in an order that changes from run to run.
        yield f"deserialize {number}", lambda s, f, d=data: sorted(s.root.deserialize(d), key=lambda item: item[0])
        yield f"numpy.load {number}", lambda s, f, d=data: s.numpy.load(d)
        if isinstance(data, bytes):
            yield f"safe_open content {number}", lambda s, f, d=data: s.root.safe_open(raw(f, d), "np").keys()
            yield f"numpy.load_file content {number}", lambda s, f, d=data: s.numpy.load_file(raw(f, d))
    for at in range(8, 40):
        broken = bytearray(good)
        broken[at] ^= 0x11
        yield f"deserialize broken {at}", lambda s, f, d=bytes(broken): sorted(s.root.deserialize(d), key=lambda item: item[0])
    yield "deserialize keyword", lambda s, f: sorted(s.root.deserialize(bytes=good))
    yield "__version__", lambda s, f: type(s.root.__version__)
    yield "BintensorError", lambda s, f: (s.root.BintensorError("x", 1).args, issubclass(s.root.BintensorError, ValueError))


def open_cases():
    # Without PyTorch the reference opens nothing for it; ours opens the file and needs PyTorch for the first tensor.
    torch = [] if "torch" in MISSING else ["pt", "torch", "pytorch"]
    for word in ["np", "numpy", *torch, "jax", "flax", "mlx", "tf", "tensorflow", "NumPy", "x", "", 5, None]:
        yield f"safe_open framework {word}", lambda s, f, w=word: opened(s, f, w).keys()
    for device in ["cpu", None, "cuda", "cuda:0", "cuda:x", "mps", "mps:0", "cpu:0", 0, -1, "x", 1.5, True, "xla:1", "npu", "hpu:3", "", "CPU"]:
        yield f"safe_open device {device!r}", lambda s, f, d=device: opened(s, f, device=d).keys()
        if torch:
            yield f"safe_open torch device {device!r}", lambda s, f, d=device: opened(s, f, "pt", device=d).keys()
    yield "safe_open missing", lambda s, f: s.root.safe_open(f / "nope.bt", "np")
    yield "safe_open empty name", lambda s, f: s.root.safe_open("", "np")
    yield "safe_open number", lambda s, f: s.root.safe_open(5, "np")
    yield "safe_open directory", lambda s, f: s.root.safe_open(f, "np")
    yield "safe_open one argument", lambda s, f: s.root.safe_open(file_of(s, f))
    yield "safe_open keywords", lambda s, f: s.root.safe_open(filename=file_of(s, f), framework="np", device="cpu").keys()
    yield "safe_open.keys", lambda s, f: opened(s, f).keys()
    yield "safe_open.keys argument", lambda s, f: opened(s, f).keys(1)
    yield "safe_open.offset_keys", lambda s, f: opened(s, f).offset_keys()
    yield "safe_open.metadata", lambda s, f: opened(s, f).metadata()
    yield "safe_open.metadata none", lambda s, f: s.root.safe_open(file_of(s, f), "np").metadata()
    yield "safe_open.metadata empty", lambda s, f: s.root.safe_open(file_of(s, f, {}), "np").metadata()
    for name in ["a", "b", "c", "x", "", 5, None]:
        yield f"safe_open.get_tensor {name}", lambda s, f, n=name: opened(s, f).get_tensor(n)
        yield f"safe_open.get_slice {name}", lambda s, f, n=name: opened(s, f).get_slice(n).get_shape()
    yield "safe_open.get_tensor keyword", lambda s, f: opened(s, f).get_tensor(name="a")
    yield "safe_open.__enter__", lambda s, f: [(file.__enter__() is file) for file in [opened(s, f)]]
    yield "safe_open.__exit__", lambda s, f: opened(s, f).__exit__(None, None, None)
    yield "safe_open.__exit__ nothing", lambda s, f: opened(s, f).__exit__()
    for method in ["keys", "offset_keys", "metadata"]:
        yield f"safe_open.{method} closed", lambda s, f, m=method: getattr(closed(s, f), m)()
    yield "safe_open.get_tensor closed", lambda s, f: closed(s, f).get_tensor("a")
    yield "safe_open.get_slice closed", lambda s, f: closed(s, f).get_slice("a")
    yield "slice outlives", lambda s, f: [part[0, 0] for file in [opened(s, f)] for part in [file.get_slice("a")] for _ in [file.__exit__(None, None, None)]]
    yield "slice.get_shape", lambda s, f: opened(s, f).get_slice("c").get_shape()
    yield "slice.get_dtype", lambda s, f: [opened(s, f).get_slice(name).get_dtype() for name in "abc"]
    yield "slice made by hand", lambda s, f: type(opened(s, f).get_slice("a"))()
    for key in [*KEYS, *BETTER_KEYS]:
        yield f"slice.__getitem__ {key!r}", lambda s, f, k=key: opened(s, f).get_slice("a")[k]


def numpy_cases():
    for number, tree in trees(None):
        yield f"numpy.save tree {number}", lambda s, f, t=tree: s.numpy.save(t)
        yield f"numpy.load_file tree {number}", lambda s, f, t=tree: (s.numpy.save_file(t, f / "t.bt"), s.numpy.load_file(f / "t.bt"))[1]
        yield f"numpy.load tree {number}", lambda s, f, t=tree: s.numpy.load(s.numpy.save(t, {"k": "v"}))
    arrays = [
        A.T, A[::2, ::-1], np.asfortranarray(A), A.astype(">f4"), np.float32(1.5), np.array(2), np.zeros(2, "c8"), np.array(["x"]),
        np.array([object()]), np.array(["2020"], "M8[s]"), np.zeros(2, "f4,i4"), 5, [1, 2], None, np.zeros(2, ml_dtypes.float8_e4m3fn),
    ]  # fmt: skip
    for number, array in enumerate(arrays):
        yield f"numpy.save array {number}", lambda s, f, a=array: s.numpy.save({"a": a})
        yield f"numpy.save_file array {number}", lambda s, f, a=array: (s.numpy.save_file({"a": a}, f / "a.bt"), read_back(f / "a.bt"))
    for number, tensors in enumerate([5, [("a", A)], {5: A}, {}, None]):
        yield f"numpy.save tensors {number}", lambda s, f, t=tensors: s.numpy.save(t)
    yield "numpy.save keywords", lambda s, f: s.numpy.save(tensor_dict={"a": A}, metadata={"k": "v"})
    yield "numpy.save metadata", lambda s, f: s.numpy.save({"a": A}, {"k": 5})
    yield "numpy.save_file keywords", lambda s, f: s.numpy.save_file(filename=f / "k.bt", tensor_dict={"a": A}, metadata=None)
    yield "numpy.save_file no directory", lambda s, f: s.numpy.save_file({"a": A}, f / "no/k.bt")
    yield "numpy.load_file missing", lambda s, f: s.numpy.load_file(f / "nope.bt")
    yield "numpy.load_file text", lambda s, f: s.numpy.load_file(filename=str(file_of(s, f)))
    for hasher in [hashlib.sha1, hashlib.sha256, hashlib.sha3_256, hashlib.shake_128, zlib.crc32, 5]:
        yield f"numpy.save_with_checksum {hasher}", lambda s, f, h=hasher: s.numpy.save_with_checksum({"a": A}, None, h)
    yield "numpy.save_with_checksum", lambda s, f: s.numpy.save_with_checksum(tensor_dict={"a": A}, metadata={"k": "v"})
    yield "numpy.load bfloat16", lambda s, f: s.numpy.load(s.numpy.save({"a": np.ones(2, ml_dtypes.bfloat16)}))
    yield "numpy.load_file float8", lambda s, f: (s.numpy.save_file({"a": np.ones(2, ml_dtypes.float8_e5m2)}, f / "8.bt"), s.numpy.load_file(f / "8.bt"))[1]
    yield "numpy.save masked", lambda s, f: s.numpy.save({"a": np.ma.array([1, 2], mask=[0, 1])})
    for name, data in {"bytearray": bytearray, "memoryview": memoryview, "array": lambda d: np.frombuffer(d, "u1")}.items():
        yield f"numpy.load {name}", lambda s, f, d=data: s.numpy.load(d(s.numpy.save({"a": A})))
        yield f"deserialize {name}", lambda s, f, d=data: s.root.deserialize(d(s.numpy.save({"a": A})))
        yield f"serialize {name}", lambda s, f, d=data: s.root.serialize(described(data=d(b"abcdefgh")))
    yield "serialize F32", lambda s, f: s.root.serialize(described(dtype="F32"))
    yield "safe_open bytes", lambda s, f: s.root.safe_open(os.fsencode(file_of(s, f)), "np").keys()
    yield "serialize_file bytes", lambda s, f: s.root.serialize_file(os.fsencode(f / "b.bt"), described())


def torch_cases():
    if "torch" in MISSING:
        return
    import torch

    x = torch.arange(6.0).reshape(2, 3)
    tensors = [
        {"a": x}, {"a": x, "b": torch.ones(2, dtype=torch.bfloat16)}, {"a": x[0], "b": x[1]}, {"a": torch.zeros(0, 3)}, {"a": torch.tensor(1)},
        {"a": torch.zeros(0), "b": torch.zeros(0)}, {"a": torch.nn.Parameter(x)}, {"a": torch.zeros(2, dtype=torch.float8_e4m3fn)},
        {"a": 5}, [x], {"a": x.T}, {"a": x.to_sparse()}, {"a": x, "b": x}, {"a": x, "b": x[0]}, {"a": torch.empty(2, device="meta")},
        {"a": torch.zeros(2, dtype=torch.complex64)}, {5: x}, {"a": A}, {"a": torch.zeros(2, dtype=torch.float8_e4m3fnuz)}, {},
        {"a": torch.zeros(2, dtype=torch.uint16)}, {"a": torch.zeros(2, dtype=torch.uint32)}, {"a": torch.zeros(2, dtype=torch.uint64)},
    ]  # fmt: skip
    for number, dict_ in enumerate(tensors):
        yield f"torch.save {number}", lambda s, f, t=dict_: s.torch.save(t)
        yield f"torch.save_file {number}", lambda s, f, t=dict_: (s.torch.save_file(t, f / "t.bt"), read_back(f / "t.bt"))
        yield f"torch.load {number}", lambda s, f, t=dict_: plain(s.torch.load(THEIRS.torch.save(t)))
        yield f"torch.load_file {number}", lambda s, f, t=dict_: (THEIRS.torch.save_file(t, f / "t.bt"), plain(s.torch.load_file(f / "t.bt")))
    yield "torch.load uint16", lambda s, f: plain(s.torch.load(s.numpy.save({"a": np.arange(3, dtype="u2")})))
    yield "torch.load_file uint16", lambda s, f: (s.numpy.save_file({"a": np.arange(3, dtype="u2")}, f / "u.bt"), plain(s.torch.load_file(f / "u.bt")))
    yield "torch.save metadata", lambda s, f: s.torch.save(tensors={"a": x}, metadata={"k": "v"})
    yield "torch.save wrong metadata", lambda s, f: s.torch.save({"a": x}, {"k": 1})
    yield "torch.save_with_checksum", lambda s, f: s.torch.save_with_checksum(tensor_dict={"a": x}, hasher=hashlib.sha256)
    for device in ["cpu", "cuda", "meta", "x", -1, torch.device("cpu")]:
        yield f"torch.load_file device {device!r}", lambda s, f, d=device: plain(s.torch.load_file(file_of(s, f), device=d))
    for key in [*KEYS, slice(None, None, 2), slice(None, None, -1), ..., None, (slice(None), [0, 2])]:
        if key not in (2**70,):
            yield f"torch slice {key!r}", lambda s, f, k=key: plain(opened(s, f, "pt").get_slice("a")[k])
    yield "torch get_tensor", lambda s, f: plain(opened(s, f, "pt").get_tensor("b"))

    class Tied(torch.nn.Module):
        def __init__(self, tied=True):
            super().__init__()
            torch.manual_seed(1)
            self.a, self.b = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
            if tied:
                self.b.weight = self.a.weight

    class Overlapping(torch.nn.Module):
        def __init__(self):
            super().__init__()
            whole = torch.zeros(10)
            self.a, self.b = torch.nn.Parameter(whole[:5]), torch.nn.Parameter(whole[2:8])

    class Turned(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.zeros(2, 3).T)

    def linear():
        torch.manual_seed(1)
        return torch.nn.Linear(2, 3)

    def saved(s, f, model, *args, **kwargs):
        s.torch.save_model(model, str(f / "m.bt"), *args, **kwargs)
        with s.root.safe_open(f / "m.bt", "pt") as file:
            return plain(s.torch.load_file(f / "m.bt")), file.metadata()

    def loaded(s, f, source, target, **kwargs):
        s.torch.save_model(source, str(f / "m.bt"))
        missing, unexpected = s.torch.load_model(target, f / "m.bt", **kwargs)
        return missing, sorted(unexpected), plain(target.state_dict())

    for number, model in enumerate([Tied(), Tied(False), Overlapping(), Turned()]):
        yield f"torch.save_model {number}", lambda s, f, m=model: saved(s, f, m)
        yield f"torch.save_model metadata {number}", lambda s, f, m=model: saved(s, f, m, {"q": "z"})
        yield f"torch.save_model strict {number}", lambda s, f, m=model: saved(s, f, m, force_contiguous=False)
    for number, (source, target) in enumerate(itertools.product([Tied, lambda: Tied(False), linear], repeat=2)):
        yield f"torch.load_model {number}", lambda s, f, a=source, b=target: loaded(s, f, a(), b())
        yield f"torch.load_model lax {number}", lambda s, f, a=source, b=target: loaded(s, f, a(), b(), strict=False)
    yield "torch.load_model shape", lambda s, f: loaded(s, f, torch.nn.Linear(2, 3), torch.nn.Linear(5, 5))
    yield "torch.load_model missing", lambda s, f: s.torch.load_model(Tied(), f / "nope.bt")


def plain(value):
    """Tensors of PyTorch as arrays that can be compared."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    import torch

    if isinstance(value, torch.Tensor):
        bits = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy().copy()
        return str(value.dtype), list(value.shape), value.requires_grad, bits
    return value


def array_cases(name, make, half):
    """The modules that go through NumPy."""
    for number, value in enumerate([make(A), make(np.zeros((0, 2), "i4")), A, 5]):
        yield f"{name}.save {number}", lambda s, f, v=value: getattr(s, name).save({"a": v})
        yield f"{name}.save_file {number}", lambda s, f, v=value: (getattr(s, name).save_file({"a": v}, f / "j.bt"), read_back(f / "j.bt"))
    yield f"{name}.save list", lambda s, f: getattr(s, name).save([1])
    yield f"{name}.save keywords", lambda s, f: getattr(s, name).save(tensors={"a": make(A)}, metadata={"k": "v"})
    yield f"{name}.save_with_checksum", lambda s, f: getattr(s, name).save_with_checksum(tensor_dict={"a": make(A)})
    for dtype in ["u1", "i4", "f2", "f4", "f8", "i8", "bool"]:
        data = {"a": np.ones((2, 3), dtype), "b": np.array(1, dtype)}
        yield f"{name}.load {dtype}", lambda s, f, d=data: arrays(getattr(s, name).load(s.numpy.save(d)))
        yield f"{name}.load_file {dtype}", lambda s, f, d=data: (s.numpy.save_file(d, f / "l.bt"), arrays(getattr(s, name).load_file(f / "l.bt")))
    yield f"{name}.load_file missing", lambda s, f: getattr(s, name).load_file(f / "nope")
    yield f"{name} slice", lambda s, f: arrays({"a": opened(s, f, name).get_slice("a")[0, 1:]})
    yield f"{name} tensor", lambda s, f: arrays({"a": opened(s, f, name).get_tensor("b")})
    yield f"{name}.save bfloat16", lambda s, f: getattr(s, name).save({"a": half})
    yield f"{name}.load bfloat16", lambda s, f: str(getattr(s, name).load(s.numpy.save({"a": np.ones(2, ml_dtypes.bfloat16)}))["a"].dtype)


def arrays(found):
    return {name: (type(value).__name__, str(value.dtype), np.array(value)) for name, value in found.items()}


def framework_cases():
    if "flax" not in MISSING:
        import jax.numpy as jnp

        yield from array_cases("flax", jnp.asarray, jnp.ones(2, jnp.bfloat16))
    if "mlx" not in MISSING:
        import mlx.core as mx

        yield from array_cases("mlx", mx.array, mx.ones(2, mx.bfloat16))


CASES = dict(itertools.chain(root_cases(), open_cases(), numpy_cases(), torch_cases(), framework_cases()))


def ones(dtype):
    return lambda got, folder: isinstance(got, dict) and np.array_equal(got["a"], np.ones(2, dtype)) and got["a"].dtype == dtype


def read(key):
    return lambda got, folder: np.array_equal(got, A[key]) and np.shape(got) == np.shape(A[key])


def fine(got, folder):
    return not isinstance(got, Raised)


def raises(*classes):
    return lambda got, folder: isinstance(got, Raised) and isinstance(got.error, classes)


# Where ours differs on purpose (docs/python.md gives the reasons), and what ours must do there.
DELIBERATE = {
    **{f"slice.__getitem__ {key!r}": read(key) for key in BETTER_KEYS},
    **{f"{call} {buffer}": fine for call in ("numpy.load", "deserialize", "serialize") for buffer in ("bytearray", "memoryview", "array")},
    "numpy.load bfloat16": ones(ml_dtypes.bfloat16),
    "numpy.load_file float8": ones(ml_dtypes.float8_e5m2),
    "numpy.save masked": raises(OURS.root.BintensorError),
    "serialize F32": fine,
    "safe_open bytes": fine,
    "serialize_file bytes": fine,
    "safe_open directory": raises(IsADirectoryError),
    "torch.save 20": fine, "torch.save 21": fine, "torch.save 22": fine,
    "torch.save_file 20": fine, "torch.save_file 21": fine, "torch.save_file 22": fine,
    "torch.load uint16": fine,
    "torch.load_file device device(type='cpu')": fine,
    "mlx.save bfloat16": fine, "mlx.load bfloat16": fine, "flax.load bfloat16": fine,
    # Bytes after the last record that are not spaces.
    **{f"deserialize broken {at}": raises(OURS.root.BintensorError) for at in (29, 30, 31)},
    **{f"numpy.load tree {number}": fine for number in range(84, 91)},
}  # fmt: skip
# An exception that is also of the class that the reference raises is not a difference.
NOT_DIFFERENT = {"safe_open directory"}


@pytest.mark.parametrize("case", CASES)
def test_beside(case, tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours = call(CASES[case], OURS, tmp_path / "ours")
    theirs = call_unpanicked(CASES[case], THEIRS, tmp_path / "theirs")
    if case in DELIBERATE:
        assert DELIBERATE[case](ours, tmp_path), f"ours {ours!r}, theirs {theirs!r}"
        if case not in NOT_DIFFERENT:
            with pytest.raises(AssertionError):
                assert_same(ours, theirs)
        return
    assert_same(ours, theirs, case)


def call_unpanicked(function, *args):
    """As ``call``; a panic of the reference is not an ``Exception``."""
    try:
        return call(function, *args)
    except BaseException as error:  # noqa: BLE001
        if type(error).__name__ != "PanicException":
            raise
        return Raised(error)


@pytest.mark.parametrize("name", list(offered()))
def test_every_name_is_called(name):
    """A name that the reference gains fails here until it is handled."""
    assert any(case == name or case.startswith(f"{name} ") for case in CASES), f"{name} of the reference has no case"
    module, _, member = name.rpartition(".")
    holder = {"safe_open": OURS.root.safe_open, "slice": OURS.root.PySafeSlice}.get(module) or getattr(OURS, module or "root")
    assert hasattr(holder, member), f"{name} of the reference is missing"


VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "bintensors"


@pytest.mark.parametrize("case", json.loads((VECTORS / "manifest.json").read_text())["cases"], ids=lambda case: case["file"])
def test_vectors(case, tmp_path):
    """Every vector through every door of both packages. Ours refuses hidden content, which the reference reads, and nothing else."""
    path = VECTORS / case["file"]
    data = path.read_bytes()

    def described(side):
        return sorted(side.root.deserialize(data), key=lambda item: item[0])

    def read(side):
        with side.root.safe_open(path, "np") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}
            return file.keys(), file.offset_keys(), file.metadata(), {name: (part.get_dtype(), part.get_shape()) for name, part in slices.items()}

    def elements(side):
        # Of a type that NumPy has: others are in the list of differences.
        return {name: array for name, array in side.numpy.load_file(path).items() if array.dtype.kind in "biufc"}

    stricter = case["outcome"]["default"] != case["outcome"]["reference"] == "ok"
    for act in (described, read, elements):
        if act is not described and case["file"] == "malformed/safetensors_file.bt":
            continue  # ours reads that format too, whatever the file is called
        ours, theirs = call(act, OURS), call_unpanicked(act, THEIRS)
        if stricter:
            assert isinstance(ours.error, OURS.root.BintensorError) and not isinstance(theirs, Raised), act.__name__
        elif isinstance(theirs, Raised) and act is elements and case["outcome"]["default"] == "ok":
            assert not isinstance(ours, Raised) or isinstance(ours.error, (ValueError, OverflowError)), act.__name__
        else:
            assert_same(ours, theirs, act.__name__)


def test_every_difference_is_a_case():
    gone = {name.split(".")[0] for name in MISSING}
    missing = [case for case in DELIBERATE if case not in CASES and case.split(".")[0] not in gone]
    assert missing == []


@pytest.mark.parametrize("name", ["numpy", "torch", "flax", "mlx"])
def test_parameters_and_defaults(name):
    if name in MISSING:
        pytest.skip(f"{name} is not installed")
    for member, value in vars(getattr(THEIRS, name)).items():
        if not inspect.isfunction(value) or member.startswith("_") or value.__module__ != f"bintensors.{name}":
            continue
        if member not in getattr(getattr(THEIRS, name), "__all__", [member]):
            continue
        other = inspect.signature(value).parameters
        mine = inspect.signature(getattr(getattr(OURS, name), member)).parameters
        beyond = {key for key, found in mine.items() if found.kind is inspect.Parameter.KEYWORD_ONLY}
        assert [key for key in mine if key not in beyond] == list(other), member
        for key, parameter in other.items():
            assert mine[key].default == parameter.default and mine[key].kind == parameter.kind, (member, key)
