# SPDX-License-Identifier: Apache-2.0
"""Trains the bundled digit classifier with numpy alone and writes the files of this folder.

python models/digits/train.py [FOLDER]: digits.onnx, sample_LABEL.npy, labels.txt and test_data_set_0/.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 7
CHANNELS = (16, 32)
EPOCHS = 60
BATCH = 64
RATE = 2e-3
WEIGHT_DECAY = 1e-3
SAMPLES = (0, 2, 3, 7, 8)  # digits that get a sample picture


def patches(x: np.ndarray) -> np.ndarray:
    """The 3x3 neighbourhoods of x [N,C,H,W], zero outside: [N, H*W, C*9]."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h * w, c * 9)


def conv(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """3x3 convolution of the same size; also returns the patches that its gradient needs."""
    n, _, h, w = x.shape
    columns = patches(x)
    y = columns @ weight.reshape(len(weight), -1).T + bias
    return y.transpose(0, 2, 1).reshape(n, -1, h, w), columns


def conv_gradient(dy: np.ndarray, columns: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
    """Gradients of the input, the weight and the bias."""
    n, m, h, w = dy.shape
    rows = dy.reshape(n, m, h * w)
    dweight = np.einsum("nmp,npk->mk", rows, columns, optimize=True).reshape(weight.shape)
    # The input's gradient is the convolution of dy with the turned kernel, its channels swapped.
    turned = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    dx, _ = conv(dy, turned, np.zeros(len(turned)))
    return dx, dweight, rows.sum((0, 2))


def forward(p: dict[str, np.ndarray], x: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Probabilities [N,10], and what the backward pass needs."""
    a1, k1 = conv(x, p["conv1.weight"], p["conv1.bias"])
    r1 = np.maximum(a1, 0)
    a2, k2 = conv(r1, p["conv2.weight"], p["conv2.bias"])
    r2 = np.maximum(a2, 0)
    n, c, h, w = r2.shape
    cells = (
        r2.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    )
    flat = cells.max(-1).reshape(n, -1)
    z = flat @ p["dense.weight"].T + p["dense.bias"]
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True), dict(a1=a1, k1=k1, a2=a2, k2=k2, cells=cells, flat=flat)


def backward(p: dict[str, np.ndarray], kept: dict[str, np.ndarray], dz: np.ndarray) -> dict[str, np.ndarray]:
    g = {"dense.weight": dz.T @ kept["flat"], "dense.bias": dz.sum(0)}
    cells = kept["cells"]
    n, c, h, w, _ = cells.shape
    winner = np.arange(4) == cells.argmax(-1)[..., None]
    dcells = winner * (dz @ p["dense.weight"]).reshape(n, c, h, w, 1)
    dr2 = dcells.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 2 * h, 2 * w)
    da2 = dr2 * (kept["a2"] > 0)
    dr1, g["conv2.weight"], g["conv2.bias"] = conv_gradient(da2, kept["k2"], p["conv2.weight"])
    da1 = dr1 * (kept["a1"] > 0)
    _, g["conv1.weight"], g["conv1.bias"] = conv_gradient(da1, kept["k1"], p["conv1.weight"])
    return g


def initial(random: np.random.Generator) -> dict[str, np.ndarray]:
    one, two = CHANNELS
    shapes = {
        "conv1.weight": (one, 1, 3, 3),
        "conv2.weight": (two, one, 3, 3),
        "dense.weight": (10, two * 16),
    }
    p = {}
    for name, shape in shapes.items():
        p[name] = random.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
        p[name.replace("weight", "bias")] = np.zeros(shape[0])
    return p


def train(x: np.ndarray, label: np.ndarray) -> dict[str, np.ndarray]:
    """Adam with decay of the weights and a rate that falls to nothing."""
    random = np.random.default_rng(SEED)
    p = initial(random)
    first = {name: np.zeros_like(value) for name, value in p.items()}
    second = {name: np.zeros_like(value) for name, value in p.items()}
    steps = EPOCHS * (len(x) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            pick = order[start : start + BATCH]
            probabilities, kept = forward(p, x[pick])
            dz = (probabilities - np.eye(10)[label[pick]]) / BATCH
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for name, g in backward(p, kept, dz).items():
                first[name] = 0.9 * first[name] + 0.1 * g
                second[name] = 0.999 * second[name] + 0.001 * g * g
                move = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
                p[name] = p[name] - rate * (move + WEIGHT_DECAY * p[name])
    return p


def model_of(p: dict[str, np.ndarray]) -> onnx.ModelProto:
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "conv2.weight", "conv2.bias"], ["c2"], "conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["pooled"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["pooled"], ["flat"], "flatten", axis=1),
        helper.make_node("Gemm", ["flat", "dense.weight", "dense.bias"], ["scores"], "dense", transB=1),
        helper.make_node("Softmax", ["scores"], ["probabilities"], "softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in p.items()],
    )
    model = helper.make_model(
        graph,
        ir_version=10,
        opset_imports=[helper.make_opsetid("", 20)],
        producer_name="sardonyx",
        doc_string="Handwritten digits, 8x8 grey pictures with values from 0 to 1. See README.md beside this file.",
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def write(folder: Path, p: dict[str, np.ndarray], x: np.ndarray, label: np.ndarray) -> None:
    onnx.save(model_of(p), folder / "digits.onnx")
    chosen = [int(np.flatnonzero(label == digit)[0]) for digit in SAMPLES]
    for digit, at in zip(SAMPLES, chosen, strict=True):
        np.save(folder / f"sample_{digit}.npy", x[at : at + 1].astype(np.float32))
    (folder / "labels.txt").write_text("".join(f"sample_{digit}.npy {digit}\n" for digit in SAMPLES))
    data = folder / "test_data_set_0"
    data.mkdir(exist_ok=True)
    # The expected numbers: float64 arithmetic on the float32 weights that the file holds.
    stored = {name: value.astype(np.float32).astype(np.float64) for name, value in p.items()}
    expected, _ = forward(stored, x[chosen].astype(np.float32).astype(np.float64))
    for name, tensor, value in (("input_0", "image", x[chosen]), ("output_0", "probabilities", expected)):
        proto = numpy_helper.from_array(value.astype(np.float32), tensor)
        (data / f"{name}.pb").write_bytes(proto.SerializeToString())


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    digits = load_digits()
    pictures = digits.images[:, None] / 16.0
    x, x_test, label, label_test = train_test_split(
        pictures, digits.target, test_size=0.2, random_state=SEED, stratify=digits.target
    )
    p = train(x, label)
    for name, data, truth in (("training", x, label), ("test", x_test, label_test)):
        right = (forward(p, data)[0].argmax(1) == truth).sum()
        print(f"{name}: {right} of {len(truth)} right ({right / len(truth):.2%})")
    write(folder, p, x_test, label_test)


if __name__ == "__main__":
    main()
