"""The lists of deliberate differences in ``docs/python.md``: every row is shown on both packages, and there is no row without proof."""

import json
import os
import pathlib
import pickle

import bintensors as their_weights
import bintensors.numpy
import ml_dtypes
import numpy as np
import pytest
import tensogram as theirs
from beside import Raised, call
from serving import serving

import fwright.bintensors as our_weights
import fwright.bintensors.numpy
import fwright.tensogram as ours

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text()
CODECS = ROOT / "vectors" / "tensogram-codecs"
VECTORS = {case["id"]: CODECS / case["file"] for case in json.loads((CODECS / "manifest.json").read_text())["cases"]}
A = np.arange(24.0).reshape(4, 6)
D = {"type": "ntensor", "shape": [4, 6], "dtype": "float64"}
PACKED = {"encoding": "simple_packing"}
SZIP = {"compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}


def rows(section):
    """First cells of the table of a section."""
    text = PAGE.split("## Differences from the reference, and why", 1)[1].split(f"### {section}\n", 1)[1].split("\n### ", 1)[0]
    cells = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]
    return [cell for cell in cells if cell != "call" and not cell.startswith("|--")]


def there_and_back(module, array, **keys):
    """What a message gives back of an array, or what was raised on the way."""
    described = {"type": "ntensor", "shape": list(np.shape(array)), "dtype": str(np.asarray(array).dtype.newbyteorder("=")), **keys}
    return call(lambda: module.decode(module.encode({}, [(described, array)])).objects[0][1])


def keeps(back, array):
    return not isinstance(back, Raised) and np.array_equal(back, array)


def order_of_elements(folder):
    for array in (np.asfortranarray(A), A.T):
        assert keeps(there_and_back(ours, array), array) and not keeps(there_and_back(theirs, array), array)


def byte_order(folder):
    assert keeps(there_and_back(ours, A, byte_order="big"), A) and not keeps(there_and_back(theirs, A, byte_order="big"), A)


def another_type_or_shape(folder):
    for keys, words in (({"dtype": "int64"}, ("int64", "float64")), ({"shape": [6, 4]}, ("[6, 4]", "[4, 6]"))):
        mine, other = there_and_back(ours, A, **keys), there_and_back(theirs, A, **keys)
        assert isinstance(mine.error, ValueError) and all(word in str(mine.error) for word in words)
        assert not isinstance(other, Raised) and (other.dtype, other.shape) != (A.dtype, A.shape)
    bits = {"type": "ntensor", "shape": [4, 6], "dtype": "float16"}
    for form in ("u1", "u2"):
        message = ours.encode({}, [(bits, A.astype("f2").view(form))])
        assert keeps(ours.decode(message).objects[0][1], A)


def arrays_of_every_kind(folder):
    for array in (A[::2, ::3], A.astype(">f8"), A.astype("f2"), A.astype("c8"), np.float64(2.5).reshape(())):
        assert keeps(there_and_back(ours, array), array) and isinstance(there_and_back(theirs, array), Raised)
    flags = {"type": "ntensor", "shape": [4, 6], "dtype": "uint8"}
    for pairs in ([(flags, A > 5)], ((D, A),), [[D, A]]):
        mine, other = call(ours.encode, {}, pairs), call(theirs.encode, {}, pairs)
        assert keeps(ours.decode(mine).objects[0][1], pairs[0][1]) and isinstance(other, Raised)


def wide_integers(folder):
    assert ours.decode_metadata(ours.encode({"k": 2**64 - 1}, []))["k"] == 2**64 - 1
    assert isinstance(call(ours.encode, {"k": 2**64}, []).error, ValueError)
    for number in (2**64 - 1, 2**64):
        assert type(theirs.decode_metadata(theirs.encode({"k": number}, []))["k"]) is float


