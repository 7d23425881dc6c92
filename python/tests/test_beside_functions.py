"""Functions on messages in memory, called in both packages with the same arguments."""

import warnings

import numpy as np
import pytest
import tensogram as theirs
from beside import assert_same, call, plain

import fwright.tensogram as ours

RNG = np.random.default_rng(7)
DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64"]
WALK = np.cumsum(RNG.normal(size=60)).reshape(3, 4, 5) * 10 + 100


def describe(array, **more):
    return {"type": "ntensor", "shape": list(array.shape), "dtype": str(array.dtype), **more}


def both(name, *args, **kwargs):
    mine, other = call(getattr(ours, name), *args, **kwargs), call(getattr(theirs, name), *args, **kwargs)
    return mine, other


def assert_both(name, *args, **kwargs):
    mine, other = both(name, *args, **kwargs)
    assert_same(mine, other, name)
    return mine


def messages():
    """Messages of the reference: every element type, every codec, masks, metadata of all kinds, several objects, streams."""
    made = {}
    for dtype in DTYPES:
        made[dtype] = theirs.encode({}, [(describe(WALK.astype(dtype)), WALK.astype(dtype))])
    for order in ("little", "big"):
        raw = WALK.astype(">f4" if order == "big" else "<f4").tobytes()
        made[f"{order} bytes"] = theirs.encode(
            {}, [({"type": "ntensor", "shape": [3, 4, 5], "dtype": "float32", "byte_order": order}, raw)]
        )
    for dtype, width in [("float16", 2), ("bfloat16", 2), ("complex64", 8), ("complex128", 16)]:
        raw = np.zeros(6 * width, np.uint8).tobytes()
        made[dtype] = theirs.encode({}, [({"type": "ntensor", "shape": [2, 3], "dtype": dtype}, raw)])
    made["bitmask"] = theirs.encode({}, [({"type": "ntensor", "shape": [3, 7], "dtype": "bitmask"}, b"\xaa\x55\x80")])
    for name, keys in CODECS.items():
        array = WALK if "float64" in keys.get("_dtypes", ["float64"]) else WALK.astype("float32")
        keys = {key: value for key, value in keys.items() if key != "_dtypes"}
        made[name] = theirs.encode({}, [(describe(array, **keys), array)])
    holes = WALK.copy()
    holes[0, 0, :3] = [np.nan, np.inf, -np.inf]
    for method in ("none", "rle", "roaring", "lz4", "zstd", "blosc2"):
        made[f"masks {method}"] = theirs.encode(
            {}, [(describe(holes), holes)], allow_nan=True, allow_inf=True, nan_mask_method=method,
            pos_inf_mask_method=method, neg_inf_mask_method=method, small_mask_threshold_bytes=0,
        )
    tree = {"base": [{"mars": {"param": "2t", "levels": [1, 2.5, None, True]}, "b": "x"}, {"b": "y", "c": {}}], "k": -7, "extra": {"z": "ü"}}
    two = [(describe(WALK), WALK), (describe(WALK[0]), WALK[0].copy())]
    made["metadata"] = theirs.encode(tree, two)
    made["no objects"] = theirs.encode({"k": 1}, [])
    made["empty"] = theirs.encode({}, [({"type": "ntensor", "shape": [0, 3], "dtype": "float32"}, b"")])
    made["scalar"] = theirs.encode({}, [({"type": "ntensor", "shape": [], "dtype": "float64"}, np.float64(2.5).tobytes())])
    made["no hash"] = theirs.encode({}, two, hash=None)
    for aggregate in ("auto", "none", "header", "footer", "both"):
        made[f"aggregate {aggregate}"] = theirs.encode({}, two, aggregate_hash=aggregate)
    for finish in ("finish", "finish_backfilled"):
        stream = theirs.StreamingEncoder({"base": [{"b": 1}], "k": 2})
        stream.write_object(*two[0])
        made[f"stream {finish}"] = getattr(stream, finish)()
    damaged = bytearray(made["float64"])
    at = bytes(damaged).find(WALK.tobytes())
    damaged[at + 9] ^= 4
    made["damaged"] = bytes(damaged)
    return made


CODECS = {
    "simple_packing": {"encoding": "simple_packing", "sp_bits_per_value": 16},
    "packing+szip": {
        "encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", "szip_rsi": 128, "szip_block_size": 16,
        "szip_flags": 8,
    },
    "zstd": {"compression": "zstd"},
    "zstd level": {"compression": "zstd", "zstd_level": 9},
    "lz4": {"compression": "lz4"},
    "shuffle+zstd": {"filter": "shuffle", "shuffle_element_size": 8, "compression": "zstd"},
    "blosc2": {"compression": "blosc2", "blosc2_codec": "lz4", "blosc2_clevel": 5},
    "zfp rate": {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 24.0},
    "zfp precision": {"compression": "zfp", "zfp_mode": "fixed_precision", "zfp_precision": 30},
    "zfp accuracy": {"compression": "zfp", "zfp_mode": "fixed_accuracy", "zfp_tolerance": 0.01},
    "sz3 abs": {"compression": "sz3", "sz3_error_bound_mode": "abs", "sz3_error_bound": 0.01},
    "sz3 rel": {"compression": "sz3", "sz3_error_bound_mode": "rel", "sz3_error_bound": 0.001},
}

