"""The reference implementation as a black box: writes random messages, or reads ours. One JSON line per message.

write SEED COUNT  messages of the reference on stdout, each with what went into it
read              our messages on stdin, what the reference makes of each on stdout
append SEED PATH  three messages through the file API of the reference, to the end of a file; what went into each on stdout
file PATH         what the file API of the reference makes of each message of a file

Values travel as JSON that loses nothing: integers as {"i": decimal}, floats as {"f": 16 hex digits of the double}, text as
{"s": text}, maps as {"m": [[key, value], ...]}, bytes as plain hex strings in fields that say so.
"""

import json
import random
import struct
import sys

import tensogram

WIDTHS = {
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16, "int8": 1, "int16": 2,
    "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bitmask": 0,
}  # fmt: skip
UNITS = {"complex64": 4, "complex128": 8, "bitmask": 1}
NON_FINITE = {
    2: {"float16": ["7e00", "7c00", "fc00"], "bfloat16": ["7fc0", "7f80", "ff80"]},
    4: ["7fc00000", "7f800000", "ff800000"],
    8: ["7ff8000000000000", "7ff0000000000000", "fff0000000000000"],
}


def pack(value):
    """A value as JSON that loses nothing."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {"i": str(value)}
    if isinstance(value, float):
        return {"f": struct.pack(">d", value).hex()}
    if isinstance(value, str):
        return {"s": value}
    if isinstance(value, list):
        return [pack(item) for item in value]
    if isinstance(value, dict):
        return {"m": [[pack(key), pack(item)] for key, item in value.items()]}
    raise TypeError(f"{type(value)} in metadata")


def is_float(dtype):
    return dtype.startswith(("float", "bfloat", "complex"))


def unit(dtype):
    return UNITS.get(dtype, WIDTHS[dtype])


class Maker:
    """Random messages of the reference."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def key(self):
        letters = "abkxyzµ日 _.0"
        return "k" + "".join(self.random.choice(letters) for _ in range(self.random.choice([0, 1, 2, 5, 22, 23, 30])))

    def value(self, depth=0):
        pick = self.random.randrange(9 if depth < 3 else 7)
        if pick == 0:
            return self.random.choice([None, True, False])
        if pick in (1, 2):
            bits = self.random.choice([1, 4, 5, 8, 9, 16, 17, 32, 33, 63])
            number = self.random.getrandbits(bits)
            return number if self.random.random() < 0.6 else -number - 1
        if pick == 3:
            return self.random.choice([0.0, -0.0, 1.0, 1.5, 65504.0, 65505.0, 0.1, 1e39, 5e-324, float("inf"), float("nan")])
        if pick == 4:
            return struct.unpack("<d", self.random.getrandbits(62).to_bytes(8, "little"))[0]
        if pick in (5, 6):
            return "".join(self.random.choice("aZ é日🌍\n\"") for _ in range(self.random.choice([0, 1, 23, 24, 70])))
        count = self.random.choice([0, 1, 2, 3, 24])
        if pick == 7:
            return [self.value(depth + 1) for _ in range(min(count, 5) if depth else count)]
        return {self.key(): self.value(depth + 1) for _ in range(min(count, 5) if depth else count)}

    def table(self):
        return {self.key(): self.value() for _ in range(self.random.choice([0, 0, 1, 2, 5]))}

    def payload(self, dtype, order, count, non_finite):
        width, size = WIDTHS[dtype], unit(dtype)
        if dtype == "bitmask":
            return self.random.randbytes((count + 7) // 8)
        if not is_float(dtype):
            return self.random.randbytes(count * width)
        out = bytearray()
        parts = width // size
        for _ in range(count):
            elements = [self.finite(dtype, size) for _ in range(parts)]
            if non_finite and self.random.random() < 0.15:
                # A mask covers a whole complex element: both parts come back as the same.
                table = NON_FINITE[size]
                pattern = self.random.choice(table[dtype] if isinstance(table, dict) else table)
                elements = [bytes.fromhex(pattern)[::-1]] * parts
            for element in elements:
                out += element if order == "little" else element[::-1]
        return bytes(out)

    def finite(self, dtype, size):
        number = self.random.choice([0.0, -0.0, 1.0, -2.5, self.random.uniform(-99.0, 99.0)])
        if dtype == "float16":
            return struct.pack("<e", number)
        if dtype == "bfloat16":
            return struct.pack("<f", number)[2:]
        return struct.pack("<f" if size == 4 else "<d", number)

    def descriptor(self):
        rank = self.random.choice([0, 1, 1, 2, 2, 3, 4])
        shape = [self.random.choice([0, 1, 2, 3, 5, 7, 30] if rank < 3 else [1, 2, 3]) for _ in range(rank)]
        descriptor = {
            "type": self.random.choice(["ntensor", "ntensor", "grid"]),
            "shape": shape,
            "dtype": self.random.choice(list(WIDTHS)),
            "byte_order": self.random.choice(["little", "big"]),
        }
        if self.random.random() < 0.2:
            descriptor["strides"] = [self.random.randrange(9) for _ in range(rank)]
        for _ in range(self.random.choice([0, 0, 0, 1, 2])):
            descriptor[self.key()] = self.value(2)
        return descriptor

    def options(self, masks):
        options = {}
        if self.random.random() < 0.25:
            options["hash"] = None
        if self.random.random() < 0.4:
            options["aggregate_hash"] = self.random.choice(["auto", "none", "header", "footer", "both"])
        if masks and self.random.random() < 0.5:
            options["allow_nan"] = options["allow_inf"] = True
            method = lambda: self.random.choice(["none", "rle", "roaring"])
            options["nan_mask_method"], options["pos_inf_mask_method"] = method(), method()
            options["neg_inf_mask_method"] = method()
            if self.random.random() < 0.5:
                options["small_mask_threshold_bytes"] = 0
        return options

    def request(self, masks):
        """What goes into a message: metadata, objects and options."""
        descriptors = [self.descriptor() for _ in range(self.random.choice([0, 1, 1, 1, 2, 3, 26]))]
        options = self.options(masks)
        objects = []
        for descriptor in descriptors:
            count = 1
            for dimension in descriptor["shape"]:
                count *= dimension
            data = self.payload(descriptor["dtype"], descriptor["byte_order"], count, options.get("allow_nan", False))
            objects.append((descriptor, data))
        base = [self.table() for _ in range(self.random.randrange(len(objects) + 1))]
        return {"base": base, "_extra_": self.table()}, objects, options

    def message(self, masks):
        metadata, objects, options = self.request(masks)
        api = self.random.choice(["encode", "encode", "streaming", "streaming_backfilled", "encode_pre_encoded"])
        if api == "encode":
            message = tensogram.encode(metadata, objects, **options)
        elif api == "encode_pre_encoded":
            # Payloads stored as they are keep their NaN; nothing is masked.
            options = {key: value for key, value in options.items() if key == "hash"}
            message = tensogram.encode_pre_encoded(metadata, objects, **options)
        else:
            if options.get("aggregate_hash") in ("header", "both"):
                del options["aggregate_hash"]
            encoder = tensogram.StreamingEncoder(metadata, **options)
            for descriptor, data in objects:
                encoder.write_object(descriptor, data)
            message = encoder.finish() if api == "streaming" else encoder.finish_backfilled()
        return {
            "message": message.hex(),
            "api": api,
            "options": options,
            **packed(metadata, objects),
        }


def packed(metadata, objects):
    return {
        "base": pack(metadata["base"]),
        "extra": pack(metadata["_extra_"]),
        "objects": [{"descriptor": pack(descriptor), "data": data.hex()} for descriptor, data in objects],
    }


def append(maker, path, count):
    """Messages to the end of a file, through the file API."""
    file = tensogram.TensogramFile.open(path)
    for _ in range(count):
        metadata, objects, options = maker.request(masks=True)
        options.pop("hash", None)
        file.append(metadata, objects, **options)
        yield packed(metadata, objects)


def read_file(path):
    """What the file API makes of each message; its ways to the same bytes must agree."""
    file = tensogram.TensogramFile.open(path)
    for index in range(file.message_count()):
        message = file.read_message(index)
        found = describe(message)
        decoded = file.decode_message(index)
        found["file"] = [array.tobytes().hex() for _, array in decoded.objects]
        found["message"] = message.hex()
        yield found


def describe(message):
    """What the reference makes of a message."""
    decoded = tensogram.decode(message)
    in_wire_order = tensogram.decode(message, native_byte_order=False)
    hashed = bool(message[11] & 0x80)
    if hashed and decoded.objects:
        tensogram.decode(message, verify_hash=True)
    report = tensogram.validate(message, level="full", check_canonical=True)
    return {
        "base": pack(decoded.metadata.base),
        "extra": pack(decoded.metadata.extra),
        "reserved": pack(decoded.metadata.reserved),
        "header_extra": pack(tensogram.decode_metadata(message).extra),
        "objects": [
            {
                "type": descriptor.obj_type,
                "ndim": descriptor.ndim,
                "shape": list(descriptor.shape),
                "strides": list(descriptor.strides),
                "dtype": descriptor.dtype,
                "byte_order": descriptor.byte_order,
                "params": pack(dict(descriptor.params)),
                "native": array.tobytes().hex(),
                "wire": wire.tobytes().hex(),
            }
            for (descriptor, array), (_, wire) in zip(decoded.objects, in_wire_order.objects)
        ],
        "issues": [f"{issue['severity']} {issue['code']}" for issue in report["issues"]],
        "scan": [list(place) for place in tensogram.scan(message + b"junk" + message)],
    }


def main():
    if sys.argv[1] == "write":
        maker = Maker(int(sys.argv[2]))
        for _ in range(int(sys.argv[3])):
            print(json.dumps(maker.message("masks" in sys.argv[4:])))
    elif sys.argv[1] == "read":
        for line in sys.stdin:
            try:
                print(json.dumps(describe(bytes.fromhex(line.strip()))))
            except Exception as error:  # whatever it is, the test wants to see it
                print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
    elif sys.argv[1] == "append":
        for sent in append(Maker(int(sys.argv[2])), sys.argv[3], 3):
            print(json.dumps(sent))
    elif sys.argv[1] == "file":
        for found in read_file(sys.argv[2]):
            print(json.dumps(found))


main()
