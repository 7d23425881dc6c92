"""The engine ``fwright`` of xarray: how files are found, opened, indexed, pickled."""

import io
import itertools
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from serving import serving

import fwright as fw
import fwright.tensogram as tensogram

xr = pytest.importorskip("xarray", reason="xarray is not installed")

FIELD = np.random.default_rng(5).normal(size=(5, 6, 7))
HOLES = np.where(np.abs(FIELD) > 1.5, np.nan, FIELD)
SZIP = {"szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}
PIPELINES = {
    "raw": {},
    "zstd": {"compression": "zstd"},
    "shuffle": {"filter": "shuffle", "shuffle_element_size": 8, "compression": "lz4"},
    "blosc2": {"compression": "blosc2"},
    "packed": {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", **SZIP},
    "zfp": {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 32.0},
}


def put(path, *messages, **extra):
    """A file of messages; each is a list of pairs of an array and its base entry."""
    file = tensogram.TensogramFile.create(path)
    for number, objects in enumerate(messages):
        more = {key: value[number] if isinstance(value, list) else value for key, value in extra.items()}
        pairs = [(dict(entry.pop("_pipeline", {})), array) for array, entry in objects]
        file.append({"_extra_": more, "base": [entry for _, entry in objects]}, pairs, allow_nan=True)
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("xarray")
    put(folder / "codecs.tgm", [(FIELD, {"name": name, "_pipeline": pipeline, "dim_names": ["z", "y", "x"]}) for name, pipeline in PIPELINES.items()])
    put(folder / "holes.tgm", [(HOLES, {"name": "holes", "dim_names": ["z", "y", "x"]})])
    put(folder / "cube.tgm", *([(FIELD + 10 * step + level, {"name": "t", "mars": {"step": step, "levelist": level}}) for level in (500, 850)] for step in range(3)))
    for ending in ("bt", "safetensors", "npz"):
        fw.save(folder / f"m.{ending}", {"raw": FIELD, "whole": np.arange(7), "lat": np.arange(5.0)})
    return folder


def sources(folder, name):
    """One file in every way that it can be given."""
    path = folder / name
    return {"path": path, "text": str(path), "file URL": f"file://{path}", "bytes": path.read_bytes(), "object": io.BytesIO(path.read_bytes()), "open file": path.open("rb")}


def test_the_engine_is_known():
    from importlib.metadata import entry_points

    assert {entry.name: entry.value for entry in entry_points(group="xarray.backends")}["fwright"] == "fwright.xarray:FwrightBackendEntrypoint"
    assert "fwright" in xr.backends.list_engines()


def test_importing_fwright_imports_no_xarray():
    program = "import fwright, fwright.tensogram, fwright.compat, sys; assert not {'xarray', 'pandas', 'dask'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


@pytest.mark.parametrize("how", ["path", "text", "file URL", "bytes", "object", "open file"])
def test_every_source(folder, how):
    opened = xr.open_dataset(sources(folder, "codecs.tgm")[how], engine="fwright")
    assert opened["zstd"].dims == ("z", "y", "x") and np.array_equal(opened["zstd"], FIELD)
    assert opened["raw"][1, 2, 3].item() == FIELD[1, 2, 3]


@pytest.mark.parametrize("name", ["codecs.tgm", "m.bt", "m.safetensors", "m.npz"])
def test_files_are_recognised(folder, name, tmp_path):
    assert np.array_equal(xr.open_dataset(folder / name)["raw"], FIELD)
    engine = xr.backends.list_engines()["fwright"]
    other = tmp_path / name
    other.write_bytes(b"something else" * 10)
    assert not engine.guess_can_open(other) and not engine.guess_can_open(tmp_path / "missing.tgm") and not engine.guess_can_open(3)
    assert engine.guess_can_open("https://example.org/f.tgm?version=1") and not engine.guess_can_open("https://example.org/f.nc")
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(tmp_path / "missing.tgm", engine="fwright")


def test_messages_are_recognised_whatever_they_are_called(folder, tmp_path):
    path = tmp_path / "field.data"
    path.write_bytes((folder / "codecs.tgm").read_bytes())
    for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes())):
        assert np.array_equal(xr.open_dataset(source)["raw"], FIELD)