def values_in_metadata(folder):
    for value, read in ((b"x", b"x"), ((1, 2), [1, 2]), (np.arange(3), [0, 1, 2])):
        assert ours.decode_metadata(ours.encode({"k": value}, []))["k"] == read
        assert isinstance(call(theirs.encode, {"k": value}, []), Raised)


def odd_widths_before_szip(folder):
    field = np.cumsum(np.random.default_rng(1).normal(size=500))
    for bits, fits in ((12, False), (16, True), (20, False)):
        keys = {**PACKED, "sp_bits_per_value": bits, **SZIP}
        mine, other = there_and_back(ours, field, **keys), there_and_back(theirs, field, **keys)
        near = [not isinstance(back, Raised) and np.abs(back - field).max() < 0.1 for back in (mine, other)]
        assert near == [fits, fits] and (fits or isinstance(mine.error, ValueError)), bits


def lossy_codecs_of_other_types(folder):
    field = np.cumsum(np.random.default_rng(1).normal(size=512)).astype("f4")
    for keys in (
        {"compression": "zfp", "zfp_mode": "fixed_accuracy", "zfp_tolerance": 0.001},
        {"compression": "sz3", "sz3_error_bound_mode": "rel", "sz3_error_bound": 0.0001},
    ):
        mine, other = there_and_back(ours, field, **keys), there_and_back(theirs, field, **keys)
        assert isinstance(mine.error, ValueError)
        assert isinstance(other, Raised) or not np.abs(other - field).max() < 0.01


def numbers_as_keys(folder):
    message = theirs.encode({"k": 1}, [])
    assert (5 in ours.decode_metadata(message)) is False
    assert isinstance(call(lambda: 5 in theirs.decode_metadata(message)).error, TypeError)


def bytes_of_the_wire(folder):
    described = {**D, "byte_order": "big"}
    message = theirs.encode({}, [(described, A.astype(">f8").tobytes())])
    mine, other = (module.decode(message, native_byte_order=False).objects[0][1] for module in (ours, theirs))
    assert mine.dtype == np.dtype(">f8") and np.array_equal(mine, A) and mine.tobytes() == other.tobytes()
    assert other.dtype == np.dtype("=f8") and not np.array_equal(other, A)


def packing_of_nan(folder):
    values = np.array([np.nan, 1.0])
    assert isinstance(call(ours.compute_packing_params, values, 0, 0).error, ValueError)
    assert np.isnan(theirs.compute_packing_params(values, 0, 0)["sp_reference_value"])


def entries_without_objects(folder):
    def act(module):
        stream = module.StreamingEncoder({"base": [{"b": 1}, {"b": 2}]})
        stream.write_object(D, A)
        return call(stream.finish)

    assert isinstance(act(ours).error, ValueError)
    assert len(theirs.decode(act(theirs)).metadata.base) == 1


def missing_files(folder):
    mine, other = (call(module.TensogramFile.open, str(folder / "no.tgm")).error for module in (ours, theirs))
    assert isinstance(mine, FileNotFoundError) and isinstance(other, OSError) and not isinstance(other, FileNotFoundError)


def messages_of_a_store(folder):
    (folder / "f.tgm").write_bytes(theirs.encode({"k": 1}, [(D, A)]))
    with serving(folder) as server:
        mine, other = (call(module.TensogramFile.open(f"{server.url}/f.tgm").messages) for module in (ours, theirs))
    assert mine == [(folder / "f.tgm").read_bytes()] and isinstance(other.error, OSError)


def ranges_that_are_refused(folder):
    for name, range_ in (("blosc2-sp13", (300, 301)), ("szip-offsetquirk-2", (1630, 1630)), ("szip-offsetquirk-3", (1695, 1695))):
        message = VECTORS[name].read_bytes()
        mine, other = (call(module.decode_range, message, 0, [range_], join=True) for module in (ours, theirs))
        whole = theirs.decode(message).objects[0][1].ravel()
        assert keeps(mine, whole[range_[0] :]) and isinstance(other.error, ValueError), name


