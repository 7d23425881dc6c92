"""Files of weights, under the names of the package ``bintensors``; safetensors files and shard indexes open the same way.

Programs written for ``bintensors`` 0.2 run with ``import fwright.bintensors as bintensors``:

>>> import numpy as np
>>> from fwright.bintensors import safe_open
>>> from fwright.bintensors.numpy import save_file
>>> save_file({"w": np.arange(12.0).reshape(3, 4)}, "weights.bt", metadata={"step": "7"})
>>> with safe_open("weights.bt", framework="np") as file:
...     file.keys(), file.metadata()
...     file.get_slice("w")[::-1, 1:3]
(['w'], {'step': '7'})
array([[ 9., 10.],
       [ 5.,  6.],
       [ 1.,  2.]])
"""

from .._fwright import __version__ as __version__
from .._fwright import bintensors as _native
from ._errors import BintensorError as BintensorError
from ._errors import SliceError as SliceError
from ._errors import TensorNotFoundError as TensorNotFoundError
from ._errors import UnsupportedTypeError as UnsupportedTypeError
from ._errors import WriteError as WriteError

PySafeSlice = _native.PySafeSlice
deserialize = _native.deserialize
digest = _native.digest
generate_key = _native.generate_key
manifest = _native.manifest
safe_open = _native.safe_open
serialize = _native.serialize
serialize_file = _native.serialize_file
sign = _native.sign
verify = _native.verify

__all__ = [
    "BintensorError",
    "PySafeSlice",
    "SliceError",
    "TensorNotFoundError",
    "UnsupportedTypeError",
    "WriteError",
    "__version__",
    "deserialize",
    "digest",
    "generate_key",
    "manifest",
    "safe_open",
    "serialize",
    "serialize_file",
    "sign",
    "verify",
]