@pytest.mark.parametrize("ending", ["bt", "safetensors", "npz"])
def test_other_formats(folder, ending):
    opened = xr.open_dataset(folder / f"m.{ending}", engine="fwright")
    assert set(opened.coords) == {"latitude"} and opened["raw"].dims == ("latitude", "dim_1", "dim_2")
    assert np.array_equal(opened["raw"][::-2, [0, 5, 3]], FIELD[::-2][:, [0, 5, 3]]) and opened["raw"].attrs == {}
    assert opened["whole"].dtype == np.int64


BASIC = [slice(None), 0, -1, 3, slice(1, 4), slice(None, None, 2), slice(None, None, -1), slice(4, 0, -3), slice(2, 2)]
ARRAYS = [[0, 2], [4, 1, 1], [3], []]


def exact(opened, expected, key):
    got = opened[key]
    assert np.array_equal(got.values, expected[key], equal_nan=True), key


@pytest.mark.parametrize("name", PIPELINES)
def test_basic_indexing(folder, name):
    opened = xr.open_dataset(folder / "codecs.tgm", engine="fwright")[name]
    whole = opened.values
    for key in itertools.product(BASIC, BASIC[::2], BASIC[1::2]):
        lazy = xr.open_dataset(folder / "codecs.tgm", engine="fwright")[name] if key == (0, 0, 0) else opened.copy()
        exact(lazy.isel(z=key[0], y=key[1], x=key[2]), whole[key], ...)


@pytest.mark.parametrize("threshold", [1.0, 0.1])
@pytest.mark.parametrize("name", [*PIPELINES, "holes"])
def test_outer_and_vectorised_indexing(folder, name, threshold):
    path = folder / ("holes.tgm" if name == "holes" else "codecs.tgm")
    open_ = lambda: xr.open_dataset(path, engine="fwright", range_threshold=threshold, cache=False)[name]  # noqa: E731
    whole = open_().values
    for z, y, x in itertools.product([*ARRAYS, slice(0, 4, 3), 2], [[5, 0, 3], slice(None), 1], [[6, 6, 0], slice(5, None, -2)]):
        expected = whole
        for axis, part in enumerate((z, y, x)):
            expected = np.take(expected, [part] if isinstance(part, int) else np.arange(whole.shape[axis])[part] if isinstance(part, slice) else np.array(part, int), axis)
        got = open_().isel(z=z, y=y, x=x).values
        assert np.array_equal(got.reshape(-1), expected.reshape(-1), equal_nan=True), (z, y, x)
    points = [xr.DataArray(values, dims="p") for values in ([0, 4, 4, 2], [5, 0, 0, 3], [6, 1, 1, 0])]
    assert np.array_equal(open_().isel(z=points[0], y=points[1], x=points[2]), whole[tuple(points)], equal_nan=True)
    assert np.array_equal(open_().isel(z=points[0], x=points[2]).transpose("p", "y"), whole[points[0].values, :, points[2].values], equal_nan=True)
    grid = xr.DataArray([[0, 1], [4, 3]], dims=("a", "b"))
    assert np.array_equal(open_().isel(y=grid).transpose("z", "a", "b", "x"), whole[:, grid.values], equal_nan=True)
    # Lazy all the way: an index of an index, and axes in another order.
    assert np.array_equal(open_()[1:][::-1, [0, 2]][..., 3], whole[1:][::-1][:, [0, 2]][..., 3], equal_nan=True)
    assert np.array_equal(open_().transpose("x", "z", "y")[2:5, ::2], whole.transpose(2, 0, 1)[2:5, ::2], equal_nan=True)


@pytest.mark.parametrize("most", [1, 3, 20, 1 << 16])
def test_runs(most, monkeypatch):
    """Any outer product of places is in the runs, at the places that they name, however few runs there may be."""
    import fwright.xarray._arrays as arrays

    monkeypatch.setattr(arrays, "MOST_APART", most)
    random = np.random.default_rng(3)
    for _ in range(300):
        shape = tuple(random.integers(1, 6, random.integers(1, 5)).tolist())
        axes = [np.unique(random.integers(0, length, random.integers(1, length + 1))) for length in shape]
        starts, length, lengths, inside = arrays.runs_of(axes, shape)
        assert len(starts) <= most and np.all(np.diff(starts) >= length)
        block = np.concatenate([np.arange(start, start + length) for start in starts]).reshape(lengths)
        assert np.array_equal(block[np.ix_(*inside)], np.arange(np.prod(shape)).reshape(shape)[np.ix_(*axes)])


