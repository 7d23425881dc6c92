"""What can go wrong. Every error has a stable ``code``."""

from __future__ import annotations


class StructFrameError(Exception):
    """Base of all errors of this runtime."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class EncodeError(StructFrameError):
    """A value does not fit its field, or a framing cannot carry a message."""


class DecodeError(StructFrameError):
    """A payload ends within its base, or contradicts itself."""
