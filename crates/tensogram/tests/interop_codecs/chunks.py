"""The reference with an object of more than one blosc2 chunk.

    chunks.py LENGTH OURS THEIRS

Reads our message from the file OURS and checks its bytes; writes a message of its own with the same bytes to THEIRS.
"""

import sys

import numpy
import tensogram

length, ours, theirs = int(sys.argv[1]), sys.argv[2], sys.argv[3]
at = numpy.arange(length, dtype=numpy.uint32)
expected = ((at % 251) ^ (at >> 20)).astype(numpy.uint8)
with open(ours, "rb") as file:
    ((_, found),) = tensogram.decode(file.read(), verify_hash=True).objects
if not numpy.array_equal(found, expected):
    sys.exit("the reference reads other bytes from our message")
descriptor = {
    "type": "ntensor",
    "shape": [length],
    "dtype": "uint8",
    "byte_order": "little",
    "compression": "blosc2",
    "blosc2_clevel": 1,
}
with open(theirs, "wb") as file:
    file.write(tensogram.encode({"base": [{}]}, [(descriptor, expected)]))
