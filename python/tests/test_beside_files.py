"""Files and streams, in both packages."""

import asyncio
import os

import numpy as np
import pytest
import tensogram as theirs
from beside import Raised, assert_same, call
from serving import serving

import fwright.tensogram as ours

F = np.arange(24, dtype=np.float64).reshape(4, 6)
D = {"type": "ntensor", "shape": [4, 6], "dtype": "float64"}
MODULES = [theirs, ours]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("files") / "f.tgm")
    file = theirs.TensogramFile.create(path)
    for step, keys in enumerate([{}, {"compression": "zstd"}, {"filter": "shuffle", "shuffle_element_size": 8, "compression": "lz4"}]):
        file.append({"base": [{"step": step}, {"b": 1}], "k": step}, [({**D, **keys}, F + step), (D, F * 2)])
    stream = theirs.StreamingEncoder({"base": [{"step": 3}]})
    stream.write_object(D, F)
    with open(path, "ab") as end:
        end.write(stream.finish_backfilled())
    return path


CALLS = [
    ("message_count", ()),
    ("is_remote", ()),
    ("source", ()),
    ("messages", ()),
    ("file_decode_object_batch", ([0], 0)),
    ("file_decode_range_batch", ([0], 0, [(0, 1)])),
    *[
        (name, (index, *more))
        for index in (0, 1, 2, 3, 4, 99, -1, "x")
        for name, more in [
            ("decode_message", ()),
            ("decode_message", (False,)),
            ("file_decode_metadata", ()),
            ("file_decode_descriptors", ()),
            ("read_message", ()),
            ("file_decode_object", (0,)),
            ("file_decode_object", (1,)),
            ("file_decode_object", (7,)),
            ("file_decode_range", (0, [(0, 2), (20, 4)])),
            ("file_decode_range", (0, [(0, 2), (20, 4)], True)),
            ("file_decode_range", (0, [(23, 2)])),
            ("__getitem__", ()),
        ]
    ],
    *[("__getitem__", (key,)) for key in (slice(0, 2), slice(None, None, -1), slice(5, 9), -1, -4, -5, 1.5)],
    ("__len__", ()),
    ("__repr__", ()),
    ("__exit__", ()),
]


@pytest.mark.parametrize(("name", "args"), CALLS, ids=lambda value: str(value))
def test_methods(path, name, args):
    results = [call(getattr(module.TensogramFile.open(path), name), *args) for module in MODULES]
    assert_same(results[1], results[0], f"{name}{args}")


def test_iteration(path):
    mine, other = iter(ours.TensogramFile.open(path)), iter(theirs.TensogramFile.open(path))
    for _ in range(5):
        assert repr(mine) == repr(other) and len(mine) == len(other)
        assert_same(call(next, mine), call(next, other))


def test_opening_and_creating(tmp_path):
    for name in ("open", "create", "open_remote"):
        for args in [("/nope/there.tgm",), (5,), (), (None,)]:
            if name == "create" and args == ("/nope/there.tgm",) and os.access("/", os.W_OK):
                continue
            if name == "open_remote" and args == ("/nope/there.tgm",):
                continue
            results = [call(getattr(module.TensogramFile, name), *args) for module in MODULES]
            assert isinstance(results[0], Raised)
            assert_same(results[1], results[0], f"{name}{args}")
    for module in MODULES:
        with module.TensogramFile.create(str(tmp_path / module.__name__ / "deep" / "f.tgm")) as file:
            file.append({"k": 1}, [(D, F)])
        file.append({"k": 2}, [(D, F)])
        assert len(file) == 2 and file[1].metadata["k"] == 2


