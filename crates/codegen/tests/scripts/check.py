"""What generated Python promises, tried on the schema made to hurt."""

import math
import struct

from torture import REGISTRY, other, torture
from torture.runtime import (
    BULK,
    NETWORK,
    STANDARD,
    AccumulatingReader,
    BufferReader,
    Client,
    DecodeError,
    EncodeError,
    Frame,
    Header,
    Layout,
    UnknownVariant,
    read_message,
    write_message,
)


def refuses(code, call):
    try:
        call()
    except (EncodeError, DecodeError) as fault:
        assert fault.code == code, fault.code
        return str(fault)
    raise AssertionError(f"expected {code}")


# Enums keep what they do not know, and each nested one is its own.
assert torture.Colour(200) == 200 and torture.Colour(200).name == "UNKNOWN_200" and not torture.Colour(200).is_known
assert torture.Colour(7) is torture.Colour.BLUE and torture.Colour.BLUE.is_known
assert torture.DoorState.SHUT == 1 and torture.ValveState.OPEN == 2
assert torture.Door().state is torture.DoorState.SHUT

# Defaults, also inside; elements of arrays are zero.
early = torture.Early()
assert early.late.n == 77 and [item.n for item in early.more] == [0, 0] and early.colour is torture.Colour.BLUE
defaults = torture.Defaults()
assert defaults.u64 == 2**64 - 1 and defaults.f == -math.inf and defaults.bounded == "naïve"
assert torture.Defaults.decode(defaults.encode()) == defaults

# As a dictionary: names of the schema, flattened children in place, unions as the command line shows them.
flat = torture.Flat(first=1, late=torture.Late(n=2, s="ab"), option_=torture.Option(x=3), class_=4)
assert list(flat.to_dict().items()) == [("first", 1), ("n", 2), ("s", "ab"), ("x", 3), ("class", 4), ("what", None)]
flat.what = torture.FlatWhatAgain(torture.Late(n=5, s="c"))
assert flat.to_dict()["what"] == {"which": "again", "value": {"n": 5, "s": "c"}}
flat.what = torture.FlatWhatColour(torture.Colour.BLUE)
assert flat.to_dict()["what"] == {"which": "colour", "value": torture.Colour.BLUE}
flat.what = UnknownVariant(9, b"\1")
assert flat.to_dict()["what"] == {"tag": 9, "region": b"\1"}
assert torture.Tagless(kind=1).to_dict() == {"kind": 1, "body": bytes(40)}
assert torture.Early().to_dict()["more"] == [{"n": 0, "s": ""}, {"n": 0, "s": ""}]
assert torture.Words(class_=7, self_=8).to_dict()["class"] == 7 and "__proto__" in torture.Words().to_dict()

# Nothing is truncated: the error names the field.
assert "text" in refuses("too_long", lambda: torture.Text("12345").encode())
assert "i8" in refuses("value_out_of_range", lambda: torture.Defaults(i8=128).encode())
assert "late.n" in refuses("value_out_of_range", lambda: torture.Early(late=torture.Late(n=-1)).encode())
refuses("array_length", lambda: torture.Arrays(wide=[1.0]).encode())
refuses("array_length", lambda: torture.Arrays(long=[0] * 301).encode())
refuses("text_with_zero", lambda: torture.Late(s="a\0b").encode())
refuses("wrong_type", lambda: torture.Text(7).encode())
assert len(torture.Arrays(long=[1] * 300).encode()) > 600

# Text that is no UTF-8 goes out as it came.
payload = b"\x03a\xff\xfe\0"
assert torture.Text.decode(payload, Layout.FIXED).encode(Layout.FIXED) == payload

# Unions: unset, set, unknown; without a tag, views.
for value in [
    None,
    torture.MixedDataUnset(1.5),
    torture.MixedDataUnknown(2**64 - 1),
    torture.MixedDataColour(torture.Colour.BLUE),
    torture.MixedDataText("héy"),
    torture.MixedDataBlob(b"\0\1\2"),
    torture.MixedDataLate(torture.Late(5, "abc")),
    UnknownVariant(99, bytes(range(8))),
]:
    for layout in Layout:
        found = torture.Mixed.decode(torture.Mixed(value).encode(layout), layout)
        assert found == torture.Mixed(value), (found, value)
refuses("unknown_tag", lambda: torture.Mixed(UnknownVariant(256, b"")).encode())