def streams_without_an_end(folder):
    stream = theirs.StreamingEncoder({})
    stream.write_object(D, A)
    message = stream.finish()
    cut = message[: len(message) - 10]
    assert call(ours.decode, cut).prefix == "FramingError" and not isinstance(call(theirs.decode, cut), Raised)


def tags(folder):
    # Two bytes become a tag and a number; without digests nobody notices.
    message = ours.encode({"tagged": b"\x01\x02"}, [], hash=None)
    assert message.count(b"ftagged\x42\x01\x02") == 1
    message = message.replace(b"ftagged\x42\x01\x02", b"ftagged\xc1\x18\x40")
    assert ours.decode_metadata(message)["tagged"] == 64
    assert isinstance(theirs.decode_metadata(message)["tagged"], str)


def self_tests(folder):
    mine, other = (module.doctor()["self_test"] for module in (ours, theirs))
    assert mine[: len(other)] == other and len(mine) > len(other) == 10


def features(folder):
    mine, other = ({row["name"]: row for row in module.doctor()["features"]} for module in (ours, theirs))
    assert list(mine) == list(other) and any(mine[name].get("backend") != other[name].get("backend") for name in mine)


def texts(folder):
    mine, other = (call(module.decode, b"x" * 100) for module in (ours, theirs))
    assert mine.prefix == other.prefix == "FramingError" and str(mine.error) != str(other.error)
    assert mine.error.code and mine.error.offset == 0


TENSOGRAM = {
    "`encode` of Fortran-ordered or transposed arrays": order_of_elements,
    '`encode` with `byte_order="big"` and an array': byte_order,
    "`encode` with an array of another type or shape than the descriptor": another_type_or_shape,
    "`encode` of strided, big-endian, float16, complex, bool or 0-d arrays, tuples instead of lists": arrays_of_every_kind,
    "integers outside 64 bits signed in metadata": wide_integers,
    "`bytes`, tuples and arrays in metadata": values_in_metadata,
    "simple packing with other widths than 8, 16, 24 or 32 bits before szip": odd_widths_before_szip,
    "zfp and sz3 of elements that are not float64": lossy_codecs_of_other_types,
    "`5 in metadata`": numbers_as_keys,
    "`decode(native_byte_order=False)` of big-endian data": bytes_of_the_wire,
    "`compute_packing_params` with 0 bits and NaN": packing_of_nan,
    "a stream with more `base` entries than objects": entries_without_objects,
    "missing files": missing_files,
    "`messages()` of a file in a store": messages_of_a_store,
    "some ranges of packed elements in blosc2, and of szip whose block offsets are off": ranges_that_are_refused,
    "decoding a stream without its end": streams_without_an_end,
    "tags in metadata": tags,
    '`doctor()["self_test"]`': self_tests,
    '`doctor()["features"]`': features,
    "text after the prefix of an error": texts,
}


def saved(folder, module=None, **tensors):
    path = folder / "w.bt"
    (module or bintensors.numpy).save_file(tensors or {"a": A, "b": np.arange(3)}, path)
    return path


def sliced(key, folder):
    path = saved(folder)
    return [call(lambda: package.safe_open(path, "np").get_slice("a")[key]) for package in (our_weights, their_weights)]


def keys_that_go_wrong(folder):
    for key in (np.s_[::2], np.s_[:, ::3], np.array([0, 2])):
        mine, other = sliced(key, folder)
        assert keeps(mine, A[key]) and not keeps(other, A[key]), key


def keys_that_are_refused(folder):
    for key in (np.s_[-1:], np.s_[0:99], np.s_[..., 0], None, [0, 1]):
        mine, other = sliced(key, folder)
        assert keeps(mine, A[key]) and isinstance(other, Raised), key


