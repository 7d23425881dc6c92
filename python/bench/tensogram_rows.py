"""Rows beside the package ``tensogram``, ``np.load``, ``np.memmap``, ``zarr`` and ``h5py``: the same data on both sides."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tensogram as theirs
import zarr
from measure import Row

import fwright as fw
import fwright.tensogram as ours

MIB = 1 << 20


def described(array: np.ndarray[Any, Any], **keys: Any) -> dict[str, Any]:
    return {"type": "ntensor", "shape": list(array.shape), "dtype": str(array.dtype), **keys}


# Pipelines as docs/benchmarks.md names them, with the data of the Rust row, and as descriptors.
CODECS: dict[tuple[str, str], dict[str, Any]] = {
    ("zstd 3", "f32 4 MB"): {"compression": "zstd"},
    ("shuffle + zstd 3", "f32 4 MB"): {"filter": "shuffle", "shuffle_element_size": 4, "compression": "zstd"},
    ("shuffle + lz4", "f32 4 MB"): {"filter": "shuffle", "shuffle_element_size": 4, "compression": "lz4"},
    ("blosc2 lz4", "f64 8 MB"): {"compression": "blosc2", "blosc2_codec": "lz4", "blosc2_clevel": 5},
    ("packing 16 bits", "f64 8 MB"): {"encoding": "simple_packing", "sp_bits_per_value": 16},
    ("packing 16 + szip", "f64 8 MB"): {
        "encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", "szip_rsi": 128, "szip_block_size": 16,
        "szip_flags": 8,
    },
    ("zfp rate 16", "f64 8 MB"): {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 16.0},
    ("sz3 abs 0.01", "f64 8 MB"): {"compression": "sz3", "sz3_error_bound_mode": "abs", "sz3_error_bound": 0.01},
}


def rust_times(pipeline: str, data: str, operation: str) -> float:
    """How many times faster than the reference crate the Rust row is, as the table of the codecs says."""
    page = (Path(__file__).resolve().parents[2] / "docs/benchmarks.md").read_text()
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 8 and cells[:4] == [pipeline, data, operation, "1"]:
            return float(cells[7])
    raise LookupError(f"docs/benchmarks.md has no row {pipeline}, {data}, {operation}")


def rows(folder: Path) -> Iterator[Row]:
    """All rows; what they read is made on the way."""
    raw = np.random.default_rng(1).normal(size=(4096, 4096)).astype("f4")
    message = theirs.encode({"k": 1}, [(described(raw), raw)])
    yield Row("decode/raw 64 MiB/view", lambda: ours.decode(message, copy=False), "tensogram", lambda: theirs.decode(message), 1000)
    yield Row("decode/raw 64 MiB/copy", lambda: ours.decode(message), "tensogram", lambda: theirs.decode(message), 8)
    yield Row("decode/raw 64 MiB/copy beside np.copy", lambda: ours.decode(message), "np.copy", lambda: np.copy(raw), 1 / 1.3)
    yield Row(
        "encode/raw 64 MiB",
        lambda: ours.encode({}, [(described(raw), raw)]),
        "tensogram",
        lambda: theirs.encode({}, [(described(raw), raw)]),
        8,
    )
    path = folder / "64.tgm"
    path.write_bytes(message)
    name = str(path)
    yield Row(
        "file/metadata of 64 MiB",
        lambda: ours.TensogramFile.open(name).file_decode_metadata(0),
        "tensogram",
        lambda: theirs.TensogramFile.open(name).file_decode_metadata(0),
        1000,
    )
    yield from beside_files(folder, raw)
    yield from window(folder)
    many = theirs.encode({}, [(described(np.full(16, number, "f4")), np.full(16, number, "f4")) for number in range(5000)])
    (folder / "many.tgm").write_bytes(many)
    name_of_many = str(folder / "many.tgm")
    mine, other = ours.TensogramFile.open(name_of_many), theirs.TensogramFile.open(name_of_many)
    yield Row(
        "file/one of 5000 objects",
        lambda: mine.file_decode_object(0, 4321),
        "tensogram",
        lambda: other.file_decode_object(0, 4321),
        200,
    )
    yield from codecs()


def window(folder: Path) -> Iterator[Row]:
    """16 x 16 of a message of 1 GiB."""
    path = folder / "gib.tgm"
    stream = ours.StreamingEncoder({}, hash=None, sink=path)
    stream.write_object({}, np.zeros((16384, 16384), np.float32))
    stream.finish_backfilled()
    ranges = [(row * 16384 + 5000, 16) for row in range(100, 116)]
    mine, other = ours.TensogramFile.open(str(path)), theirs.TensogramFile.open(str(path))
    yield Row(
        "file/16 x 16 window of 1 GiB",
        lambda: mine.file_decode_range(0, 0, ranges),
        "tensogram",
        lambda: other.file_decode_range(0, 0, ranges),
        5000,
    )
    path.unlink()


def beside_files(folder: Path, raw: np.ndarray[Any, Any]) -> Iterator[Row]:
    """The same array in the files of others; what is asked for is in the page cache."""
    fw.save(folder / "a.tgm", {"a": raw})
    np.save(folder / "a.npy", raw)
    zarr.save_array(str(folder / "a.zarr"), raw, compressors=None)
    with h5py.File(folder / "a.h5", "w") as file:
        file["a"] = raw

    def hdf() -> Any:
        with h5py.File(folder / "a.h5") as file:
            return file["a"][...]

    def hdf_window() -> Any:
        with h5py.File(folder / "a.h5") as file:
            return file["a"][100:116, 200:216]

    yield Row("file/64 MiB, all of it", lambda: fw.open(folder / "a.tgm")["a"].numpy(copy=True), "np.load", lambda: np.load(folder / "a.npy"), 0.8)
    yield Row("file/64 MiB, all of it", lambda: fw.open(folder / "a.tgm")["a"].numpy(copy=True), "h5py", hdf, 0.8)
    yield Row(
        "file/64 MiB, all of it",
        lambda: fw.open(folder / "a.tgm")["a"].numpy(copy=True),
        "zarr",
        lambda: zarr.open_array(str(folder / "a.zarr"), mode="r")[...],
        0.8,
    )
    yield Row(
        "file/64 MiB, as a view",
        lambda: fw.open(folder / "a.npy")["a"].numpy(copy=False),
        "np.memmap",
        lambda: np.load(folder / "a.npy", mmap_mode="r"),
    )
    yield Row("file/16 x 16 window of 64 MiB", lambda: fw.open(folder / "a.tgm")["a"][100:116, 200:216], "h5py", hdf_window)
    yield Row(
        "file/16 x 16 window of 64 MiB",
        lambda: fw.open(folder / "a.tgm")["a"][100:116, 200:216],
        "zarr",
        lambda: zarr.open_array(str(folder / "a.zarr"), mode="r")[100:116, 200:216],
    )


def codecs() -> Iterator[Row]:
    """Every codec on one thread, on a field like that of the Rust row: waves and a little noise."""
    y, x = np.mgrid[0:1000, 0:1000] / 1000
    smooth = 280 + 20 * np.sin(6 * x) * np.cos(4 * y) + np.random.default_rng(2).normal(scale=0.05, size=x.shape)
    for (pipeline, data), keys in CODECS.items():
        field = smooth.astype("f4" if data.startswith("f32") else "f8")
        pair = [(described(field, **keys), field)]
        message = theirs.encode({}, pair)
        name = f"{pipeline}, {data}"
        yield Row(
            f"encode/{name}",
            lambda pair=pair: ours.encode({}, pair),  # type: ignore[misc]
            "tensogram",
            lambda pair=pair: theirs.encode({}, pair),  # type: ignore[misc]
            0.8 * rust_times(pipeline, data, "encode"),
        )
        yield Row(
            f"decode/{name}",
            lambda message=message: ours.decode(message),  # type: ignore[misc]
            "tensogram",
            lambda message=message: theirs.decode(message),  # type: ignore[misc]
            0.8 * rust_times(pipeline, data, "decode"),
        )


def limits(rounds: int) -> list[tuple[str, float, float, str]]:
    """Rows against a number instead of a peer: name, what was found, the most that is allowed, the unit."""
    program = (
        "import sys, time; begun = time.perf_counter(); import fwright; took = time.perf_counter() - begun; "
        "assert 'numpy' not in sys.modules; print(took)"
    )
    # Beside the modules of the standard library that the interpreter may not have loaded yet.
    taken = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout) for _ in range(rounds * 5)]
    found = [("import fwright", min(taken) * 1e3, 10.0, "ms")]
    url = "s3://bucket/a.tgm"
    calls = 20_000

    def many() -> float:
        call = ours.is_remote_url
        begun = time.perf_counter()
        for _ in range(calls):
            call(url)
        return (time.perf_counter() - begun) / calls

    # The Rust function compares a few bytes: all of it is the way there and back.
    found.append(("a call that does next to nothing", min(many() for _ in range(rounds * 3)) * 1e6, 1.0, "µs"))
    return found
