"""GRIB 2 messages with grid_simple packing, made and read by ecCodes as a black box. One JSON line per field on stdout.

    grib.py          packs: the values that went in and those that came out (hex of little-endian doubles), the packing
                     parameters, and the packed data of section 7
    grib.py decode   reads: each line on stdin has packing parameters and packed data of somebody else, which are put
                     into a GRIB message; the answer is what ecCodes decodes

A single line with "skip" says why there are none.
"""

import json
import random
import struct
import sys

try:
    import eccodes
except Exception as error:  # not installed, or without its library
    print(json.dumps({"skip": f"{type(error).__name__}: {error}".splitlines()[0]}))
    sys.exit()


def fields(pick):
    """Values, bits and decimal scale factor."""
    for bits in [1, 2, 3, 5, 7, 8, 9, 10, 12, 13, 15, 16, 17, 20, 23, 24]:
        for decimals in [0, 0, 1, 2, -1]:
            rows, columns = pick.choice([(1, 1), (1, 2), (2, 3), (5, 13), (16, 31), (40, 50)])
            count = rows * columns
            low, high = pick.choice([(200.0, 320.0), (-1.0, 1.0), (0.0, 100000.0), (-5000.0, -4000.0)])
            values = [pick.uniform(low, high) for _ in range(count)]
            yield rows, columns, values, bits, decimals
    yield 3, 4, [273.15625] * 12, 16, 0


def section_7(message):
    at = 16
    while message[at : at + 4] != b"7777":
        length, number = struct.unpack(">IB", message[at : at + 5])
        if number == 7:
            return message[at + 5 : at + length]
        at += length
    raise ValueError("no section 7")


def packed(rows, columns, values, bits, decimals):
    handle = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    try:
        eccodes.codes_set(handle, "Ni", columns)
        eccodes.codes_set(handle, "Nj", rows)
        eccodes.codes_set(handle, "packingType", "grid_simple")
        eccodes.codes_set(handle, "bitsPerValue", bits)
        eccodes.codes_set(handle, "decimalScaleFactor", decimals)
        eccodes.codes_set_double_array(handle, "values", values)
        message = eccodes.codes_get_message(handle)
        decoded = [float(value) for value in eccodes.codes_get_double_array(handle, "values")]
        reference = eccodes.codes_get_double(handle, "referenceValue")
        return {
            "type": eccodes.codes_get(handle, "packingType"),
            "values": struct.pack(f"<{len(values)}d", *values).hex(),
            "decoded": struct.pack(f"<{len(decoded)}d", *decoded).hex(),
            "reference": struct.pack(">d", reference).hex(),
            "binary": eccodes.codes_get_long(handle, "binaryScaleFactor"),
            "decimal": eccodes.codes_get_long(handle, "decimalScaleFactor"),
            "bits": eccodes.codes_get_long(handle, "bitsPerValue"),
            "payload": section_7(message).hex(),
        }
    finally:
        eccodes.codes_release(handle)


def with_packing(message, field):
    """The message with other packing parameters in section 5 and other data in section 7."""
    sign = lambda number: struct.pack(">H", abs(number) | (0x8000 if number < 0 else 0))
    payload = bytes.fromhex(field["payload"])
    out, at = bytearray(message[:16]), 16
    while message[at : at + 4] != b"7777":
        length, number = struct.unpack(">IB", message[at : at + 5])
        section = bytearray(message[at : at + length])
        if number == 5:
            section[11:15] = struct.pack(">f", field["reference"])
            section[15:17] = sign(field["binary"])
            section[17:19] = sign(field["decimal"])
            section[19] = field["bits"]
        elif number == 7:
            section = struct.pack(">IB", 5 + len(payload), 7) + payload
        out += section
        at += length
    out += b"7777"
    out[8:16] = struct.pack(">Q", len(out))
    return bytes(out)


def decoded(field):
    """What ecCodes reads from a message with this packed data."""
    rows, columns = field["rows"], field["columns"]
    # Any values will do: a message of the right shape, with packed data of the right kind.
    handle = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    try:
        eccodes.codes_set(handle, "Ni", columns)
        eccodes.codes_set(handle, "Nj", rows)
        eccodes.codes_set(handle, "packingType", "grid_simple")
        eccodes.codes_set(handle, "bitsPerValue", 8)
        eccodes.codes_set_double_array(handle, "values", [float(at % 7) for at in range(rows * columns)])
        message = eccodes.codes_get_message(handle)
    finally:
        eccodes.codes_release(handle)
    handle = eccodes.codes_new_from_message(with_packing(message, field))
    try:
        values = [float(value) for value in eccodes.codes_get_double_array(handle, "values")]
        return {"decoded": struct.pack(f"<{len(values)}d", *values).hex()}
    finally:
        eccodes.codes_release(handle)


if sys.argv[1:] == ["decode"]:
    for line in sys.stdin:
        print(json.dumps(decoded(json.loads(line))))
else:
    for field in fields(random.Random(2024)):
        print(json.dumps(packed(*field)))
