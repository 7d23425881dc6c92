"""Frames by a schema: every vector both ways, every kind of source, columns and records."""

import dataclasses
import functools
import io
import json
import math
import os
import pathlib
import pickle
import socket
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

from fwright.structframe import Damage, Frame, FrameError, Record, Schema, SchemaError

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "vectors" / "struct-frame"
TEXT = """
package robot;
enum Mode { IDLE = 0; DRIVE = 1; HOLD = 2; }
message Vec { float x = 1; float y = 2; }
message Pose { option msgid = 1; uint64 stamp = 1; Vec at = 2; Mode mode = 3; repeated Vec path = 4 [max_size=3]; }
message Note { option msgid = 2; string who = 1 [size=8]; string text = 2 [max_size=20]; bytes blob = 3 [max_size=4]; repeated int16 v = 4 [size=2]; }
message Go { uint8 speed = 1; }
message Do { option msgid = 3; uint8 n = 1; oneof what { Go go = 1; uint32 wait = 2; } }
"""
PROFILES = ["standard", "sensor", "ipc", "bulk", "network"]


@pytest.fixture(scope="module")
def schema():
    return Schema.parse(TEXT, name="robot.sf")


def groups():
    for group in json.loads((VECTORS / "manifest.json").read_text())["groups"]:
        if group["format"] == "struct-frame-vectors/1":
            yield group["group"]


@functools.cache
def loaded(group, packed):
    manifest = json.loads((VECTORS / group / "manifest.json").read_text())
    return manifest, Schema.load(VECTORS / group / manifest["schema"], packed=packed)


