# SPDX-License-Identifier: Apache-2.0
"""The stand-in models are valid, and onnxruntime with all its optimisations gives what is stored beside them."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

MODELS = Path(__file__).resolve().parents[2] / "build" / "test_models"
DATA = sorted(MODELS.glob("*/test_data_set_*"))


def load(path: Path, kind: str):
    data = path.read_bytes()
    if kind == "sequence_type":
        sequence = onnx.SequenceProto.FromString(data)
        if sequence.elem_type == onnx.SequenceProto.MAP:
            return [numpy_helper.to_array(entry.values.tensor_values[0]) for entry in sequence.map_values]
        return [numpy_helper.to_array(tensor) for tensor in sequence.tensor_values]
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


@pytest.mark.parametrize("data", DATA, ids=lambda data: f"{data.parent.name}-{data.name[-1]}")
def test_stored_outputs(data):
    model = onnx.load(data.parent / "model.onnx")
    feeds = {
        value.name: load(data / f"input_{k}.pb", value.type.WhichOneof("value"))
        for k, value in enumerate(model.graph.input)
    }
    session = onnxruntime.InferenceSession(data.parent / "model.onnx", providers=["CPUExecutionProvider"])
    for k, (value, got) in enumerate(zip(model.graph.output, session.run(None, feeds), strict=True)):
        expected = load(data / f"output_{k}.pb", value.type.WhichOneof("value"))
        if isinstance(got, list) and isinstance(got[0], dict):
            got = [np.array(list(entries.values()), np.float32) for entries in got]
        for a, b in zip(got, expected, strict=True) if isinstance(got, list) else [(got, expected)]:
            if np.asarray(b).dtype.kind == "f":
                np.testing.assert_allclose(a, b, atol=1e-4 * np.abs(b).max())
            else:
                np.testing.assert_array_equal(a, b)


def test_all_are_there():
    assert {path.parent.name for path in MODELS.glob("*/model.onnx")} >= {
        "residual_20",
        "voice",
        "unsupported",
    }
