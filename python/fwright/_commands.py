"""Commands of the command line as functions: what they return is what ``--json`` prints (``docs/json.md``).

Keywords are the options of the command, with ``_`` for ``-``: ``True`` for one without a value, a list for one that is repeated.
``fw info --help`` lists them all. Files may be URLs; ``storage_options`` are settings of the store, as in ``fwright.open``.
"""

from __future__ import annotations

import os

from ._fwright import answer

# What only type checkers need costs milliseconds at import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["CommandError", "convert", "diff", "info", "plot", "stats", "validate"]


class CommandError(ValueError):
    """A command that failed: ``code`` is stable; ``file``, ``position`` and ``hint`` are set where they are known."""

    code: str
    file: str | None
    position: int | None
    hint: str | None


def info(path: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Summarise a file: format, sizes, tensors by type, metadata.

    A capture of struct-frame needs ``schema="robot.sf"``, and may have ``profile``, ``where``, ``fields=True`` and ``time``. ``fw info --help`` lists
    all options.

    >>> import numpy as np, fwright as fw
    >>> fw.save("w.bt", {"a": np.zeros(4)})
    >>> fw.info("w.bt")["tensor_count"]
    1
    """
    return _report("info", [path], options)


def validate(path: str | os.PathLike[str], *, progress: Callable[[int, int], object] | None = None, **options: Any) -> dict[str, Any]:
    """Check a file: ``ok`` says whether it is valid, ``findings`` what is wrong and where.

    ``mode`` is ``quick``, ``checksum``, ``default`` or ``full``; ``rules`` is ``compat``, ``default`` or ``canonical``; ``expect_messages`` is a number,
    ``threads`` another one. ``progress`` hears ``(done, total)`` in bytes. ``fw validate --help`` lists all options.

    >>> import numpy as np, fwright as fw
    >>> fw.save("w.tgm", {"a": np.zeros(4)})
    >>> fw.validate("w.tgm", mode="full")["ok"]
    True
    """
    return _report("validate", [path], options, progress)


def diff(left: str | os.PathLike[str], right: str | os.PathLike[str], *, progress: Callable[[int, int], object] | None = None, **options: Any) -> dict[str, Any]:
    """Compare two files tensor by tensor, across formats: ``ok`` says whether they are equal.

    Elements may differ by ``rtol`` and ``atol``, element types with ``values=True``; ``ignore_metadata=True`` compares tensors only, and ``by="mars.param"``
    pairs them by keys instead of by name. ``progress`` hears ``(done, total)`` in bytes. ``fw diff --help`` lists all options.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.zeros(4)}); fw.save("a.npz", {"a": np.zeros(4)})
    >>> fw.diff("a.bt", "a.npz")["ok"]
    True
    """
    return _report("diff", [left, right], options, progress)


def convert(source: str | os.PathLike[str], target: str | os.PathLike[str], *, progress: Callable[[int, int], object] | None = None, **options: Any) -> dict[str, Any]:
    """Convert a file to the format that the name of the target asks for: ``losses`` lists what could not be kept.

    ``force=True`` replaces a file that exists, ``to`` names the format, ``missing`` is ``refuse``, ``raw`` or ``skip`` for tensors that the target cannot hold,
    ``max_shard_size="5GB"`` splits the output, ``digests="sha256"`` keeps a digest of every tensor, ``schema="robot.sf"`` reads a capture of struct-frame.
    ``progress`` hears ``(done, total)`` in bytes. ``fw convert --help`` lists all options.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.zeros(4)})
    >>> fw.convert("a.bt", "b.safetensors", force=True)["tensor_count"]
    1
    """
    return _report("convert", [source, target], options, progress)


def stats(path: str | os.PathLike[str], *, progress: Callable[[int, int], object] | None = None, **options: Any) -> dict[str, Any]:
    """Compute minimum, maximum, mean, standard deviation and counts of every tensor.

    ``where="mars.param=2t"`` selects objects by a key, ``histogram=True`` adds histograms of ``bins`` bins over ``range="0:100"``, ``threads`` limits the
    threads. ``progress`` hears ``(done, total)`` in bytes. ``fw stats --help`` lists all options.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.arange(5.0)})
    >>> fw.stats("a.bt")["tensors"][0]["mean"]
    2.0
    """
    return _report("stats", [path], options, progress)


def plot(path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None, *, format: str = "png", **options: Any) -> Any:
    """Draw a tensor as a heat map, a line or a histogram.

    The picture is returned: bytes of a PNG file, or text with ``format="svg"``. With ``output`` it is written to that file, and
    what was written is returned as ``fw plot --json`` prints it.

    ``tensor`` names the tensor and ``slice="0,:,::2"`` a part of it; ``kind`` is ``heatmap``, ``line`` or ``histogram``; ``width`` and ``height`` are pixels; ``map``
    is ``viridis``, ``cividis``, ``magma``, ``inferno``, ``balance`` or ``grey``; ``range="2%:98%"`` spans the colours; ``force=True`` replaces a file that exists.
    ``fw plot --help`` lists all options.

    >>> import numpy as np, fwright as fw
    >>> fw.save("a.bt", {"a": np.eye(8)})
    >>> fw.plot("a.bt", tensor="a", width=300, height=200)[:4]
    b'\\x89PNG'
    """
    if output is not None:
        return _report("plot", [path], {"output": os.fspath(output), **options})
    drawn = _ask("plot", [path], {"output": "-", "format": format, **options})
    return drawn if format == "png" else drawn.decode()


def _report(command: str, files: list[str | os.PathLike[str]], options: dict[str, Any], progress: Callable[[int, int], object] | None = None) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(_ask(command, files, {"json": True, **options}, progress))
    return found


def _ask(command: str, files: list[str | os.PathLike[str]], options: dict[str, Any], progress: Callable[[int, int], object] | None = None) -> bytes:
    words = ["fw", command]
    stores = options.pop("storage_options", None) or {}
    words += [f"--store-option={name}={value}" for name, value in stores.items()]
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
    import json

    raise _error(json.loads(fault))


def _error(fault: dict[str, Any]) -> Exception:
    if fault["code"] == "not_found":
        return FileNotFoundError(fault["message"])
    error = CommandError(fault["message"])
    error.code = fault["code"]
    error.file, error.position, error.hint = fault.get("file"), fault.get("position"), fault.get("hint")
    return error