MESSAGES = messages()


@pytest.mark.parametrize("name", MESSAGES)
def test_reading(name):
    message = MESSAGES[name]
    for function in ("decode", "decode_with_masks", "decode_metadata", "decode_descriptors", "scan"):
        assert_both(function, message)
        # The reference takes a bytearray in some functions only.
        assert_same(call(getattr(ours, function), bytearray(message)), call(getattr(theirs, function), message))
    for keywords in ({"verify_hash": True}, {"restore_non_finite": False}, {"threads": 2}):
        assert_both("decode", message, **keywords)
    for index in (0, 1, 2):
        assert_both("decode_object", message, index)
        assert_both("decode_object", message, index, verify_hash=True)
    for level in ("quick", "default", "checksum", "full"):
        mine, other = both("validate", message, level)
        assert [issue["code"] for issue in mine["issues"]] == [issue["code"] for issue in other["issues"]], level
        assert mine["object_count"] == other["object_count"] and mine["hash_verified"] == other["hash_verified"]
        for one, two in zip(mine["issues"], other["issues"]):
            assert {key: one[key] for key in two if key not in ("description", "byte_offset")} == {
                key: two[key] for key in two if key not in ("description", "byte_offset")
            }
    for messages in (message, message + b"garbage" + message):
        mine, other = ours.iter_messages(messages), theirs.iter_messages(messages)
        assert repr(mine) == repr(other) and len(mine) == len(other)
        for _ in range(3):
            assert_same(call(next, mine), call(next, other), "iter_messages")
            assert repr(mine) == repr(other) and len(mine) == len(other)


@pytest.mark.parametrize("name", [name for name in MESSAGES if "sz3" not in name])
@pytest.mark.parametrize("ranges", [[], [(0, 2)], [(0, 2), (5, 4)], ((1, 1),), [(59, 1)]])
def test_ranges(name, ranges):
    for join in (False, True):
        mine, other = both("decode_range", MESSAGES[name], 0, ranges, join=join)
        assert_same(mine, other, f"{name} {ranges}")


