"""Tensors of other libraries on arrays of NumPy. The libraries are imported when the first tensor of theirs is made."""

from __future__ import annotations

from typing import Any

from ._errors import UnsupportedTypeError


def wrap(framework: str, array: Any, dtype: str) -> Any:
    """A tensor of a library, on an array that nobody else holds."""
    if framework == "flax":
        return flax_array(array)
    if framework == "mlx":
        return mlx_array(array, dtype)
    if framework == "tensorflow":
        import tensorflow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return tensorflow.convert_to_tensor(array)
    raise ValueError(framework)


def flax_array(array: Any) -> Any:
    """An array of JAX."""
    import jax.numpy  # type: ignore[import-not-found, unused-ignore]

    return jax.numpy.asarray(array)


def mlx_array(array: Any, dtype: str) -> Any:
    """An array of MLX."""
    import mlx.core  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if dtype == "BF16":
        # MLX takes no type that NumPy lacks: the bits travel as integers.
        return mlx.core.array(array.view("uint16")).view(mlx.core.bfloat16)
    if dtype.startswith("F8_"):
        raise _unsupported(dtype, "mlx")
    return mlx.core.array(array)


def torch_tensor(elements: Any, dtype: str, shape: tuple[int, ...], device: str | int | None) -> Any:
    """A tensor of PyTorch on the bytes of its elements: it has a storage of its own."""
    import torch  # type: ignore[import-not-found, unused-ignore]

    element = torch_types().get(dtype)
    if element is None:
        raise _unsupported(dtype, "torch")
    if dtype == "F4":
        # Two elements share a byte, and PyTorch counts bytes.
        shape = _halved(shape)
    if elements.size == 0:
        tensor = torch.empty(shape, dtype=element)
    else:
        tensor = torch.frombuffer(elements, dtype=torch.uint8).view(element).view(shape)
    return tensor if device is None else tensor.to(device)


def _halved(shape: tuple[int, ...]) -> tuple[int, ...]:
    if not shape or shape[-1] % 2:
        raise UnsupportedTypeError(f"F4 of shape {list(shape)}: PyTorch needs an even last axis")
    return (*shape[:-1], shape[-1] // 2)


def _unsupported(dtype: str, framework: str) -> UnsupportedTypeError:
    error = UnsupportedTypeError(f"{framework} has no element type {dtype}")
    error.code = "unsupported_type"
    return error


def torch_types() -> dict[str, Any]:
    """Element types of weight files as those of PyTorch, as far as the installed version has them."""
    if not _torch_types:
        import torch

        _torch_types.update({name: getattr(torch, known) for name, known in TORCH.items() if hasattr(torch, known)})
    return _torch_types


_torch_types: dict[str, Any] = {}


TORCH = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F4": "float4_e2m1fn_x2",
    "I16": "int16",
    "U16": "uint16",
    "F16": "float16",
    "BF16": "bfloat16",
    "I32": "int32",
    "U32": "uint32",
    "F32": "float32",
    "C64": "complex64",
    "F64": "float64",
    "I64": "int64",
    "U64": "uint64",
}


def reopen(filename: str, framework: str, device: str, mmap: bool, verify: bool = False) -> Any:
    """Open a file again: a handle that was pickled."""
    from . import safe_open

    return safe_open(filename, framework, device, mmap=mmap, verify=verify)
