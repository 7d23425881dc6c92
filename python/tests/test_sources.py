"""Where files come from: URLs, bytes, file objects; every format through every door."""

import gzip
import hashlib
import io
import pickle
import threading
import time

import numpy as np
import pytest
import safetensors.numpy
from serving import serving

import fwright as fw

FIELDS = {"f": np.arange(24, dtype="f4").reshape(2, 3, 4), "i": np.arange(7, dtype="i8")}
KEY = (1, slice(None, None, 2), slice(3, 0, -1))


def gguf_file(path):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, "test")
    for name, field in FIELDS.items():
        writer.add_tensor(name, field)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    for ending in ("tgm", "bt", "safetensors", "npz"):
        fw.save(folder / f"m.{ending}", FIELDS)
    fw.save(folder / "packed.tgm", FIELDS, pipeline={"compression": "zstd"})
    np.savez_compressed(folder / "small.npz", **FIELDS)
    np.save(folder / "f.npy", FIELDS["f"])
    np.save(folder / "columns.npy", np.asfortranarray(FIELDS["f"]))
    gguf_file(folder / "m.gguf")
    fw.save(folder / "shards.safetensors", FIELDS, max_shard_size=60)
    return folder


NAMES = ["m.tgm", "m.bt", "m.safetensors", "m.npz", "packed.tgm", "small.npz", "f.npy", "columns.npy", "m.gguf"]


def check(file, name=""):
    fields = FIELDS if not name.endswith(".npy") else {next(iter(file)): FIELDS["f"]}
    assert sorted(file) == sorted(fields)
    for key, field in fields.items():
        assert np.array_equal(np.asarray(file[key]), field) and file[key].dtype == field.dtype
        assert np.array_equal(file[key].numpy(copy=True), field)
    first = next(key for key in fields if fields[key].ndim == 3)
    assert np.array_equal(file[first][KEY], FIELDS["f"][KEY])


@pytest.mark.parametrize("name", NAMES)
def test_every_format_through_every_door(folder, name):
    path = folder / name
    data = path.read_bytes()
    check(fw.open(path), name)
    check(fw.open(path.as_uri()), name)
    for source in (data, bytearray(data), memoryview(data), np.frombuffer(data, "u1"), io.BytesIO(data)):
        check(fw.open(source), name)
    with open(path, "rb") as source:
        file = fw.open(source)
    check(file, name)
    with open(path, "rb", buffering=0) as source:
        check(fw.open(source), name)

    class Searched(io.RawIOBase):
        """A file object of a program: it can be searched, and has neither a buffer nor a descriptor."""

        def __init__(self):
            self.inner, self.read_bytes = io.BytesIO(data), 0

        def seekable(self):
            return True

        def tell(self):
            return self.inner.tell()

        def seek(self, offset, whence=0):
            return self.inner.seek(offset, whence)

        def read(self, size=-1):
            # Short reads are allowed.
            part = self.inner.read(size if size < 100 else 100)
            self.read_bytes += len(part)
            return part

    check(fw.open(Searched()), name)

    class Stream:
        """Only read."""

        def read(self):
            return data

    check(fw.open(Stream()), name)


@pytest.mark.parametrize("name", [*NAMES, "shards.safetensors.index.json"])
def test_urls(folder, name):
    with serving(folder) as server:
        file = fw.open(f"{server.url}/{name}")
        check(file, name)
        assert file.source == f"{server.url}/{name}"
        check(pickle.loads(pickle.dumps(file)), name)
        with pytest.raises(ValueError, match="fetched|decoded"):
            file[next(iter(file))].numpy(copy=False)
        with pytest.raises(OSError):
            fw.open(f"{server.url}/absent-{name}")


def test_a_part_of_a_file_in_a_store_is_fetched_alone(tmp_path):
    field = np.arange(1 << 20, dtype="f8").reshape(1024, 1024)
    for ending in ("tgm", "bt", "safetensors", "npz"):
        fw.save(tmp_path / f"big.{ending}", {"a": field, "b": field})
    with serving(tmp_path) as server:
        for ending in ("tgm", "bt", "safetensors", "npz"):
            before = server.sent
            file = fw.open(f"{server.url}/big.{ending}")
            assert np.array_equal(file["b"][500:502, 10:20], field[500:502, 10:20])
            assert server.sent - before < 1 << 20, ending


def test_settings_of_a_store_travel_with_the_handle(folder):
    with serving(folder) as server:
        file = fw.open(f"{server.url}/m.bt", storage_options={"timeout": "30 seconds"})
        assert "storage_options" in repr(file.__reduce__()[0]) and "30 seconds" in repr(file.__reduce__()[0])
        with pytest.raises((OSError, ValueError)):
            fw.open(f"{server.url}/m.bt", storage_options={"regoin": "x"})


