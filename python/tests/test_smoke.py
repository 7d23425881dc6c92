"""The package imports, and a message goes there and back."""

import subprocess
import sys

import numpy as np

import fwright
import fwright.tensogram as tensogram


def test_round_trip():
    field = np.arange(12, dtype=np.float32).reshape(3, 4)
    message = tensogram.encode({"base": [{"param": "2t"}]}, [({"compression": "zstd"}, field)])
    metadata, [(descriptor, array)] = tensogram.decode(message)
    assert metadata["param"] == "2t"
    assert descriptor.shape == [3, 4] and descriptor.dtype == "float32"
    assert array.dtype == np.float32 and array.flags.writeable and np.array_equal(array, field)


def test_importing_loads_no_numpy():
    program = "import sys, fwright, fwright.tensogram; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_the_version_is_that_of_the_crates():
    assert fwright.__version__ == tensogram.__version__


def test_importing_is_quick():
    """What costs milliseconds at import is imported when it is needed: processor time of the import alone, and what it loads."""
    program = (
        "import sys, time; before = set(sys.modules); begun = time.process_time(); import fwright; took = time.process_time() - begun; "
        "print(took, sorted(set(sys.modules) - before))"
    )
    taken, loaded = [], ""
    for _ in range(5):
        done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path = {sys.path!r}; {program}"], capture_output=True, text=True, check=True)
        spent, loaded = done.stdout.split(maxsplit=1)
        taken.append(float(spent))
    for heavy in ("typing", "json", "re", "asyncio", "numpy", "dataclasses", "inspect"):
        assert f"'{heavy}'" not in loaded, loaded
    assert min(taken) < 0.1, taken
