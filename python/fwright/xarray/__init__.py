"""Labelled arrays: files as datasets of xarray, and datasets as Tensogram files.

Importing this module registers ``ds.fw``; the engine ``fwright`` is known to xarray wherever the package is installed.

>>> import numpy as np, xarray as xr, fwright.xarray
>>> ds = xr.Dataset({"t": (("y", "x"), np.arange(6.0).reshape(2, 3))}, attrs={"run": "00Z"})
>>> ds.fw.to_tgm("field.tgm")
>>> again = xr.open_dataset("field.tgm", engine="fwright")
>>> again.identical(ds), again["t"][:, 1].values
(True, array([1., 4.]))
"""

from ._accessor import FwAccessor
from ._backend import FwrightBackendEntrypoint, open_datasets

__all__ = ["FwAccessor", "FwrightBackendEntrypoint", "open_datasets"]
