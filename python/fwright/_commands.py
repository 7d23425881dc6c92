"""Commands of the command line as functions: what they return is what ``--json`` prints (``docs/json.md``)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["CommandError", "convert", "diff", "info", "save", "validate"]


class CommandError(ValueError):
    """A command that failed: ``code`` is stable, ``file`` and ``position`` are there where they are known."""

    code: str
    file: str | None
    position: int | None
    hint: str | None


def info(path: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Summarise a file: format, sizes, tensors by type, metadata."""
    return _ask("info", [path], options)


def validate(path: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Check a file; ``ok`` tells whether it is valid, ``findings`` what is wrong where."""
    return _ask("validate", [path], options)


def diff(left: str | os.PathLike[str], right: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Compare two files tensor by tensor, across formats; ``ok`` tells whether they are equal."""
    return _ask("diff", [left, right], options)


def convert(source: str | os.PathLike[str], target: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Convert a file into the format that the name of the target asks for; ``losses`` lists what could not be kept."""
    return _ask("convert", [source, target], options)


def save(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    *,
    metadata: Mapping[str, Any] | None = None,
    pipeline: Mapping[str, Any] | Callable[[str, Any], Mapping[str, Any]] | None = None,
    **options: Any,
) -> None:
    """Write named arrays to a file in the format that its name asks for.

    ``pipeline`` says how they are coded in a Tensogram file: keys of a descriptor such as ``{"compression": "zstd"}``, or a function of
    name and array that gives them. Options are those of :func:`convert`. A file that exists is replaced.
    """
    from . import tensogram

    path = os.fspath(path)
    def chosen(name: str, array: Any) -> Mapping[str, Any]:
        return pipeline(name, array) if callable(pipeline) else pipeline or {}

    base = [{"name": name} for name in tensors]
    pairs = [(dict(chosen(name, array)), array) for name, array in tensors.items()]
    folder = os.path.dirname(os.path.abspath(path))
    # Beside the target: what is complete is moved into place.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fwright-") as work:
        made = os.path.join(work, "tensors.tgm")
        message = tensogram.encode({"base": base, "_extra_": dict(metadata or {})}, pairs, allow_nan=True, allow_inf=True)
        with open(made, "wb") as file:
            file.write(message)
        if path.endswith(".tgm") and not options:
            os.replace(made, path)
        else:
            convert(made, path, force=True, **options)


def _ask(command: str, files: list[str | os.PathLike[str]], options: Mapping[str, Any]) -> dict[str, Any]:
    words = [sys.executable, "-m", "fwright", command, "--json"]
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words.append(f"{flag}={value}")
    words += ["--", *(os.fspath(file) for file in files)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        text = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"fw {command} ended with {done.returncode}: {text}") from None
    error = answer.get("error")
    if error is None:
        return answer
    if error["code"] == "not_found":
        raise FileNotFoundError(error["message"])
    raised = CommandError(error["message"])
    raised.code = error["code"]
    raised.file, raised.position, raised.hint = error.get("file"), error.get("position"), error.get("hint")
    raise raised
