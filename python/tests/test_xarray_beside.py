"""The engine beside ``tensogram-xarray``: the same dataset wherever theirs is right. ``docs/arrays.md`` lists where it is not."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensogram as theirs

xr = pytest.importorskip("xarray", reason="xarray is not installed")
pytest.importorskip("tensogram_xarray", reason="tensogram-xarray is not installed")

F = np.linspace(240.0, 310.0, 120).reshape(10, 12)
PACKED = {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}


def thing(array, pipeline=None, **entry):
    array = np.asarray(array)
    return entry, {"type": "ntensor", "shape": list(array.shape), "dtype": str(array.dtype), **(pipeline or {})}, array


def put(path, *messages, **extra):
    """A file of messages by the reference; each is a list of things."""
    with theirs.TensogramFile.create(str(path)) as file:
        for number, things in enumerate(messages):
            more = {key: value[number] if isinstance(value, list) else value for key, value in extra.items()}
            file.append({**more, "base": [entry for entry, _, _ in things]}, [(described, array) for _, described, array in things], allow_nan=True)
    return str(path)


AXES = [thing(np.linspace(90, -90, 10), name="latitude"), thing(np.linspace(0, 330, 12), name="lon")]
HOLES = np.where(F > 300, np.nan, F)

# Files on which theirs is right.
RIGHT = {
    "coordinates": lambda: [*AXES, thing(F, name="t", units="K"), thing(F, PACKED, name="u", step=6), thing(HOLES, name="holes")],
    "numbers": lambda: [thing(np.arange(12, dtype=kind).reshape(3, 4), name=kind) for kind in ("u1", "i2", "u4", "i8", "f4", "f8")],
    "names": lambda: [thing(F, mars={"param": "2t", "step": 6}), thing(F, param="msl"), thing(F, shortName="sd"), thing(F)],
    "hints": lambda: [thing(F, name="t", dim_names=["y", "x"]), thing(F[0], name="u")],
    "many axes": lambda: [*AXES, thing([500.0, 850.0], name="level"), thing(np.zeros((2, 10, 12)), name="t"), thing(np.ones(12), name="u")],
    "names in other cases": lambda: [thing(np.arange(10.0), name="LAT"), thing(np.arange(12.0), name="Lon"), thing(F, name="t")],
    "conflict": lambda: [thing(F, name="t"), thing(F[:5], name="u")],
    "empty": list,
    "pipelines": lambda: [
        thing(F, {"compression": "zstd"}, name="zstd"),
        thing(F, {"compression": "blosc2", "blosc2_codec": "lz4", "blosc2_clevel": 5}, name="blosc2"),
        thing(F, {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 32.0}, name="zfp"),
        thing(F, {"filter": "shuffle", "shuffle_element_size": 8, "compression": "lz4"}, name="lz4"),
    ],
}
PARAMETERS = ("sp_", "szip_", "zstd_", "blosc2_", "zfp_", "shuffle_")


def flat(attrs, prefix=""):
    """Attributes as ours name them: dotted, without the parameters of codecs, which are in the encoding."""
    made = {}
    for key, value in attrs.items():
        if isinstance(value, dict):
            made.update(flat(value, f"{prefix}{key}."))
        elif not key.startswith(PARAMETERS):
            made[f"{prefix}{key}"] = value
    return made


def alike(theirs_, ours):
    expected = theirs_.copy()
    expected.attrs = flat(theirs_.attrs)
    for variable in expected.variables.values():
        variable.attrs = flat(variable.attrs)
    xr.testing.assert_identical(ours.load(), expected.load())


@pytest.mark.parametrize("name", RIGHT)
def test_the_same_dataset(name, tmp_path):
    path = put(tmp_path / "f.tgm", RIGHT[name](), run="00Z", number=7, nest={"a": 1})
    alike(xr.open_dataset(path, engine="tensogram"), xr.open_dataset(path, engine="fwright"))


KEYS = [
    {"latitude": slice(2, 5), "longitude": slice(3, 9)},
    {"latitude": 1, "longitude": 2},
    {"longitude": 4},
    {"latitude": slice(None, None, 3), "longitude": slice(None, None, -1)},
    {"latitude": [5, 1, 1], "longitude": slice(0, 2)},
    {"latitude": [7, 2], "longitude": [0, 11, 3]},
    {"latitude": xr.DataArray([1, 5, 1], dims="p"), "longitude": xr.DataArray([0, 11, 0], dims="p")},
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_the_same_parts(key, tmp_path):
    path = put(tmp_path / "f.tgm", RIGHT["coordinates"]())
    alike(xr.open_dataset(path, engine="tensogram").isel(key), xr.open_dataset(path, engine="fwright").isel(key))


def test_the_same_options(tmp_path):
    path = put(tmp_path / "f.tgm", RIGHT["names"](), [thing(F, mars={"param": "10u"})])
    for options in (
        {"message_index": 0},
        {"message_index": 1},
        {"message_index": 0, "dim_names": ["a", "b"]},
        {"message_index": 0, "variable_key": "mars.param"},
        {"message_index": 0, "variable_key": "nothing"},
        {"message_index": 0, "drop_variables": ["msl", "none"]},
        {"message_index": 0, "merge_objects": False},
        {"message_index": 0, "range_threshold": 0.0},
        {"message_index": 0, "range_threshold": 1.0},
        {"message_index": 0, "verify_hash": True},
        {"message_index": 0, "storage_options": {}},
    ):
        alike(xr.open_dataset(path, engine="tensogram", **options), xr.open_dataset(path, engine="fwright", **options))
    for options, error, words in (({"message_index": 2}, ValueError, "out of range"), ({"dim_names": ["a"], "message_index": 0}, ValueError, None)):
        for engine in ("tensogram", "fwright"):
            with pytest.raises(error, match=words):
                xr.open_dataset(path, engine=engine, **options)


def test_the_same_cubes(tmp_path):
    """Full cubes of one variable, with keys at the top: values in the order in which they come."""
    things = [*AXES, *(thing(F + step + level, name="t", level=level, step=step) for step in (12, 0, 6) for level in (850, 500))]
    path = put(tmp_path / "f.tgm", things)
    expected = xr.open_dataset(path, engine="tensogram", merge_objects=True, variable_key="name").load()
    ours = xr.open_dataset(path, engine="fwright").load()
    assert ours["t"].dims == expected["t"].dims == ("level", "step", "latitude", "longitude")
    assert ours["t"].attrs == flat(expected["t"].attrs)
    xr.testing.assert_equal(ours, expected)


def test_the_same_cubes_over_messages(tmp_path):
    import tensogram_xarray

    import fwright.xarray

    path = put(tmp_path / "f.tgm", *([thing(F + step, name="t", step=step)] for step in (0, 6, 12)), run=["a", "a", "a"])
    [expected], [ours] = tensogram_xarray.open_datasets(path, variable_key="name"), fwright.xarray.open_datasets(path)
    xr.testing.assert_equal(ours.load(), expected.load())


# Where theirs is not right: the row of docs/arrays.md, the file, what ours must be, and how theirs shows that it is not.


def differs(row):
    def register(check):
        DIFFERENCES[row] = check
        return check

    return register


DIFFERENCES = {}


def both(path, **options):
    return xr.open_dataset(path, engine="tensogram", **options), xr.open_dataset(path, engine="fwright", **options)


@differs("several objects of one name")
def _(path):
    other, ours = both(put(path, [thing(F + step, name="t", step=step) for step in (0, 6)]))
    assert other["t"].dims == ("dim_0", "dim_1") and other["t"].attrs["step"] == 6
    assert ours["t"].dims == ("step", "dim_0", "dim_1") and ours["step"].values.tolist() == [0, 6]
    assert np.array_equal(ours["t"].sel(step=0), F) and np.array_equal(ours["t"].sel(step=6), F + 6)


@differs("objects that no key tells apart")
def _(path):
    other, ours = both(put(path, [thing(F, name="t"), thing(F + 1, name="t")]))
    assert list(other) == ["t"] and np.array_equal(other["t"], F + 1)
    assert list(ours) == ["t", "t_1"] and np.array_equal(ours["t"], F) and np.array_equal(ours["t_1"], F + 1)


@differs("a file of several messages")
def _(path):
    other, ours = both(put(path, *([thing(F + step, name="t", step=step)] for step in (0, 6))))
    assert "step" not in other.dims and ours.sizes["step"] == 2


@differs("nested keys that vary")
def _(path):
    path = put(path, [thing(F + step, mars={"param": "2t", "step": step, "date": date}) for date in (20260101, 20260102) for step in (0, 6)])
    other = xr.open_dataset(path, engine="tensogram", merge_objects=True, variable_key="mars.param")
    ours = xr.open_dataset(path, engine="fwright")
    assert isinstance(other["mars"].values[0], dict)
    assert ours["2t"].dims[:2] == ("date", "step") and ours["2t"].attrs == {"mars.param": "2t"}


@differs("an incomplete cube")
def _(path):
    cells = [(0, 500), (0, 850), (6, 500)]
    path = put(path, [thing(F + step + level, name="t", step=step, level=level) for step, level in cells])
    other = xr.open_dataset(path, engine="tensogram", merge_objects=True, variable_key="name")
    ours = xr.open_dataset(path, engine="fwright")
    assert other["t"].ndim == 2
    for step, level in cells:
        assert np.array_equal(ours["t"].sel(step=step, level=level), F + step + level)
    assert np.isnan(ours["t"].sel(step=6, level=850)).all()


@differs("an incomplete cube of whole numbers")
def _(path):
    path = put(path, [thing(F.astype("i4") + step + level, name="t", step=step, level=level) for step, level in [(0, 500), (0, 850), (6, 500)]])
    other = xr.open_dataset(path, engine="tensogram", merge_objects=True, variable_key="name")
    ours = xr.open_dataset(path, engine="fwright")
    assert list(other) == ["t"] and list(ours) == ["t", "t_1", "t_2"] and ours["t_2"].dtype == np.int32
    assert ours["t_2"].attrs["step"] == 6 and np.array_equal(ours["t_2"], F.astype("i4") + 506)


@differs("variables whose keys have other values")
def _(path):
    path = put(path, [thing(F + step, name=name, step=step) for name, steps in (("t", (0, 6)), ("u", (0, 12))) for step in steps])
    other = xr.open_dataset(path, engine="tensogram", merge_objects=True, variable_key="name")
    ours = xr.open_dataset(path, engine="fwright")
    # The second step of t is 6, and theirs calls it 12.
    assert np.array_equal(other["t"].load().sel(step=12), F + 6)
    assert np.array_equal(ours["t"].sel(step=6), F + 6) and np.array_equal(ours["u"].sel(step_1=12), F + 12)


@differs("different variables in one cube")
def _(path):
    path = put(path, [thing(F + step, param=name, step=step) for name in ("2t", "msl") for step in (0, 6)])
    other = xr.open_dataset(path, engine="tensogram", merge_objects=True)
    ours = xr.open_dataset(path, engine="fwright", merge_objects=True)
    assert list(other) == ["2t"] and "param" in other["2t"].dims
    assert list(ours) == ["2t", "msl"] and ours["2t"].dims == ("step", "dim_0", "dim_1")


@differs("dimension names of the producer")
def _(path):
    other, ours = both(put(path, [thing(np.arange(4.0), name="level"), thing(np.ones((4, 4)), name="t", dim_names=["member", "site"])]))
    assert other["t"].dims == ("level", "site") and ours["t"].dims == ("member", "site")


@differs("axes of the same length")
def _(path):
    other, ours = both(put(path, [thing(np.arange(4.0), name="x"), thing(np.ones((4, 4)), name="t")]))
    assert other["t"].dims == ("x", "dim_1") and ours["t"].dims == ("dim_0", "dim_1")


@differs("coordinates in an unusual order")
def _(path):
    other, ours = both(put(path, [thing(np.arange(4.0), name="lon"), thing(np.arange(4.0), name="lat"), thing(np.ones((4, 4)), name="t")]))
    assert other["t"].dims == ("longitude", "latitude") and ours["t"].dims == ("latitude", "longitude")


@differs("coordinates with two axes")
def _(path):
    path = put(path, [thing(np.zeros((4, 5)), name="lat"), thing(np.ones((4, 5)), name="lon"), thing(np.ones((4, 5)), name="pressure")])
    with pytest.raises(ValueError, match="same length"):
        xr.open_dataset(path, engine="tensogram")
    ours = xr.open_dataset(path, engine="fwright")
    assert set(ours.coords) == {"latitude", "longitude"} and list(ours) == ["pressure"]


@differs("a coordinate and a key of the same name")
def _(path):
    path = put(path, [thing(np.arange(3), name="step"), *(thing(np.ones(3) * step, name="t", step=step) for step in (0, 6))])
    with pytest.raises(ValueError, match="conflicting sizes"), pytest.warns(UserWarning):
        xr.open_dataset(path, engine="tensogram", merge_objects=True, variable_key="name")
    ours = xr.open_dataset(path, engine="fwright")
    assert ours["t"].dims == ("step_1", "step") and ours["step_1"].values.tolist() == [0, 6]


@differs("units, scale and missing values of CF")
def _(path):
    path = put(path, [thing([0, 6], name="time", units="hours since 2026-01-01"), thing([2.0, -1.0], name="p", scale_factor=0.5, _FillValue=-1.0)])
    other, ours = both(path)
    assert other["time"].dtype == np.int64 and other["p"].values.tolist() == [2.0, -1.0]
    assert ours["time"].values[1] == np.datetime64("2026-01-01T06") and np.array_equal(ours["p"], [1.0, np.nan], equal_nan=True)
    plain = xr.open_dataset(path, engine="fwright", decode_cf=False)
    assert np.array_equal(plain["time"], other["time"]) and plain["p"].attrs["scale_factor"] == 0.5


@differs("files that were NetCDF")
def _(path):
    time = thing([0.0, 1.0], name="t0", netcdf={"units": "days since 2026-01-01", "_dims": ["t0"]})
    path = put(path, [time, thing(np.ones((2, 3)), name="v", netcdf={"_dims": ["t0", "y"], "long_name": "a", "_global": {"title": "b"}})])
    other, ours = both(path)
    assert other["v"].dims == ("dim_0", "dim_1") and "units" not in other["t0"].attrs
    assert ours["v"].dims == ("t0", "y") and ours["t0"].values[1] == np.datetime64("2026-01-02")
    assert ours["v"].attrs["long_name"] == "a" and ours.attrs["title"] == "b"


@differs("regular grids")
def _(path):
    mars = {"param": "2t", "area": [90.0, 0.0, -90.0, 330.0], "grid": "regular_ll"}
    other, ours = both(put(path, [thing(F, mars=mars)]))
    assert other["2t"].dims == ("dim_0", "dim_1") and ours["2t"].dims == ("latitude", "longitude")
    assert np.allclose(ours["latitude"], np.linspace(90, -90, 10)) and np.allclose(ours["longitude"], np.arange(12) * 30)


@differs("nested attributes, parameters of codecs")
def _(path):
    path = put(path, [thing(F, PACKED, name="t", mars={"param": "2t"})])
    other, ours = both(path)
    assert other["t"].attrs["mars"] == {"param": "2t"} and other["t"].attrs["sp_bits_per_value"] == 16
    assert ours["t"].attrs == {"name": "t", "mars.param": "2t"} and ours["t"].encoding["pipeline"]["sp_bits_per_value"] == 16


@differs("attributes of merged objects")
def _(path):
    path = put(path, [thing(F, name="t", units="K", step=0), thing(F, name="t", units="K", step=6)], run="00Z")
    other = xr.open_dataset(path, engine="tensogram", merge_objects=True, variable_key="name")
    ours = xr.open_dataset(path, engine="fwright")
    assert other.attrs["units"] == "K" and ours["t"].attrs["units"] == "K"
    assert ours.attrs == {"run": "00Z", "tensogram_wire_version": 3}


@differs("packed bits")
def _(path):
    bits = ({"name": "bits"}, {"type": "ntensor", "shape": [3, 4], "dtype": "bitmask"}, b"\x85\xf0")
    other, ours = both(put(path, [bits]))
    with pytest.raises(IndexError):
        other["bits"].load()
    assert ours["bits"].values.tolist() == np.unpackbits(np.frombuffer(bits[2], "u1"), count=12).astype(bool).reshape(3, 4).tolist()


@differs("one-element and one-column reads")
def _(path):
    """What theirs decodes whole; counted in test_xarray_cost.py."""
    other, ours = both(put(path, [thing(F, name="t")]))
    assert other["t"][3, 4].item() == ours["t"][3, 4].item() == F[3, 4]


def rows():
    import pathlib
    import re

    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/arrays.md").read_text()
    table = page.split("## Differences from tensogram-xarray", 1)[1].split("\n## ", 1)[0]
    return [line.split("|")[1].strip() for line in table.splitlines() if re.match(r"\| (?!case|-)", line)]


def test_the_list_is_complete():
    assert sorted(rows()) == sorted(DIFFERENCES)


@pytest.mark.parametrize("row", DIFFERENCES)
def test_differences(row, tmp_path):
    DIFFERENCES[row](tmp_path / "f.tgm")


def test_the_engine_under_the_name_of_theirs(tmp_path):
    """With ``fwright.compat`` programs for their engine get the same dataset, attribute by attribute but for those of codecs."""
    paths = [put(tmp_path / f"{number}.tgm", make(), run="00Z", nest={"a": 1}) for number, make in enumerate(RIGHT.values())]
    program = """
        import sys, warnings
        warnings.simplefilter("ignore")
        if sys.argv[1] == "ours":
            import fwright.compat
            fwright.compat.install_engine()
        import tensogram_xarray, xarray as xr
        for path in sys.argv[2:]:
            for options in ({}, {"dim_names": None, "message_index": 0, "merge_objects": False, "range_threshold": 0.5, "storage_options": None, "verify_hash": True}):
                data = xr.open_dataset(path, engine="tensogram", **options)
                print(dict(sorted(data.sizes.items())), data.attrs)
                for name, variable in sorted(data.variables.items()):
                    attrs = {key: value for key, value in variable.attrs.items() if not key.startswith(("sp_", "szip_", "zstd_", "blosc2_", "zfp_", "shuffle_"))}
                    print(name, name in data.coords, variable.dims, variable.dtype, sorted(attrs.items()), variable.values.tobytes().hex())
            print([sorted(map(str, data.variables)) for data in tensogram_xarray.open_datasets(path, variable_key="name")] == 0)
        print(tensogram_xarray.TensogramBackendEntrypoint.__name__)
    """
    said = []
    for whose in ("theirs", "ours"):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), whose, *paths], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.splitlines())
    assert len(said[0]) > 40 and said[0] == said[1]


def test_an_engine_that_is_imported_already_is_replaced(tmp_path):
    path = put(tmp_path / "f.tgm", [thing(F, name="t"), thing(F, name="t")])
    program = f"""
        import tensogram_xarray, xarray as xr, fwright.compat
        assert list(xr.open_dataset({path!r}, engine="tensogram")) == ["t"]
        fwright.compat.install_engine()
        assert list(xr.open_dataset({path!r}, engine="tensogram")) == ["t", "t_1"]
        from tensogram_xarray.backend import TensogramBackendEntrypoint
        assert list(xr.open_dataset({path!r}, engine=TensogramBackendEntrypoint)) == ["t", "t_1"]
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