@pytest.mark.parametrize("key", [{"x": 7}, {"x": [0, 7]}])
def test_indices_that_do_not_fit(folder, key):
    with pytest.raises(IndexError):
        xr.open_dataset(folder / "codecs.tgm", engine="fwright")["zstd"].isel(key).load()


def test_cubes_of_messages(folder):
    opened = xr.open_dataset(folder / "cube.tgm", engine="fwright", cache=False)["t"]
    assert opened.dims == ("levelist", "step", "dim_0", "dim_1", "dim_2")
    whole = np.stack([np.stack([FIELD + 10 * step + level for step in range(3)]) for level in (500, 850)])
    assert np.array_equal(opened, whole)
    assert np.array_equal(opened.sel(levelist=850, step=[2, 0]).isel(dim_1=3), whole[1, [2, 0], :, 3])
    assert np.array_equal(opened[::-1, 1, :, ::2, 2], whole[::-1, 1, :, ::2, 2])
    points = {dim: xr.DataArray(places, dims="p") for dim, places in zip(opened.dims, ([1, 0, 1], [2, 2, 0], [4, 0, 4], [5, 1, 0], [6, 6, 3]))}
    assert np.array_equal(opened.isel(points), whole[tuple(point.values for point in points.values())])
    assert np.array_equal(opened.transpose("step", ..., "levelist")[1], np.moveaxis(whole[:, 1], 0, -1))


def test_pickles_and_threads(folder):
    for source in (folder / "cube.tgm", (folder / "cube.tgm").read_bytes()):
        opened = xr.open_dataset(source, engine="fwright")
        again = pickle.loads(pickle.dumps(opened))
        assert again.identical(opened)
        again = pickle.loads(pickle.dumps(opened["t"][0, :, 2]))
        assert np.array_equal(again, [FIELD[2] + 10 * step + 500 for step in range(3)])
    lazy = xr.open_dataset(folder / "cube.tgm", engine="fwright", cache=False)["t"]
    with ThreadPoolExecutor(8) as pool:
        for place, got in enumerate(pool.map(lambda place: lazy[place % 2, place % 3, place % 5].values, range(60))):
            assert np.array_equal(got, FIELD[place % 5] + 10 * (place % 3) + (500, 850)[place % 2])


def test_a_handle_in_another_process(folder, tmp_path):
    (tmp_path / "d.pickle").write_bytes(pickle.dumps(xr.open_dataset(folder / "cube.tgm", engine="fwright")))
    program = f"import pickle; print(pickle.load(open({str(tmp_path / 'd.pickle')!r}, 'rb'))['t'][1, 1, 2, 3, 4].item())"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert float(said.stdout) == FIELD[2, 3, 4] + 860, said.stderr


def test_dask(folder):
    pytest.importorskip("dask", reason="dask is not installed")
    opened = xr.open_dataset(folder / "cube.tgm", engine="fwright", chunks={})
    assert opened["t"].chunks == ((1, 1), (1, 1, 1), (5,), (6,), (7,))
    with_processes = opened["t"].mean("step").compute(scheduler="processes", num_workers=2)
    assert np.allclose(with_processes[0], FIELD + 510)
    fine = xr.open_dataset(folder / "codecs.tgm", engine="fwright", chunks={"z": 2, "x": 3})
    assert np.array_equal(fine["blosc2"].compute(scheduler="threads"), FIELD)


def test_many_files(folder, tmp_path):
    pytest.importorskip("dask", reason="dask is not installed")
    for number in range(3):
        put(tmp_path / f"{number}.tgm", [(np.arange(2.0) + number, {"name": "time", "units": "days since 2026-01-01"}), (FIELD[:2] + number, {"name": "t", "dim_names": ["time", "y", "x"]})])
        # Each file has two days of its own.
        days = np.arange(2.0) + 2 * number
        put(tmp_path / f"{number}.tgm", [(days, {"name": "time", "units": "days since 2026-01-01"}), (FIELD[:2] + number, {"name": "t", "dim_names": ["time", "y", "x"]})])
    opened = xr.open_mfdataset(str(tmp_path / "*.tgm"), engine="fwright")
    assert opened.sizes["time"] == 6 and np.array_equal(opened["t"][4], FIELD[0] + 2)


