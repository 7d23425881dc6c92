"""What ours takes and gives beyond the reference: any array, any buffer, views, pickles."""

import asyncio
import gc
import io
import mmap
import pathlib
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

import fwright.tensogram as tensogram

BASE = np.arange(24).reshape(4, 6)

ARRAYS = {
    "fortran": np.asfortranarray(BASE.astype("f4")),
    "transposed": BASE.astype("f8").T,
    "strided": BASE.astype("i4")[::2, ::3],
    "reversed": BASE.astype("u2")[::-1, ::-1],
    "big-endian": BASE.astype(">f4"),
    "big-endian complex": BASE.astype(">c8"),
    "float16": BASE.astype("f2"),
    "complex64": BASE.astype("c8") * 1j,
    "complex128": BASE.astype("c16") * 1j,
    "0-d": np.float64(2.5).reshape(()),
    "scalar": np.float32(2.5),
    "empty": np.zeros((0, 3), "i8"),
    "bfloat16": BASE.astype(ml_dtypes.bfloat16),
    "bfloat16 strided": BASE.astype(ml_dtypes.bfloat16)[:, ::2],
    "read-only": np.frombuffer(BASE.astype("f4").tobytes(), "f4"),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("order", [None, "little", "big"])
@pytest.mark.parametrize("keys", [{}, {"compression": "zstd"}])
def test_any_array_comes_back(name, order, keys):
    array = ARRAYS[name]
    descriptor = {**keys, **({"byte_order": order} if order else {})}
    [(described, back)] = tensogram.decode(tensogram.encode({}, [(descriptor, array)])).objects
    assert described.shape == list(array.shape)
    assert back.dtype == array.dtype.newbyteorder("=") and np.array_equal(back, array)
    assert described.byte_order == (order or "little")


def test_the_bytes_of_the_wire_carry_their_order():
    message = tensogram.encode({}, [({"byte_order": "big"}, BASE.astype("f4"))])
    [(_, wire)] = tensogram.decode(message, native_byte_order=False).objects
    assert wire.dtype == np.dtype(">f4") and np.array_equal(wire, BASE)


def test_bool():
    flags = BASE % 3 == 0
    [(described, back)] = tensogram.decode(tensogram.encode({}, [({}, flags)])).objects
    assert described.dtype == "uint8" and np.array_equal(back.astype(bool), flags)
    [(described, back)] = tensogram.decode(tensogram.encode({}, [({"dtype": "bitmask"}, flags)])).objects
    assert described.dtype == "bitmask" and described.shape == [4, 6]
    assert np.array_equal(np.unpackbits(back).astype(bool)[:24].reshape(4, 6), flags)


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="int32, which does not match expected float32"):
        tensogram.encode({}, [({"dtype": "float32"}, BASE.astype("i4"))])
    with pytest.raises(ValueError, match=r"shape \[4, 6\], which does not match expected \[6, 4\]"):
        tensogram.encode({}, [({"shape": [6, 4]}, BASE)])
    with pytest.raises(ValueError, match="datetime64"):
        tensogram.encode({}, [({}, np.array(["2020-01-01"], "M8[s]"))])
    for missing in ("shape", "dtype"):
        descriptor = {"shape": [4], "dtype": "uint8"}
        del descriptor[missing]
        with pytest.raises(ValueError, match=f"descriptor missing '{missing}'"):
            tensogram.encode({}, [(descriptor, b"abcd")])


def test_bits_in_another_type():
    halves = BASE.astype("f2")
    for dtype, bits in [("float16", halves.view("u2")), ("float16", halves.view("u1")), ("complex64", BASE.astype("c8").view("f4"))]:
        shape = [4, 6]
        message = tensogram.encode({}, [({"dtype": dtype, "shape": shape}, bits)])
        assert np.array_equal(tensogram.decode(message).objects[0][1], BASE)
    flat = tensogram.encode({}, [({"shape": [4, 6]}, BASE.ravel())])
    assert np.array_equal(tensogram.decode(flat).objects[0][1], BASE)


def test_tuples_lists_and_values():
    metadata = {"base": ({"a": (1, 2), "b": b"x", "c": np.float32(1.5), "d": np.arange(3)},), "big": 2**64 - 1}
    message = tensogram.encode(metadata, ([{}, BASE],))
    read = tensogram.decode_metadata(message)
    assert read["a"] == [1, 2] and read["b"] == b"x" and read["c"] == 1.5 and read["d"] == [0, 1, 2]
    assert read["big"] == 2**64 - 1
    with pytest.raises(ValueError, match="outside"):
        tensogram.encode({"a": 2**64}, [])
    loop = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        tensogram.encode({"a": loop}, [])


