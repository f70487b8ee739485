# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))


@pytest.fixture
def x() -> np.ndarray:
    return np.arange(8, dtype=np.float32).reshape(2, 4) - 3
