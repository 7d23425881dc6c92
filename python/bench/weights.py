"""Weight files beside ``bintensors`` and ``safetensors``: how long files take to open and read, in one process.

``rows()`` gives one dict for each row: ``name``, ``ours_seconds``, ``peer``, ``peer_seconds``, ``target`` (how many times faster ours must be) and
``memory`` (bytes of memory that ours added). ``python bench/weights.py`` prints them; a wheel of the release profile must be installed.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

GIB = 1 << 30


def rows(*, quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every row; ``quick`` uses smaller files, for which the targets hold as well."""
    import bintensors
    import bintensors.numpy
    import numpy as np
    import safetensors
    import safetensors.numpy

    from fwright.bintensors import safe_open
    from fwright.bintensors.numpy import load_file, save_file

    size = GIB // 8 if quick else GIB
    with tempfile.TemporaryDirectory(prefix="fwright-bench-") as folder:
        large = {f"layer.{index}.weight": np.ones(MIB, np.float32) for index in range(size // (4 * MIB))}
        small = {f"block.{index // 10}.part.{index % 10}": np.full(16, index, np.float32) for index in range(10_000)}
        files = {}
        for name, tensors in (("large", large), ("small", small)):
            files[name, "bintensors"] = os.path.join(folder, f"{name}.bt")
            files[name, "safetensors"] = os.path.join(folder, f"{name}.safetensors")
            save_file(tensors, files[name, "bintensors"])
            safetensors.numpy.save_file(tensors, files[name, "safetensors"])
        del large, small
        for peer, package in (("bintensors", bintensors), ("safetensors", safetensors)):
            big, many = files["large", peer], files["small", peer]
            load_peer = package.numpy.load_file
            label = "1 GiB" if not quick else "128 MiB"
            yield _row(f"{peer}/load_file/{label} untouched", peer, 100, lambda: load_file(big), lambda: load_peer(big))
            yield _row(f"{peer}/load_file/{label} touched", peer, 1, lambda: _touch(load_file(big)), lambda: _touch(load_peer(big)))
            yield _row(f"{peer}/load_file/10 000 tensors", peer, 5, lambda: load_file(many), lambda: load_peer(many))
            # The header of safetensors is JSON, which must be read to its end.
            opened = 5 if peer == "bintensors" else 1
            yield _row(f"{peer}/safe_open/10 000 tensors", peer, opened, lambda: safe_open(many, "np"), lambda: package.safe_open(many, framework="np"))
            ours, theirs = safe_open(many, "np"), package.safe_open(many, framework="np")
            name = "block.500.part.5"
            yield _row(f"{peer}/get_slice/of 10 000", peer, 1, lambda: ours.get_slice(name), lambda: theirs.get_slice(name), calls=100)
            mine, other = safe_open(big, "np"), package.safe_open(big, framework="np")
            part, their_part = mine.get_slice("layer.7.weight"), other.get_slice("layer.7.weight")
            yield _row(f"{peer}/get_slice/4 KiB of 4 MiB", peer, 1, lambda: part[1000:2024], lambda: their_part[1000:2024], calls=100)
            yield _row(f"{peer}/get_slice/4 MiB", peer, 1, lambda: part[:], lambda: their_part[:], calls=4)


def _touch(loaded: dict[str, Any]) -> float:
    return sum(float(array.sum()) for array in loaded.values())


def _row(name: str, peer: str, target: float, ours: Callable[[], Any], theirs: Callable[[], Any], calls: int = 1) -> dict[str, Any]:
    """Best times of turns that alternate, so that both meet the same machine."""
    ours(), theirs()
    gc.collect()
    before = _anonymous()
    held = ours()
    memory = max(0, _anonymous() - before)
    del held
    best = [float("inf"), float("inf")]
    end = time.perf_counter() + SECONDS
    turns = 0
    while turns < 3 or time.perf_counter() < end:
        for place, function in enumerate((ours, theirs)):
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            for _ in range(calls):
                function()
            best[place] = min(best[place], (time.perf_counter() - start) / calls)
            gc.enable()
        turns += 1
    return {
        "name": name,
        "ours_seconds": best[0],
        "peer": f"{peer} {sys.modules[peer].__version__}",
        "peer_seconds": best[1],
        "target": target,
        "memory": memory,
    }


def _anonymous() -> int:
    """Bytes of memory that belong to this process alone; pages of mapped files do not."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


MIB = 1 << 20
SECONDS = 2.0


def main() -> int:
    """Print every row; the exit code is 1 when a target is missed."""
    missed = 0
    for row in rows(quick="--quick" in sys.argv):
        ratio = row["peer_seconds"] / row["ours_seconds"]
        missed += ratio < row["target"]
        verdict = "ok" if ratio >= row["target"] else "MISSED"
        times = f"{row['ours_seconds'] * 1e6:12.2f} us {row['peer_seconds'] * 1e6:12.2f} us"
        print(f"{row['name']:<45} {times} {ratio:9.1f}x (target {row['target']}x) {row['memory'] / MIB:8.1f} MiB {verdict}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
