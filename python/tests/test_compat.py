"""Packages that import the reference work on ours."""

import subprocess
import sys
import textwrap

import pytest


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


def test_xarray_backend():
    pytest.importorskip("tensogram_xarray", reason="tensogram-xarray is not installed")
    run(
        """
        import fwright.compat
        fwright.compat.install()
        import tempfile, numpy as np, xarray as xr, tensogram, fwright.tensogram
        assert tensogram is fwright.tensogram
        path = tempfile.mktemp(suffix=".tgm")
        field = np.arange(12.0).reshape(3, 4)
        with tensogram.TensogramFile.create(path) as file:
            file.append({"base": [{"name": "t2m", "units": "K"}]}, [({"type": "ntensor", "shape": [3, 4], "dtype": "float64"}, field)])
        data = xr.open_dataset(path, engine="tensogram")
        [name] = list(data.data_vars)
        assert np.array_equal(data[name].values, field)
        assert np.array_equal(data[name][1:, 2].values, field[1:, 2])
        """
    )


def test_zarr_store():
    pytest.importorskip("tensogram_zarr", reason="tensogram-zarr is not installed")
    run(
        """
        import fwright.compat
        fwright.compat.install()
        import tempfile, numpy as np, zarr, tensogram
        from tensogram_zarr import TensogramStore
        path = tempfile.mktemp(suffix=".tgm")
        field = np.arange(12.0).reshape(3, 4)
        with tensogram.TensogramFile.create(path) as file:
            file.append({"base": [{"name": "t2m"}]}, [({"type": "ntensor", "shape": [3, 4], "dtype": "float64"}, field)])
        store = TensogramStore.open_tgm(path)
        group = zarr.open_group(store=store, mode="r")
        [name] = list(group.array_keys())
        assert np.array_equal(group[name][:], field)
        """
    )
