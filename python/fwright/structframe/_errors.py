"""What is raised for schemas and frames. The classes are written in Python so that they can be pickled."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Finding", "FrameError", "SchemaError"]


class Finding(NamedTuple):
    """One fault of a schema, or a warning."""

    severity: str
    code: str
    place: str
    message: str
    hint: str | None


class SchemaError(ValueError):
    """A schema that cannot be used: the text shows every fault with its line, ``findings`` lists them."""

    code: str | None = None
    findings: tuple[Finding, ...] = ()

    def _found(self, findings: list[tuple[str, str, str, str, str | None]]) -> None:
        self.findings = tuple(Finding(*finding) for finding in findings)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__


class FrameError(ValueError):
    """A payload that cannot be read, or a value that does not fit its message.

    ``code`` is a stable name of the fault, ``path`` the field, and ``offset`` the byte of the payload, where they are known.
    """

    code: str | None = None
    path: str = ""
    offset: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__


for _class in (Finding, SchemaError, FrameError):
    _class.__module__ = "fwright.structframe"
