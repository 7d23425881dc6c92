"""The program of the matrix for the reference package's Python: see conformance/src/matrix/program.rs.

Messages are built and compared field by field, by reflection, from cases.json.
"""

import importlib
import json
import math
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The generated package has the name of the generator; in front it hides the installed one.
sys.path.insert(0, os.path.join(HERE, "generated", "py"))

import frame_headers  # noqa: E402
import frame_profiles  # noqa: E402
import payload_types  # noqa: E402

REFUSED = 0xFFFFFFFF
LONGEST = 70_000

with open(os.path.join(HERE, "cases.json"), encoding="utf-8") as file:
    DATA = json.load(file)
MODULES = {name: importlib.import_module("struct_frame.generated." + name) for name in DATA["modules"]}


def message_info(msg_id):
    """The lookup over all packages, which the package leaves to its users."""
    for module in MODULES.values():
        info = module.get_message_info(msg_id) if hasattr(module, "get_message_info") else None
        if info is not None:
            return info
    return None


def config(case):
    header = [c for c in vars(frame_headers).values() if isinstance(c, frame_headers.HeaderConfig)]
    payload = [c for c in vars(payload_types).values() if isinstance(c, payload_types.PayloadConfig)]
    header = next(c for c in header if c.header_type.value == case["header"])
    payload = next(c for c in payload if c.payload_type.value == case["payload"])
    return frame_profiles.create_custom_config(header, payload)


def real(value):
    return struct.unpack(">d", bytes.fromhex(value["bits"]))[0]


def build(message):
    fields = {name: build_value(value) for name, value in message["fields"]}
    for union in message["unions"]:
        if union["which"] is not None:
            fields[union["name"]] = {union["which"]: build_value(union["value"])}
            fields[union["name"] + "_which"] = union["which"]
    return getattr(MODULES[message["module"]], message["name"])(**fields)


def build_value(value):
    kind = value["kind"]
    if kind == "int":
        return int(value["value"])
    if kind == "bool":
        return value["value"]
    if kind == "real":
        return real(value)
    if kind in ("text", "blob"):
        return bytes.fromhex(value["bytes"])
    if kind == "list":
        return [build_value(item) for item in value["items"]]
    return build(value["message"])


def different(message, found, path=""):
    """Where a message that was read differs from the case, or None."""
    for name, value in message["fields"]:
        why = different_value(value, getattr(found, name), f"{path}{name}")
        if why:
            return why
    for union in message["unions"]:
        name, which = union["name"], union["which"]
        if union["tag"] is None:  # nothing says which; the reader keeps nothing
            continue
        if getattr(found, name + "_which") != which:
            return f"{path}{name} is {getattr(found, name + '_which')}, expected {which}"
        if which is not None:
            why = different_value(union["value"], getattr(found, name)[which], f"{path}{name}.{which}")
            if why:
                return why
    return None


def different_value(value, found, path):
    kind = value["kind"]
    if kind == "message":
        return different(value["message"], found, path + ".")
    if kind == "list":
        if len(found) != len(value["items"]):
            return f"{path} has {len(found)} elements, expected {len(value['items'])}"
        items = enumerate(zip(value["items"], found))
        return next((why for i, (item, one) in items if (why := different_value(item, one, f"{path}[{i}]"))), None)
    expected = build_value(value)
    if kind == "real":
        same = expected == found or (math.isnan(expected) and math.isnan(found))
    elif kind in ("text", "blob"):
        found = found.encode() if isinstance(found, str) else bytes(found)
        same = found == expected or (not value["bounded"] and found.rstrip(b"\0") == expected.rstrip(b"\0"))
    else:
        found = getattr(found, "value", found)  # enums come as enum or as number
        same = expected == found
    return None if same else f"{path} is {found!r}, expected {expected!r}"


def encode(path):
    with open(path, "wb") as out:
        for case in DATA["cases"]:
            try:
                message = build(case["message"])
                frame = bytes(
                    frame_profiles.encode_message(config(case), message, case["seq"], case["sys"], case["comp"])
                )
            except Exception as fault:  # whatever the reference raises is a refusal
                print(f"{case['message']['name']}: {fault!r}", file=sys.stderr)
                frame = b""
            out.write(struct.pack("<I", len(frame) or REFUSED) + frame)


def records(data):
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        if size == REFUSED:
            yield None
        else:
            yield data[at : at + size]
            at += size


def whole(case, data):
    reader = frame_profiles.BufferReader(config(case), data, message_info)
    frames = [reader.next()]
    while reader.has_more() and len(frames) < 3:
        frames.append(reader.next())
    return frames


def byte_by_byte(case, data):
    reader = frame_profiles.AccumulatingReader(config(case), message_info, LONGEST)
    return [frame for byte in data if (frame := reader.push_byte(byte)).valid]


def in_chunks(case, data):
    reader = frame_profiles.AccumulatingReader(config(case), message_info, LONGEST)
    frames = []
    for at in range(0, len(data), 7):
        reader.add_data(data[at : at + 7])
        while (frame := reader.next()).valid:
            frames.append(frame)
    return frames


def check(case, data):
    for read in (whole, byte_by_byte, in_chunks):
        frames = read(case, data)
        if len(frames) != 1 or not frames[0].valid:
            return f"{read.__name__}: expected one frame, found {frames}"
        frame, kind = frames[0], config(case).payload
        if frame.msg_id != case["id"]:
            return f"{read.__name__}: id {frame.msg_id}, expected {case['id']}"
        if kind.has_sequence and frame.sequence != case["seq"]:
            return f"{read.__name__}: sequence {frame.sequence}"
        if kind.has_system_id and (frame.system_id, frame.component_id) != (case["sys"], case["comp"]):
            return f"{read.__name__}: system {frame.system_id}, component {frame.component_id}"
        message = case["message"]
        found = getattr(MODULES[message["module"]], message["name"]).deserialize(frame)
        why = different(message, found)
        if why:
            return f"{read.__name__}: {why}"
    return None


def decode(path):
    with open(path, "rb") as file:
        data = file.read()
    for case, frame in zip(DATA["cases"], records(data)):
        try:
            why = None if frame is None else check(case, frame)
        except Exception as fault:  # whatever the reference raises
            why = repr(fault)
        print("ok" if why is None else "bad " + why.replace("\n", " ")[:300])


if sys.argv[1] != "load":
    {"encode": encode, "decode": decode}[sys.argv[1]](sys.argv[2])
