"""Commands of the command line as functions: what they return is what ``--json`` prints (``docs/json.md``)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from ._fwright import answer

__all__ = ["CommandError", "convert", "diff", "info", "plot", "stats", "validate"]

Name = str | os.PathLike[str]
Progress = Callable[[int, int], object]


class CommandError(ValueError):
    """A command that failed: ``code`` is stable; ``file``, ``position`` and ``hint`` are set where they are known."""

    code: str
    file: str | None
    position: int | None
    hint: str | None


def info(path: Name, **options: Any) -> dict[str, Any]:
    """Summarise a file: format, sizes, tensors by type, metadata.

    >>> import numpy as np, fwright as fw
    >>> fw.save("w.bt", {"a": np.zeros(4)})
    >>> fw.info("w.bt")["tensor_count"]
    1
    """
    return _report("info", [path], options)


def validate(path: Name, *, progress: Progress | None = None, **options: Any) -> dict[str, Any]:
    """Check a file: ``ok`` says whether it is valid, ``findings`` what is wrong and where.

    >>> import numpy as np, fwright as fw
    >>> fw.save("w.tgm", {"a": np.zeros(4)})
    >>> fw.validate("w.tgm", mode="full")["ok"]
    True
    """
    return _report("validate", [path], options, progress)


def diff(left: Name, right: Name, *, progress: Progress | None = None, **options: Any) -> dict[str, Any]:
    """Compare two files tensor by tensor, across formats: ``ok`` says whether they are equal.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.zeros(4)}); fw.save("a.npz", {"a": np.zeros(4)})
    >>> fw.diff("a.bt", "a.npz")["ok"]
    True
    """
    return _report("diff", [left, right], options, progress)


def convert(source: Name, target: Name, *, progress: Progress | None = None, **options: Any) -> dict[str, Any]:
    """Convert a file to the format that the name of the target asks for: ``losses`` lists what could not be kept.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.zeros(4)})
    >>> fw.convert("a.bt", "b.safetensors", force=True)["tensor_count"]
    1
    """
    return _report("convert", [source, target], options, progress)


def stats(path: Name, *, progress: Progress | None = None, **options: Any) -> dict[str, Any]:
    """Compute minimum, maximum, mean, standard deviation and counts of every tensor.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.arange(5.0)})
    >>> fw.stats("a.bt")["tensors"][0]["mean"]
    2.0
    """
    return _report("stats", [path], options, progress)


def plot(path: Name, output: Name | None = None, *, format: str = "png", **options: Any) -> Any:
    """Draw a tensor as a heat map, a line or a histogram.

    The picture is returned: bytes of a PNG file, or text with ``format="svg"``. With ``output`` it is written to that file, and
    what was written is returned as ``fw plot --json`` prints it.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.eye(8)})
    >>> fw.plot("a.bt", tensor="a", width=300, height=200)[:4]
    b'\\x89PNG'
    """
    if output is not None:
        return _report("plot", [path], {"output": os.fspath(output), **options})
    drawn = _ask("plot", [path], {"output": "-", "format": format, **options})
    return drawn if format == "png" else drawn.decode()


def _report(command: str, files: list[Name], options: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_ask(command, files, {"json": True, **options}, progress))
    return found


def _ask(command: str, files: list[Name], options: dict[str, Any], progress: Progress | None = None) -> bytes:
    words = ["fw", command]
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append("--" + name.replace("_", "-"))
            elif one is not None and one is not False:
                words.append(f"--{name.replace('_', '-')}={one}")
    words += ["--", *(os.fspath(file) for file in files)]
    _, output, fault = answer(words, progress)
    if fault is None:
        return output
    _raise(json.loads(fault))
    return output


def _raise(fault: dict[str, Any]) -> None:
    if fault["code"] == "not_found":
        raise FileNotFoundError(fault["message"])
    error = CommandError(fault["message"])
    error.code = fault["code"]
    error.file, error.position, error.hint = fault.get("file"), fault.get("position"), fault.get("hint")
    raise error