def test_trees(folder):
    tree = xr.open_datatree(folder / "cube.tgm", engine="fwright")
    assert list(tree.children) == ["message_0", "message_1", "message_2"]
    assert np.array_equal(tree["message_2/t"][1], FIELD + 20 + 850)
    groups = xr.open_groups(folder / "cube.tgm", engine="fwright")
    assert list(groups) == ["/", "/message_0", "/message_1", "/message_2"]


def test_names_with_slashes_are_groups(tmp_path):
    fw.save(tmp_path / "m.bt", {"top": np.zeros(2), "layer/0/w": np.ones(3), "layer/0/b": np.ones(4)})
    tree = xr.open_datatree(tmp_path / "m.bt", engine="fwright")
    assert np.array_equal(tree["layer/0/w"], np.ones(3)) and list(tree.dataset) == ["top"]


@pytest.mark.parametrize("name", ["cube.tgm", "m.bt", "m.safetensors", "m.npz"])
def test_stores(folder, name):
    """Files in stores open like others, and pickle with the settings of the store."""
    with serving(folder) as server:
        url = f"{server.url}/{name}"
        opened = xr.open_dataset(url, engine="fwright", storage_options={"allow_http": "true"})
        assert opened.load().identical(xr.open_dataset(folder / name, engine="fwright").load())
        again = pickle.loads(pickle.dumps(xr.open_dataset(url, engine="fwright")))
        variable = next(iter(again.data_vars.values()))
        assert variable.load().shape == variable.shape
        with pytest.raises(OSError):
            xr.open_dataset(f"{server.url}/nothing.tgm", engine="fwright")


def test_secrets_are_not_shown(tmp_path):
    import traceback

    options = {"aws_access_key_id": "known", "aws_secret_access_key": "hunter2", "endpoint": "http://127.0.0.1:9", "allow_http": "true", "region": "x"}
    try:
        xr.open_dataset("s3://bucket/f.tgm", engine="fwright", storage_options={**options, "max_retries": "0", "retry_timeout": "1s"})
    except (OSError, ValueError):
        shown = traceback.format_exc()
    assert "aws_secret_access_key" in shown and "hunter2" not in shown


@pytest.mark.parametrize("name", [*PIPELINES, "holes"])
def test_every_index_in_a_store(folder, name):
    file = "holes" if name == "holes" else "codecs"
    whole = xr.open_dataset(folder / f"{file}.tgm", engine="fwright")[name].load()
    with serving(folder) as server:
        lazy = xr.open_dataset(f"{server.url}/{file}.tgm", engine="fwright", cache=False)[name]
        for key in ({}, {"z": 3}, {"z": -1, "y": 2, "x": 5}, {"x": slice(None, None, -2)}, {"y": [5, 0, 0], "z": slice(1, 4)}, {"x": [], "y": 1}):
            assert np.array_equal(lazy.isel(key), whole.isel(key), equal_nan=True), key
        points = {dim: xr.DataArray(places, dims="p") for dim, places in zip("zyx", ([0, 4, 4], [5, 0, 0], [6, 1, 1]))}
        assert np.array_equal(lazy.isel(points), whole.isel(points), equal_nan=True)
        assert np.array_equal(lazy.transpose("x", "y", "z")[3, ::2], whole.transpose("x", "y", "z")[3, ::2], equal_nan=True)


def test_a_file_that_changed_is_not_read_as_another_one(tmp_path):
    pytest.importorskip("dask")
    path = put(tmp_path / "f.tgm", [(np.arange(6.0), {"name": "t"})])
    pickled = pickle.dumps(xr.open_dataset(path, engine="fwright"))
    put(tmp_path / "f.tgm", [(np.arange(7), {"name": "t"})])
    with pytest.raises(ValueError, match="has changed"):
        pickle.loads(pickled)["t"].load()


def test_wrong_options(folder):
    path = folder / "cube.tgm"
    for options, error, words in (
        ({"message_index": 3}, ValueError, "message index 3 out of range: the file has 3 messages"),
        ({"message_index": -1}, ValueError, "out of range"),
        ({"dim_names": ["a"]}, ValueError, "1 names for an object with 3 axes"),
        ({"dim_names": "abc"}, TypeError, "a list of names"),
        ({"nonsense": 1}, TypeError, "nonsense"),
    ):
        with pytest.raises(error, match=words):
            xr.open_dataset(path, engine="fwright", **options)


