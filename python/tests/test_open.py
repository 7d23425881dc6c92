"""One way to open anything, and the commands as functions."""

import os
import pathlib
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import fwright as fw

FIELDS = {
    "f": np.arange(24, dtype="f4").reshape(2, 3, 4),
    "i": np.arange(7, dtype="i8"),
    "h": np.arange(6, dtype="f2").reshape(3, 2),
    "s": np.float64(2.5).reshape(()),
    "e": np.zeros((0, 3), "u1"),
}
FORMATS = ["tgm", "bt", "safetensors", "npz"]
KEYS = [0, -1, slice(0, 1), slice(None, None, -1), ..., (0, 1), (slice(None), slice(2, 0, -1)), (..., -1), (..., slice(0, 4, 2)), (1, ..., slice(1, 99))]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("open")
    made = {}
    for ending in FORMATS:
        made[ending] = folder / f"m.{ending}"
        fw.save(made[ending], FIELDS, metadata=None if ending == "npz" else {"k": "v"})
    fw.save(folder / "packed.tgm", FIELDS, pipeline={"compression": "zstd"})
    made["packed"] = folder / "packed.tgm"
    return made


@pytest.mark.parametrize("ending", [*FORMATS, "packed"])
def test_every_format_reads_the_same(files, ending):
    for source in (files[ending], str(files[ending])):
        with fw.open(source) as file:
            assert sorted(file) == sorted(FIELDS) and len(file) == 5 and "f" in file and "x" not in file
            for name, field in FIELDS.items():
                tensor = file[name]
                assert tensor.shape == field.shape and tensor.dtype == field.dtype and tensor.nbytes == field.nbytes
                assert (tensor.ndim, tensor.size, tensor.name) == (field.ndim, field.size, name)
                for array in (np.asarray(tensor), tensor.numpy(), tensor.numpy(copy=True), tensor[...]):
                    assert array.dtype == field.dtype and array.shape == field.shape and np.array_equal(array, field)
                assert tensor.numpy(copy=True).flags.writeable
            with pytest.raises(KeyError):
                file["x"]
            assert file.get("x") is None and file.get("f").name == "f"