def test_file_objects_are_read_from_where_they_are(folder):
    data = (folder / "m.bt").read_bytes()
    source = io.BytesIO(b"12345" + data)
    source.seek(5)
    check(fw.open(source))
    # Compressed: its descriptor is that of other bytes.
    packed = io.BytesIO(gzip.compress(data))
    check(fw.open(gzip.open(packed)))


def test_what_cannot_be_opened(folder):
    with pytest.raises(TypeError, match="a path, a URL, bytes or a binary file"):
        fw.open(5)
    with pytest.raises(ValueError):
        fw.open(b"nothing known")
    with pytest.raises(FileNotFoundError):
        fw.open("/nope/there.bt")
    with pytest.raises(TypeError, match="binary mode"):
        fw.open(open(folder / "shards.safetensors.index.json"))
    with pytest.raises(OSError):
        fw.open("gopher://host/x.bt")
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(fw.open(open(folder / "m.bt", "rb")))

    class Broken(io.BytesIO):
        def tell(self):
            return 0

        getbuffer = property()

        def read(self, size=-1):
            raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        fw.open(Broken())


def test_views_of_file_objects_outlive_them(folder):
    with open(folder / "m.safetensors", "rb") as source:
        file = fw.open(source)
        view = file["f"].numpy(copy=False)
    del file
    assert not view.flags.writeable and np.array_equal(view, FIELDS["f"])


def test_reads_through_one_handle_do_not_take_turns(tmp_path):
    """Both readers must be in the middle of a read at once: the server answers neither before both have asked."""
    field = np.arange(1 << 16, dtype="f8")
    for ending in ("tgm", "bt", "npz"):
        fw.save(tmp_path / f"m.{ending}", {"a": field, "b": field})
    with serving(tmp_path) as server:
        for ending in ("tgm", "bt", "npz"):
            file = fw.open(f"{server.url}/m.{ending}")
            server.meeting = threading.Barrier(2, timeout=30)
            found = {}
            readers = [threading.Thread(target=lambda name=name: found.update({name: file[name].numpy()})) for name in "ab"]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()
            server.meeting = None
            assert np.array_equal(found["a"], field) and np.array_equal(found["b"], field), ending


@pytest.mark.parametrize("name", [*NAMES, "shards.safetensors.index.json"])
def test_threads_share_a_handle(folder, name):
    """Reads of every kind, all at once, each what it would be alone."""
    path = folder / name
    for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes())) if not name.endswith(".json") else (path,):
        file = fw.open(source)
        start, failures = threading.Barrier(6), []

        def read(seed, file=file, start=start, failures=failures):
            rng = np.random.default_rng(seed)
            start.wait()
            for _ in range(40):
                try:
                    key = next(iter(file)) if name.endswith(".npy") else rng.choice(["f", "i"])
                    field = FIELDS["f" if name.endswith(".npy") else str(key)]
                    part = tuple(slice(*sorted(rng.integers(0, length + 1, 2)), int(rng.integers(1, 3))) for length in field.shape)
                    assert np.array_equal(file[key][part], field[part]) and np.array_equal(file[key].numpy(), field)
                    assert np.array_equal(file[key].numpy(copy=True), field)
                except BaseException as error:  # noqa: BLE001 - told by the test
                    failures.append(error)

        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_two_threads_decode_faster_than_one(tmp_path):
    """Two threads keep 1.6 processors busy, or eight tenths of what two threads of the standard library keep busy just now: other
    programs may be running."""
    field = np.random.default_rng(5).normal(size=3 << 20)
    path = tmp_path / "t.tgm"
    fw.save(path, {"a": field, "b": field}, pipeline={"compression": "zstd", "filter": "shuffle", "shuffle_element_size": 8})
    file, block = fw.open(path), field.tobytes()

    def busy(work):
        """Processors that were busy on average while two threads worked."""
        threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
        wall, cpu = time.perf_counter(), time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (time.process_time() - cpu) / (time.perf_counter() - wall)

    ours = limit = 0.0
    for _ in range(10):
        ours = max(ours, busy(lambda name: [file[name].numpy() for _ in range(3)]))
        limit = max(limit, busy(lambda name: [hashlib.sha256(block).digest() for _ in range(3)]))
        if ours >= min(1.6, 0.8 * limit) and limit > 1.2:
            return
    if limit <= 1.2:
        pytest.skip("no second processor is free")
    assert ours >= min(1.6, 0.8 * limit)