def test_files_that_are_damaged_or_empty(tmp_path, folder):
    whole = (folder / "cube.tgm").read_bytes()
    for data, words in ((b"", "no Tensogram message"), (b"nothing of ours" * 9, "no Tensogram message")):
        (tmp_path / "f.tgm").write_bytes(data)
        with pytest.raises(ValueError, match=words):
            xr.open_dataset(tmp_path / "f.tgm", engine="fwright")
    for data in (whole[:-100], bytes(100) + whole):
        (tmp_path / "f.tgm").write_bytes(data)
        # Bytes have no name that says what they are.
        for source in (tmp_path / "f.tgm", data)[: 2 if data.startswith(b"TENSOGRM") else 1]:
            with pytest.warns(UserWarning, match="are not part of any readable message"):
                opened = xr.open_dataset(source, engine="fwright")
            assert np.array_equal(opened["t"][0, 0], FIELD + 500)
    with pytest.raises(IsADirectoryError):
        xr.open_dataset(tmp_path, engine="fwright")


def test_a_digest_is_compared_where_it_is_asked_for(tmp_path):
    path = tmp_path / "f.tgm"
    put(path, [(np.arange(100.0), {"name": "t"})])
    data = bytearray(path.read_bytes())
    at = bytes(data).index(np.arange(100.0)[50:53].tobytes())
    data[at] ^= 1
    path.write_bytes(data)
    assert xr.open_dataset(path, engine="fwright")["t"][:10].sum() == 45
    with pytest.raises(tensogram.HashMismatchError):
        xr.open_dataset(path, engine="fwright", verify_hash=True)["t"][:10].load()


def test_carried_types_and_packed_bits(tmp_path):
    """Types that Tensogram lacks, beside those that it has."""
    import ml_dtypes

    field = np.arange(12).reshape(3, 4)
    fw.save(tmp_path / "f.safetensors", {"eighth": field.astype(ml_dtypes.float8_e4m3fn), "t": field.astype("f8")})
    fw.convert(tmp_path / "f.safetensors", tmp_path / "f.tgm")
    expected = field.astype(ml_dtypes.float8_e4m3fn)
    for source in (tmp_path / "f.tgm", (tmp_path / "f.tgm").read_bytes()):
        opened = xr.open_dataset(source, engine="fwright", cache=False)
        assert opened["eighth"].dtype == expected.dtype and np.array_equal(opened["eighth"].values, expected)
        assert np.array_equal(opened["eighth"][::2, [3, 0]], expected[::2][:, [3, 0]]) and np.array_equal(opened["t"][1], field[1])
    with serving(tmp_path) as server:
        assert np.array_equal(xr.open_dataset(f"{server.url}/f.tgm", engine="fwright")["eighth"][1:], expected[1:])


@pytest.mark.parametrize("pipeline", [{}, {"compression": "roaring"}])
def test_packed_bits_are_truth_values(pipeline, tmp_path):
    bits = np.random.default_rng(1).random((3, 7)) < 0.5
    packed = np.packbits(bits).tobytes()
    path = put(tmp_path / "f.tgm", [(packed, {"name": "bits", "_pipeline": {"type": "ntensor", "dtype": "bitmask", "shape": [3, 7], **pipeline}})])
    opened = xr.open_dataset(path, engine="fwright", cache=False)["bits"]
    assert opened.dtype == bool and np.array_equal(opened, bits) and np.array_equal(opened[::-1, [6, 0]], bits[::-1][:, [6, 0]])


def test_coordinates_of_every_message(tmp_path):
    """Equal ones are one; others get names of their own, and label what stands in their message."""
    lat = {"name": "lat"}
    messages = [[(np.arange(3.0) + shift, dict(lat)), (np.full(3, number), {"name": "t", "step": number})] for number, shift in enumerate((0, 0, 5))]
    opened = xr.open_dataset(put(tmp_path / "f.tgm", *messages), engine="fwright")
    assert opened["t"].dims == ("step", "latitude") and opened["t_1"].dims == ("latitude_1",)
    assert opened["latitude_1"].values.tolist() == [5, 6, 7] and opened["t"].values[:, 0].tolist() == [0, 1]


