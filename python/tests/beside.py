"""Calls one function of two packages with the same arguments, and compares what comes of it."""

import math
import re

import numpy as np

PREFIX = re.compile(r"^([A-Z][A-Za-z]*(?:Error|Mismatch|Hash)): ")


class Raised:
    """An exception, as far as programs look at it."""

    def __init__(self, error):
        self.error = error
        found = PREFIX.match(str(error))
        self.prefix = found.group(1) if found else None

    def __repr__(self):
        return f"{type(self.error).__name__}({str(self.error)!r})"


def call(function, *args, **kwargs):
    """The result, or what was raised."""
    try:
        return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
        return Raised(error)


def assert_same(ours, theirs, what=""):
    """Fails unless both are the same for a program that looks at them: value, type, exception class and prefix."""
    if isinstance(theirs, Raised) or isinstance(ours, Raised):
        assert isinstance(theirs, Raised) and isinstance(ours, Raised), f"{what}: ours {ours!r}, theirs {theirs!r}"
        # A program catches the class it knows: ours may be a class below it. Classes of the packages are compared by name.
        # One reference spells its class in two ways: BintensorError, BinTensorError.
        names = [base.__name__.lower() for base in type(ours.error).__mro__]
        assert type(theirs.error).__name__.lower() in names, f"{what}: ours {ours!r}, theirs {theirs!r}"
        assert ours.prefix == theirs.prefix, f"{what}: ours {ours!r}, theirs {theirs!r}"
        return
    assert type(ours).__name__ == type(theirs).__name__, f"{what}: ours {ours!r}, theirs {theirs!r}"
    if isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, f"{what}: {ours!r} {theirs!r}"
        assert ours.tobytes() == theirs.tobytes(), f"{what}: {ours!r} {theirs!r}"
        assert ours.flags.writeable and ours.flags.c_contiguous, what
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs) or set(ours) == set(theirs), f"{what}: ours {ours!r}, theirs {theirs!r}"
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{what}[{key!r}]")
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs), f"{what}: ours {ours!r}, theirs {theirs!r}"
        for index, (one, other) in enumerate(zip(ours, theirs)):
            assert_same(one, other, f"{what}[{index}]")
    elif type(theirs).__name__ == "Metadata":
        assert_same(plain(ours), plain(theirs), what)
    elif type(theirs).__name__ == "DataObjectDescriptor":
        for name in DESCRIPTOR:
            assert_same(getattr(ours, name), getattr(theirs, name), f"{what}.{name}")
        assert repr(ours) == repr(theirs), what
    elif isinstance(theirs, float):
        assert ours == theirs or math.isnan(ours) and math.isnan(theirs), f"{what}: ours {ours!r}, theirs {theirs!r}"
    else:
        assert ours == theirs, f"{what}: ours {ours!r}, theirs {theirs!r}"


def plain(metadata):
    """What metadata says, who wrote it and when aside."""
    return {
        "version": metadata.version,
        "base": metadata.base,
        "extra": metadata.extra,
        "num_objects": metadata.num_objects,
        "keys": metadata.keys(),
        "values": metadata.values(),
        "items": metadata.items(),
        "iter": list(metadata),
        "len": len(metadata),
        "repr": repr(metadata),
        "reserved": sorted(metadata.reserved),
    }


DESCRIPTOR = [
    "obj_type", "ndim", "shape", "strides", "dtype", "byte_order", "encoding", "filter", "compression", "params", "hash",
]
