"""``ds.fw.to_tgm``: what is written comes back as it was, and what cannot be written is refused before anything is."""

import os

import numpy as np
import pytest
import tensogram as theirs

import fwright as fw
import fwright.tensogram as tensogram

xr = pytest.importorskip("xarray", reason="xarray is not installed")

import fwright.xarray  # noqa: E402

RANDOM = np.random.default_rng(11)


def forecast():
    """A dataset with everything that datasets usually have."""
    t = RANDOM.normal(280, 10, (4, 3, 5, 6))
    t[1, 2, 3, 4] = np.nan
    t[0, 0, 0, :3] = [np.inf, -np.inf, -0.0]
    return xr.Dataset(
        {
            "t": (("step", "level", "lat", "lon"), t, {"units": "K", "long_name": "Temperature", "valid_range": np.array([100, 400], "f4"), "name": "odd"}),
            "msl": (("lat", "step", "lon"), RANDOM.normal(size=(5, 4, 6)).astype("f4"), {"param": 151, "step": "instant"}),
            "land": (("lat", "lon"), RANDOM.random((5, 6)) < 0.5),
            "count": (("step",), np.arange(4, dtype="u2")),
            "run": ((), np.datetime64("2026-01-01T12", "ns")),
            "note": ((), "a word — ünï"),
            "site": (("lon",), np.array(["a", "bb", "", "ünï", "x" * 40, "z"])),
        },
        {
            "step": ("step", np.array([0, 6, 12, 18], "timedelta64[h]").astype("timedelta64[ns]"), {"standard_name": "forecast_period"}),
            "level": ("level", np.array([1000, 850, 500], "i4"), {"units": "hPa"}),
            "lat": ("lat", np.linspace(50, 40, 5, dtype="f4")),
            "lon": ("lon", np.linspace(0, 5, 6)),
            "valid": ("step", np.datetime64("2026-01-01T12", "ns") + np.arange(4) * np.timedelta64(6, "h")),
            "hill": (("lat", "lon"), RANDOM.normal(size=(5, 6))),
        },
        {"title": "a forecast", "version": 3, "levels": [1, 2], "pi": np.float32(3.14), "nested": {"a": {"b": [1, "x"]}}, "nothing": None, "yes": True, "pair": (1, 2)},
    )


def same(one, other):
    xr.testing.assert_identical(one, other)
    for name in other.variables:
        mine, given = one.variables[name], other.variables[name]
        assert mine.dtype == given.dtype, name
        assert mine.values.tobytes() == given.values.tobytes() or mine.dtype.kind in "fO", name
        assert [type(value) for value in mine.attrs.values()] == [type(value) for value in given.attrs.values()], name
    assert [type(value) for value in one.attrs.values()] == [type(value) for value in other.attrs.values()]


def back(path, **options):
    return xr.open_dataset(path, engine="fwright", **options)


@pytest.mark.parametrize("group_by", [None, "step", "level", ["step", "level"], "lon"])
def test_round_trip(group_by, tmp_path):
    whole = forecast()
    before = whole.copy(deep=True)
    path = tmp_path / "f.tgm"
    whole.fw.to_tgm(path, group_by=group_by)
    same(whole, before)
    same(back(path).load(), whole)
    dims = [group_by] if isinstance(group_by, str) else group_by or []
    assert len(tensogram.TensogramFile.open(path)) == np.prod([whole.sizes[dim] for dim in dims])
    assert os.listdir(tmp_path) == ["f.tgm"] and fw.validate(path)["ok"]
    # And once more, from what was read.
    back(path).fw.to_tgm(tmp_path / "again.tgm", group_by=group_by)
    same(back(tmp_path / "again.tgm").load(), whole)


