# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python module share."""

from pathlib import Path

import numpy as np
from onnx import parser

ROOT = Path(__file__).resolve().parents[2]


def model_of(text: str, opset: int = 17) -> bytes:
    """A model from the ONNX text of its graph."""
    header = f'<ir_version: 8, opset_import: ["": {opset}, "ai.onnx.ml": 3]>\n'
    return parser.parse_model(header + text).SerializeToString()


def assert_same(got, expected, tolerance: float = 1e-4) -> None:
    """Equal types and shapes, floats within `tolerance` of the largest, everything else equal."""
    assert type(got) is type(expected), (type(got), type(expected))
    if isinstance(expected, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            assert_same(a, b, tolerance)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        assert [type(key) for key in got] == [type(key) for key in expected]
        assert [type(value) for value in got.values()] == [type(value) for value in expected.values()]
        np.testing.assert_allclose(list(got.values()), list(expected.values()), atol=tolerance)
    else:
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        if expected.dtype.kind == "f":
            largest = np.abs(expected).max(initial=0)
            np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * max(float(largest), 1e-30))
        else:
            np.testing.assert_array_equal(got, expected)
