"""What opening and indexing read: bytes that a server sent, and memory."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from serving import serving

import fwright.tensogram as tensogram

xr = pytest.importorskip("xarray", reason="xarray is not installed")

SHAPE = (256, 256)



@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cost")
    field = np.random.default_rng(2).normal(size=SHAPE)
    for name, pipeline in {"raw": {}, "szip": {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}}.items():
        file = tensogram.TensogramFile.create(folder / f"{name}.tgm")
        for step in range(20):
            file.append({"base": [{"name": "t", "step": step}]}, [(pipeline, field + step)])
    return folder


@pytest.mark.parametrize("name", ["raw", "szip"])
def test_bytes_of_a_store(folder, name):
    local = xr.open_dataset(folder / f"{name}.tgm", engine="fwright")["t"].load()
    with serving(folder) as server:
        opened = xr.open_dataset(f"{server.url}/{name}.tgm", engine="fwright", cache=False)["t"]
        opening, server.sent = server.sent, 0
        # 20 messages with 512 KiB (or 128 KiB) each.
        assert opening < 20 * 8 * 1024, opening
        for key, most in (
            (np.s_[:, 100, 200], 20 * 4096),
            (np.s_[3, 100:116, 200:216], 16 * 4096),
            (np.s_[3, 7], 8192),
            (np.s_[[1, 5], [0, 255], 3], 4 * 4096),
        ):
            server.sent = 0
            assert np.array_equal(opened[key], local[key]), key
            # What is packed is read in blocks; the request of a part of szip reads its descriptor again.
            assert server.sent <= (most if name == "raw" else 20 * 8192), (key, server.sent)
        server.sent = 0
        points = [xr.DataArray(places, dims="p") for places in ([0, 19, 3], [5, 250, 5], [7, 0, 200])]
        assert np.array_equal(opened[tuple(points)], local[tuple(points)]) and server.sent <= 3 * 8192, server.sent


def test_memory_of_a_large_message(tmp_path):
    """Opening a message and reading a window of it takes less than 30 MB above the imports, whatever its size."""
    file = tensogram.TensogramFile.create(tmp_path / "f.tgm")
    file.append({"base": [{"name": "a"}, {"name": "b"}]}, [({}, np.zeros((4096, 4096))), ({}, np.ones((4096, 2048)))])
    program = """
        import resource, sys, xarray as xr, fwright.xarray
        xr.backends.list_engines()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        opened = xr.open_dataset(sys.argv[1], engine="fwright")
        assert opened["b"][100:116, 100:116].values.sum() == 256 and opened["a"][5, 5].item() == 0
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "f.tgm")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 30_000, done.stdout
