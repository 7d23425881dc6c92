"""What other programs make of our files, and files that they make: prints JSON."""

import json
import math
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def plain(value):
    """A protobuf message in the conventions of `fw decode`."""
    fields = {}
    for field in value.DESCRIPTOR.fields:
        if field.containing_oneof is not None and not value.HasField(field.name):
            continue
        got = getattr(value, field.name)
        many = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
        fields[field.name] = [one(field, item) for item in got] if many else one(field, got)
    return fields


def one(field, value):
    if field.message_type is not None:
        return plain(value)
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return named.name if named is not None else value
    if isinstance(value, bytes):
        return value.hex()
    if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64):
        return str(value)
    if field.cpp_type == field.CPPTYPE_FLOAT:
        return json.loads(shortest(value))
    return value


def shortest(value):
    """The shortest text that is the same single-precision number."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            return repr(float(text))
    return repr(value)


def read_mcap(path):
    from mcap.reader import make_reader
    from mcap_protobuf.decoder import DecoderFactory

    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        messages = {}
        for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
            which = {one.name: decoded.WhichOneof(one.name) for one in decoded.DESCRIPTOR.oneofs}
            entry = {"log_time": message.log_time, "sequence": message.sequence, "values": plain(decoded), "which": which}
            messages.setdefault(channel.topic, []).append(entry)
        statistics = summary.statistics
        return {
            "statistics": {
                "messages": statistics.message_count,
                "channels": statistics.channel_count,
                "schemas": statistics.schema_count,
                "chunks": statistics.chunk_count,
                "metadata": statistics.metadata_count,
            },
            "topics": sorted(channel.topic for channel in summary.channels.values()),
            "messages": messages,
        }


def outside_type():
    """A message type with everything that protobuf has."""
    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="out.proto", package="out", syntax="proto3")
    inner = file.message_type.add(name="Inner")
    inner.field.add(name="z", number=1, type=kind.TYPE_SINT64, label=kind.LABEL_OPTIONAL)
    outer = file.message_type.add(name="Outer")

    def add(name, number, kind_of, label=kind.LABEL_OPTIONAL, **more):
        outer.field.add(name=name, number=number, type=kind_of, label=label, **more)

    add("a", 1, kind.TYPE_INT32)
    add("b", 2, kind.TYPE_FIXED64)
    add("c", 3, kind.TYPE_DOUBLE, kind.LABEL_REPEATED)
    add("d", 4, kind.TYPE_STRING, kind.LABEL_REPEATED)
    add("e", 5, kind.TYPE_MESSAGE, kind.LABEL_REPEATED, type_name=".out.Inner")
    add("f", 6, kind.TYPE_MESSAGE, type_name=".out.Inner")
    outer.oneof_decl.add(name="choice")
    add("g", 7, kind.TYPE_BOOL, oneof_index=0)
    add("h", 8, kind.TYPE_BYTES, oneof_index=0)
    entry = outer.nested_type.add(name="MEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=kind.TYPE_STRING, label=kind.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=kind.TYPE_UINT32, label=kind.LABEL_OPTIONAL)
    add("m", 9, kind.TYPE_MESSAGE, kind.LABEL_REPEATED, type_name=".out.Outer.MEntry")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("out.Outer")), file


def write_mcap(compression, path):
    from mcap.writer import CompressionType, Writer

    outer, file = outside_type()
    kinds = {"none": CompressionType.NONE, "lz4": CompressionType.LZ4, "zstd": CompressionType.ZSTD}
    with open(path, "wb") as out:
        writer = Writer(out, compression=kinds.get(compression, CompressionType.NONE), use_chunking=compression != "unchunked")
        writer.start()
        descriptors = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
        schema = writer.register_schema(name="out.Outer", encoding="protobuf", data=descriptors)
        channel = writer.register_channel(topic="/outer", message_encoding="protobuf", schema_id=schema)
        columns = {}

        def put(name, data):
            columns[f"outer{name}"] = columns.get(f"outer{name}", b"") + data

        for step in range(50):
            message = outer(a=-step, b=step, c=[step / 4] * (step % 3), d=["é"] * (step % 2))
            for z in range(step % 4):
                message.e.add(z=-z)
            if step % 5 == 0:
                message.f.z = step
            if step % 3 == 0:
                message.g = True
            elif step % 3 == 1:
                message.h = b"\x00\x01"
            if step % 7 == 0:
                message.m["k"] = step
            writer.add_message(channel, log_time=step * 10, publish_time=step * 10 + 1, data=message.SerializeToString(), sequence=step)
            put("@log_time", struct.pack("<Q", step * 10))
            put("@publish_time", struct.pack("<Q", step * 10 + 1))
            put("@sequence", struct.pack("<I", step))
            put(".a", struct.pack("<i", -step))
            put(".b", struct.pack("<Q", step))
            put(".c@count", struct.pack("<I", step % 3))
            put(".c", struct.pack("<d", step / 4) * (step % 3))
            put(".d@count", struct.pack("<I", step % 2))
            put(".d@len", struct.pack("<I", 2) * (step % 2))
            put(".d", "é".encode() * (step % 2))
            put(".e@count", struct.pack("<I", step % 4))
            put(".e.z", b"".join(struct.pack("<q", -z) for z in range(step % 4)))
            put(".f@valid", bytes([step % 5 == 0]))
            put(".f.z", struct.pack("<q", step if step % 5 == 0 else 0))
            put(".g@valid", bytes([step % 3 == 0]))
            put(".g", bytes([step % 3 == 0]))
            put(".h@valid", bytes([step % 3 == 1]))
            put(".h@len", struct.pack("<I", 2 if step % 3 == 1 else 0))
            put(".h", b"\x00\x01" if step % 3 == 1 else b"")
            put(".m@count", struct.pack("<I", step % 7 == 0))
            put(".m.key", b"k" if step % 7 == 0 else b"")
            put(".m.value", struct.pack("<I", step) if step % 7 == 0 else b"")
        writer.add_metadata("about", {"made": "by Python"})
        writer.finish()
    return {"messages": 50, "columns": {name: data.hex() for name, data in columns.items()}}


def read_table(path):
    import pyarrow.feather
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path) if path.endswith("parquet") else pyarrow.feather.read_table(path)
    table.validate(full=True)
    rows = table.num_rows
    sample = {}
    for at in sorted({0, 1, 2, 3, 7, rows // 2, rows - 1} & set(range(rows))):
        row = table.slice(at, 1)
        values = {name: row.column(name)[0] for name in row.column_names}
        sample[str(at)] = {name: readable(value) for name, value in values.items()}
    return {"rows": rows, "sample": sample}


def read_csv(path):
    """Every cell as the csv module reads it, and what pyarrow makes of the columns."""
    import csv

    import pyarrow.csv

    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    options = pyarrow.csv.ParseOptions(newlines_in_values=True)
    table = pyarrow.csv.read_csv(path, parse_options=options)
    return {"rows": rows, "types": {field.name: str(field.type) for field in table.schema}, "count": table.num_rows}


def readable(scalar):
    import pyarrow

    if not scalar.is_valid:
        return None
    kind = scalar.type
    if pyarrow.types.is_timestamp(kind):
        return scalar.value
    if pyarrow.types.is_float32(kind):
        return json.loads(shortest(scalar.as_py()))
    if pyarrow.types.is_struct(kind):
        return {field.name: readable(scalar[field.name]) for field in kind}
    if pyarrow.types.is_list(kind) or pyarrow.types.is_fixed_size_list(kind):
        return [readable(item) for item in scalar]
    value = scalar.as_py()
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def foxglove(url):
    import base64

    from websockets.sync.client import connect

    with connect(url, subprotocols=["foxglove.sdk.v1"], open_timeout=20) as socket:
        channels, factory = {}, None
        while len(channels) < 3:
            message = socket.recv(timeout=20)
            if isinstance(message, str):
                message = json.loads(message)
                if message["op"] == "advertise":
                    channels.update({one["topic"]: one for one in message["channels"]})
        gps = channels["/Gps"]
        assert gps["encoding"] == "protobuf" and gps["schemaEncoding"] == "protobuf" and gps["schemaName"] == "robot.Gps", gps
        descriptors = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(gps["schema"]))
        pool = descriptor_pool.DescriptorPool()
        for file in descriptors.file:
            pool.Add(file)
        factory = message_factory.GetMessageClass(pool.FindMessageTypeByName("robot.Gps"))
        socket.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 77, "channelId": gps["id"]}]}))
        while True:
            message = socket.recv(timeout=20)
            # Message data: 1, the subscription, the time, the payload.
            if isinstance(message, bytes) and message[0] == 1:
                subscription, time = struct.unpack_from("<IQ", message, 1)
                assert subscription == 77 and time > 0, (subscription, time)
                return {"topics": sorted(channels), "gps": plain(factory.FromString(message[13:]))}


PARTS = {"mcap": read_mcap, "write": write_mcap, "table": read_table, "csv": read_csv, "foxglove": foxglove}
print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:])))