def views(folder):
    path = saved(folder)
    mine, other = fwright.bintensors.numpy.load_file(path)["a"], bintensors.numpy.load_file(path)["a"]
    owners = []
    for array in (mine, other):
        while isinstance(array, np.ndarray) and array.base is not None:
            array = array.base
        owners.append(type(array).__name__)
    assert owners[0] == "Pages" and owners[1] != "Pages" and mine.flags.writeable
    mine[:] = 7
    assert np.array_equal(bintensors.numpy.load_file(path)["a"], A)


def narrow_floats(folder):
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        array = A.astype(dtype)
        data = fwright.bintensors.numpy.save({"a": array})
        path = folder / "n.bt"
        path.write_bytes(data)
        for mine in (fwright.bintensors.numpy.load(data), fwright.bintensors.numpy.load_file(path)):
            assert mine["a"].dtype == dtype and mine["a"].tobytes() == array.tobytes()
    assert isinstance(call(bintensors.numpy.load, fwright.bintensors.numpy.save({"a": A.astype(ml_dtypes.bfloat16)})), Raised)


def unsigned_integers_of_pytorch(folder):
    torch = pytest.importorskip("torch", reason="torch is not installed: differences of its modules are not shown")
    import bintensors.torch
    import fwright.bintensors.torch

    tensors = {"a": torch.tensor([1, 2], dtype=torch.uint16)}
    data = fwright.bintensors.torch.save(tensors)
    assert fwright.bintensors.torch.load(data)["a"].tolist() == [1, 2]
    assert isinstance(call(bintensors.torch.save, tensors), Raised)


def masked_arrays(folder):
    tensors = {"a": np.ma.array([1, 2], mask=[0, 1])}
    assert isinstance(call(fwright.bintensors.numpy.save, tensors).error, our_weights.BintensorError)
    assert not isinstance(call(bintensors.numpy.save, tensors), Raised)


def buffers_and_paths(folder):
    data = bintensors.numpy.save({"a": A})
    for kind in (bytearray, memoryview, lambda data: np.frombuffer(data, "u1")):
        assert keeps(fwright.bintensors.numpy.load(kind(data))["a"], A)
        assert isinstance(call(bintensors.numpy.load, kind(data)), Raised)
    name = os.fsencode(saved(folder))
    assert our_weights.safe_open(name, "np").keys() == ["a", "b"] and isinstance(call(their_weights.safe_open, name, "np"), Raised)
    described = {"a": {"dtype": "F32", "shape": [1], "data": b"abcd"}}
    assert our_weights.serialize(described) and isinstance(call(their_weights.serialize, described), Raised)


def hidden_content(folder):
    data = bytearray(bintensors.numpy.save({"abcdefg": np.arange(2)}))
    header = int.from_bytes(data[:8], "little")
    assert data[8 + header - 1 : 8 + header] == b" "
    data[8 + header - 1] = ord("x")
    mine, other = call(our_weights.deserialize, bytes(data)), call(their_weights.deserialize, bytes(data))
    assert isinstance(mine.error, our_weights.BintensorError) and not isinstance(other, Raised)


def file_order(folder):
    tensors = {f"t{number}": np.full(1, number) for number in range(20)}
    data = bintensors.numpy.save(tensors)
    path = saved(folder, fwright.bintensors.numpy, **tensors)
    names = our_weights.safe_open(path, "np").offset_keys()
    assert [name for name, _ in our_weights.deserialize(data)] == list(fwright.bintensors.numpy.load(data)) == names
    orders = {tuple(name for name, _ in their_weights.deserialize(data)) for _ in range(20)}
    assert len(orders) > 1


def handles_without_pytorch(folder):
    try:
        import torch  # noqa: F401
    except ImportError:
        path = saved(folder)
        assert our_weights.safe_open(path, "pt").keys() == ["a", "b"]
        assert isinstance(call(their_weights.safe_open, path, "pt").error, ModuleNotFoundError)
        assert isinstance(call(our_weights.safe_open(path, "pt").get_tensor, "a").error, ModuleNotFoundError)
    else:
        pytest.skip("torch is installed")