def test_any_buffer(tmp_path):
    message = tensogram.encode({"k": 1}, [({}, BASE)])
    path = tmp_path / "m.tgm"
    path.write_bytes(message)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for buffer in (message, bytearray(message), memoryview(message), mapped, np.frombuffer(message, "u1")):
            [(_, array)] = tensogram.decode(buffer).objects
            assert np.array_equal(array, BASE)
    with pytest.raises(BufferError):
        tensogram.decode(memoryview(message)[::2])
    assert tensogram.validate_file(path)["file_issues"] == []
    assert len(tensogram.TensogramFile.open(pathlib.Path(path))) == 1
    payload = memoryview(BASE.tobytes())
    assert np.array_equal(tensogram.decode(tensogram.encode({}, [({"dtype": "int64", "shape": [4, 6]}, payload)])).objects[0][1], BASE)


def test_views_keep_their_owner_alive(tmp_path):
    field = np.arange(100_000, dtype="f8")
    path = tmp_path / "v.tgm"
    with tensogram.TensogramFile.create(path) as file:
        file.append({}, [({}, field), ({"compression": "zstd"}, field)])
    views = []

    def read():
        buffer = bytearray(path.read_bytes())
        file = tensogram.TensogramFile.open(path)
        views.append(tensogram.decode(buffer, copy=False).objects[0][1])
        views.append(tensogram.decode_object(bytes(buffer), 0, copy=False)[2])
        views.append(file.decode_message(0, copy=False).objects[0][1])
        views.append(file.file_decode_object(0, 0, copy=False)["data"])

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    gc.collect()
    path.unlink()
    for view in views:
        assert not view.flags.writeable and view.base is not None
        assert np.array_equal(view, field)
        with pytest.raises(ValueError):
            view[0] = 1
    packed = tensogram.decode(tensogram.encode({}, [({"compression": "zstd"}, field)]), copy=False).objects[0][1]
    assert packed.flags.writeable and np.array_equal(packed, field)


def test_views_of_a_growing_file(tmp_path):
    path = tmp_path / "g.tgm"
    file = tensogram.TensogramFile.create(path)
    views = []
    for step in range(5):
        file.append({}, [({}, np.full(1000, step))])
        views.append(file.file_decode_object(step, 0, copy=False)["data"])
    for step, view in enumerate(views):
        assert (view == step).all() and not view.flags.writeable
    with pytest.raises(ValueError, match="FramingError"):
        file.decode_message(5, copy=False)


def test_views_of_a_replaced_file_are_of_the_one_that_was_opened(tmp_path):
    path, other = tmp_path / "r.tgm", tmp_path / "other.tgm"
    for name, factor in ((path, 1), (other, 2)):
        with tensogram.TensogramFile.create(name) as file:
            file.append({}, [({}, BASE * factor)])
    file = tensogram.TensogramFile.open(path)
    other.replace(path)
    assert np.array_equal(file.decode_message(0, copy=False).objects[0][1], BASE) and np.array_equal(file[0].objects[0][1], BASE)
    assert np.array_equal(tensogram.TensogramFile.open(path)[0].objects[0][1], BASE * 2)


def test_pickles(tmp_path):
    path = tmp_path / "p.tgm"
    file = tensogram.TensogramFile.create(path)
    file.append({"k": 1, "base": [{"m": {"x": [1, None]}}]}, [({"compression": "zstd"}, BASE)])
    again = pickle.loads(pickle.dumps(file))
    assert repr(again) == repr(file) and len(again) == 1
    message = pickle.loads(pickle.dumps(file[0]))
    assert message.metadata.base == file[0].metadata.base and message.metadata.reserved == file[0].metadata.reserved
    assert repr(message.objects[0][0]) == repr(file[0].objects[0][0])
    assert np.array_equal(message.objects[0][1], BASE)
    assert isinstance(message, tensogram.Message)


def test_iterators_pickle_with_their_position(tmp_path):
    path = tmp_path / "i.tgm"
    file = tensogram.TensogramFile.create(path)
    for step in range(4):
        file.append({"k": step}, [({}, BASE)])
    for made in (lambda: iter(file), lambda: tensogram.iter_messages(path.read_bytes(), verify_hash=True)):
        messages = made()
        next(messages)
        again = pickle.loads(pickle.dumps(messages))
        assert repr(again) == repr(messages) and len(again) == 3
        assert [message.metadata["k"] for message in again] == [1, 2, 3] and next(messages).metadata["k"] == 1

    async def act():
        awaited = await tensogram.AsyncTensogramFile.open(path)
        return await pickle.loads(pickle.dumps(awaited)).file_decode_object(3, 0)

    assert np.array_equal(asyncio.run(act())["data"], BASE)


def test_a_buffer_stays_as_long_as_its_views():
    buffer = bytearray(tensogram.encode({}, [({}, BASE)]))
    view = tensogram.decode(buffer, copy=False).objects[0][1]
    with pytest.raises(BufferError):
        buffer.clear()
    assert np.array_equal(view, BASE)
    del view
    gc.collect()
    buffer.clear()