def same(found, expected):
    """Compares a value with one of a manifest: wide integers are text there, and bytes are hexadecimal."""
    if isinstance(expected, dict) and set(expected) == {"hex"}:
        bits = bytes.fromhex(expected["hex"])
        if isinstance(found, float):
            return math.isnan(found) and math.isnan(struct.unpack("<f" if len(bits) == 4 else "<d", bits)[0])
        return found == bits
    if isinstance(expected, dict):
        known = {key: value for key, value in found.items() if key != "region"} if isinstance(found, dict) else None
        # Nothing tells which member an oneof without a tag holds: it is bytes.
        if known is not None:
            known = {key: expected.get(key) if isinstance(value, bytes) and is_oneof(expected.get(key)) else value for key, value in known.items()}
        return known is not None and set(known) == set(expected) and all(same(known[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, float):
        wide = float(expected)
        return found == wide or found == np.float32(wide) or math.isnan(found) and math.isnan(wide)
    if isinstance(found, int) and not isinstance(found, bool):
        return found == int(expected)
    return type(found) is type(expected) and found == expected


def is_oneof(expected):
    return expected is None or isinstance(expected, dict) and "which" in expected


def profile_of(frame):
    return f"{frame['header']}+{frame['payload_type']}" if "header" in frame else frame["profile"]


@pytest.mark.parametrize("group", list(groups()))
def test_vectors_both_ways(group):
    manifest, schema = loaded(group, group != "04c-all-variable")
    checked = 0
    for name, expected in manifest["messages"].items():
        found = schema.messages.get(name) or schema.messages[name.split(".")[-1]]
        assert (found["id"], found["size"], found["min_size"]) == (expected["effective_id"], expected["max_size"], expected["min_size"])
    for case in manifest["cases"]:
        for frame in case["frames"]:
            data, profile = (VECTORS / group / frame["file"]).read_bytes(), profile_of(frame)
            if frame["expect"]["msg_id"] != manifest["messages"][case["message"]]["effective_id"]:
                # The framing has no room for the package: ours does not write half of an id.
                with pytest.raises(FrameError):
                    schema.encode(case["message"], case["values"], profile=profile)
                checked += 1
                continue
            [event] = schema.decode(data, profile, enums="numbers")
            assert isinstance(event, Frame) and (event.id, len(event.payload)) == (frame["expect"]["msg_id"], frame["expect"]["msg_len"])
            assert event.message.split(".")[-1] == case["message"].split(".")[-1] and (event.at, event.end) == (0, len(data))
            assert same(event.values, case["values"]), (case["id"], profile, event.values, case["values"])
            header = {"sequence": case["seq"], "system": case["sys_id"], "component": case["comp_id"]}
            for values in (event.values, case["values"]):
                assert schema.encode(event.message, values, profile=profile, **header) == data, (case["id"], profile)
            [named] = schema.decode(data, profile)
            assert schema.encode_all([named], profile=profile) == schema.encode(named.id, named.values, profile=profile, **shown(named))
            checked += 1
    assert checked == sum(len(case["frames"]) for case in manifest["cases"]) > 0


def shown(frame):
    return {"sequence": frame.sequence or 0, "system": frame.system or 0, "component": frame.component or 0}


def test_streams_lose_no_good_frame():
    manifest, schema = loaded("12-streams", True)
    for stream in manifest["streams"]:
        data = (VECTORS / "12-streams" / stream["file"]).read_bytes()
        for chunk in (1, 7, len(data)):
            decoder = schema.decoder(stream["profile"])
            events = [event for at in range(0, len(data), chunk) for event in decoder.feed(data[at : at + chunk])] + decoder.finish()
            frames = [(event.id, event.payload.hex()) for event in events if isinstance(event, Frame)]
            rest = iter(frames)
            assert all((good["msg_id"], good["payload"]) in rest for good in stream["must_deliver"]), stream["id"]
            assert decoder.counters["frames"] == len(frames)


def test_bad_frames_are_events(schema):
    good = schema.encode("Pose", {"stamp": 1})
    broken = bytearray(good)
    broken[10] ^= 1
    events = list(schema.decode(bytes(broken) + b"xx" + good + good[:5], "standard"))
    kinds = [event.kind if isinstance(event, Damage) else event.message for event in events]
    assert kinds == ["bad_checksum", "skipped", "Pose", "truncated"]
    assert (events[0].at, events[0].end, events[0].id) == (0, len(good), 1) and events[0].expected != events[0].found
    assert events[1].end - events[1].at == 2 and repr(events[1]).startswith("Damage(skipped")
    assert [event.message for event in schema.decode(bytes(broken) + good, "standard", damage=False)] == ["Pose"]
    [unknown] = Schema.parse("package p; message A { option msgid = 9; uint8 a = 1; }").decode(good, "standard")
    # The seed of an unknown message is unknown too.
    assert isinstance(unknown, Damage) or unknown.values is None and unknown.message is None


def test_values_and_records(schema):
    values = {
        "stamp": 2**64 - 1, "at": {"x": 1.5, "y": -2.0}, "mode": "HOLD", "path": [{"x": 0.0, "y": 1.0}, {"x": float("inf"), "y": 2.0}],
    }  # fmt: skip
    [frame] = schema.decode(schema.encode("Pose", values))
    assert frame.values == values and frame["mode"] == "HOLD" and frame.error is None
    [frame] = schema.decode(schema.encode("Pose", {"mode": 77, "at": {"x": math.nan}}))
    assert frame["mode"] == 77 and math.isnan(frame["at"]["x"]) and frame["at"]["y"] == 0
    [record] = schema.decode(schema.encode("Pose", values), records=True)
    assert isinstance(record, Record) and dataclasses.is_dataclass(record.values)
    assert record.values.at.x == 1.5 and record.values.path[1].y == 2.0 and record.values.mode == "HOLD"
    Pose, Vec = schema.record_type("Pose"), schema.record_type("Vec")
    assert record.values == Pose(2**64 - 1, Vec(1.5, -2.0), "HOLD", [Vec(0.0, 1.0), Vec(math.inf, 2.0)])
    assert schema.encode(record.values) == schema.encode("Pose", values) == schema.encode(1, record.values)
    [frame] = schema.decode(schema.encode("Do", {"n": 1, "what": {"which": "go", "value": {"speed": 9}}}), records=True)
    assert frame.values.what["which"] == "go" and frame.values.what["value"].speed == 9
    assert schema.encode(frame.values) == schema.encode_all([frame])
    note = {"who": "ann", "text": "h\u00e9", "blob": b"\0\1", "v": np.array([1, -2], "i2")}
    [frame] = schema.decode(schema.encode("Note", note, profile="network", sequence=5, system=6, component=7))
    assert frame.values == {**note, "v": [1, -2]} and (frame.sequence, frame.system, frame.component) == (5, 6, 7)
    assert schema.encode("Note", frame.payload, profile="network", sequence=5, system=6, component=7) == schema.encode_all([frame], profile="network")


@pytest.mark.parametrize(
    ("message", "values", "code", "path"),
    [
        ("Pose", {"stamp": -1}, "number_out_of_range", "stamp"),
        ("Pose", {"nothing": 1}, "unknown_field", ""),
        ("Pose", {"at": {"x": "a"}}, None, "at.x"),
        ("Pose", {"mode": "FLY"}, None, "mode"),
        ("Pose", {"path": [{}] * 4}, "array_length", "path"),
        ("Note", {"text": "x" * 30}, None, "text"),
        ("Do", {"what": {"which": "fly", "value": 1}}, "unknown_member", "what"),
        ("Fly", {}, "unknown_message", ""),
        ("Vec", {}, "no_message_id", ""),
        (99, {}, "unknown_message", ""),
    ],
)
def test_values_that_do_not_fit(schema, message, values, code, path):
    with pytest.raises(FrameError) as caught:
        schema.encode(message, values)
    assert caught.value.path == path and (code is None or caught.value.code == code) and caught.value.code
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.code == caught.value.code and str(again) == str(caught.value)


def test_wrong_arguments(schema):
    with pytest.raises(OverflowError):
        schema.encode("Pose", {"stamp": 2**64})
    for values in (5, "x", [1]):
        with pytest.raises(TypeError):
            schema.encode("Pose", values)
    with pytest.raises(TypeError):
        schema.encode("Pose", {"stamp": object()})
    with pytest.raises(FrameError, match="profile"):
        schema.encode("Pose", {}, profile="nope")
    with pytest.raises(FrameError, match="names"):
        schema.decoder("standard", enums="x")
    with pytest.raises(TypeError):
        list(schema.decode(5))
    with pytest.raises(TypeError, match="text mode"):
        list(schema.decode(io.StringIO("x"), "standard"))
    with pytest.raises(FrameError, match="no profile fits") as caught:
        list(schema.decode(b"nothing here"))
    assert caught.value.code == "no_frame" and list(schema.decode(b"")) == []
    with pytest.raises(FrameError):
        schema.record_type("Fly")


def test_schemas_that_are_wrong(tmp_path):
    with pytest.raises(SchemaError) as caught:
        Schema.parse("package p; message A { option msgid = 1; nope a = 1; what b = 1; }", name="bad.sf")
    assert "bad.sf" in str(caught.value) and caught.value.code and len(caught.value.findings) >= 2
    assert {finding.severity for finding in caught.value.findings} == {"error"} and "bad.sf:1:" in caught.value.findings[0].place
    assert pickle.loads(pickle.dumps(caught.value)).findings == caught.value.findings
    with pytest.raises(FileNotFoundError):
        Schema.load(tmp_path / "no.sf")
    with pytest.raises(IsADirectoryError):
        Schema.load(tmp_path)
    (tmp_path / "ok.sf").write_text(TEXT)
    loaded = Schema.load(tmp_path / "ok.sf")
    assert loaded.enums["Mode"] == {"IDLE": 0, "DRIVE": 1, "HOLD": 2} and "messages=5" in repr(loaded)
    [mode] = [field for field in loaded.messages["Pose"]["fields"] if field["name"] == "mode"]
    assert (mode["kind"], mode["type"], mode["count"]) == ("enum", "Mode", None)


def stream(schema, count=50):
    return b"".join(schema.encode("Pose", {"stamp": n, "mode": n % 3, "path": [{"x": n}] * (n % 4)}, profile="network", sequence=n) for n in range(count))


def stamps(events):
    return [event["stamp"] for event in events]


def test_every_kind_of_source(schema, tmp_path):
    data = stream(schema)
    path = tmp_path / "c.bin"
    path.write_bytes(data)
    with open(path, "rb") as buffered, open(path, "rb", buffering=0) as plain:
        for source in (data, bytearray(data), memoryview(data), np.frombuffer(data, "u1"), path, str(path), io.BytesIO(data), buffered, plain):
            assert stamps(schema.decode(source)) == list(range(50))
    for profile in PROFILES:
        encoded = b"".join(schema.encode("Pose", {"stamp": n}, profile=profile) for n in range(9))
        assert stamps(schema.decode(encoded)) == stamps(schema.decode(encoded, profile)) == list(range(9))


@pytest.mark.parametrize("profile", [None, "network"])
def test_sockets(schema, profile):
    here, there = socket.socketpair()
    data = stream(schema)

    def send():
        for at in range(0, len(data), 13):
            there.sendall(data[at : at + 13])
        there.close()

    thread = threading.Thread(target=send)
    thread.start()
    assert stamps(schema.decode(here, profile)) == list(range(50))
    thread.join()
    here.close()


def test_a_silent_socket_ends(schema):
    here, there = socket.socketpair()
    there.sendall(stream(schema, 3))
    assert stamps(schema.decode(here, "network", idle_timeout=0.05)) == [0, 1, 2] and here.gettimeout() is None
    here.close()
    there.close()


def test_events_come_before_the_stream_ends(schema):
    here, there = os.pipe()
    with open(here, "rb") as source:
        os.write(there, stream(schema, 2)[:-1])
        events = schema.decode(source, "network")
        assert next(events)["stamp"] == 0
        os.write(there, stream(schema, 2)[-1:])
        assert next(events)["stamp"] == 1
        os.close(there)
        assert list(events) == []


def test_a_serial_port(schema):
    serial = pytest.importorskip("serial", reason="pyserial is not installed")
    import tty

    ours, theirs = os.openpty()
    tty.setraw(theirs)
    data = stream(schema, 200)
    part = len(stream(schema, 150))
    taken = threading.Event()

    def send():
        for at in range(0, part, 61):
            os.write(ours, data[at : min(at + 61, part)])
        # What a decoder has taken from the line is its own: the next one gets what comes after that.
        taken.wait(60)
        os.write(ours, data[part:])

    with serial.Serial(os.ttyname(theirs), 115200) as port:
        thread = threading.Thread(target=send)
        thread.start()
        events = schema.decode(port, "network")
        # As they come: the line stays open.
        assert [next(events)["stamp"] for _ in range(150)] == list(range(150))
        taken.set()
        thread.join()
        assert stamps(schema.decode(port, "network", idle_timeout=0.5)) == list(range(150, 200))
        port.write(schema.encode("Do", {"n": 7}))
        assert os.read(ours, 100) == schema.encode("Do", {"n": 7})
        port.timeout = 0.01
        assert list(schema.decode(port, "network", idle_timeout=0.05)) == []
    os.close(ours)
    os.close(theirs)


def test_columns_arrays_and_frames(schema):
    data = stream(schema) + schema.encode("Note", {"who": "bo", "text": "hey", "blob": b"\1\2", "v": [3, 4]}, profile="network") + b"zz"
    capture = schema.columns(data)
    assert list(capture) == ["Pose", "Note"] and capture.counters["frames"] == 51 and capture.unread == []
    pose = capture["Pose"]
    assert pose["stamp"].dtype == np.uint64 and pose["stamp"].tolist() == list(range(50)) and pose.sequence.tolist() == list(range(50))
    assert pose["path.x"].shape == (50, 3) and pose["path@count"].tolist() == [n % 4 for n in range(50)]
    assert pose["at.x"].dtype == np.float32 and pose["mode"].tolist() == [n % 3 for n in range(50)]
    table = pose.array()
    assert table.shape == (50,) and table["path.x"].shape == (50, 3) and np.array_equal(table["stamp"], pose["stamp"])
    # The same as one message after the other.
    for row, frame in enumerate(schema.decode(data, "network", enums="numbers", damage=False)):
        if frame.message == "Pose":
            assert table["stamp"][row] == frame["stamp"] and table["mode"][row] == frame["mode"]
    empty = schema.columns(b"")
    assert len(empty) == 0 and repr(capture) == "Capture({Pose: 50, Note: 1}, unread=0)"
    with pytest.raises(KeyError):
        capture["Do"]


def test_data_frames(schema):
    pytest.importorskip("pandas", reason="pandas is not installed")
    data = stream(schema, 5) + schema.encode("Note", {"who": "bo", "text": "h\u00e9", "blob": b"\1\2", "v": [3, 4]}, profile="network")
    capture = schema.columns(data)
    pose, note = capture["Pose"].dataframe(), capture["Note"].dataframe()
    assert pose["mode"].tolist() == ["IDLE", "DRIVE", "HOLD", "IDLE", "DRIVE"] and pose["stamp"].tolist() == [0, 1, 2, 3, 4]
    assert pose["path.x[2]"].tolist() == [0, 0, 0, 3, 0] and pose["@sequence"].tolist() == [0, 1, 2, 3, 4]
    assert note.loc[5, "who"] == "bo" and note.loc[5, "text"] == "h\u00e9" and note.loc[5, "blob"] == b"\1\2" and note.loc[5, "v[1]"] == 4
    assert capture["Pose"].dataframe(enums="numbers")["mode"].tolist() == [0, 1, 2, 0, 1]


def test_the_command_line_agrees(schema, tmp_path):
    (tmp_path / "robot.sf").write_text(TEXT)
    data = stream(schema) + schema.encode("Do", {"what": {"which": "wait", "value": 5}}, profile="network")
    (tmp_path / "c.bin").write_bytes(data)
    done = subprocess.run([sys.executable, "-m", "fwright", "decode", "c.bin", "-s", "robot.sf"], capture_output=True, text=True, cwd=tmp_path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    frames = list(schema.decode(tmp_path / "c.bin"))
    assert len(lines) == len(frames) == 51
    for line, frame in zip(lines, frames, strict=True):
        assert (line["at"], line["id"], line["message"], line["sequence"]) == (frame.at, frame.id, frame.message, frame.sequence)
        assert same(frame.values, line["values"])


def test_schemas_without_packing():
    packed, loose = Schema.parse(TEXT), Schema.parse(TEXT, packed=False)
    values = {"stamp": 1, "path": [{"x": 1.0}]}
    assert len(loose.encode("Pose", values)) < len(packed.encode("Pose", values))
    [frame] = loose.decode(loose.encode("Pose", values))
    assert frame["path"] == [{"x": 1.0, "y": 0.0}] and loose.messages["Pose"]["variable"] and not packed.messages["Pose"]["variable"]


def test_strict_decoding(schema):
    data = schema.encode("Do", b"\1\0")
    [lenient], [strict] = schema.decode(data, "standard"), schema.decode(data, "standard", strict=True)
    assert lenient.values is not None
    assert strict.values is None and isinstance(strict.error, FrameError) and strict.error.code and strict.payload == b"\1\0"


def test_threads_share_a_decoder(schema):
    decoder, one = schema.decoder("standard"), schema.encode("Pose", {})
    found = []
    threads = [threading.Thread(target=lambda: found.extend(len(decoder.feed(one)) for _ in range(200))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(found) == 800 == decoder.counters["frames"]
