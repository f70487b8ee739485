# SPDX-License-Identifier: Apache-2.0
"""The bundled model is what its README says, seen by onnx and onnxruntime."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

FOLDER = Path(__file__).resolve().parents[2] / "models" / "digits"


def tensor(name: str) -> np.ndarray:
    data = (FOLDER / "test_data_set_0" / name).read_bytes()
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def test_file():
    assert (FOLDER / "digits.onnx").stat().st_size < 200_000
    model = onnx.load(FOLDER / "digits.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == 10
    assert [(v.name, v.type.tensor_type.shape.dim[0].dim_param) for v in model.graph.input] == [
        ("image", "N")
    ]


def test_expected_output():
    session = onnxruntime.InferenceSession(FOLDER / "digits.onnx", providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"image": tensor("input_0.pb")})
    np.testing.assert_allclose(y, tensor("output_0.pb"), atol=1e-6)


def test_samples_are_read_right():
    session = onnxruntime.InferenceSession(FOLDER / "digits.onnx", providers=["CPUExecutionProvider"])
    for line in (FOLDER / "labels.txt").read_text().splitlines():
        name, label = line.split()
        (y,) = session.run(None, {"image": np.load(FOLDER / name)})
        assert y[0].argmax() == int(label)
