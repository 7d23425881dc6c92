"""Framewright for Python: Tensogram messages, BinTensors weights and struct-frame data.

>>> import numpy as np
>>> import fwright as fw
>>> fw.save("weights.safetensors", {"w": np.arange(6.0).reshape(2, 3)})
>>> file = fw.open("weights.safetensors")
>>> file
TensorFile("weights.safetensors", format='safetensors', tensors=1)
>>> file["w"][:, ::2]
array([[0., 2.],
       [3., 5.]])
>>> fw.info("weights.safetensors")["tensor_count"]
1
"""

from ._commands import CommandError, convert, diff, info, plot, stats, validate
from ._fwright import Tensor, TensorFile, __version__, open, save

__all__ = [
    "CommandError",
    "Tensor",
    "TensorFile",
    "__version__",
    "convert",
    "diff",
    "info",
    "open",
    "plot",
    "save",
    "stats",
    "validate",
]
