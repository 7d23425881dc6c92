"""Rows of weight files beside ``bintensors`` and ``safetensors``: how long files take to open and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bintensors
import bintensors.numpy
import numpy as np
import safetensors
import safetensors.numpy
from measure import Row

from fwright.bintensors import safe_open
from fwright.bintensors.numpy import load_file, save_file

MIB = 1 << 20
FIRST, MANY = "layer.7.weight", "block.500.part.5"


def rows(folder: Path, quick: bool) -> Iterator[Row]:
    """Every row; a quick look uses a smaller file, for which the targets hold as well."""
    mebibytes = 128 if quick else 1024
    label = "128 MiB" if quick else "1 GiB"
    large = {f"layer.{index}.weight": np.ones(MIB, np.float32) for index in range(mebibytes // 4)}
    small = {f"block.{index // 10}.part.{index % 10}": np.full(16, index, np.float32) for index in range(10_000)}
    for name, tensors in (("large", large), ("small", small)):
        save_file(tensors, folder / f"{name}.bt")
        safetensors.numpy.save_file(tensors, folder / f"{name}.safetensors")
    del large, small
    # The header of safetensors is JSON, which must be read to its end.
    yield from beside(folder, "bt", bintensors, label, opened=5)
    yield from beside(folder, "safetensors", safetensors, label, opened=1)
    for name in ("large", "small"):
        for ending in ("bt", "safetensors"):
            (folder / f"{name}.{ending}").unlink()


def beside(folder: Path, ending: str, package: Any, label: str, opened: float) -> Iterator[Row]:
    """The rows of one format beside the package that it comes from."""
    big, many, peer = folder / f"large.{ending}", folder / f"small.{ending}", package.__name__
    load: Callable[[Path], Any] = package.numpy.load_file
    yield Row(f"load_file/{label} untouched", lambda: load_file(big), peer, lambda: load(big), 100)
    yield Row(f"load_file/{label} touched", lambda: touched(load_file(big)), peer, lambda: touched(load(big)), 1)
    yield Row("load_file/10 000 tensors", lambda: load_file(many), peer, lambda: load(many), 5)
    yield Row("safe_open/10 000 tensors", lambda: safe_open(many, "np"), peer, lambda: package.safe_open(many, framework="np"), opened)
    ours, theirs = safe_open(many, "np"), package.safe_open(many, framework="np")
    yield Row("get_slice/of 10 000", lambda: ours.get_slice(MANY), peer, lambda: theirs.get_slice(MANY), 1, calls=100)
    mine, other = safe_open(big, "np").get_slice(FIRST), package.safe_open(big, framework="np").get_slice(FIRST)
    yield Row("get_slice/4 KiB of 4 MiB", lambda: mine[1000:2024], peer, lambda: other[1000:2024], 1, calls=100)
    yield Row("get_slice/4 MiB", lambda: mine[:], peer, lambda: other[:], 1, calls=4)


def touched(loaded: dict[str, Any]) -> float:
    """Reads every element."""
    return sum(float(array.sum()) for array in loaded.values())