def directories(folder):
    mine, other = (call(package.safe_open, folder, "np").error for package in (our_weights, their_weights))
    assert isinstance(mine, IsADirectoryError) and not isinstance(other, IsADirectoryError)
    if os.geteuid():  # the superuser may read everything
        path = saved(folder)
        path.chmod(0)
        mine, other = (call(package.safe_open, path, "np").error for package in (our_weights, their_weights))
        assert isinstance(mine, PermissionError) and isinstance(other, FileNotFoundError)


def side_effects(folder):
    pytest.importorskip("jax", reason="jax is not installed: fwright.bintensors.flax is not compared with the reference")
    import bintensors.flax
    import fwright.bintensors.flax
    import jax.numpy as jnp

    changed = []
    for module in (fwright.bintensors.flax, bintensors.flax):
        tensors = {"a": jnp.ones(2)}
        before = type(tensors["a"])
        module.save(tensors)
        changed.append(type(tensors["a"]) is not before)
    assert changed == [False, True]


def pickled_errors(folder):
    mine, other = (call(package.deserialize, b"x").error for package in (our_weights, their_weights))
    assert str(pickle.loads(pickle.dumps(mine))) == str(mine)
    assert isinstance(call(lambda: pickle.loads(pickle.dumps(other))), Raised)


def mappings(folder):
    path = saved(folder)
    mine, other = our_weights.safe_open(path, "np"), their_weights.safe_open(path, framework="np")
    for act in (len, list, lambda file: "a" in file, lambda file: file["a"].shape):
        assert not isinstance(call(act, mine), Raised) and isinstance(call(act, other), Raised)


def texts_of_weights(folder):
    mine, other = (call(package.deserialize, b"\xff" * 20) for package in (our_weights, their_weights))
    assert type(mine.error).__name__.lower() == type(other.error).__name__.lower() and str(mine.error) != str(other.error)
    assert mine.error.code == "header_too_large" and mine.error.offset == 0


BINTENSORS = {
    "`get_slice(…)[…]` for NumPy, JAX and MLX with a step, surplus indices, `True` or an array as key": keys_that_go_wrong,
    "the same with negative or large bounds, reversed bounds, `...`, `None`, lists, axes of length 0": keys_that_are_refused,
    "NumPy arrays of `load_file` and `get_tensor`": views,
    "`load` and `load_file` of BF16 and F8 with NumPy, `load` of BF16 with JAX and MLX, saving `bfloat16` of MLX": narrow_floats,
    "saving `uint16`, `uint32`, `uint64` of PyTorch, `load` of them": unsigned_integers_of_pytorch,
    "saving masked arrays": masked_arrays,
    "`bytearray`, `memoryview` and arrays as data, paths as `bytes`, `torch.device`, both spellings of types in `serialize`": buffers_and_paths,
    "bytes after the last record of a header that are not spaces, a metadata key twice": hidden_content,
    "`deserialize`, `load`, `metadata()`": file_order,
    '`safe_open(…, "pt")` without PyTorch': handles_without_pytorch,
    "a directory, a file without permission": directories,
    "`save` of `flax`, `save_model` of `torch`": side_effects,
    "pickling a `BintensorError`": pickled_errors,
    "`len`, `in`, iteration and `[]` on a handle": mappings,
    "text of errors": texts_of_weights,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("row", "show"), [*TENSOGRAM.items(), *BINTENSORS.items()], ids=lambda value: getattr(value, "__name__", ""))
def test_a_difference_is_what_the_page_says(row, show, tmp_path):
    show(tmp_path)


@pytest.mark.parametrize(("section", "shown"), [("Tensogram", TENSOGRAM), ("BinTensors", BINTENSORS)])
def test_every_row_of_the_page_is_shown(section, shown):
    assert rows(section) == list(shown)