@pytest.mark.parametrize("name", ["float64", "metadata", "zstd", "stream finish"])
def test_truncated(name):
    message = MESSAGES[name]
    for cut in [0, 1, 8, 20, 23, 24, 30, len(message) // 2, len(message) - 1]:
        for function in ("decode", "decode_descriptors", "scan"):
            mine, other = both(function, message[:cut])
            if function != "scan" and name.startswith("stream") and cut >= 24:
                # The reference reads a stream without its end as far as it goes; ours says that it is cut.
                assert mine.prefix == "FramingError", f"{function} {cut}: {mine!r}"
                continue
            assert_same(mine, other, f"{function} {cut}")
        mine, other = both("validate", message[:cut])
        assert bool(mine["issues"]) == bool(other["issues"])


def test_wrong_arguments():
    message = MESSAGES["float64"]
    for args in [("str",), (None,), (1,), (message, "x"), (message, True, -1), (message, True, "x"), ()]:
        assert_both("decode", *args)
    for args in [(message, 5), (message, -1), (message, "0"), (message,), (message, 2**70)]:
        assert_both("decode_object", *args)
    for ranges in [[(0, 99)], [(60, 1)], [(-1, 2)], [(0,)], ["x"], 5, None, [(0, 2**64)]]:
        assert_both("decode_range", message, 0, ranges)
    assert_both("decode", message, unknown=1)
    assert_both("compute_hash", b"hello world")
    assert_both("compute_hash", b"x", algo="md5")
    assert_both("compute_hash", "x")
    assert_both("validate", message, level="zz")
    assert_both("validate_file", "/nope/nothing.tgm")
    assert_both("is_remote_url", 5)


@pytest.mark.parametrize("source", ["s3://b/k", "S3A://b/k", "gs://b", "az://c", "azure://c", "http://h/x", "HTTPS://h/x", "file:///x", "ftp://x", "/a/b", "x", ""])
def test_is_remote_url(source):
    assert_both("is_remote_url", source)


F32 = np.arange(6, dtype=np.float32).reshape(2, 3)
D = {"type": "ntensor", "shape": [2, 3], "dtype": "float32"}


@pytest.mark.parametrize(
    ("metadata", "pairs", "keywords"),
    [
        ({}, [(D, F32)], {"hash": "md5"}),
        (1, [], {}),
        ({}, 5, {}),
        ({}, [(D,)], {}),
        ({}, [("x", F32)], {}),
        ({}, ["xy"], {}),
        ({"base": [{}, {}]}, [(D, F32)], {}),
        ({"base": 3}, [(D, F32)], {}),
        ({"base": [3]}, [(D, F32)], {}),
        ({"_reserved_": {}}, [(D, F32)], {}),
        ({"base": [{"_reserved_": {}}]}, [(D, F32)], {}),
        ({1: 2}, [(D, F32)], {}),
        ({"a": {1, 2}}, [(D, F32)], {}),
        ({"a": object()}, [(D, F32)], {}),
        ({}, [({**D, "dtype": "f4"}, F32)], {}),
        ({}, [({**D, "byte_order": "x"}, F32)], {}),
        ({}, [({**D, "encoding": "zz"}, F32)], {}),
        ({}, [({**D, "filter": "zz"}, F32)], {}),
        ({}, [({**D, "compression": "zz"}, F32)], {}),
        ({}, [({**D, "shape": [7]}, F32.tobytes())], {}),
        ({}, [({**D, "shape": [-1]}, F32)], {}),
        ({}, [({**D, "shape": "x"}, F32)], {}),
        ({}, [({**D, "shape": 3.5}, F32)], {}),
        ({}, [({**D, "strides": [1]}, F32)], {}),
        ({}, [({**D, "encoding": "simple_packing", "sp_bits_per_value": 16}, F32)], {}),
        ({}, [({**D, "dtype": "float64", "encoding": "simple_packing", "sp_bits_per_value": 65}, F32.astype(float))], {}),
        ({}, [({**D, "dtype": "float64", "encoding": "simple_packing"}, F32.astype(float))], {}),
        ({}, [({**D, "compression": "szip"}, F32)], {}),
        ({}, [(D, F32 * np.nan)], {}),
        ({}, [(D, np.full((2, 3), np.inf, np.float32))], {}),
        ({}, [(D, F32)], {"nan_mask_method": "zz"}),
        ({}, [(D, F32)], {"aggregate_hash": "zz"}),
        ({}, [(D, F32)], {"threads": -1}),
        ({}, [(D, "str")], {}),
        ({}, [(D, F32.tolist())], {}),
        ({}, [(D, None)], {}),
        ({}, [(D, np.array(["a"]))], {}),
        ({}, [({**D, "dtype": "float64"}, F32)], {}),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_encode_refuses(metadata, pairs, keywords):
    mine, other = both("encode", metadata, pairs, **keywords)
    assert_same(mine, other)
    assert type(other).__name__ == "Raised"


FRAGMENTS = [
    ("unknown hash type", lambda m: m.encode({}, [(D, F32)], hash="md5")),
    ("unknown mask method", lambda m: m.encode({}, [(D, F32)], nan_mask_method="zz")),
    ("unknown dtype", lambda m: m.encode({}, [({**D, "dtype": "f4"}, F32)])),
    ("unknown byte_order", lambda m: m.encode({}, [({**D, "byte_order": "x"}, F32)])),
    ("unknown validation level", lambda m: m.validate(b"", level="x")),
    ("does not match expected", lambda m: m.encode({}, [({**D, "shape": [7]}, F32.tobytes())])),
    ("already finished", lambda m: (lambda e: (e.finish(), e.finish()))(m.StreamingEncoder({}))),
    ("simple_packing only supports float64", lambda m: m.encode({}, [({**D, "encoding": "simple_packing", "sp_bits_per_value": 16}, F32)])),
    ("bits_per_value 65 exceeds maximum of 64", lambda m: m.encode({}, [({**D, "dtype": "float64", "encoding": "simple_packing", "sp_bits_per_value": 65}, F32.astype(float))])),
    ("bits_per_value 65 exceeds maximum of 64", lambda m: m.compute_packing_params(np.arange(4.0), 65, 0)),
    ("szip_block_offsets must be strictly increasing", lambda m: m.encode_pre_encoded({}, [({**D, "compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8, "szip_block_offsets": [0, 5, 5]}, F32.tobytes())])),
    ("szip_block_offsets provided but compression", lambda m: m.encode_pre_encoded({}, [({**D, "szip_block_offsets": [0, 2]}, F32.tobytes())])),
    ("sp_bits_per_value", lambda m: m.encode({}, [({**D, "dtype": "float64", "encoding": "simple_packing"}, F32.astype(float))])),
    ("built without GRIB support", lambda m: m.convert_grib("x")),
    ("built without GRIB support", lambda m: m.convert_grib_buffer(b"x")),
    ("built without GRIB support", lambda m: m.to_grib([])),
    ("built without NetCDF support", lambda m: m.convert_netcdf("x")),
    ("built without NetCDF support", lambda m: m.to_netcdf([], "x")),
]


@pytest.mark.parametrize(("fragment", "act"), FRAGMENTS)
def test_words_that_programs_look_for(fragment, act):
    for module in (theirs, ours):
        raised = call(act, module)
        assert fragment in str(raised.error), f"{module.__name__}: {raised!r}"


@pytest.mark.parametrize("keywords", [
    {}, {"hash": None}, {"hash": "none"}, {"hash": "xxh3"}, {"threads": 3}, {"aggregate_hash": "footer"},
    {"aggregate_hash": "both"}, {"allow_nan": True}, {"allow_inf": True, "small_mask_threshold_bytes": 0},
])
@pytest.mark.parametrize("name", ["raw", *CODECS])
def test_what_encode_writes_reads_the_same(name, keywords):
    keys = CODECS.get(name, {})
    tree = {"base": [{"mars": {"param": "2t"}}], "k": [1, 2.5, None, True, "x", {"y": 1}]}
    mine, other = both("encode", tree, [(describe(WALK, **keys), WALK)], **keywords)
    # Each reader reads both messages; what they read is the same, the time of writing aside.
    for reader in (ours, theirs):
        one, two = reader.decode(mine), reader.decode(other)
        a, b = plain(one.metadata), plain(two.metadata)
        assert a == b
        (first, x), (second, y) = one.objects[0], two.objects[0]
        # Lossy within the same bound, which each encoder uses in its own way.
        bound = {"sz3 abs": 0.01, "sz3 rel": 0.001 * np.ptp(WALK)}.get(name, 0)
        assert x.dtype == y.dtype and x.shape == y.shape
        assert np.array_equal(x, y) if bound == 0 else np.abs(x - WALK).max() <= bound * (1 + 1e-9)
        params = lambda d: {k: v for k, v in d.params.items() if k != "szip_block_offsets"}
        assert params(first) == params(second)
    for level in ("default", "full"):
        assert theirs.validate(mine, level)["issues"] == theirs.validate(other, level)["issues"]


def test_the_number_of_threads_changes_no_byte(monkeypatch):
    def body(message):
        reserved = ours.decode_metadata(message).reserved
        for text in (reserved["uuid"], reserved["time"]):
            message = message.replace(text.encode(), b"x" * len(text))
        return message

    big = np.cumsum(RNG.normal(size=200_000))
    for keys in ({}, CODECS["zstd"], CODECS["shuffle+zstd"], CODECS["simple_packing"], CODECS["blosc2"]):
        made = [ours.encode({}, [(describe(big, **keys), big)], hash=None, threads=threads) for threads in (0, 1, 2, 5)]
        assert len({body(message) for message in made}) == 1, keys


@pytest.mark.parametrize("values", [np.arange(4.0), np.array([2.5, 2.5]), WALK.ravel(), np.array([]), np.array([np.nan, 1.0])])
@pytest.mark.parametrize("bits", [0, 1, 16, 64, 65])
@pytest.mark.parametrize("decimal", [0, 2, -1])
def test_compute_packing_params(values, bits, decimal):
    mine, other = both("compute_packing_params", values, bits, decimal)
    if bits == 0 and np.isnan(values).any():
        # The reference answers with a reference value of NaN, which no encoder takes.
        assert isinstance(mine.error, ValueError)
        return
    assert_same(mine, other)


def test_a_warning_points_at_the_caller():
    for module in (theirs, ours):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.encode({}, [({**D, "name": "x", "units": "K"}, F32)])
        [warning] = caught
        assert warning.category is UserWarning and warning.filename == __file__
        assert "'name', 'units'" in str(warning.message)


def test_doctor():
    mine, other = ours.doctor(), theirs.doctor()
    assert list(mine) == list(other)
    assert set(mine["build"]) == set(other["build"])
    assert [row["name"] for row in mine["features"]] == [row["name"] for row in other["features"]]
    assert [row["kind"] for row in mine["features"]] == [row["kind"] for row in other["features"]]
    shared = len(other["self_test"])
    assert mine["self_test"][:shared] == other["self_test"]
    # Masks, BinTensors and struct-frame, which the reference does not try.
    assert len(mine["self_test"]) > shared and all(row["outcome"] == "ok" for row in mine["self_test"])


def test_digests_are_attributes_of_the_exception():
    mine, other = both("decode", MESSAGES["damaged"], verify_hash=True)
    for name in ("object_index", "expected", "actual"):
        assert getattr(mine.error, name) == getattr(other.error, name)
    mine, other = both("decode", MESSAGES["no hash"], verify_hash=True)
    assert mine.error.object_index == other.error.object_index == 0
