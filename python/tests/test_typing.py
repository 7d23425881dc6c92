"""The stubs are what the package is."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import fwright
import fwright._fwright
import fwright.tensogram


def test_stubs_and_runtime_agree(tmp_path):
    allow = tmp_path / "allowed.txt"
    # NamedTuple in the stub, namedtuple at run time: the same fields, other machinery.
    allow.write_text("fwright\\.tensogram\\._message.*\nfwright\\.tensogram\\.Message.*\n")
    words = ["mypy.stubtest", "fwright", "--concise", "--ignore-missing-stub", "--allowlist", str(allow), "--ignore-unused-allowlist"]
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_has_a_stub():
    for module, stub in [(fwright.tensogram, "tensogram/__init__.pyi"), (fwright._fwright, "_fwright.pyi")]:
        text = (pathlib.Path(fwright.__file__).parent / stub).read_text()
        for name, value in vars(module).items():
            if name.startswith("_") or inspect.ismodule(value):
                continue
            assert f"class {name}" in text or f"def {name}(" in text or f"{name}:" in text, name


def test_a_program_is_checked(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import fwright as fw\n"
        "import fwright.tensogram as tensogram\n"
        "message: bytes = tensogram.encode({'k': 1}, [({}, np.zeros(3))])\n"
        "metadata, objects = tensogram.decode(message)\n"
        "names: list[str] = metadata.keys()\n"
        "shape: tuple[int, ...] = fw.open('x.bt')['w'].shape\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    program.write_text("import fwright.tensogram as t\nx: int = t.scan(b'')\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "Incompatible types" in done.stdout


@pytest.mark.parametrize("module", ["fwright", "fwright.compat", "fwright.tensogram", "fwright.tensogram._awaited"])
def test_examples_run(module, tmp_path):
    program = f"import doctest, importlib, sys; m = importlib.import_module('{module}'); sys.exit(doctest.testmod(m).failed)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