def test_parts_of_what_was_written(tmp_path):
    whole = forecast()
    whole.fw.to_tgm(tmp_path / "f.tgm", group_by="step", encoding={"t": {"compression": "zstd"}})
    lazy = back(tmp_path / "f.tgm")
    same(lazy.isel(step=[3, 1], lat=slice(None, None, -2)).load(), whole.isel(step=[3, 1], lat=slice(None, None, -2)))
    assert np.array_equal(lazy["msl"][2, 1:3, ::2], whole["msl"][2, 1:3, ::2])
    assert lazy["valid"].sel(step="12h").item() == whole["valid"].sel(step="12h").item()
    assert lazy["site"][[4, 0]].values.tolist() == whole["site"].values[[4, 0]].tolist()
    points = {"step": xr.DataArray([0, 3], dims="p"), "lon": xr.DataArray([5, 1], dims="p")}
    assert np.array_equal(lazy["msl"].isel(points), whole["msl"].isel(points)) and lazy["site"].isel(lon=points["lon"]).values.tolist() == ["z", "bb"]


def test_one_message_of_a_file(tmp_path):
    whole = forecast()
    whole.fw.to_tgm(tmp_path / "f.tgm", group_by="step")
    part = back(tmp_path / "f.tgm", message_index=2)
    assert part.sizes["step"] == 1 and np.array_equal(part["t"], whole["t"][[2]], equal_nan=True)
    assert part["count"].values.tolist() == [2] and part["step"].values[0] == np.timedelta64(12, "h") and "land" not in part
    assert part["t"].attrs["units"] == "K"


def test_steps_that_are_appended(tmp_path):
    """A file that grows step by step, as a model writes it."""
    whole = forecast()
    path = tmp_path / "f.tgm"
    for step in range(4):
        whole.isel(step=[step]).fw.to_tgm(path, mode="a", group_by="step")
        same(back(path).load(), whole.isel(step=slice(step + 1)))
    sizes = [sum(array.nbytes for _, array in message.objects) for message in tensogram.TensogramFile.open(path)]
    assert sizes[1] == sizes[2] < sizes[0], "what does not depend on the step is in the first message only"
    other = whole.isel(step=[0]).assign_coords(lat=whole["lat"] + 1, step=[np.timedelta64(99, "h")])
    before = path.read_bytes()
    for odd, options, words in (
        (other, {"group_by": "step"}, "has other values of 'lat'"),
        (whole, {}, "group_by must name"),
        (whole.drop_vars("step"), {"group_by": "step"}, "needs a coordinate"),
    ):
        with pytest.raises(ValueError, match=words):
            odd.fw.to_tgm(path, mode="a", **options)
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    "coordinate",
    [
        np.array(["a", "ünï", "c"]),
        np.array(["a", "ünï", "c"], object),
        np.array([3, 1, 2], "i2"),
        np.array([0.1, np.nan, 0.3], "f4"),
        np.array([0.5, -1, 2]),
        np.array(["2026-01-01", "1900-05-05T01:02:03.123456789", "NaT"], "M8[ns]"),
        np.array(["2026-01-01", "0001-05-05", "9999-01-01"], "M8[s]"),
        np.array([1, -2, 3], "m8[ms]"),
        np.array([True, False, True]),
    ],
    ids=lambda coordinate: str(coordinate.dtype),
)
@pytest.mark.parametrize("group_by", [None, "k"])
def test_coordinates_of_every_type(coordinate, group_by, tmp_path):
    if group_by and coordinate.dtype.kind == "b":
        coordinate = coordinate[:2]
    whole = xr.Dataset({"v": ("k", np.arange(len(coordinate)))}, {"k": ("k", coordinate, {"note": "x"}), "twice": ("k", coordinate)})
    whole.fw.to_tgm(tmp_path / "f.tgm", group_by=group_by)
    read = back(tmp_path / "f.tgm").load()
    xr.testing.assert_identical(read, whole)
    assert read["k"].dtype == whole["k"].dtype and read["twice"].dtype == whole["twice"].dtype


