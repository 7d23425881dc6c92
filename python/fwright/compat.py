"""Our modules under the names of the packages they stand in for."""

from __future__ import annotations

import sys

__all__ = ["install"]


def install() -> None:
    """Put ``fwright.tensogram`` under the name ``tensogram``.

    Packages that import that name afterwards work on ours. Call it before they are imported: a program that has imported the
    other package already would have two of them.

    >>> import fwright.compat
    >>> fwright.compat.install()
    >>> import tensogram
    >>> tensogram.__name__
    'fwright.tensogram'
    """
    from . import tensogram

    modules = {"tensogram": tensogram, "tensogram.tensogram": tensogram}
    for name, module in modules.items():
        other = sys.modules.get(name)
        if other is not None and other is not module:
            raise ImportError(f"{name} is already imported from {getattr(other, '__file__', 'elsewhere')}: install before that")
    sys.modules.update(modules)
