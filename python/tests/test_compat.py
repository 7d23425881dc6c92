"""Packages that import the reference work on ours."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensogram as theirs
from serving import serving


def run(program):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_name_is_ours():
    run(
        """
        import fwright.compat
        fwright.compat.install()
        import tensogram
        from tensogram import TensogramFile
        from tensogram.tensogram import decode
        import fwright.tensogram
        assert tensogram is fwright.tensogram and decode is fwright.tensogram.decode
        fwright.compat.install()
        """
    )


def test_weights_are_ours_too():
    run(
        """
        import fwright.compat
        fwright.compat.install()
        import bintensors, bintensors.numpy, fwright.bintensors.numpy
        from bintensors import safe_open, BintensorError
        from bintensors.numpy import save, load
        assert bintensors is fwright.bintensors and bintensors.numpy is fwright.bintensors.numpy
        assert bintensors.numpy.__spec__.name == "fwright.bintensors.numpy" and safe_open is fwright.bintensors.safe_open
        assert load(save({"a": __import__("numpy").arange(3)}))["a"].sum() == 3
        try:
            import bintensors.nothing
        except ModuleNotFoundError as error:
            assert error.name == "bintensors.nothing"
        else:
            raise SystemExit("found")
        """
    )


def test_two_of_them_are_refused():
    run(
        """
        import tensogram
        import fwright.compat
        try:
            fwright.compat.install()
        except ImportError as error:
            assert "already imported" in str(error)
        else:
            raise SystemExit("not refused")
        """
    )


F = np.linspace(240.0, 310.0, 120).reshape(10, 12)
D = {"type": "ntensor", "shape": [10, 12], "dtype": "float64"}
PACKED = {"encoding": "simple_packing", "sp_bits_per_value": 16, "compression": "szip", "szip_rsi": 128, "szip_block_size": 16, "szip_flags": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of the reference: a cube of fields with coordinates, several messages, every way to code them, masks."""
    folder = tmp_path_factory.mktemp("published")
    axes = [
        ({"type": "ntensor", "shape": [10], "dtype": "float64"}, np.linspace(90, -90, 10), {"name": "latitude"}),
        ({"type": "ntensor", "shape": [12], "dtype": "float64"}, np.linspace(0, 330, 12), {"name": "longitude"}),
    ]
    with theirs.TensogramFile.create(str(folder / "cube.tgm")) as file:
        fields = [({**D, **keys}, F + step, {"name": name, "step": step, "units": "K"}) for name, keys in (("t", PACKED), ("u", {})) for step in (0, 6)]
        objects = axes + fields
        file.append({"base": [entry for _, _, entry in objects], "run": "00Z"}, [(described, array) for described, array, _ in objects])
    with theirs.TensogramFile.create(str(folder / "many.tgm")) as file:
        for step, keys in enumerate([{}, {"compression": "zstd"}, {"compression": "blosc2", "blosc2_codec": "lz4", "blosc2_clevel": 5}, {"compression": "zfp", "zfp_mode": "fixed_rate", "zfp_rate": 32.0}]):
            file.append({"base": [{"mars": {"param": "2t", "step": step}}], "k": step}, [({**D, **keys}, F + step)])
    holes = F.copy()
    holes[2, 3:5] = [np.nan, np.inf]
    with theirs.TensogramFile.create(str(folder / "masks.tgm")) as file:
        file.append({"base": [{"name": "holes", "dim_names": ["y", "x"]}]}, [(D, holes)], allow_nan=True, allow_inf=True)
    return folder


