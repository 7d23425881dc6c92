"""Writes the checkpoints of this folder with PyTorch, and what they hold as `expected.json`: run it with a Python that has torch.

The committed files were written by Debian's python3-torch 1.13.1. An argument names another folder to write to.
"""

import argparse
import collections
import json
import pathlib
import sys

import torch

here = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
torch.manual_seed(18)
expected = {}

NAMES = {
    "torch.float64": "float64", "torch.float32": "float32", "torch.float16": "float16", "torch.bfloat16": "bfloat16",
    "torch.int64": "int64", "torch.int32": "int32", "torch.int16": "int16", "torch.int8": "int8", "torch.uint8": "uint8",
    "torch.bool": "bool", "torch.complex64": "complex64", "torch.complex128": "complex128",
}


def tensors(value, name=""):
    if isinstance(value, torch.Tensor):
        yield name or "tensor", value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from tensors(item, f"{name}.{index}" if name else str(index))


def data(tensor):
    flat = tensor.detach().contiguous().reshape(-1)
    if flat.dtype == torch.bfloat16:
        flat = flat.view(torch.int16)
    return flat.numpy().tobytes().hex()


def save(name, value, **options):
    torch.save(value, here / name, **options)
    expected[name] = [
        {"name": key, "dtype": NAMES[str(tensor.dtype)], "shape": list(tensor.shape), "data": data(tensor)}
        for key, tensor in tensors(torch.load(here / name))
    ]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(5, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.head = torch.nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.norm(self.embed(x)))


net = Net()
save("state.pt", net.state_dict())

base = torch.arange(24, dtype=torch.float32)
save(
    "views.pt",
    {
        "whole": base,
        "transposed": base.reshape(4, 6).t(),
        "offset": base[5:11],
        "stepped": base[::5],
        "block": base.reshape(4, 6)[1:3, 2:5],
        "permuted": base.reshape(2, 3, 4).permute(2, 0, 1),
        "expanded": base[3:5].reshape(2, 1).expand(2, 4),
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0, 3),
    },
)

numbers = torch.tensor([0, 1, -2, 3, 100, -128])
save(
    "types.pt",
    {name.removeprefix("torch."): numbers.to(getattr(torch, name.removeprefix("torch."))) for name in NAMES},
)

optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
net(torch.tensor([1, 2])).sum().backward()
optimizer.step()
save(
    "checkpoint.pt",
    {
        "model": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "epoch": 3,
        "arguments": {"name": "tiny", "rates": (0.1, 0.01), "best": None, "flags": [True, False], "seed": 2**70},
        "device": torch.device("cpu"),
        "size": torch.Size([2, 3]),
        "seen": {1, 2},
        "blob": b"\x00\xff",
        "counts": collections.Counter("aab"),
        "parameter": torch.nn.Parameter(torch.ones(2)),
    },
)
save("protocol4.pt", {"a": base, "parameter": torch.nn.Parameter(torch.ones(2)), "blob": b"\x00\xff"}, pickle_protocol=4)
save("lone.pt", base[:4])
save("list.pt", [base[:2], {"x": base[2:4]}])

torch.save({"a": base}, here / "legacy.pt", _use_new_zipfile_serialization=False)
torch.save({"a": base, "arguments": argparse.Namespace(lr=0.1)}, here / "namespace.pt")
torch.save({"a": base.to_sparse()}, here / "sparse.pt")
torch.save({"a": torch.quantize_per_tensor(base, 0.1, 10, torch.quint8)}, here / "quantised.pt")
torch.jit.script(torch.nn.Linear(2, 2)).save(str(here / "script.pt"))
(here / "expected.json").write_text("{\n" + ",\n".join(f'"{name}": {json.dumps(held)}' for name, held in expected.items()) + "\n}\n")
