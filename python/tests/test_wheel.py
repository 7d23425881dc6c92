"""The wheel needs nothing that every Linux system does not have."""

import importlib.metadata
import re
import subprocess
import sys
import zipfile

import pytest

# What auditwheel's policy of the oldest supported systems allows.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


@pytest.fixture
def wheel(tmp_path):
    """The wheel that was installed, put together again."""
    distribution = importlib.metadata.distribution("fwright")
    path = tmp_path / f"fwright-{distribution.version}-cp311-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        files = [file for file in distribution.files if file.parts[0].startswith("fwright") and "__pycache__" not in file.parts]
        for file in files:
            if file.name == "RECORD":
                # What pip added on its own is not part of the wheel.
                wheel.writestr(str(file), "".join(f"{one},,\n" for one in files))
            else:
                wheel.write(file.locate(), str(file))
    return path


def test_no_undeclared_shared_library(wheel):
    done = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    libraries = set(re.findall(r"[\w+.-]+\.so(?:\.\d+)*", done.stdout)) - {"_fwright.abi3.so"}
    assert libraries <= SYSTEM, libraries
    assert "manylinux" in done.stdout, done.stdout


def test_the_wheel_is_typed_and_has_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "fwright/py.typed" in names and "fwright/tensogram/__init__.pyi" in names
    assert not [name for name in names if "tests" in name or "bench" in name]
