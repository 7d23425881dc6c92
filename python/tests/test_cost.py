"""Bytes read, memory held, and nothing left behind."""

import gc
import os
import threading

import numpy as np
import pytest

import fwright as fw
import fwright.tensogram as tensogram

MIB = 1 << 20


def bytes_read():
    """Bytes that this process has asked the system for, page cache included."""
    with open("/proc/self/io") as counters:
        return int(next(line for line in counters if line.startswith("rchar")).split()[1])


def resident():
    with open("/proc/self/statm") as sizes:
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A message of 1 GiB; its zeros take no memory while it is written."""
    path = tmp_path_factory.mktemp("large") / "large.tgm"
    room = os.statvfs(path.parent)
    if room.f_bavail * room.f_frsize < 4 << 30:
        pytest.skip("less than 4 GiB free for a message of 1 GiB")
    stream = tensogram.StreamingEncoder({"base": [{"name": "z"}], "k": 1}, hash=None, sink=path)
    stream.write_object({}, np.zeros((16384, 16384), np.float32))
    stream.finish_backfilled()
    yield path
    path.unlink()


def test_metadata_and_windows_read_little(large):
    before = bytes_read()
    file = tensogram.TensogramFile.open(large)
    assert file.file_decode_metadata(0)["k"] == 1
    assert bytes_read() - before < 64 << 10
    before = bytes_read()
    window = file.file_decode_range(0, 0, [(row * 16384 + 5000, 16) for row in range(16)], join=True)
    assert window.shape == (256,) and bytes_read() - before < MIB
    before = bytes_read()
    part = fw.open(large)["z"][100:116, 5000:5016]
    assert part.shape == (16, 16) and bytes_read() - before < MIB


PACKED = {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}
BLOSC2 = {"compression": "blosc2", "blosc2_codec": "lz4", "blosc2_clevel": 5}


@pytest.mark.parametrize("keys", [PACKED, BLOSC2, {"encoding": "simple_packing", "sp_bits_per_value": 12}], ids=["szip", "blosc2", "packed"])
def test_a_window_of_coded_elements_reads_their_blocks(keys, tmp_path):
    """Only what holds the elements is read, and so decoded."""
    path = tmp_path / "coded.tgm"
    field = np.random.default_rng(4).normal(size=(1024, 2048))
    fw.save(path, {"z": field}, pipeline=keys)
    before = bytes_read()
    part = fw.open(path)["z"][100:116, 1000:1016]
    assert bytes_read() - before < path.stat().st_size / 8
    assert np.abs(part - field[100:116, 1000:1016]).max() < 0.01


def test_opening_holds_little(large):
    gc.collect()
    before = resident()
    file = fw.open(large)
    tensor = file["z"]
    view = tensor.numpy()
    message = tensogram.TensogramFile.open(large)
    assert len(message) == 1 and view.nbytes == 1 << 30
    assert resident() - before < 10 * MIB


def test_nothing_is_left_behind(tmp_path):
    path = tmp_path / "small.tgm"
    bt = tmp_path / "small.bt"
    field = np.arange(1000.0)
    fw.save(path, {"w": field})
    fw.save(bt, {"w": field})

    def once():
        with tensogram.TensogramFile.open(path) as file:
            file.file_decode_object(0, 0, copy=False)
        fw.open(bt)["w"].numpy()
        np.asarray(fw.open(path)["w"])

    for _ in range(500):
        once()
    gc.collect()
    files, before = len(os.listdir("/proc/self/fd")), resident()
    for _ in range(10_000):
        once()
    gc.collect()
    # Earlier tests may have left something that is closed by now.
    assert len(os.listdir("/proc/self/fd")) <= files
    assert resident() - before < 8 * MIB


def test_the_interpreter_is_free_while_work_is_done():
    message = tensogram.encode({}, [({"compression": "zstd"}, np.random.default_rng(1).normal(size=4 << 20))])
    done = threading.Event()

    def decode():
        tensogram.decode(message)
        tensogram.validate(message, "full")
        done.set()

    thread = threading.Thread(target=decode)
    turns = 0
    thread.start()
    while not done.wait(0.0005):
        turns += 1
    thread.join()
    assert turns > 3
