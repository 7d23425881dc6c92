"""Files in a bucket of S3, served on loopback: through ``fw.open``, and through both packages of Tensogram."""

import asyncio
import logging
import pickle

import numpy as np
import pytest
import tensogram as theirs
from beside import assert_same, call

import fwright as fw
import fwright.tensogram as ours

FIELDS = {"f": np.arange(24, dtype="f4").reshape(2, 3, 4), "i": np.arange(7, dtype="i8")}
F = np.arange(24.0).reshape(4, 6)
D = {"type": "ntensor", "shape": [4, 6], "dtype": "float64"}


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    """A bucket with files of every format, and the settings that lead to it."""
    server_module = pytest.importorskip("moto.server", reason="moto is not installed: buckets of S3 are not tested")
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed: buckets of S3 are not tested")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {"endpoint": f"http://{host}:{port}", "region": "us-east-1", "access_key_id": "id", "secret_access_key": "key", "allow_http": True}
    client = boto3.client(
        "s3", endpoint_url=settings["endpoint"], region_name="us-east-1", aws_access_key_id="id", aws_secret_access_key="key"
    )
    client.create_bucket(Bucket="data")
    folder = tmp_path_factory.mktemp("bucket")
    for ending in ("tgm", "bt", "safetensors", "npz"):
        fw.save(folder / f"m.{ending}", FIELDS)
    fw.save(folder / "big.bt", {"a": np.arange(1 << 19, dtype="f8").reshape(512, 1024)})
    fw.save(folder / "shards.safetensors", FIELDS, max_shard_size=60)
    np.save(folder / "f.npy", FIELDS["f"])
    for path in folder.iterdir():
        client.upload_file(str(path), "data", f"deep/{path.name}")
    message = theirs.encode({"base": [{"step": 1}], "k": "v"}, [({**D, "compression": "zstd"}, F), (D, F * 2)])
    client.put_object(Bucket="data", Key="two.tgm", Body=message + theirs.encode({"k": "w"}, [(D, F + 1)]))
    yield settings
    server.stop()


@pytest.mark.parametrize("name", ["m.tgm", "m.bt", "m.safetensors", "m.npz", "shards.safetensors.index.json", "f.npy"])
def test_every_format(bucket, name):
    file = fw.open(f"s3://data/deep/{name}", storage_options=bucket)
    for again in (file, pickle.loads(pickle.dumps(file))):
        fields = {next(iter(again)): FIELDS["f"]} if name == "f.npy" else FIELDS
        assert sorted(again) == sorted(fields)
        for key, field in fields.items():
            assert np.array_equal(np.asarray(again[key]), field) and again[key].dtype == field.dtype
    first = next(key for key in fields if fields[key].ndim == 3)
    assert np.array_equal(file[first][1, ::2, 3:0:-1], FIELDS["f"][1, ::2, 3:0:-1])


def test_settings_from_the_environment(bucket, monkeypatch):
    for name, value in bucket.items():
        monkeypatch.setenv(f"AWS_{name.upper()}", str(value).lower() if value is True else value)
    assert np.array_equal(fw.open("s3://data/deep/m.bt")["i"], FIELDS["i"])


def test_the_commands_take_urls(bucket, monkeypatch):
    for name, value in bucket.items():
        monkeypatch.setenv(f"AWS_{name.upper()}", str(value).lower() if value is True else value)
    assert fw.info("s3://data/deep/m.safetensors")["tensor_count"] == 2


def test_the_commands_take_settings(bucket):
    settings = {name: str(value).lower() if value is True else value for name, value in bucket.items()}
    assert fw.info("s3://data/deep/m.safetensors", storage_options=settings)["tensor_count"] == 2
    assert fw.diff("s3://data/deep/m.bt", "s3://data/deep/m.npz", storage_options=settings, ignore_metadata=True, allow_full_read=True)["ok"]


def test_what_is_not_there(bucket):
    with pytest.raises(FileNotFoundError):
        fw.open("s3://data/deep/absent.bt", storage_options=bucket)
    with pytest.raises(OSError):
        fw.open("s3://nowhere/absent.bt", storage_options=bucket)
    with pytest.raises((OSError, ValueError), match="regoin"):
        fw.open("s3://data/deep/m.bt", storage_options={**bucket, "regoin": "x"})


CALLS = [
    ("message_count", ()),
    ("is_remote", ()),
    ("source", ()),
    ("__repr__", ()),
    ("__len__", ()),
    *[(name, (index, *more)) for index in (0, 1, 2) for name, more in [
        ("decode_message", ()),
        ("file_decode_metadata", ()),
        ("file_decode_descriptors", ()),
        ("file_decode_object", (0,)),
        ("file_decode_object", (1,)),
        ("file_decode_range", (0, [(0, 3), (20, 4)])),
        ("read_message", ()),
    ]],
    ("file_decode_object_batch", ([0, 1], 0)),
    ("file_decode_range_batch", ([0, 1], 0, [(1, 2)])),
]  # fmt: skip


def test_tensogram_beside_the_reference(bucket):
    files = [module.TensogramFile.open_remote("s3://data/two.tgm", bucket) for module in (theirs, ours)]
    for name, args in CALLS:
        results = [call(getattr(file, name), *args) for file in files]
        assert_same(results[1], results[0], f"{name}{args}")
    results = [call(module.TensogramFile.open_remote, "s3://data/absent.tgm", bucket) for module in (theirs, ours)]
    assert_same(results[1], results[0])


def test_tensogram_awaited_beside_the_reference(bucket):
    async def act(module):
        file = await module.AsyncTensogramFile.open_remote("s3://data/two.tgm", bucket)
        await file.prefetch_layouts([0, 1])
        objects = await asyncio.gather(*(file.file_decode_object(index, 0) for index in range(2)))
        return [await file.message_count(), objects, await file.file_decode_range_batch([1], 0, [(0, 3)]), file.is_remote()]

    assert_same(asyncio.run(act(ours)), asyncio.run(act(theirs)))