@pytest.mark.parametrize("kind", ["path", "file", "object"])
def test_streams_to_a_sink(tmp_path, kind):
    path = tmp_path / "s.tgm"

    class Narrow(io.RawIOBase):
        """Takes a few bytes at a time."""

        def __init__(self):
            self.inner = open(path, "wb")

        def write(self, data):
            return self.inner.write(bytes(data)[:7])

        def seek(self, *args):
            return self.inner.seek(*args)

        def flush(self):
            self.inner.flush()

    sink = {"path": lambda: path, "file": lambda: open(path, "wb"), "object": Narrow}[kind]()
    stream = tensogram.StreamingEncoder({"k": 1}, sink=sink)
    stream.write_preceder({"param": "2t"})
    stream.write_object({}, BASE)
    assert stream.object_count == 1
    written = stream.bytes_written
    assert written > BASE.nbytes
    with pytest.raises(OSError):
        stream.finish_and_reset()
    assert stream.finish_backfilled() is None
    with pytest.raises(RuntimeError, match="already finished"):
        stream.finish()
    metadata, [(_, array)] = tensogram.decode(path.read_bytes())
    assert metadata["param"] == "2t" and metadata["k"] == 1 and np.array_equal(array, BASE)
    assert tensogram.validate_file(path, "full")["messages"][0]["issues"] == []


def test_streams_are_awaited(tmp_path):
    path = tmp_path / "a.tgm"

    async def write():
        encoder = tensogram.AsyncStreamingEncoder({"k": 1}, sink=path)
        await encoder.write_preceder({"param": "2t"})
        await encoder.write_object({"compression": "zstd"}, BASE)
        assert encoder.object_count == 1 and encoder.bytes_written > 0
        return await encoder.finish_backfilled()

    assert asyncio.run(write()) is None
    metadata, [(_, array)] = tensogram.decode(path.read_bytes())
    assert metadata["param"] == "2t" and np.array_equal(array, BASE)


def test_a_sink_that_fails_is_an_error():
    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        tensogram.StreamingEncoder({}, sink=Full())


def test_errors_carry_code_and_place():
    with pytest.raises(ValueError, match="FramingError: ") as caught:
        tensogram.decode(b"x" * 100)
    assert caught.value.code == "invalid_magic" and caught.value.offset == 0
    with pytest.raises(FileNotFoundError):
        tensogram.TensogramFile.open("/nope/there.tgm")


def test_arrays_can_be_written_to():
    [(_, array)] = tensogram.decode(tensogram.encode({}, [({}, BASE)])).objects
    array += 1
    assert array.flags.aligned and np.array_equal(array, BASE + 1)


def test_masks_are_shown():
    holes = np.array([1.0, np.nan, np.inf])
    message = tensogram.encode({}, [({}, holes)], allow_nan=True, allow_inf=True)
    [(descriptor, array, masks)] = tensogram.decode_with_masks(message).objects
    assert sorted(descriptor.masks) == ["inf+", "nan"] and array.tolist() == [1, 0, 0]
    assert masks["nan"].tolist() == [False, True, False]


def test_two_threads_share_a_file(tmp_path):
    path = tmp_path / "t.tgm"
    file = tensogram.TensogramFile.create(path)
    for step in range(20):
        file.append({}, [({"compression": "lz4"}, np.full(5000, step))])
    failures = []

    def read():
        for step in range(20):
            if not (file.file_decode_object(step, 0)["data"] == step).all():
                failures.append(step)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_following_a_file_that_grows(tmp_path):
    """Messages that another handle adds arrive one by one; damage at the end is waited for, as one that is being written."""
    path = tmp_path / "f.tgm"
    writer = tensogram.TensogramFile.create(path)
    writer.append({"k": 0}, [({}, BASE)])
    reader = tensogram.TensogramFile.open(path)
    events = reader.follow(poll_interval=0.01)
    assert next(events).metadata["k"] == 0 and "position=1" in repr(events)
    found = []
    thread = threading.Thread(target=lambda: found.extend(next(events).metadata["k"] for _ in range(3)))
    thread.start()
    for step in range(1, 4):
        writer.append({"k": step}, [({}, BASE)])
    thread.join(60)
    assert found == [1, 2, 3] and len(reader) == 4
    whole = tensogram.encode({"k": 4}, [({}, BASE)])
    with open(path, "ab") as file:
        file.write(whole[:200])
        file.flush()
        assert list(reader.follow(start=4, idle_timeout=0.05, poll_interval=0.01)) == []
        file.write(whole[200:])
    assert [message.metadata["k"] for message in reader.follow(start=-2, idle_timeout=0)] == [3, 4]
    for wrong in ({"poll_interval": -1}, {"idle_timeout": float("nan")}):
        with pytest.raises(ValueError, match="seconds"):
            reader.follow(**wrong)