def test_keys_of_messages_and_keys_that_follow(tmp_path):
    messages = [[(np.full(2, number), {"name": "t", "mars": {"step": 6 * (number % 2), "valid": 6 * number}})] for number in range(4)]
    opened = xr.open_dataset(put(tmp_path / "f.tgm", *messages, run=["00", "00", "12", "12"], centre="x"), engine="fwright")
    assert opened["t"].dims == ("run", "step", "dim_0") and opened.attrs == {"centre": "x", "tensogram_wire_version": 3}
    assert opened["valid"].dims == ("run", "step") and opened["valid"].values.tolist() == [[0, 6], [12, 18]]
    assert opened["t"].sel(run="12", step=6).values.tolist() == [3, 3]


def test_messages_without_keys(tmp_path):
    opened = xr.open_dataset(put(tmp_path / "f.tgm", *([(np.full(2, number), {"name": "t"})] for number in range(3))), engine="fwright")
    assert opened["t"].dims == ("message", "dim_0") and opened["t"].values[:, 0].tolist() == [0, 1, 2]


def test_nothing_is_dropped(tmp_path):
    """Whatever the keys are: every object is in the dataset, once."""
    random = np.random.default_rng(7)
    for trial in range(40):
        keys = [{"a": int(random.integers(3)), "b": {"c": str(random.integers(2))}, **({"d": 1.5} if random.random() < 0.3 else {})} for _ in range(random.integers(1, 9))]
        kind = ("f8", "i4")[trial % 2]
        objects = [(np.full(2, number + 1, kind), {"name": ("t", "u")[int(random.integers(2))], **key}) for number, key in enumerate(keys)]
        split = int(random.integers(1, len(objects) + 1))
        path = put(tmp_path / f"{trial}.tgm", *[part for part in (objects[:split], objects[split:]) if part])
        opened = xr.open_dataset(path, engine="fwright").load()
        found = np.concatenate([variable.values.reshape(-1, 2)[:, 0] for variable in opened.data_vars.values()])
        assert sorted(found[~np.isnan(found.astype("f8"))]) == list(range(1, len(objects) + 1)), trial


def test_areas_of_grids(tmp_path):
    field = np.zeros((3, 4))
    for mars, longitudes in (
        ({"area": [10, 0, -10, 270], "grid": [90, 10]}, [0, 90, 180, 270]),
        ({"area": "10/350/-10/20", "grid": "10/10"}, [350, 360, 370, 380]),
        ({"area": [10.0, -180.0, -10.0, 180.0], "grid": [90.0, 10.0]}, [-180, -90, 0, 90]),
        ({"area": [10, 0, -10, 270], "grid": "regular_ll"}, [0, 90, 180, 270]),
        ({"area": [10, 0, -10, 270], "grid": "O320"}, None),
        ({"area": [10, 0, -10, 280], "grid": [90, 10]}, None),
        ({"area": [10, 0, -20, 270], "grid": [90, 10]}, None),
        ({"grid": [90, 10]}, None),
        ({"area": ["a", 0, 1, 2], "grid": [90, 10]}, None),
    ):
        opened = xr.open_dataset(put(tmp_path / "f.tgm", [(field, {"name": "t", "mars": mars})]), engine="fwright")
        if longitudes is None:
            assert opened["t"].dims == ("dim_0", "dim_1"), mars
        else:
            assert opened["longitude"].values.tolist() == longitudes and opened["latitude"].values.tolist() == [10, 0, -10]


def test_types_of_every_kind(tmp_path):
    import ml_dtypes

    fields = {
        "half": np.arange(3, dtype="f2"),
        "complex": np.arange(3) * (1 + 2j),
        "brain": np.arange(3).astype(ml_dtypes.bfloat16),
        "big": np.arange(3, dtype=">u2"),
        "none": np.zeros((0, 3), "f4"),
        "one": np.float32(2.5).reshape(()),
    }
    fw.save(tmp_path / "f.tgm", fields)
    opened = xr.open_dataset(tmp_path / "f.tgm", engine="fwright")
    for name, field in fields.items():
        assert np.array_equal(opened[name].values, field) and opened[name].dtype == field.dtype.newbyteorder("="), name
        assert opened[name].shape == field.shape
