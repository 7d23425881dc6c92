"""Our modules under the names of the packages they stand in for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

__all__ = ["install", "install_engine"]


def install() -> None:
    """Put ``fwright.tensogram`` and ``fwright.bintensors`` under the names ``tensogram`` and ``bintensors``.

    Packages that import those names afterwards work on ours. Call it before they are imported: a program that has imported the
    other packages already would have two of each.

    >>> import fwright.compat
    >>> fwright.compat.install()
    >>> import bintensors.numpy, tensogram
    >>> tensogram.__name__, bintensors.numpy.__name__
    ('fwright.tensogram', 'fwright.bintensors.numpy')
    """
    from . import bintensors, tensogram

    modules: dict[str, ModuleType] = {
        "bintensors": bintensors,
        "bintensors._bintensors_rs": bintensors,
        "tensogram": tensogram,
        "tensogram.tensogram": tensogram,
    }
    for name, module in modules.items():
        other = sys.modules.get(name)
        if other is not None and other is not module:
            raise ImportError(f"{name} is already imported from {getattr(other, '__file__', 'elsewhere')}: install before that")
    sys.modules.update(modules)
    if not any(isinstance(finder, _Submodules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Submodules())


def install_engine() -> None:
    """Make ``engine="tensogram"`` of xarray, and the module ``tensogram_xarray``, ours.

    The keywords and defaults are those of the package ``tensogram-xarray``, which need not be installed: the first message, every
    object a variable, nothing decoded. ``docs/arrays.md`` lists what comes out differently, and why. What was imported from
    ``tensogram_xarray`` before stays what it is.

    >>> import numpy as np, xarray as xr, fwright as fw, fwright.compat
    >>> fwright.compat.install_engine()
    >>> fw.save("field.tgm", {"t": np.arange(6.0).reshape(2, 3)})
    >>> xr.open_dataset("field.tgm", engine="tensogram", dim_names=["y", "x"])["t"].dims
    ('y', 'x')
    """
    from xarray.backends import refresh_engines
    from xarray.backends.common import BACKEND_ENTRYPOINTS

    from .xarray import _reference

    for name in ("tensogram_xarray", "tensogram_xarray.backend"):
        sys.modules[name] = _reference
    # Those that xarray has built in come before those of packages.
    BACKEND_ENTRYPOINTS["tensogram"] = (None, _reference.TensogramBackendEntrypoint)
    refresh_engines()


class _Submodules(MetaPathFinder, Loader):
    """Finds ``bintensors.torch`` in ``fwright.bintensors.torch``: the same module, not a second one."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname.startswith("bintensors.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        try:
            module = importlib.import_module(f"fwright.{spec.name}")
        except ModuleNotFoundError as error:
            if error.name != f"fwright.{spec.name}":
                raise
            raise ModuleNotFoundError(f"No module named {spec.name!r}", name=spec.name) from None
        # The machinery gives a new module the specification it was asked by; this one has its own.
        self._specification = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._specification