def both_ways(program, *words):
    """What a program prints on the reference, and with ours in its place."""
    lines = []
    for first in ("", "import fwright.compat; fwright.compat.install()\nimport tensogram, fwright.tensogram\nassert tensogram is fwright.tensogram\n"):
        text = f"import warnings; warnings.simplefilter('ignore')\n{first}{textwrap.dedent(program)}"
        done = subprocess.run([sys.executable, "-c", text, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines.append(done.stdout.splitlines())
    assert lines[0] and lines[1] == lines[0]
    return lines[0]


def test_xarray_backend(folder):
    """Datasets from files and from a store: names, axes, coordinates, attributes, values, and slices that are read lazily."""
    pytest.importorskip("tensogram_xarray", reason="tensogram-xarray is not installed")
    program = """
        import json, pickle, sys
        import numpy as np, tensogram_xarray, xarray as xr

        def show(data):
            said = {"sizes": dict(data.sizes), "attributes": data.attrs}
            for name, variable in sorted({**data.data_vars, **data.coords}.items()):
                said[name] = [variable.dims, str(variable.dtype), variable.attrs, variable.values.tobytes().hex()]
            return said

        def tell(what, act):
            try:
                found = act()
            except Exception as error:
                # Ours is a FileNotFoundError, which is one.
                found = "OSError" if isinstance(error, OSError) else type(error).__name__
            print(what, json.dumps(found, default=repr, sort_keys=True))

        def read(place, **options):
            return xr.open_dataset(place, engine="tensogram", **options)

        for base in sys.argv[1:]:
            for name in ("cube", "many", "masks"):
                place = f"{base}/{name}.tgm"
                tell(name, lambda: show(read(place)))
                tell("datasets", lambda: [show(data) for data in tensogram_xarray.open_datasets(place)])
            many = f"{base}/many.tgm"
            for index in range(5):
                tell(f"message {index}", lambda: show(read(many, message_index=index)))
            tell("named", lambda: show(read(many, dim_names=["a", "b"], variable_key="mars.param")))
            tell("named wrong", lambda: show(read(many, dim_names=["a"])))
            tell("verified", lambda: show(read(many, verify_hash=True)))
            cube = f"{base}/cube.tgm"
            for options in ({"merge_objects": True}, {"drop_variables": ["u"]}, {"range_threshold": 0.0}, {"range_threshold": 1.0}):
                tell(str(options), lambda: show(read(cube, **options)))
            for options in ({}, {"range_threshold": 1.0}):
                data = read(cube, **options)
                for name in data.data_vars:
                    for key in ((slice(2, 5), slice(3, 9)), (1, 2), (slice(None), 4), (slice(None, None, 3), slice(None, None, -1)), ([1, 5], slice(0, 2))):
                        tell(f"{name}{key}", lambda: data[name][key].values.tolist())
            tell("pickled", lambda: show(pickle.loads(pickle.dumps(read(cube)))))
            tell("no file", lambda: show(read(f"{base}/nothing.tgm")))
    """
    with serving(folder) as server:
        lines = both_ways(program, folder, server.url)
    assert len(lines) == 80 and not [line for line in lines if line.startswith(("cube", "many", "masks", "datasets", "verified")) and "Error" in line]


def test_zarr_store(folder):
    """Groups and arrays of a file, and a file that Zarr writes."""
    pytest.importorskip("tensogram_zarr", reason="tensogram-zarr is not installed")
    program = """
        import json, os, sys, tempfile
        import numpy as np, tensogram, zarr
        from tensogram_zarr import TensogramStore

        def show(group):
            said = {"attributes": dict(group.attrs)}
            for name, array in sorted(group.arrays()):
                said[name] = [array.shape, str(array.dtype), dict(array.attrs), array[...].tobytes().hex(), array[1:3].tobytes().hex()]
            return said

        def tell(what, act):
            try:
                found = act()
            except Exception as error:
                # Ours is a FileNotFoundError, which is one.
                found = "OSError" if isinstance(error, OSError) else type(error).__name__
            print(what, json.dumps(found, default=repr, sort_keys=True))

        for base in sys.argv[1:]:
            for name in ("cube", "many", "masks"):
                for index in (0, 1, 9):
                    with_index = lambda: TensogramStore.open_tgm(f"{base}/{name}.tgm", message_index=index)
                    tell(f"{name} {index}", lambda: show(zarr.open_group(store=with_index(), mode="r")))
            tell("named", lambda: show(zarr.open_group(store=TensogramStore.open_tgm(f"{base}/many.tgm", variable_key="mars.param"), mode="r")))
            tell("no file", lambda: TensogramStore.open_tgm(f"{base}/nothing.tgm"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.tgm")

            def write():
                with TensogramStore(path, mode="w") as store:
                    group = zarr.create_group(store=store, attributes={"run": "00Z"})
                    for name, field in (("a", np.arange(12.0).reshape(3, 4)), ("b", np.arange(5, dtype="i4"))):
                        array = group.create_array(name, shape=field.shape, dtype=field.dtype, chunks=field.shape, compressors=None)
                        array[...] = field + 1
                metadata, objects = tensogram.TensogramFile.open(path)[0]
                return [metadata.extra, [[descriptor.dtype, array.tolist()] for descriptor, array in objects]]

            tell("written", write)
    """
    with serving(folder) as server:
        lines = both_ways(program, folder, server.url)
    shown = [line for line in lines if line.startswith(("cube 0", "many 0", "many 1", "masks 0", "named", "written"))]
    assert len(shown) == 11 and not [line for line in shown if "Error" in line]
