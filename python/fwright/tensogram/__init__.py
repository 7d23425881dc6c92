"""Tensogram messages and files, under the names of the package ``tensogram``.

Programs written for ``tensogram`` 0.24 run with ``import fwright.tensogram as tensogram``:

>>> import numpy as np
>>> import fwright.tensogram as tensogram
>>> message = tensogram.encode({"run": "00Z"}, [({"dtype": "float32"}, np.ones((2, 3), np.float32))])
>>> metadata, [(descriptor, array)] = tensogram.decode(message)
>>> metadata["run"], descriptor.shape, array.sum()
('00Z', [2, 3], np.float32(6.0))
"""

from collections.abc import Mapping as _Mapping

from .._fwright import __version__ as __version__
from .._fwright import tensogram as _native
from ._message import Message as Message

WIRE_VERSION = _native.WIRE_VERSION
__has_grib__ = _native.__has_grib__
__has_netcdf__ = _native.__has_netcdf__

IntegrityError = _native.IntegrityError
HashMismatchError = _native.HashMismatchError
MissingHashError = _native.MissingHashError

AsyncStreamingEncoder = _native.AsyncStreamingEncoder
AsyncTensogramFile = _native.AsyncTensogramFile
AsyncTensogramFileIter = _native.AsyncTensogramFileIter
DataObjectDescriptor = _native.DataObjectDescriptor
MessageIter = _native.MessageIter
Metadata = _native.Metadata
StreamingEncoder = _native.StreamingEncoder
TensogramFile = _native.TensogramFile
TensogramFileFollow = _native.TensogramFileFollow
TensogramFileIter = _native.TensogramFileIter

compute_hash = _native.compute_hash
compute_packing_params = _native.compute_packing_params
convert_grib = _native.convert_grib
convert_grib_buffer = _native.convert_grib_buffer
convert_netcdf = _native.convert_netcdf
decode = _native.decode
decode_descriptors = _native.decode_descriptors
decode_metadata = _native.decode_metadata
decode_object = _native.decode_object
decode_range = _native.decode_range
decode_with_masks = _native.decode_with_masks
doctor = _native.doctor
encode = _native.encode
encode_pre_encoded = _native.encode_pre_encoded
is_remote_url = _native.is_remote_url
iter_messages = _native.iter_messages
scan = _native.scan
to_grib = _native.to_grib
to_netcdf = _native.to_netcdf
validate = _native.validate
validate_file = _native.validate_file

_Mapping.register(Metadata)
