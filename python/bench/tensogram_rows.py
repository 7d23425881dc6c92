"""Rows beside the package ``tensogram``, ``np.load``, ``np.memmap``, ``zarr`` and ``h5py``: the same data on both sides."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
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


SZIP = {"compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}
SHUFFLE = {"filter": "shuffle", "shuffle_element_size": 4}
PACKED = {"encoding": "simple_packing", "sp_bits_per_value": 16}


def blosc(codec: str) -> dict[str, Any]:
    return {"compression": "blosc2", "blosc2_codec": codec}


def zfp(mode: str, key: str, value: float) -> dict[str, Any]:
    return {"compression": "zfp", "zfp_mode": mode, key: value}


def sz3(mode: str, bound: float) -> dict[str, Any]:
    return {"compression": "sz3", "sz3_error_bound_mode": mode, "sz3_error_bound": bound}


# Pipelines and data as the table of the codecs in docs/benchmarks.md names them, and descriptors.
CODECS: list[tuple[str, str, dict[str, Any]]] = [
    ("raw", "f32 4 MB", {}),
    ("raw", "f64 64 MiB", {}),
    ("raw, 10 % NaN in masks", "f32 4 MB holes", {}),
    ("shuffle", "f32 4 MB", SHUFFLE),
    ("zstd 3", "f32 4 MB", {"compression": "zstd", "zstd_level": 3}),
    ("shuffle + zstd 3", "f32 4 MB", {**SHUFFLE, "compression": "zstd", "zstd_level": 3}),
    ("lz4, incompressible", "f32 4 MB noise", {"compression": "lz4"}),
    ("shuffle + lz4", "f32 4 MB", {**SHUFFLE, "compression": "lz4"}),
    ("blosc2 lz4", "f64 8 MB", blosc("lz4")),
    ("blosc2 lz4", "f64 64 MiB", blosc("lz4")),
    ("blosc2 blosclz", "f64 8 MB", blosc("blosclz")),
    ("blosc2 lz4hc", "f64 8 MB", blosc("lz4hc")),
    ("blosc2 zlib", "f64 8 MB", blosc("zlib")),
    ("blosc2 zstd", "f64 8 MB", blosc("zstd")),
    ("packing 16 bits", "f64 8 MB", PACKED),
    ("packing 16 bits", "f64 64 MiB", PACKED),
    ("packing 12 bits", "f64 8 MB", {**PACKED, "sp_bits_per_value": 12}),
    ("packing 16 + szip", "f64 8 MB", {**PACKED, **SZIP}),
    ("szip", "f32 4 MB", SZIP),
    ("zfp rate 16", "f64 8 MB", zfp("fixed_rate", "zfp_rate", 16.0)),
    ("zfp precision 24", "f64 8 MB", zfp("fixed_precision", "zfp_precision", 24)),
    ("zfp accuracy 0.001", "f64 8 MB", zfp("fixed_accuracy", "zfp_tolerance", 0.001)),
    ("sz3 abs 0.01", "f64 8 MB", sz3("abs", 0.01)),
    ("sz3 rel 0.0001", "f64 8 MB", sz3("rel", 0.0001)),
    ("sz3 psnr 80", "f64 8 MB", sz3("psnr", 80.0)),
]


def rust_table() -> dict[tuple[str, str, str], float]:
    """How many times faster than the reference crate the Rust rows on one thread are, as the table of the codecs says."""
    page = (Path(__file__).resolve().parents[2] / "docs/benchmarks.md").read_text()
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|"))
    return {(cells[0], cells[1], cells[2]): float(cells[7]) for cells in rows if len(cells) == 16 and cells[3] == "1"}


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
    yield from threads()
    yield from codecs()


def threads() -> Iterator[Row]:
    """Two messages by two threads, beside both by one."""
    field = np.ascontiguousarray(elements("f64 64 MiB"))
    keys = {"filter": "shuffle", "shuffle_element_size": 8, "compression": "zstd"}
    message = ours.encode({}, [(described(field, **keys), field)])

    def together() -> None:
        other = threading.Thread(target=ours.decode, args=(message,))
        other.start()
        ours.decode(message)
        other.join()

    yield Row("decode/shuffle + zstd, 64 MiB twice, by two threads", together, "one thread", lambda: (ours.decode(message), ours.decode(message)), 1.6)


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
    zarr.create_array(str(folder / "a.zarr"), data=raw, compressors=None)
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


def elements(data: str) -> np.ndarray[Any, Any]:
    """The field of the Rust row, as docs/benchmarks.md names it."""
    rows, columns = (2048, 4096) if data == "f64 64 MiB" else (721, 1440)
    y, x = np.arange(rows)[:, None] / rows * 2 * np.pi, np.arange(columns)[None, :] / columns * 2 * np.pi
    field = 273.15 + 30 * np.sin(y / 2) + 8 * np.sin(3 * x + y) + 2 * np.cos(11 * x) * np.sin(7 * y)
    if data.endswith("noise"):
        field = 1 + np.random.default_rng(2).integers(0, 1 << 32, size=(rows, columns)) / 5e9
    if data.endswith("holes"):
        field.reshape(-1)[np.arange(field.size) // 16 % 10 == 3] = np.nan
    return np.ascontiguousarray(field, "f4" if data.startswith("f32") else "f8")


def codecs() -> Iterator[Row]:
    """Every codec on one thread, on the data of the Rust row: eight tenths of what that reaches are wanted."""
    table = rust_table()
    known = {(pipeline, data) for pipeline, data, _ in CODECS}
    if missing := {(pipeline, data) for pipeline, data, _ in table} - known:
        raise LookupError(f"docs/benchmarks.md has codec rows that have none here: {sorted(missing)}")
    for pipeline, data, keys in CODECS:
        field = elements(data)
        pair = [(described(field, **keys), field)]
        holes = data.endswith("holes")
        # Each side reads its own message, as in the Rust rows.
        mine, other = ours.encode({}, pair, allow_nan=holes), theirs.encode({}, pair, allow_nan=holes)
        middle = [(field.size // 2, field.size // 100)]
        jobs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "encode": (lambda: ours.encode({}, pair, allow_nan=holes), lambda: theirs.encode({}, pair, allow_nan=holes)),
            "decode": (lambda: ours.decode(mine), lambda: theirs.decode(other)),
            "view": (lambda: ours.decode(mine, copy=False), lambda: theirs.decode(other)),
            "range of 1 %": (lambda: ours.decode_range(mine, 0, middle), lambda: theirs.decode_range(mine, 0, middle)),
        }
        for operation, (do, peer) in jobs.items():
            if (pipeline, data, operation) in table:
                target = 0.8 * table[pipeline, data, operation]
                yield Row(f"{operation}/{pipeline}, {data}", do, "tensogram", peer, target)


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
