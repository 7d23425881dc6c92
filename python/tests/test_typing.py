"""The stubs are what the package is."""

import importlib.util
import inspect
import json
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

import fwright
import fwright._fwright
import fwright.bintensors
import fwright.tensogram


@pytest.fixture(scope="module", autouse=True)
def stubs(tmp_path_factory):
    """The comparison of the stubs with the modules: it takes long, so it runs beside the other tests."""
    folder = tmp_path_factory.mktemp("stubs")
    # NamedTuple in the stub, namedtuple at run time: the same fields, other machinery.
    allowed = ["fwright\\.tensogram\\._message.*", "fwright\\.tensogram\\.Message.*"]
    # Modules for frameworks that are not installed cannot be imported.
    frameworks = {"torch": "torch", "flax": "jax", "mlx": "mlx"}
    allowed += [f"fwright\\.bintensors\\.{name}" for name, needs in frameworks.items() if importlib.util.find_spec(needs) is None]
    (folder / "allowed.txt").write_text("\n".join(allowed))
    words = ["mypy.stubtest", "fwright", "--concise", "--ignore-missing-stub", "--allowlist", "allowed.txt", "--ignore-unused-allowlist"]
    with subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def strictly(tmp_path_factory):
    """Runs mypy with the strict checks. What it learns of NumPy is kept between the runs, which takes most of the time."""
    folder = tmp_path_factory.mktemp("mypy")
    # The notebook runs without IPython, too.
    (folder / "mypy.ini").write_text("[mypy]\nstrict = True\n[mypy-IPython.*]\nignore_missing_imports = True\n")

    def run(*words):
        words = ["--config-file", folder / "mypy.ini", "--cache-dir", folder / "cache", *words]
        return subprocess.run([sys.executable, "-m", "mypy", *map(str, words)], capture_output=True, text=True, cwd=folder)

    return run


def test_the_package_passes_the_strict_checks(strictly):
    done = strictly("-p", "fwright")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_has_a_stub():
    for module, stub in [(fwright.bintensors, "bintensors/__init__.pyi"), (fwright.tensogram, "tensogram/__init__.pyi"), (fwright._fwright, "_fwright.pyi")]:
        text = (pathlib.Path(fwright.__file__).parent / stub).read_text()
        for name, value in vars(module).items():
            if name.startswith("_") or inspect.ismodule(value):
                continue
            assert f"class {name}" in text or f"def {name}(" in text or f"{name}:" in text or f" as {name}\n" in text, name


def test_a_program_is_checked(strictly, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import fwright as fw\n"
        "import fwright.tensogram as tensogram\n"
        "message: bytes = tensogram.encode({'k': 1}, [({}, np.zeros(3))])\n"
        "metadata, objects = tensogram.decode(message)\n"
        "names: list[str] = metadata.keys()\n"
        "shape: tuple[int, ...] = fw.open('x.bt')['w'].shape\n"
        "from fwright.bintensors import safe_open, BintensorError, verify\n"
        "from fwright.bintensors.numpy import load_file, save_file\n"
        "from fwright.structframe import Damage, Decoder, Frame, Schema\n"
        "save_file({'w': np.zeros(3)}, 'w.bt', {'k': 'v'}, digest='sha256')\n"
        "with safe_open('w.bt', framework='np') as file:\n"
        "    known: list[str] = file.keys()\n"
        "    axes: list[int] = file.get_slice('w').get_shape()\n"
        "checked: int = verify('w.bt')\n"
        "loaded = load_file('w.bt')['w'].sum()\n"
        "schema = Schema.load('robot.sf', packed=False)\n"
        "decoder: Decoder = schema.decoder('standard')\n"
        "events: list[Frame | Damage] = decoder.feed(b'')\n"
        "data: bytes = schema.encode('Ping', {'seq': 1}, profile='bulk')\n"
        "x = schema.columns(data)['Ping']['seq']\n"
    )
    done = strictly(program)
    assert done.returncode == 0, done.stdout + done.stderr
    program.write_text("import fwright.tensogram as t\nx: int = t.scan(b'')\n")
    done = strictly(program)
    assert done.returncode == 1 and "Incompatible types" in done.stdout


@pytest.mark.parametrize(
    "module",
    ["fwright", "fwright._commands", "fwright._fwright", "fwright.bintensors", "fwright.bintensors.numpy", "fwright.compat", "fwright.structframe", "fwright.tensogram", "fwright.xarray", "fwright.xarray._accessor", "fwright.xarray._backend"],
)
def test_examples_run(module, tmp_path):
    # Doctest does not look into compiled modules by itself.
    program = f"""
        import doctest, importlib, sys
        module = importlib.import_module("{module}")
        failed, tried = doctest.testmod(module)
        if module.__name__ == "fwright._fwright":
            for where in (module, module.tensogram):
                for name, value in vars(where).items():
                    test = doctest.DocTestParser().get_doctest(getattr(value, "__doc__", "") or "", {{}}, name, None, None)
                    ran = doctest.DocTestRunner().run(test)
                    failed, tried = failed + ran.failed, tried + ran.attempted
            assert tried > 10, tried
        sys.exit(failed)
    """
    program = textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("module", "needs"), [("torch", "torch"), ("flax", "jax"), ("mlx", "mlx")])
def test_examples_of_frameworks_run(module, needs, tmp_path):
    pytest.importorskip(needs, reason=f"{needs} is not installed: the examples of fwright.bintensors.{module} do not run")
    test_examples_run(f"fwright.bintensors.{module}", tmp_path)


def test_the_examples_are_checked(strictly, tmp_path):
    """Programs of the documents and of the notebook pass the strict checks that their readers may use."""
    root = pathlib.Path(__file__).resolve().parents[2]
    pages = {page: "\n".join(re.findall(r"```python\n(.*?)```", (root / page).read_text(), re.S)) for page in ("docs/arrays.md", "docs/python.md", "python/README.md")}
    for notebook in (root / "docs/notebooks").glob("*.ipynb"):
        cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
        pages[notebook.name] = "\n".join("".join(cell["source"]) for cell in cells)
    programs = [tmp_path / f"{page.replace('/', '_').replace('.', '_').replace('-', '_')}.py" for page in pages]
    for program, text in zip(programs, pages.values()):
        program.write_text(text)
    done = strictly(*programs)
    assert done.returncode == 0, done.stdout


def test_stubs_and_runtime_agree(stubs):
    said, _ = stubs.communicate()
    assert stubs.returncode == 0, said
