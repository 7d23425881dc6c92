"""What several tests use."""

import numpy as np
import pytest


@pytest.fixture
def field():
    return np.arange(12, dtype=np.float32).reshape(3, 4)
