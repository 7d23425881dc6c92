"""Files of weights beyond the reference: safetensors, shards, views, digests, pickles."""

import gc
import hashlib
import json
import math
import os
import pathlib
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

import fwright as fw
from fwright.bintensors import BintensorError, deserialize, safe_open, verify
from fwright.bintensors.numpy import load, load_file, save, save_file

MIB = 1 << 20
FIELDS = {
    "f": np.arange(24, dtype="f4").reshape(2, 3, 4),
    "i": np.arange(7, dtype="i8"),
    "h": np.arange(6, dtype="f2").reshape(3, 2),
    "s": np.array(2.5),
    "e": np.zeros((0, 3), "u1"),
}
# Element types of safetensors 0.8: name, bits, and what NumPy gets.
TYPES = {
    "BOOL": (8, "bool"), "F4": (4, None), "F6_E2M3": (6, None), "F6_E3M2": (6, None), "U8": (8, "u1"), "I8": (8, "i1"),
    "F8_E5M2": (8, ml_dtypes.float8_e5m2), "F8_E4M3": (8, ml_dtypes.float8_e4m3fn), "F8_E8M0": (8, ml_dtypes.float8_e8m0fnu),
    "F8_E4M3FNUZ": (8, ml_dtypes.float8_e4m3fnuz), "F8_E5M2FNUZ": (8, ml_dtypes.float8_e5m2fnuz), "I16": (16, "i2"), "U16": (16, "u2"),
    "F16": (16, "f2"), "BF16": (16, ml_dtypes.bfloat16), "I32": (32, "i4"), "U32": (32, "u4"), "F32": (32, "f4"), "C64": (64, "c8"),
    "F64": (64, "f8"), "I64": (64, "i8"), "U64": (64, "u8"),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    save_file(FIELDS, folder / "m.bt", {"k": "v"}, digest="sha256")
    safetensors.numpy.save_file(FIELDS, folder / "m.safetensors", {"k": "v"})
    [index] = [path for path in fw.convert(folder / "m.safetensors", folder / "s.safetensors", max_shard_size=100)["files"] if path.endswith(".json")]
    [bt_index] = [path for path in fw.convert(folder / "m.bt", folder / "s.bt", max_shard_size=100)["files"] if path.endswith(".json")]
    return {"bt": folder / "m.bt", "safetensors": folder / "m.safetensors", "index": index, "bt index": bt_index}


@pytest.mark.parametrize("kind", ["bt", "safetensors", "index", "bt index"])
@pytest.mark.parametrize("mmap", [True, False])
def test_every_kind_of_file_opens_the_same(files, kind, mmap):
    with safe_open(files[kind], "np", mmap=mmap) as file:
        assert file.keys() == sorted(FIELDS) and sorted(file.offset_keys()) == sorted(FIELDS) == list(file)
        assert len(file) == 5 and "f" in file and "x" not in file and 5 not in file
        assert file.metadata()["k"] == "v"
        for name, field in FIELDS.items():
            for array in (file.get_tensor(name), file[name], file.get_slice(name)[...]):
                assert array.dtype == field.dtype and array.shape == field.shape and np.array_equal(array, field)
                assert array.flags.writeable and array.flags.aligned and array.flags.c_contiguous
        part = file.get_slice("f")
        for key in [np.s_[1], np.s_[..., ::-2], np.s_[-1, 1:, ::3], np.s_[:, None, 2], np.s_[[1, 0]], np.s_[:, :, [True, False, True, False]], np.s_[0, 0, 0]]:
            assert np.array_equal(part[key], FIELDS["f"][key]) and part[key].shape == FIELDS["f"][key].shape
        for key in (2, -3, (0, 0, 0, 0)):
            with pytest.raises(IndexError):
                part[key]
            with pytest.raises(BintensorError):
                part[key]
        with pytest.raises(KeyError, match="x"):
            file["x"]
    loaded = load_file(files[kind], mmap=mmap)
    assert sorted(loaded) == sorted(FIELDS) and all(np.array_equal(loaded[name], field) for name, field in FIELDS.items())


def test_bytes_of_both_formats(files):
    for kind in ("bt", "safetensors"):
        data = files[kind].read_bytes()
        loaded = load(data)
        assert all(np.array_equal(loaded[name], field) and loaded[name].flags.writeable for name, field in FIELDS.items())


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("carried", [False, True])
def test_every_element_type_of_safetensors(name, carried, tmp_path):
    bits, dtype = TYPES[name]
    rng = np.random.default_rng(2)
    elements = rng.integers(0, 2 if name == "BOOL" else 120, size=16 * bits // 8, dtype="u1").tobytes()
    header = json.dumps({"t": {"dtype": name, "shape": [2, 8], "data_offsets": [0, len(elements)]}}).encode()
    header += b" " * (-len(header) % 8)
    path = tmp_path / "t.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + elements)
    with safetensors.safe_open(path, "np") as reference:
        assert reference.get_slice("t").get_dtype() == name and reference.get_slice("t").get_shape() == [2, 8]
    if carried:
        fw.convert(path, tmp_path / "t.bt")
        path = tmp_path / "t.bt"
    with safe_open(path, "np") as file:
        assert file.format == ("bintensors" if carried else "safetensors")
        part = file.get_slice("t")
        assert part.get_dtype() == name and part.get_shape() == [2, 8]
        array = file.get_tensor("t")
        assert array.tobytes() == elements and load_file(path)["t"].tobytes() == elements
        if dtype is None:
            # Smaller than a byte: packed, and only as a whole.
            assert array.dtype == np.uint8 and part[...].tobytes() == elements
            with pytest.raises(BintensorError):
                part[0]
        else:
            assert array.dtype == np.dtype(dtype) and array.shape == (2, 8)
            assert part[1, ::-3].tobytes() == array[1, ::-3].tobytes()


@pytest.mark.parametrize("name", TYPES)
def test_every_element_type_of_safetensors_with_torch(name, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed: its tensors are not compared with those of safetensors")
    elements = bytes(index % 2 for index in range(16 * TYPES[name][0] // 8))
    header = json.dumps({"t": {"dtype": name, "shape": [2, 8], "data_offsets": [0, len(elements)]}}).encode()
    header += b" " * (-len(header) % 8)
    path = tmp_path / "t.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + elements)
    try:
        theirs = safetensors.safe_open(path, "pt").get_tensor("t")
    except safetensors.SafetensorError:
        with pytest.raises(BintensorError, match=name):
            safe_open(path, "pt").get_tensor("t")
        return
    ours = safe_open(path, "pt").get_tensor("t")
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.view(torch.uint8).numpy().tobytes() == elements


def test_written_bytes_are_those_of_the_reference():
    import bintensors.numpy

    assert save(FIELDS, {"k": "v"}) == bintensors.numpy.save(dict(FIELDS), {"k": "v"})


def test_views_are_private_and_apart(tmp_path):
    path = tmp_path / "v.bt"
    save_file(FIELDS, path)
    before = path.read_bytes()
    with safe_open(path, "np") as file:
        first, second = file.get_tensor("f"), file.get_tensor("f")
        first += 1
        assert np.array_equal(second, FIELDS["f"]) and np.array_equal(file.get_slice("f")[...], FIELDS["f"])
        assert np.array_equal(file.get_tensor("f"), FIELDS["f"]) and np.array_equal(first, FIELDS["f"] + 1)
    loaded = load_file(path)
    loaded["f"][:] = 7
    assert np.array_equal(loaded["i"], FIELDS["i"]) and path.read_bytes() == before


def test_views_outlive_handles_files_and_threads(tmp_path):
    path = tmp_path / "o.bt"
    save_file({"w": np.arange(100_000)}, path)
    found = []

    def read():
        with safe_open(path, "np") as file:
            found.extend([file.get_tensor("w"), file.get_tensor("w"), file.get_slice("w")[::2]])
        found.append(load_file(path)["w"])

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    # A new file under the same name leaves views of the old one as they are.
    save_file({"w": np.zeros(5)}, path)
    path.unlink()
    gc.collect()
    for array, step in zip(found, [1, 1, 2, 1], strict=True):
        assert np.array_equal(array, np.arange(0, 100_000, step))
        array += 1


def test_misaligned_tensors_are_copied(tmp_path):
    path = tmp_path / "m.bt"
    header = b"\x00\x02" + b"\x01a\x01\x01\x01\x00\x01" + b"\x01b\x0b\x01\x02\x01\x09"
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"x" + np.array([1.5, 2.5], "f4").tobytes())
    array = load_file(path)["b"]
    assert array.flags.aligned and array.tolist() == [1.5, 2.5]
    assert safe_open(path, "np").get_slice("b")[1:].tolist() == [2.5]


def test_digests_are_stored_and_verified(tmp_path, files):
    path = tmp_path / "d.bt"
    for algorithm in ("sha1", "sha256", "sha3-256"):
        save_file(FIELDS, path, {"k": "v"}, digest=algorithm)
        assert verify(path) == verify(path.read_bytes()) == len(FIELDS)
        with safe_open(path, "np") as file:
            assert file.verify() == len(FIELDS) and file.metadata()["bt.digest/f"].startswith(algorithm)
    assert verify(save(FIELDS, digest="sha256")) == len(FIELDS)
    broken = bytearray(path.read_bytes())
    broken[-1] ^= 1
    path.write_bytes(broken)
    with pytest.raises(BintensorError, match="ChecksumMismatch") as caught:
        verify(path)
    assert caught.value.code == "checksum_mismatch"
    with pytest.raises(BintensorError, match="no digests") as caught:
        verify(save(FIELDS))
    assert caught.value.code == "missing_digest"
    with pytest.raises(BintensorError, match="no digests"):
        safe_open(files["safetensors"], "np").verify()
    with pytest.raises(BintensorError, match="ChecksumMismatch"):
        load_file(path, verify=True)
    with pytest.raises(BintensorError, match="no digests"):
        load_file(files["safetensors"], verify=True)
    save_file(FIELDS, path, digest="sha256")
    assert set(load_file(path, verify=True)) == set(FIELDS)
    with pytest.raises(BintensorError, match="md5"):
        save(FIELDS, digest="md5")
    from fwright.bintensors.numpy import save_with_checksum

    digest, data = save_with_checksum(FIELDS)
    assert verify(data, digest) == verify(data, digest.hex(), "sha1") == 1
    with pytest.raises(BintensorError):
        verify(data + b"x", digest)
    with pytest.raises(ValueError, match="hexadecimal"):
        verify(data, "xyz")


def test_errors_carry_code_and_place_and_pickle(tmp_path):
    path = tmp_path / "b.bt"
    path.write_bytes(b"\xff" * 20)
    with pytest.raises(BintensorError, match="HeaderTooLarge") as caught:
        load_file(path)
    assert caught.value.code == "header_too_large" and caught.value.offset == 0
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is BintensorError and str(again) == str(caught.value) and again.code == "header_too_large"
    with pytest.raises(OSError) as caught:
        save_file(FIELDS, tmp_path / "no" / "x.bt")
    assert isinstance(caught.value, BintensorError) and "No such file" in str(caught.value)
    with pytest.raises(FileNotFoundError):
        load_file(tmp_path / "no" / "y.bt")
    if os.geteuid():  # the superuser may read everything
        path.chmod(0)
        with pytest.raises(PermissionError):
            load_file(path)


def test_handles_pickle(files):
    again = pickle.loads(pickle.dumps(safe_open(files["bt"], "np", mmap=False)))
    assert repr(again) == repr(safe_open(files["bt"], "np")) and np.array_equal(again["f"], FIELDS["f"])


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "w.bt"
    save_file({"w": np.arange(3)}, path)
    before = path.read_bytes()
    with pytest.raises(BintensorError):
        save_file({"w": np.arange(3), "bad": np.array(["x"])}, path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["w.bt"]


def resident():
    with open("/proc/self/statm") as sizes:
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("kind", ["bt", "safetensors"])
def test_opening_a_gibibyte_holds_little(tmp_path, kind):
    """The file is sparse: its zeros take no room on the disk."""
    path = tmp_path / f"large.{kind}"
    size = 1 << 30
    if kind == "bt":
        header = b"\x00\x01\x01a\x0b\x01" + b"\xfc" + (size // 4).to_bytes(4, "little") + b"\x00" + b"\xfc" + size.to_bytes(4, "little")
    else:
        header = json.dumps({"a": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    header += b" " * (-len(header) % 8)
    head = len(header).to_bytes(8, "little") + header
    with open(path, "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    load_file(path)
    gc.collect()
    before = resident()
    with safe_open(path, "np") as file:
        kept = [file.get_tensor("a"), file.get_tensor("a"), file.get_slice("a")[5:9], load_file(path)["a"]]
        assert kept[0].nbytes == size and kept[0][123_456_789] == 0
        kept[0][1000] = 1
    assert resident() - before < 10 * MIB


def test_nothing_is_left_behind(tmp_path, files):
    def once():
        with safe_open(files["bt"], "np") as file:
            file.get_tensor("f"), file.get_tensor("f"), file.get_slice("f")[0]
        load_file(files["safetensors"])
        load_file(files["bt"], mmap=False)

    for _ in range(500):
        once()
    gc.collect()
    handles, before = len(os.listdir("/proc/self/fd")), resident()
    with open("/proc/self/maps") as maps:
        mapped = len(maps.readlines())
    for _ in range(10_000):
        once()
    gc.collect()
    # Earlier tests may have left something that is closed by now.
    assert len(os.listdir("/proc/self/fd")) <= handles
    with open("/proc/self/maps") as maps:
        assert len(maps.readlines()) < mapped + 20
    assert resident() - before < 8 * MIB


VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "bintensors"


def test_vectors_of_slices():
    cases = json.loads((VECTORS / "slices.json").read_text())["cases"]
    for mmap in (True, False):
        with safe_open(VECTORS / "slices.bt", "np", mmap=mmap) as file:
            for case in cases:
                key = tuple(... if "ellipsis" in axis else axis["index"] if "index" in axis else slice(*axis["slice"]) for axis in case["index"])
                part = file.get_slice(case["tensor"])
                if "error" in case["expect"]:
                    with pytest.raises(IndexError):
                        part[key]
                else:
                    found = part[key]
                    assert list(found.shape) == case["expect"]["shape"] and found.tobytes().hex() == case["expect"]["data_hex"], case


def test_vectors_of_files():
    verdicts = set()
    for case in json.loads((VECTORS / "manifest.json").read_text())["cases"]:
        path, verdict = VECTORS / case["file"], case["outcome"]["default"]
        verdicts.add(verdict)
        if case["file"] == "malformed/safetensors_file.bt":
            # Ours reads that format too, whatever the file is called.
            assert safe_open(path, "np").format == "safetensors"
            with pytest.raises(BintensorError, match=verdict):
                deserialize(path.read_bytes())
            continue
        if verdict != "ok":
            for read in (lambda: safe_open(path, "np"), lambda: load(path.read_bytes())):
                with pytest.raises(BintensorError) as caught:
                    read()
                words = case.get("error_any_of", [verdict])
                assert not case.get("class_normative", True) or any(word in str(caught.value) for word in words), (case["file"], caught.value)
            continue
        with safe_open(path, "np") as file:
            assert file.keys() == case["sorted_keys"] and file.offset_keys() == case["offset_keys"] and file.metadata() == case["metadata"]
            for tensor in case["tensors"]:
                part = file.get_slice(tensor["name"])
                assert (part.get_dtype(), part.get_shape()) == (tensor["dtype"], tensor["shape"])
                try:
                    array = file.get_tensor(tensor["name"])
                except (ValueError, OverflowError):
                    # NumPy has up to 64 axes, and lengths of 63 bits.
                    assert len(tensor["shape"]) > 64 or math.prod(axis or 1 for axis in tensor["shape"]) >= 1 << 60
                else:
                    assert hashlib.sha256(array.tobytes()).hexdigest() == tensor["sha256"]
    assert len(verdicts) > 8
