# SPDX-License-Identifier: Apache-2.0
"""A tensor without elements may have axes as long as it likes: no operator walks them."""

import numpy as np
import pytest
from hostile_models.build import model_of, node
from test_hostile_models import SLOWER, WAYS, shortened

LONG = 1 << 40
SHAPES = [(0, 3, LONG), (0, 3, 2, LONG), (2, 0, LONG), (LONG, 0, 3), (LONG, 0), (0, 2, 3, LONG, 2)]


def floats(*shape):
    return np.zeros(shape, np.float32)


def ints(*numbers):
    return np.array(numbers, np.int64)


def along_axes(rank):
    """Name, nodes and constants of operators that work along one axis, for each of them."""
    for a in range(rank):
        yield f"ArgMax {a}", node("ArgMax", "x", axis=a), {}
        yield f"CumSum {a}", node("CumSum", "x a"), {"a": np.array(a)}
        yield f"TopK {a}", node("TopK", "x k", "y z", axis=a), {"k": ints(0)}
        yield f"Split {a}", node("Split", "x", "y z", axis=a, num_outputs=2), {}
        yield f"SplitToSequence {a}", node("SplitToSequence", "x", axis=a), {}
        yield f"Concat {a}", node("Concat", "x x", axis=a), {}
        yield f"Gather {a}", node("Gather", "x i", axis=a), {"i": ints()}
        yield f"Compress {a}", node("Compress", "x c", axis=a), {"c": np.array([True])}
        yield f"Unique {a}", node("Unique", "x", axis=a), {}
        yield f"Softmax {a}", node("Softmax", "x", axis=a), {}
        yield f"LayerNormalization {a}", node("LayerNormalization", "x s", axis=a), {"s": floats(1)}
        yield f"ReduceSum {a}", node("ReduceSum", "x a"), {"a": ints(a)}
        yield f"ReduceMax {a}", node("ReduceMax", "x a"), {"a": ints(a)}
        yield f"ReduceL2 {a}", node("ReduceL2", "x a"), {"a": ints(a)}
        back = {"s": ints(-1), "e": ints(-(1 << 62)), "a": ints(a), "t": ints(-1)}
        yield f"Slice backwards {a}", node("Slice", "x s e a t"), back


def of_any_rank(rank):
    for (
        op
    ) in "Relu Hardmax LogSoftmax Transpose Flatten Shape Size NonZero Erf Gelu IsNaN Trilu Squeeze".split():
        yield op, node(op, "x"), {}
    for op in ("ReduceMean", "ReduceLogSumExp"):
        yield op, node(op, "x"), {}
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield f"Pad {mode}", node("Pad", "x p", mode=mode), {"p": ints(*[0] * (2 * rank - 1), 3)}
    yield "Tile", node("Tile", "x t"), {"t": ints(*[2] * rank)}
    yield "Expand", node("Expand", "x t"), {"t": ints(2, *[1] * rank)}
    yield "Add", node("Add", "x x"), {}
    yield "Cast to text", node("Cast", "x", to=8), {}
    yield "CenterCropPad", node("CenterCropPad", "x t"), {"t": ints(*[2] * rank)}
    yield "QuantizeLinear", node("QuantizeLinear", "x s"), {"s": np.float32(1)}
    yield "DynamicQuantizeLinear", node("DynamicQuantizeLinear", "x", "y s z"), {}
    none = {"i": np.zeros((0,) * rank, np.int64), "u": floats(*(0,) * rank)}
    yield "ScatterElements", node("ScatterElements", "x i u"), none
    yield "GatherElements", node("GatherElements", "x i"), {"i": none["i"]}
    yield "GatherND", node("GatherND", "x i"), {"i": np.zeros((0, 1), np.int64)}
    letters = "abcde"[:rank]
    yield "Einsum turned", node("Einsum", "x", equation=f"{letters}->{letters[::-1]}"), {}
    yield "Einsum summed", node("Einsum", "x", equation=f"{letters}->a"), {}


def of_pictures(shape):
    axes, channels = len(shape) - 2, min(shape[1], 4)
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield op, node(op, "x", kernel_shape=[1] * axes), {}
        yield f"{op} padded", node(op, "x", kernel_shape=[2] * axes, pads=[1] * (2 * axes)), {}
        yield f"{op} same", node(op, "x", kernel_shape=[2] * axes, auto_pad="SAME_UPPER"), {}
    yield "MaxPool with places", node("MaxPool", "x", "y z", kernel_shape=[1] * axes), {}
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield op, node(op, "x"), {}
    yield "Conv", node("Conv", "x w"), {"w": floats(4, channels, *[1] * axes)}
    yield "Conv padded", node("Conv", "x w", pads=[1] * (2 * axes)), {"w": floats(16, channels, *[3] * axes)}
    apart = [2] * axes
    yield "ConvTranspose", node("ConvTranspose", "x w", strides=apart), {"w": floats(channels, 4, *apart)}
    yield "LRN", node("LRN", "x", size=3), {}
    yield "BatchNormalization", node("BatchNormalization", "x s s s s"), {"s": floats(channels)}
    yield "InstanceNormalization", node("InstanceNormalization", "x s s"), {"s": floats(channels)}
    for mode in ("nearest", "linear", "cubic"):
        half = np.array([1] * (len(shape) - 1) + [0.5], np.float32)
        yield f"Resize {mode}", node("Resize", "x - s", mode=mode), {"s": half}


def of_sequences(shape):
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        weights = {"w": floats(1, 2 * gates, min(shape[2], 3)), "r": floats(1, 2 * gates, 2)}
        yield op, node(op, "x w r", "y h", hidden_size=2), weights


def operators(shape):
    yield from along_axes(len(shape))
    yield from of_any_rank(len(shape))
    if len(shape) > 2:
        yield from of_pictures(shape)
    if len(shape) == 3:
        yield from of_sequences(shape)


def sizes(answer):
    """The shapes of what it gives; nothing where it says an error."""
    if answer["kind"] != "gives":
        return None
    return [np.shape(value) if isinstance(value, np.ndarray) else len(value) for value in answer["what"]]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_long_axes_beside_a_zero(shape, worker, tmp_path):
    path, wrong = tmp_path / "model.onnx", {}
    feeds = {"x": floats(*shape)}
    for name, made, constants in operators(shape):
        path.write_bytes(model_of(made, feeds, constants, dims={"x": [None] * len(shape)}))
        answers = {}
        for way, options in WAYS.items():
            options = options | {"memory_limit": 200 << 20}
            answer = worker({"path": str(path), "feeds": feeds, "action": "run", "options": options})
            answers[way] = answer
            if answer["kind"] not in ("gives", "says") or answer["cpu"] > 2 * SLOWER:
                wrong[f"{name}, {way}"] = (
                    f"{answer['cpu']:.1f} s, {answer['kind']} {shortened(answer['what'])}"
                )
        if len({str(sizes(answer)) for answer in answers.values()}) > 1:
            wrong[name] = {way: shortened(answer["what"]) for way, answer in answers.items()}
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())
