"""The gguf package as a black box: writes files, and tells what is in a file."""
import json
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

RANDOM = np.random.default_rng(14)


def metadata(writer):
    writer.add_string("test.text", "grüße \"x\"\n")
    writer.add_uint8("test.u8", 255)
    writer.add_int8("test.i8", -128)
    writer.add_uint16("test.u16", 65535)
    writer.add_int16("test.i16", -32768)
    writer.add_uint32("test.u32", 2**32 - 1)
    writer.add_int32("test.i32", -(2**31))
    writer.add_float32("test.f32", 0.1)
    writer.add_bool("test.bool", True)
    writer.add_uint64("test.u64", 2**64 - 1)
    writer.add_int64("test.i64", -(2**63))
    writer.add_float64("test.f64", 1e-300)
    writer.add_array("test.tokens", ["<s>", "", "ü", "\t"])
    writer.add_array("test.scores", [0.5, -1e10, 3.25])
    writer.add_array("test.types", [1, -2, 3])
    writer.add_array("test.flags", [True, False])


def plain(writer):
    for dtype in [np.float32, np.float16, np.float64]:
        writer.add_tensor(np.dtype(dtype).name, RANDOM.standard_normal((3, 2, 5)).astype(dtype))
    for dtype in [np.int8, np.int16, np.int32, np.int64]:
        bounds = np.iinfo(dtype)
        writer.add_tensor(np.dtype(dtype).name, RANDOM.integers(bounds.min, bounds.max, (4, 7), dtype=dtype))
    writer.add_tensor("line", np.arange(9, dtype=np.float32))


def blocks(writer):
    values = RANDOM.standard_normal((6, 512)).astype(np.float32)
    for kind in [T.Q8_0, T.Q4_0, T.BF16, T.Q4_1, T.Q5_0, T.Q5_1]:
        writer.add_tensor(kind.name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    for kind, (count, length) in gguf.GGML_QUANT_SIZES.items():
        if count > 1 and kind.name not in ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"):
            raw = RANDOM.integers(0, 256, (2, 3, 2 * length), dtype=np.uint8)
            writer.add_tensor(kind.name, raw, raw_dtype=kind)


def make(folder):
    for name, endian, alignment, parts in [
        ("little.gguf", gguf.GGUFEndian.LITTLE, None, [metadata, plain, blocks]),
        ("big.gguf", gguf.GGUFEndian.BIG, None, [metadata, plain]),
        ("aligned.gguf", gguf.GGUFEndian.LITTLE, 256, [plain, blocks]),
    ]:
        writer = gguf.GGUFWriter(Path(folder) / name, "test", endianess=endian)
        if alignment:
            writer.add_custom_alignment(alignment)
        for part in parts:
            part(writer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def tensor(one):
    data, shape = one.data, list(one.data.shape)
    if one.tensor_type in (T.Q8_0, T.Q4_0):
        data = gguf.quants.dequantize(data, one.tensor_type)
        shape = list(data.shape)
    elif one.tensor_type == T.BF16:
        # Two bytes for each element.
        shape[-1] //= 2
    data = np.ascontiguousarray(data).astype(data.dtype.newbyteorder("<"))
    if not len(one.shape):
        shape = []
    return {"name": one.name, "type": one.tensor_type.name, "shape": shape, "data": data.tobytes().hex()}


def value(field):
    found = field.contents()
    return found.tolist() if isinstance(found, np.ndarray) else found


def tell(path):
    reader = gguf.GGUFReader(path)
    fields = {key: value(field) for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    json.dump({"tensors": [tensor(one) for one in reader.tensors], "fields": fields}, sys.stdout)


{"make": make, "tell": tell}[sys.argv[1]](sys.argv[2])
