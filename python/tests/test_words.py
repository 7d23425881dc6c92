"""Words that published programs look for, in both packages; and output that does not depend on threads."""

import warnings

import numpy as np
import pytest
import tensogram as theirs

import fwright.tensogram as ours

MODULES = [theirs, ours]
F = np.arange(24.0).reshape(4, 6)
D = {"type": "ntensor", "shape": [4, 6], "dtype": "float64"}
SZIP = {"compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}
U = np.arange(24, dtype="u2")
DU = {"type": "ntensor", "shape": [24], "dtype": "uint16"}


def encode(module, keys, data=F, base=D, **keywords):
    return module.encode({}, [({**base, **keys}, data)], **keywords)


def finished(module):
    stream = module.StreamingEncoder({})
    stream.finish()
    stream.finish()


def offsets(module, given):
    message = module.encode({}, [({**DU, **SZIP}, U)])
    _, [(descriptor, _)] = module.decode(message)
    return module.encode_pre_encoded({}, [({**DU, **SZIP, "szip_block_offsets": given}, bytes(48))])


# `CompressionError: ` belongs to the same list; no call is known for which either package raises it.
WORDS = {
    "FramingError: ": (ValueError, lambda module: module.decode(b"nothing")),
    "MetadataError: ": (ValueError, lambda module: encode(module, {"compression": "zfp"})),
    "EncodingError: ": (ValueError, lambda module: encode(module, {}, np.full((4, 6), np.nan))),
    "ObjectError: ": (ValueError, lambda module: module.decode_object(module.encode({}, []), 3)),
    "unknown hash type": (ValueError, lambda module: encode(module, {}, hash="md5")),
    "unknown mask method": (ValueError, lambda module: encode(module, {}, nan_mask_method="x")),
    "unknown dtype": (ValueError, lambda module: encode(module, {"dtype": "float7"}, F.tobytes())),
    "unknown byte_order": (ValueError, lambda module: encode(module, {"byte_order": "middle"})),
    "unknown validation level": (ValueError, lambda module: module.validate(b"", "deep")),
    "does not match expected": (ValueError, lambda module: encode(module, {}, b"too short")),
    "already finished": (RuntimeError, finished),
    "simple_packing only supports float64": (
        ValueError,
        lambda module: encode(
            module, {"encoding": "simple_packing", "sp_bits_per_value": 16, "dtype": "float32"}, F.astype("f4")
        ),
    ),
    "bits_per_value 65 exceeds maximum of 64": (ValueError, lambda module: module.compute_packing_params(F.ravel(), 65, 0)),
    "szip_block_offsets must be strictly increasing": (ValueError, lambda module: offsets(module, [0, 100, 100])),
    "szip_block_offsets provided but compression": (
        ValueError,
        lambda module: module.encode_pre_encoded({}, [({**DU, "compression": "zstd", "szip_block_offsets": [0]}, bytes(48))]),
    ),
    "sp_bits_per_value": (
        ValueError,
        lambda module: encode(module, {"encoding": "simple_packing", "sp_reference_value": 0.0}),
    ),
    "built without GRIB support": (RuntimeError, lambda module: module.convert_grib("x.grib")),
    "built without NetCDF support": (RuntimeError, lambda module: module.convert_netcdf("x.nc")),
}


@pytest.mark.parametrize("words", WORDS)
def test_words(words):
    error, call = WORDS[words]
    for module in MODULES:
        with pytest.raises(error) as caught:
            call(module)
        assert words in str(caught.value), module.__name__
        if words.endswith(": "):
            assert str(caught.value).startswith(words), module.__name__


def test_words_of_files(tmp_path):
    path = str(tmp_path / "f.tgm")
    with theirs.TensogramFile.create(path) as file:
        file.append({}, [(D, F)])
    for module in MODULES:
        with pytest.raises(OSError, match="remote backend"):
            module.TensogramFile.open(path).file_decode_object_batch([0], 0)


def test_the_warning_is_attributed_to_the_caller():
    for module in MODULES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.encode({}, [({**D, "param": "2t"}, F)])
        assert [(one.category, one.filename) for one in caught] == [(UserWarning, __file__)]


CODECS = [
    {},
    {"compression": "zstd"},
    {"filter": "shuffle", "shuffle_element_size": 8, "compression": "lz4"},
    {"compression": "blosc2", "blosc2_codec": "zstd", "blosc2_clevel": 3},
    {"encoding": "simple_packing", "sp_bits_per_value": 12},
    {"encoding": "simple_packing", "sp_bits_per_value": 16, **SZIP},
    {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 20.0},
    {"compression": "sz3", "sz3_error_bound_mode": "abs", "sz3_error_bound": 0.01},
]


@pytest.mark.parametrize("keys", CODECS, ids=lambda keys: "+".join(map(str, keys.values())) or "raw")
def test_output_does_not_depend_on_threads(keys, monkeypatch):
    field = np.cumsum(np.random.default_rng(1).normal(size=300_000))
    pairs = [({**keys}, field), ({**keys}, field[:100_000].copy())]

    def payloads(**keywords):
        message = ours.encode({}, pairs, **keywords)
        return [descriptor.hash["value"] if isinstance(descriptor.hash, dict) else descriptor.hash for descriptor, _ in ours.decode(message).objects], [
            array.tobytes() for _, array in ours.decode(message, threads=keywords.get("threads", 0)).objects
        ]

    alone = payloads(threads=1)
    for threads in (0, 2, 5):
        assert payloads(threads=threads) == alone, threads
    monkeypatch.setenv("TENSOGRAM_THREADS", "3")
    assert payloads() == alone