@pytest.mark.parametrize("ending", [*FORMATS, "packed"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_slices(files, ending, key):
    tensor = fw.open(files[ending])["f"]
    expected = FIELDS["f"][key]
    assert np.array_equal(tensor[key], expected) and tensor[key].shape == np.shape(expected)


def test_indices_that_do_not_fit(files):
    tensor = fw.open(files["bt"])["f"]
    for ending in FORMATS:
        for key in (5, (0, 0, 0, 0), -3):
            with pytest.raises(IndexError) as caught:
                fw.open(files[ending])["f"][key]
            assert caught.value.code == "invalid_slice"
    for key in ("x", None, 1.5, [0]):
        with pytest.raises(TypeError):
            tensor[key]
    with pytest.raises(ValueError, match="zero"):
        tensor[::0]


@pytest.mark.parametrize("ending", ["tgm", "bt", "safetensors"])
def test_raw_tensors_are_views_that_outlive_the_file(files, ending, tmp_path):
    path = tmp_path / f"v.{ending}"
    path.write_bytes(files[ending].read_bytes())
    view = fw.open(path)["f"].numpy(copy=False)
    path.unlink()
    assert not view.flags.writeable and np.array_equal(view, FIELDS["f"])
    with pytest.raises(ValueError, match="no view"):
        fw.open(files["packed"])["f"].numpy(copy=False)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_that_is_replaced_stays_what_it_was(ending, tmp_path):
    """Whatever the name stands for by the time that a tensor is read."""
    path = tmp_path / f"r.{ending}"
    fw.save(path, {"a": np.arange(100), "b": np.ones(5)})
    file = fw.open(path)
    fw.save(path, {"c": np.zeros(3000), "a": np.zeros(100, "i8")})
    assert np.array_equal(file["a"].numpy(), np.arange(100)) and np.array_equal(file["a"][3:5], [3, 4])
    if ending != "npz":
        assert np.array_equal(file["b"].numpy(copy=False), np.ones(5))


@pytest.mark.parametrize("ending", ["bt", "safetensors"])
def test_raw_tensors_of_shards_are_views(ending, tmp_path):
    fields = {f"t{number}": np.full(100, number, "f4") for number in range(5)}
    fw.save(tmp_path / f"m.{ending}", fields, max_shard_size=1000)
    file = fw.open(tmp_path / f"m.{ending}.index.json")
    views = {name: tensor.numpy(copy=False) for name, tensor in file.items()}
    del file
    for path in tmp_path.iterdir():
        path.unlink()
    assert all(not view.flags.writeable and view.base is not None and np.array_equal(view, fields[name]) for name, view in views.items())
    assert sorted(views) == sorted(fields)


def test_types_that_numpy_lacks(tmp_path):
    fields = {"b": np.arange(4).astype(ml_dtypes.bfloat16), "q": np.arange(4).astype(ml_dtypes.float8_e4m3fn)}
    path = tmp_path / "t.safetensors"
    safetensors.numpy.save_file(fields, path)
    file = fw.open(path)
    for name, field in fields.items():
        assert file[name].dtype == field.dtype and np.array_equal(np.asarray(file[name]), field)


def test_rows(files):
    """A tensor is a sequence of rows, as an array is."""
    for ending in [*FORMATS, "packed"]:
        file = fw.open(files[ending])
        assert [row.tolist() for row in file["f"]] == FIELDS["f"].tolist()
        assert list(file["e"]) == []
        for whole in (lambda: list(file["s"]), lambda: len(file["s"])):
            with pytest.raises(TypeError, match="without axes"):
                whole()


def test_dlpack_and_array(files):
    tensor = fw.open(files["bt"])["f"]
    assert np.asarray(tensor, dtype="f4").base is not None and not np.asarray(tensor, dtype="f4").flags.writeable
    assert np.array(tensor, copy=True).flags.writeable and np.array(tensor, dtype="f4").flags.writeable
    with pytest.raises(ValueError, match="float64"):
        np.asarray(tensor, dtype="f8", copy=False)
    with pytest.raises(ValueError, match="no view"):
        np.asarray(fw.open(files["packed"])["f"], copy=False)
    shared = np.from_dlpack(tensor, copy=False)
    assert np.shares_memory(shared, tensor.numpy(copy=False)) and not shared.flags.writeable
    assert not np.shares_memory(np.from_dlpack(tensor), tensor.numpy()) and not np.shares_memory(np.from_dlpack(tensor, copy=True), tensor.numpy())
    with pytest.raises(BufferError, match="no view"):
        np.from_dlpack(fw.open(files["packed"])["f"], copy=False)
    assert np.array_equal(np.from_dlpack(tensor), FIELDS["f"])
    assert np.asarray(tensor, dtype="f8").dtype == np.float64
    assert len(tensor) == 2
    assert np.array_equal(tensor.numpy() + 1, FIELDS["f"] + 1)


def test_repr(files):
    file = fw.open(files["bt"])
    assert repr(file["f"]) == 'Tensor("f", shape=[2, 3, 4], dtype=\'float32\')'
    assert "format='bintensors'" in repr(file)


def test_pickles(files):
    for source in (files["bt"], files["bt"].read_bytes()):
        again = pickle.loads(pickle.dumps(fw.open(source)))
        assert np.array_equal(again["f"], FIELDS["f"])
        assert np.array_equal(pickle.loads(pickle.dumps(fw.open(source)["f"])), FIELDS["f"])


def test_commands(files, tmp_path):
    assert fw.info(files["bt"])["tensor_count"] == 5
    assert fw.validate(files["tgm"])["ok"] is True
    assert fw.diff(files["tgm"], files["bt"])["different_count"] == 0
    target = tmp_path / "c.safetensors"
    assert fw.convert(files["tgm"], target)["tensor_count"] == 5
    assert np.array_equal(safetensors.numpy.load_file(target)["f"], FIELDS["f"])
    with pytest.raises(fw.CommandError) as caught:
        fw.convert(files["tgm"], target)
    assert caught.value.code
    fw.convert(files["tgm"], target, force=True)
    with pytest.raises(FileNotFoundError):
        fw.info("/nope/there.bt")
    other = tmp_path / "o.bt"
    fw.save(other, {**FIELDS, "f": FIELDS["f"] + 1})
    assert fw.diff(files["bt"], other)["ok"] is False


def test_save_refuses_what_it_cannot_do(tmp_path):
    for path, tensors, keywords, error, words in [
        ("a.xyz", {}, {}, ValueError, "must end in one of"),
        ("a.gguf", {"a": np.zeros(1)}, {}, ValueError, "gguf|GGUF"),
        ("a.bt", [1], {}, TypeError, "mapping of names to arrays"),
        ("a.bt", {1: np.zeros(1)}, {}, TypeError, "str"),
        ("a.bt", {"a": np.array(["text"])}, {}, ValueError, "cannot save elements of type"),
        ("a.bt", {"a": np.zeros(1)}, {"pipeline": {"compression": "zstd"}}, ValueError, "pipeline"),
        ("a.tgm", {"a": np.zeros(1)}, {"max_shard_size": 10}, ValueError, "not split"),
        ("a.tgm", {"a": np.zeros(1)}, {"pipeline": lambda name, array: 5}, TypeError, "must give a dict"),
        ("a.tgm", {"a": np.zeros(1)}, {"pipeline": {"compression": "nope"}}, ValueError, "nope"),
        ("no/such/directory/a.bt", {"a": np.zeros(1)}, {}, FileNotFoundError, "no/such"),
    ]:
        with pytest.raises(error, match=words):
            fw.save(tmp_path / path, tensors, **keywords)
    assert os.listdir(tmp_path) == []


def test_a_failed_save_keeps_what_was_there(tmp_path):
    path = tmp_path / "a.tgm"
    fw.save(path, {"a": np.arange(3.0)})
    before = path.read_bytes()

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fw.save(path, {"a": np.zeros(4 << 20), "b": np.zeros(4 << 20)}, progress=stop)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.tgm"]


@pytest.mark.parametrize("ending", ["bt", "safetensors", "npz"])
def test_save_keeps_every_type(ending, tmp_path):
    """Any memory order and byte order; truth values stay truth values where the format has them."""
    fields = {
        "bool": np.array([True, False]),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big": np.arange(4, dtype=">i4"),
        "strided": np.arange(10, dtype="u2")[::-3],
        "scalar": np.float32(1.5),
        "list": [1.0, 2.0],
    }
    path = tmp_path / f"t.{ending}"
    fw.save(path, fields)
    file = fw.open(path)
    for name, field in fields.items():
        array = np.asarray(file[name])
        assert np.array_equal(array, field) and array.dtype == np.asarray(field).dtype.newbyteorder("="), name


def test_save_in_shards_and_with_metadata(tmp_path):
    fields = {f"t{number}": np.full(100, number, "f4") for number in range(5)}
    fw.save(tmp_path / "m.safetensors", fields, max_shard_size=1000, metadata={"step": 7, "who": "me"})
    file = fw.open(tmp_path / "m.safetensors.index.json")
    assert sorted(file) == sorted(fields) and file.metadata["who"] == "me" and file.metadata["step"] == "7"
    fw.convert(tmp_path / "m.safetensors.index.json", tmp_path / "m.tgm")
    import fwright.tensogram as tensogram

    assert tensogram.TensogramFile.open(tmp_path / "m.tgm").file_decode_metadata(0).extra["step"] == 7


def test_save_choices(tmp_path):
    path = tmp_path / "s.tgm"
    fw.save(path, FIELDS, pipeline=lambda name, array: {"compression": "zstd"} if array.size else {})
    assert fw.open(path)["f"].metadata.get("name", "f") == "f"
    fw.save(path, {"n": np.array([1.0, np.nan, np.inf])})
    assert np.array_equal(np.asarray(fw.open(path)["n"]), [1.0, np.nan, np.inf], equal_nan=True)
    assert os.listdir(tmp_path) == ["s.tgm"]


def test_the_command_line(files):
    for words in ([sys.executable, "-m", "fwright"], [str(pathlib.Path(sys.executable).parent / "fw")]):
        done = subprocess.run([*words, "ls", str(files["bt"])], capture_output=True, text=True)
        assert done.returncode == 0 and "float32" in done.stdout and done.stderr == ""
        done = subprocess.run([*words, "ls", "/nope/there.bt"], capture_output=True, text=True)
        assert done.returncode != 0 and done.stdout == "" and "/nope/there.bt" in done.stderr


def test_help_names_options_that_exist():
    """Every option that a docstring shows is one of the command."""
    import re

    for name in ("info", "validate", "diff", "convert", "stats", "plot"):
        shown = subprocess.run([sys.executable, "-m", "fwright", name, "--help"], capture_output=True, text=True, check=True).stdout
        words = re.sub(r">>>.*", "", getattr(fw, name).__doc__, flags=re.S)
        options = set(re.findall(r"``(\w+)(?:=[^`]*)?``", words)) & {option.replace("-", "_") for option in re.findall(r"--([a-z-]+)", shown)}
        assert f"fw {name} --help" in words and len(options) >= 2, (name, options)
        for option in re.findall(r"``(\w+)=[^`]*``", words):
            assert f"--{option.replace('_', '-')}" in shown, (name, option)


def test_commands_print_nothing_and_start_no_process(files, capfd, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.setattr(os, "fork", None)
    fw.info(files["bt"])
    with pytest.raises(fw.CommandError) as caught:
        fw.info(files["bt"], nonsense=True)
    assert caught.value.code == "usage" and "--nonsense" in str(caught.value) and caught.value.hint
    with pytest.raises(FileNotFoundError, match="nope"):
        fw.plot("/nope.bt")
    assert capfd.readouterr() == ("", "")


def test_commands_return_what_the_command_line_prints(files, tmp_path):
    import json

    path = str(files["packed"])
    for name, args, options, words in [
        ("info", [path], {}, []),
        ("validate", [path], {"mode": "full"}, ["--mode=full"]),
        ("stats", [path], {"histogram": True}, ["--histogram"]),
        ("diff", [path, str(files["bt"])], {"rtol": 0.5}, ["--rtol=0.5"]),
        ("convert", [path, str(tmp_path / "c.bt")], {"force": True}, ["--force"]),
    ]:
        done = subprocess.run([sys.executable, "-m", "fwright", name, "--json", *words, *args], capture_output=True)
        assert getattr(fw, name)(*args, **options) == json.loads(done.stdout), name


def test_plots(files, tmp_path):
    fw.save(tmp_path / "p.tgm", {"p": np.random.default_rng(3).normal(size=(40, 60))})
    assert fw.plot(tmp_path / "p.tgm")[:8] == b"\x89PNG\r\n\x1a\n"
    assert fw.plot(tmp_path / "p.tgm", format="svg").startswith("<svg")
    written = fw.plot(tmp_path / "p.tgm", tmp_path / "p.png", kind="histogram")
    assert written["files"][0]["kind"] == "histogram" and (tmp_path / "p.png").stat().st_size > 100
    with pytest.raises(fw.CommandError, match="already exists"):
        fw.plot(tmp_path / "p.tgm", tmp_path / "p.png")


def test_checkpoints_in_several_files(files, tmp_path):
    target = tmp_path / "model.safetensors"
    written = fw.convert(files["safetensors"], target, max_shard_size=100)["files"]
    [index] = [path for path in written if path.endswith(".json")]
    file = fw.open(index)
    assert sorted(file) == sorted(FIELDS)
    for name, field in FIELDS.items():
        assert np.array_equal(np.asarray(file[name]), field)


def test_gguf(tmp_path):
    gguf = pytest.importorskip("gguf")
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "test")
    writer.add_tensor("w", FIELDS["f"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for source in (path, path.read_bytes()):
        file = fw.open(source)
        assert file.format == "gguf" and np.array_equal(np.asarray(file["w"]), FIELDS["f"])
        assert np.array_equal(file["w"][1, :, 0], FIELDS["f"][1, :, 0])