def test_streaming(tmp_path):
    def act(module):
        stream = module.StreamingEncoder({"k": "x"}, allow_nan=True)
        results = [stream.write_object(D, F), stream.write_object_pre_encoded(D, F.tobytes())]
        first = stream.finish_and_reset()
        results.append(stream.write_object(D, F + 1))
        second = stream.finish_and_reset_backfilled()
        third = stream.finish_backfilled()
        errors = [call(stream.finish), call(stream.write_object, D, F), call(stream.finish_and_reset)]
        refused = [call(module.StreamingEncoder, {}, aggregate_hash=policy) for policy in ("header", "both", "zz")]
        return results, [first, second, third], errors + refused

    mine, other = act(ours), act(theirs)
    assert_same(mine[0], other[0])
    assert_same(mine[2], other[2])
    for one, two in zip(mine[1], other[1]):
        for reader in MODULES:
            assert_same(reader.decode(one), reader.decode(two)) if reader is theirs else None
            assert reader.decode(one).metadata.extra == reader.decode(two).metadata.extra
            assert reader.decode(one).metadata.base == reader.decode(two).metadata.base
            assert len(reader.scan(one)) == len(reader.scan(two)) == 1
            for (_, x), (_, y) in zip(reader.decode(one).objects, reader.decode(two).objects):
                assert np.array_equal(x, y)


def test_awaited(path):
    async def act(module):
        file = await module.AsyncTensogramFile.open(path)
        shown = [repr(file), file.is_remote(), file.source(), call(len, file), call(file.__aiter__)]
        shown.append(await file.message_count())
        shown.append(len(file))
        for name, args in CALLS:
            if name.startswith("__") or name in ("message_count", "is_remote", "source"):
                continue
            try:
                shown.append(await getattr(file, name)(*args))
            except Exception as error:  # noqa: BLE001
                shown.append(Raised(error))
        shown.append([message async for message in file])
        shown.append(repr(file.__aiter__()))
        shown.append(len(file.__aiter__()))
        shown.append(await file.prefetch_layouts([0, 1]))
        async with file as same:
            assert same is file
        shown.append(await asyncio.gather(*(file.file_decode_object(index, 0) for index in range(4))))
        return shown

    mine, other = asyncio.run(act(ours)), asyncio.run(act(theirs))
    assert_same(mine, other)


def test_awaited_errors():
    async def act(module):
        try:
            return await module.AsyncTensogramFile.open("/nope/there.tgm")
        except Exception as error:  # noqa: BLE001
            return Raised(error)

    assert_same(asyncio.run(act(ours)), asyncio.run(act(theirs)))


@pytest.fixture(scope="module")
def url(path):
    with serving(os.path.dirname(path)) as server:
        yield f"{server.url}/f.tgm"


REMOTE = [entry for entry in CALLS if entry[0] not in ("__exit__", "messages")] + [
    ("file_decode_object_batch", ([0, 2, 1], 0)),
    ("file_decode_range_batch", ([0, 1], 1, [(0, 2), (5, 1)])),
    ("file_decode_range_batch", ([0, 1], 1, [(0, 2), (5, 1)], True)),
    ("__iter__", ()),
]


def test_remote(url):
    files = [module.TensogramFile.open(url) for module in MODULES]
    for name, args in REMOTE:
        results = [call(getattr(file, name), *args) for file in files]
        assert_same(results[1], results[0], f"{name}{args}")
    for args in [(url,), (url, {"allow_http": True}), (url, {"timeout": "30 seconds"})]:
        assert [repr(module.TensogramFile.open_remote(*args)) for module in MODULES] == [f"TensogramFile(source='{url}')"] * 2

    class Silent:
        def __str__(self):
            raise RuntimeError

    for module in MODULES:
        with pytest.raises(ValueError, match="convertible to string"):
            module.TensogramFile.open_remote(url, {"a": Silent()})
        with pytest.raises(RuntimeError, match="iteration not supported"):
            iter(module.TensogramFile.open(url))


def test_remote_awaited(url):
    async def act(module):
        file = await module.AsyncTensogramFile.open(url)
        await file.prefetch_layouts([0, 1])
        objects = await file.file_decode_object_batch([0, 1], 0)
        ranges = await file.file_decode_range_batch([0, 1], 1, [(0, 3)])
        return [await file.message_count(), objects, ranges, [message async for message in file], file.is_remote()]

    assert_same(asyncio.run(act(ours)), asyncio.run(act(theirs)))


def test_remote_errors(url):
    results = [call(module.TensogramFile.open, url.replace("f.tgm", "nope.tgm")) for module in MODULES]
    assert_same(results[1], results[0])