@pytest.mark.parametrize("kind", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i8", "S3", "U4", "M8[us]", "m8[s]"])
def test_types_and_shapes(kind, tmp_path):
    for shape in ((), (1,), (0,), (0, 3), (2, 3), (2, 1, 3)):
        values = (RANDOM.random(shape) * 100).astype("i8").astype(kind)
        whole = xr.Dataset({"v": (tuple("abc"[: len(shape)]), values), "w": (("a2",), np.asfortranarray(np.ones((3, 4)))[::2, 0])})
        whole.fw.to_tgm(tmp_path / "f.tgm")
        read = back(tmp_path / "f.tgm").load()
        xr.testing.assert_identical(read, whole)
        assert read["v"].dtype == whole["v"].dtype.newbyteorder("=") and read["v"].shape == shape


def test_datasets_without_much(tmp_path):
    for number, whole in enumerate((xr.Dataset(), xr.Dataset(attrs={"a": 1}), xr.Dataset(coords={"x": [1, 2]}), xr.Dataset({"a": ((), 1.5)}))):
        whole.fw.to_tgm(tmp_path / f"{number}.tgm")
        xr.testing.assert_identical(back(tmp_path / f"{number}.tgm").load(), whole)


def test_dimensions_without_coordinates_and_holes_between_variables(tmp_path):
    whole = xr.Dataset({"v": (("member", "x"), RANDOM.normal(size=(3, 4))), "w": (("x",), np.arange(4))})
    whole.fw.to_tgm(tmp_path / "f.tgm", group_by="member")
    same(back(tmp_path / "f.tgm").load(), whole)
    # A later message may lack a variable, or have one more: floats get NaN there, others stay apart.
    first = xr.Dataset({"f": (("k",), [1.0]), "i": (("k",), [1])}, {"k": [0]})
    first.fw.to_tgm(tmp_path / "g.tgm", group_by="k")
    xr.Dataset({"g": (("k",), [2.0])}, {"k": [1]}).fw.to_tgm(tmp_path / "g.tgm", mode="a", group_by="k")
    read = back(tmp_path / "g.tgm").load()
    assert np.array_equal(read["f"], [1, np.nan], equal_nan=True) and np.array_equal(read["g"], [np.nan, 2], equal_nan=True)
    assert read["i"].item() == 1 and read["i"].attrs["k"] == 0


def test_a_step_that_is_written_twice_is_kept_apart(tmp_path):
    for value in (1.0, 2.0):
        xr.Dataset({"v": (("k",), [value])}, {"k": [0]}).fw.to_tgm(tmp_path / "f.tgm", mode="a", group_by="k")
    read = back(tmp_path / "f.tgm").load()
    assert read["v"].values.tolist() == [1.0] and read["v_1"].values.tolist() == [2.0]


def test_pipelines(tmp_path):
    field = RANDOM.normal(280, 10, (2, 30, 40))
    whole = xr.Dataset({name: (("k", "y", "x"), field.astype(kind)) for name, kind in (("a", "f8"), ("b", "f4"), ("c", "f8"), ("d", "f8"), ("raw", "f8"))})
    whole.fw.to_tgm(
        tmp_path / "f.tgm",
        group_by="k",
        encoding={
            "a": {"compression": "zstd", "zstd_level": 5, "filter": "shuffle"},
            "b": {"compression": "blosc2"},
            "c": {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip"},
            "d": {"pipeline": {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 32.0}},
        },
    )
    said = tensogram.TensogramFile.open(tmp_path / "f.tgm").file_decode_descriptors(1)["descriptors"]
    assert [(each.encoding, each.filter, each.compression) for each in said] == [
        ("none", "shuffle", "zstd"),
        ("none", "none", "blosc2"),
        ("simple_packing", "none", "szip"),
        ("none", "none", "zfp"),
        ("none", "none", "none"),
    ]
    read = back(tmp_path / "f.tgm")
    for name in ("a", "b", "raw"):
        assert np.array_equal(read[name], whole[name])
    assert np.allclose(read["c"], field, atol=2e-3) and np.allclose(read["d"], field, atol=1e-4)
    # A pipeline that was read is one that can be written.
    assert read["a"].encoding["pipeline"] == {"filter": "shuffle", "compression": "zstd", "shuffle_element_size": 8, "zstd_level": 5}
    whole.fw.to_tgm(tmp_path / "g.tgm", encoding={name: {"pipeline": read[name].encoding.get("pipeline")} for name in read})
    assert np.array_equal(back(tmp_path / "g.tgm")["a"], whole["a"])


def test_encodings_of_cf(tmp_path):
    whole = xr.Dataset({"v": ("x", [1.0, np.nan, 2.5]), "t": ("x", np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[ns]"))})
    encoding = {"v": {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1, "compression": "zstd"}, "t": {"units": "days since 2026-01-01", "dtype": "i4"}}
    whole.fw.to_tgm(tmp_path / "f.tgm", encoding=encoding)
    [(_, objects)] = list(theirs.TensogramFile.open(str(tmp_path / "f.tgm")))
    assert [array.tolist() for _, array in objects] == [[2, -1, 5], [0, 1, 2]]
    read = back(tmp_path / "f.tgm")
    xr.testing.assert_identical(read.load(), whole)
    # What was packed is packed again, as with other engines.
    read.fw.to_tgm(tmp_path / "g.tgm")
    assert tensogram.TensogramFile.open(tmp_path / "g.tgm")[0].objects[0][1].dtype == np.int16
    xr.testing.assert_identical(back(tmp_path / "g.tgm").load(), whole)


def test_calendars(tmp_path):
    cftime = pytest.importorskip("cftime", reason="cftime is not installed")
    times = [cftime.DatetimeNoLeap(2026, 2, 28), cftime.DatetimeNoLeap(2026, 3, 1)]
    whole = xr.Dataset({"v": ("time", [1.0, 2.0])}, {"time": times})
    whole.fw.to_tgm(tmp_path / "f.tgm")
    xr.testing.assert_identical(back(tmp_path / "f.tgm").load(), whole)
    with pytest.raises(TypeError, match="group_by: coordinate 'time'"):
        whole.fw.to_tgm(tmp_path / "f.tgm", group_by="time")


def test_units_are_those_of_all_steps(tmp_path):
    """Each step alone would count from a day of its own."""
    cftime = pytest.importorskip("cftime", reason="cftime is not installed")
    days = [cftime.DatetimeNoLeap(2026, 2, 27 + day) if day < 2 else cftime.DatetimeNoLeap(2026, 3, day) for day in range(3)]
    whole = xr.Dataset({"v": ("k", [1.0, 2.0, 3.0])}, {"k": [0, 1, 2], "valid": ("k", days), "start": ("k", np.array(["2026-01-01", "2026-05-01", "2027-01-01"], "M8[ns]"))})
    whole["start"].encoding["dtype"] = "f8"
    whole.fw.to_tgm(tmp_path / "f.tgm", group_by="k")
    xr.testing.assert_identical(back(tmp_path / "f.tgm").load(), whole)


def test_dask_arrays_are_computed_step_by_step(tmp_path):
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    alive = [0]

    def make(block_info=None):
        alive[0] += 1
        return np.full((1, 50), float(block_info[None]["chunk-location"][0]))

    whole = xr.Dataset({"v": (("k", "x"), da.map_blocks(make, chunks=((1,) * 6, (50,)), dtype="f8"))}, {"k": np.arange(6)})
    alive[0], seen = 0, []
    append = fwright.xarray._accessor._to_sink

    def watched(*words):
        append(*words)
        seen.append(alive[0])

    fwright.xarray._accessor._to_sink = watched
    try:
        whole.fw.to_tgm(tmp_path / "f.tgm", group_by="k")
    finally:
        fwright.xarray._accessor._to_sink = append
    assert seen == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(back(tmp_path / "f.tgm")["v"][:, 0], np.arange(6))


def test_stores(tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    whole = forecast()
    whole.fw.to_tgm("memory://bucket/f.tgm", group_by="step")
    with fsspec.open("memory://bucket/f.tgm", "rb") as file:
        same(back(file).load(), whole)
    with pytest.raises(ValueError, match="nope"):
        whole.fw.to_tgm("memory://bucket/g.tgm", group_by="step", encoding={"t": {"compression": "nope"}})
    assert not fsspec.filesystem("memory").exists("/bucket/g.tgm")
    for path, options, error, words in (
        ("https://example.org/f.tgm", {}, ValueError, "web servers take no files"),
        ("memory://bucket/f.tgm", {"mode": "a", "group_by": "step"}, ValueError, "cannot grow"),
        (str(tmp_path / "f.tgm"), {"storage_options": {"key": "x"}}, ValueError, "a local file has none"),
    ):
        with pytest.raises(error, match=words):
            whole.fw.to_tgm(path, **options)


def test_others_read_what_was_written(tmp_path):
    """The reference finds names, dimensions, units and keys to select by."""
    pytest.importorskip("tensogram_xarray", reason="tensogram-xarray is not installed")
    whole = xr.Dataset({"t": (("step", "lat", "lon"), RANDOM.normal(size=(2, 3, 4)), {"units": "K"})}, {"step": [0, 6], "lat": [1.0, 2, 3], "lon": [1.0, 2, 3, 4]})
    whole.fw.to_tgm(tmp_path / "f.tgm", group_by="step")
    other = xr.open_dataset(str(tmp_path / "f.tgm"), engine="tensogram")
    assert np.array_equal(other["t"], whole["t"][0]) and other["t"].dims == ("latitude", "longitude")
    assert other["t"].attrs["units"] == "K" and other["t"].attrs["step"] == 0
    assert [message.metadata.base[-1]["step"] for message in theirs.TensogramFile.open(str(tmp_path / "f.tgm"))] == [0, 6]


REFUSED = {
    "names": (lambda: xr.Dataset({1: ("x", [1.0])}), {}, TypeError, "variable 1: names"),
    "dimension names": (lambda: xr.Dataset({"a": ((2,), [1.0])}), {}, TypeError, "not 2"),
    "objects": (lambda: xr.Dataset({"a": ("x", np.array([{}, 1], object))}), {}, TypeError, "variable 'a': elements of type dict"),
    "attributes": (lambda: xr.Dataset({"a": ("x", [1.0], {"k": object()})}), {}, TypeError, "variable 'a': attribute 'k': values of type object"),
    "names of attributes": (lambda: xr.Dataset({"a": ("x", [1.0], {3: 1})}), {}, TypeError, "attribute 3"),
    "attributes of the dataset": (lambda: xr.Dataset(attrs={"k": {1: 2}}), {}, TypeError, "the dataset: attribute 'k': key 1"),
    "multi-index": (lambda: xr.Dataset({"a": (("x", "y"), np.zeros((2, 2)))}, {"x": [1, 2], "y": [1, 2]}).stack(z=("x", "y")), {}, ValueError, "reset_index"),
    "structures": (lambda: xr.Dataset({"a": ("x", np.zeros(2, "i4,f4"))}), {}, ValueError, "variable 'a'"),
    "a group that is no dimension": (forecast, {"group_by": "nope"}, ValueError, "'nope' is not a dimension of the dataset: it has 'step'"),
    "an empty group": (lambda: xr.Dataset({"a": ("x", np.zeros(0))}), {"group_by": "x"}, ValueError, "length 0"),
    "a value that comes twice": (lambda: xr.Dataset({"a": ("x", np.zeros(3))}, {"x": [1, 2, 1]}), {"group_by": "x"}, ValueError, "has the value 1 more than once"),
    "encoding of nothing": (forecast, {"encoding": {"nope": {}}}, ValueError, "encoding names 'nope'"),
    "unknown keys": (forecast, {"encoding": {"t": {"zlib": True}}}, ValueError, "variable 't': unknown key 'zlib'"),
    "unknown codecs": (forecast, {"encoding": {"t": {"compression": "nope"}}}, ValueError, "nope"),
    "packing of other types": (forecast, {"encoding": {"msl": {"encoding": "simple_packing", "sp_bits_per_value": 8}}}, ValueError, "simple_packing takes float64"),
    "modes": (forecast, {"mode": "x"}, ValueError, "mode: 'x'"),
}


def test_places_that_cannot_be_written(tmp_path):
    for path, error in ((tmp_path / "no" / "f.tgm", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(error) as caught:
            forecast().fw.to_tgm(path)
        assert caught.value.filename in (str(tmp_path / "no"), str(tmp_path))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, tmp_path):
    make, options, error, words = REFUSED[case]
    (tmp_path / "f.tgm").write_bytes(b"what was there")
    with pytest.raises(error, match=words):
        make().fw.to_tgm(tmp_path / "f.tgm", **options)
    assert (tmp_path / "f.tgm").read_bytes() == b"what was there" and os.listdir(tmp_path) == ["f.tgm"]
