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