# A wrong member: the error says where, what was given, and what would do.
words = refuses("unknown_member", lambda: torture.Mixed(torture.Late(5, "abc")).encode())
assert "Mixed.data: Late Late(n=5, s='abc') is not a member" in words, words
assert "MixedDataLate (`late`)" in words and "MixedDataUnset (`Unset`)" in words and "UnknownVariant" in words, words
assert words.endswith("was MixedDataLate(Late(...)) meant?"), words
# The member of another union, though its tag is one of this union as well.
words = refuses("unknown_member", lambda: torture.Mixed(torture.MixedTrimmedFirstLate(torture.Late())).encode())
assert "Mixed.data: MixedTrimmedFirstLate" in words and "meant" not in words, words
refuses("unknown_member", lambda: torture.Mixed("text").encode())
assert len(refuses("unknown_member", lambda: torture.Mixed("x" * 5000).encode())) < 600
words = refuses("unknown_member", lambda: torture.Tagless(1, torture.Late()).encode())
assert "Tagless.body: Late" in words and "TaglessBody.from_late" in words, words
# What a member holds.
words = refuses("value_out_of_range", lambda: torture.Mixed(torture.MixedDataUnknown(2**64)).encode())
assert "Mixed.data.Unknown: int 18446744073709551616 does not fit" in words, words
words = refuses("value_out_of_range", lambda: torture.Mixed(torture.MixedDataLate(torture.Late(n=70000))).encode())
assert "Mixed.data.late.n: 70000" in words, words
words = refuses("wrong_type", lambda: torture.Mixed(torture.MixedDataLate(None)).encode())
assert "Mixed.data.late: NoneType None" in words, words
body = torture.TaglessBody.from_late(torture.Late(258, "xyz"))
assert body.as_late() == torture.Late(258, "xyz") and body.region[:2] == b"\2\1"
assert torture.Tagless.decode(torture.Tagless(1, body).encode()).body == body

# Envelopes hold messages of both packages; their tags are effective ids.
envelope = torture.Envelope.wrap(other.Clash(4), seq=9)
assert envelope.encode() == bytes([9]) + struct.pack("<H", 0x0901) + b"\4"
assert torture.Envelope.decode(envelope.encode()).unwrap() == other.Clash(4)

# Older and newer peers.
assert torture.GrownVariable.decode(b"\1\7\1\2") == torture.GrownVariable([7])
assert torture.Grown.decode(b"\1\0") == torture.Grown(1)
refuses("truncated", lambda: torture.GrownVariable.decode(b"\2\7"))
refuses("count_exceeds_bound", lambda: torture.GrownVariable.decode(b"\5\0\0\0\0\0"))
assert torture.Valve.decode(b"\0\xff\1\2\4").history == [1, 2, 4], "clamped"

# Frames: ids above 255 need a package byte; a damaged frame does not hide the next one.
refuses("id_too_large", lambda: write_message(STANDARD, torture.Empty()))
refuses("no_message_id", lambda: write_message(BULK, torture.Late()))
frames = [
    write_message(NETWORK, message, Header(at)) for at, message in enumerate([torture.Empty(), envelope, defaults])
]
damaged = frames[0] + b"noise" + frames[1][:-1] + bytes([frames[1][-1] ^ 1]) + frames[2]
reader = BufferReader(NETWORK, REGISTRY, damaged)
events = list(reader)
assert [type(event).__name__ for event in events] == ["Frame", "Skipped", "BadChecksum", "Frame"]
assert reader.counters.crc_failures == 1 and reader.counters.seq_gaps == 1
assert read_message(torture.Defaults, NETWORK, events[3]) == defaults
small = AccumulatingReader(NETWORK, REGISTRY, capacity=32)
good = [event for byte in damaged * 20 for event in small.frames(bytes([byte]))]
assert len(good) == 20 and small.partial_len <= 32


# A client answers itself.
class Loop:
    def __init__(self):
        self.sent = []

    def send(self, data):
        self.sent.append(data)


loop, faults = Loop(), []
client = Client(loop, NETWORK, REGISTRY, on_error=faults.append)
future = client.start_request(torture.Empty(), torture.Object, lambda answer: answer.v == 2)
client.subscribe(torture.Object, lambda message, frame: 1 / 0)
for v in (1, 2, 3):
    client.receive(write_message(NETWORK, torture.Object(v)))
assert future.result(0) == torture.Object(2) and len(faults) == 3 and len(loop.sent) == 1
try:
    client.request(torture.Empty(), torture.Object, timeout=0.01)
except TimeoutError:
    pass
else:
    raise AssertionError("a request without an answer must end")
assert isinstance(next(BufferReader(NETWORK, REGISTRY, loop.sent[1]).frames()), Frame)

try:
    import numpy
except ImportError:
    print("no numpy")
else:
    from torture.runtime.batch import dtype, frames_to_arrays, to_array

    capture = b"".join(write_message(BULK, torture.Early(late=torture.Late(n))) for n in range(50))
    capture += b"".join(write_message(BULK, torture.Text("ab"[: n % 3])) for n in range(7))
    arrays = frames_to_arrays(BULK, REGISTRY, capture)
    assert arrays[torture.Early]["late"]["n"].tolist() == list(range(50))
    assert arrays[torture.Text]["text@len"].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert arrays[torture.Text]["text"].tolist() == [b"", b"a", b"ab", b"", b"a", b"ab", b""]
    rows = to_array(torture.Mixed, [torture.Mixed(torture.MixedDataUnset(x)).encode() for x in (0.5, 2.0)])
    assert rows["data.Unset"].tolist() == [0.5, 2.0] and rows["data@tag"].tolist() == [1, 1]
    rows = to_array(torture.GrownVariable, [b"\2\7\x08\1\0\0\0\2hi", b"\0"])
    assert rows["ids@count"].tolist() == [2, 0] and rows["up"].tolist() == [1, 5] and rows["note"][0] == b"hi"
    for message in torture.MESSAGES.values():
        assert dtype(message).itemsize == message.MAX_SIZE
print("done")
