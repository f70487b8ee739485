# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a streaming voice detector: If on the sampling rate, an STFT by Conv, LSTM with state in and out."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from net import Net, store

HIDDEN = 16
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def branch(prefix: str, window: int) -> onnx.GraphProto:
    """One sampling rate: it reads `input` and `state` of the outer graph."""
    net = Net(f"{prefix}branch", 16, prefix)
    bins = window // 2 + 1
    pads = net.constant([0, 0, 0, window // 4])
    x = net.op("Unsqueeze", net.op("Pad", "input", pads, mode="reflect"), net.constant([1]))
    basis = net.weight("basis", 2 * bins, 1, window)
    x = net.op("Conv", x, basis, kernel_shape=[window], strides=[window // 2], pads=[0, 0])
    parts = []
    for low, high in ((0, bins), (bins, 2 * bins)):
        part = net.op("Slice", x, net.constant([low]), net.constant([high]), net.constant([1]))
        parts.append(net.op("Pow", part, net.constant(2, np.float32)))
    x = net.op("Sqrt", net.op("Add", *parts))
    for number, (inputs, outputs, stride) in enumerate(((bins, 24, 1), (24, 20, 2), (20, HIDDEN, 2))):
        weight = net.weight(f"conv{number}.weight", outputs, inputs, 3)
        bias = net.weight(f"conv{number}.bias", outputs, scale=0.1)
        x = net.op("Conv", x, weight, bias, kernel_shape=[3], strides=[stride], pads=[1, 1])
        x = net.op("Relu", x)
    # [N, C, T] → [T, N, C]: the steps of the LSTM.
    x = net.op("Transpose", x, perm=[2, 0, 1])
    h, c = (
        net.op("Unsqueeze", net.op("Gather", "state", net.constant(k), axis=0), net.constant([0]))
        for k in (0, 1)
    )
    weights = (
        net.weight("lstm.w", 1, 4 * HIDDEN, HIDDEN),
        net.weight("lstm.r", 1, 4 * HIDDEN, HIDDEN),
        net.weight("lstm.b", 1, 8 * HIDDEN, scale=0.1),
    )
    y, h, c = net.op("LSTM", x, *weights, "", h, c, count=3, hidden_size=HIDDEN)
    # [T, 1, N, C] → [N, C, T], Relu, 1x1 convolution to one channel, mean of the sigmoids.
    y = net.op("Relu", net.op("Transpose", net.op("Squeeze", y, net.constant([1])), perm=[1, 2, 0]))
    y = net.op(
        "Conv", y, net.weight("head.weight", 1, HIDDEN, 1), net.weight("head.bias", 1), kernel_shape=[1]
    )
    y = net.op("ReduceMean", net.op("Sigmoid", y), axes=[2], keepdims=0)
    net.output(y, f"{prefix}probability", FLOAT, ["N", 1])
    net.output(net.op("Concat", h, c, axis=0), f"{prefix}state", FLOAT, [2, "N", HIDDEN])
    return net.graph()


def voice(folder: Path) -> None:
    net = Net("voice", 16)
    net.input("input", FLOAT, ["N", "samples"])
    net.input("state", FLOAT, [2, "N", HIDDEN])
    net.input("sr", INT64, [])
    fast = net.op("Equal", "sr", net.constant(16000))
    results = net.op("If", fast, count=2, then_branch=branch("k16.", 32), else_branch=branch("k8.", 16))
    net.output(results[0], "output", FLOAT, ["N", 1])
    net.output(results[1], "stateN", FLOAT, [2, "N", HIDDEN])
    store(folder, net.model(), [sound(1, 1, 128, 16000), sound(2, 1, 64, 8000), sound(3, 3, 128, 16000)])


def sound(seed: int, batch: int, samples: int, rate: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "input": random.standard_normal((batch, samples)).astype(np.float32),
        "state": (0.5 * random.standard_normal((2, batch, HIDDEN))).astype(np.float32),
        "sr": np.array(rate),
    }


def voice_squeeze(folder: Path) -> None:
    """The exporter's habit of guarding a squeeze by an If whose branches have different ranks; one LSTM step."""
    net = Net("voice_squeeze", 15)
    x = net.input("input", FLOAT, ["N", HIDDEN, "steps"])
    state = net.input("state", FLOAT, [2, "N", HIDDEN])
    size = net.op("Gather", net.op("Shape", x), net.constant(2), axis=0)

    def alone(name: str, node: str, inputs: list[str], rank: int) -> onnx.GraphProto:
        value = helper.make_tensor_value_info(name, FLOAT, ["N", HIDDEN, "steps"][:rank])
        return helper.make_graph([helper.make_node(node, inputs, [name])], name, [], [value])

    last = net.initializer("last", np.array([2]))
    then_branch = alone("squeezed", "Squeeze", [x, last], 2)
    else_branch = alone("kept", "Identity", [x], 3)
    y = net.op("If", net.op("Equal", size, net.constant(1)), then_branch=then_branch, else_branch=else_branch)
    y = net.op("Reshape", y, net.constant([1, -1, HIDDEN]))
    h, c = (
        net.op("Slice", state, net.constant([k]), net.constant([k + 1]), net.constant([0])) for k in (0, 1)
    )
    w = net.weight("w", 1, 4 * HIDDEN, HIDDEN)
    r = net.weight("r", 1, 4 * HIDDEN, HIDDEN)
    b = net.weight("b", 1, 8 * HIDDEN, scale=0.1)
    _, h, c = net.op("LSTM", y, w, r, b, "", h, c, count=3, hidden_size=HIDDEN)
    net.output(net.op("Concat", h, c, axis=0), "stateN", FLOAT, [2, "N", HIDDEN])
    feeds = sound(4, 2, HIDDEN, 0)
    store(folder, net.model(), [{"input": feeds["input"][:, :, None], "state": feeds["state"]}])


MODELS = [voice, voice_squeeze]
