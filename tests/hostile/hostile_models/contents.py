# SPDX-License-Identifier: Apache-2.0
"""Contents that point outside: indices, lengths, positions, labels; and numbers that are none."""

import numpy as np
from onnx import TensorProto

from .build import case, count, ints, node, ones, scalar

X = count(2, 3)
FAR = 10**12

# op: the node, what is fed beside x. Each is also asked with an index that is negative and far.
POINTERS = {
    "Gather": (node("Gather", "x i"), lambda far: {"i": ints(0, far)}),
    "Gather along axis 1": (node("Gather", "x i", axis=1), lambda far: {"i": ints(0, far)}),
    "GatherElements": (node("GatherElements", "x i"), lambda far: {"i": ints(0, far).reshape(1, 2)}),
    "GatherND": (node("GatherND", "x i"), lambda far: {"i": ints(0, far)}),
    "ScatterElements": (
        node("ScatterElements", "x i u"),
        lambda far: {"i": ints(0, far).reshape(1, 2), "u": ones(1, 2)},
    ),
    "ScatterND": (
        node("ScatterND", "x i u"),
        lambda far: {"i": ints(0, far).reshape(1, 2), "u": ones(1)},
    ),
}
for name, (made, feeds) in POINTERS.items():
    for far in (FAR, -FAR, 3, 2**63 - 1, -(2**63)):
        case(f"{name} at {far}", made, {"x": X} | feeds(far), says=(f"'{made.op_type}'", str(far)))
    case(f"{name} at {FAR}, constant", made, says=f"'{made.op_type}'", consts={"x": X} | feeds(FAR))

case(
    "GatherND of tuples longer than the rank",
    node("GatherND", "x i"),
    {"x": X, "i": ints(0, 0, 0)},
    says="'GatherND'",
)
case(
    "ScatterND whose updates have another shape",
    node("ScatterND", "x i u"),
    {"x": X, "i": ints(0, 1).reshape(2, 1), "u": ones(2, 2)},
    says="'ScatterND'",
    dims={"u": ["a", "b"], "x": ["c", "d"]},
)
case(
    "ScatterElements whose updates have another shape",
    node("ScatterElements", "x i u"),
    {"x": X, "i": ints(0, 1).reshape(1, 2), "u": ones(1, 1)},
    says="'ScatterElements'",
    dims={"u": ["a", "b"]},
)
case(
    "GatherElements of more rows than there are",
    node("GatherElements", "x i", axis=1),
    {"x": X, "i": np.zeros((5, 3), np.int64)},
    says="'GatherElements'",
    dims={"i": ["a", "b"]},
)
case("TopK of more than there are", node("TopK", "x k", "y i"), {"x": X, "k": ints(4)}, says="'TopK'")
case("TopK of -1", node("TopK", "x k", "y i"), {"x": X, "k": ints(-1)}, says="'TopK'")
case(
    "TopK of two counts",
    node("TopK", "x k", "y i"),
    {"x": X, "k": ints(1, 1)},
    says="'TopK'",
    dims={"k": ["n"]},
)
case(
    "Compress by a condition that is longer",
    node("Compress", "x c", axis=0),
    {"x": X, "c": np.array([True] * 5)},
    gives=X,
    dims={"c": ["n"]},
)
case(
    "ReverseSequence beyond the end",
    node("ReverseSequence", "x n", time_axis=1, batch_axis=0),
    {"x": X, "n": ints(2, FAR)},
    says=("'ReverseSequence'", str(FAR)),
)
case(
    "ReverseSequence of -1",
    node("ReverseSequence", "x n", time_axis=1, batch_axis=0),
    {"x": X, "n": ints(2, -1)},
    says=("'ReverseSequence'", "-1"),
)
case(
    "ReverseSequence with too few lengths",
    node("ReverseSequence", "x n", time_axis=1, batch_axis=0),
    {"x": X, "n": ints(2)},
    says="'ReverseSequence'",
    dims={"n": ["k"]},
)
for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):

    def recurrent(lengths=None, h=None, op=op, gates=gates):
        feeds = {"x": ones(5, 2, 3)}
        feeds |= {"n": np.array(lengths, np.int32)} if lengths else {}
        feeds |= {"h": h} if h is not None else {}
        consts = {"w": ones(1, gates * 4, 3), "r": ones(1, gates * 4, 4)}
        words = f"x w r - {'n' if lengths else '-'} {'h' if h is not None else '-'}"
        more = {"consts": consts, "dims": {"n": ["k"], "h": ["layers", "batch", "size"], "x": [5, "n", 3]}}
        return (node(op, words, "y", hidden_size=4), feeds), more

    args, more = recurrent(lengths=[2, 10**9])
    case(f"{op} whose lengths are beyond its input", *args, says=f"'{op}'", **more)
    args, more = recurrent(lengths=[2, -(10**9)])
    case(f"{op} whose lengths are negative", *args, says=f"'{op}'", **more)
    args, more = recurrent(lengths=[2])
    case(f"{op} with too few lengths", *args, says=f"'{op}'", **more)
    args, more = recurrent(h=ones(1, 1, 4))
    case(f"{op} whose initial_h is of another batch", *args, says=f"'{op}'", **more)
    args, more = recurrent(h=ones(1, 2, 3))
    case(f"{op} whose initial_h is of another size", *args, says=f"'{op}'", **more)
case(
    "LSTM whose hidden_size is 2^40",
    node("LSTM", "x w r", hidden_size=2**40),
    {"x": ones(5, 2, 3)},
    says="'LSTM'",
    consts={"w": ones(1, 16, 3), "r": ones(1, 16, 4)},
)
case(
    "LSTM whose hidden_size is 0",
    node("LSTM", "x w r", hidden_size=0),
    {"x": ones(5, 2, 3)},
    says="'LSTM'",
    consts={"w": ones(1, 16, 3), "r": ones(1, 16, 4)},
)


def attention(q, k, v, **attributes):
    feeds = {"q": q, "k": k, "v": v}
    return (
        node("Attention", "q k v", **attributes),
        feeds,
        {"opset": 23, "dims": {n: list(n * i for i in range(1, a.ndim + 1)) for n, a in feeds.items()}},
    )


for name, parts, attributes in (
    ("of unequal batches", (ones(2, 3, 4, 8), ones(1, 3, 4, 8), ones(2, 3, 4, 8)), {}),
    ("of unequal batches in v", (ones(2, 3, 4, 8), ones(2, 3, 4, 8), ones(1, 3, 4, 8)), {}),
    ("whose heads do not divide", (ones(1, 3, 4, 8), ones(1, 2, 4, 8), ones(1, 2, 4, 8)), {}),
    ("of no key heads", (ones(1, 3, 4, 8), ones(1, 0, 4, 8), ones(1, 0, 4, 8)), {}),
    ("of unequal sizes", (ones(1, 3, 4, 8), ones(1, 3, 4, 6), ones(1, 3, 4, 8)), {}),
    ("of unequal lengths", (ones(1, 3, 4, 8), ones(1, 3, 5, 8), ones(1, 3, 4, 8)), {}),
    ("of 0 heads", (ones(1, 4, 24),) * 3, {"q_num_heads": 0, "kv_num_heads": 0}),
    ("of -1 heads", (ones(1, 4, 24),) * 3, {"q_num_heads": -1, "kv_num_heads": -1}),
    ("of 5 heads in 24", (ones(1, 4, 24),) * 3, {"q_num_heads": 5, "kv_num_heads": 5}),
    ("without heads in three dims", (ones(1, 4, 24),) * 3, {}),
):
    made, feeds, more = attention(*parts, **attributes)
    case(f"Attention {name}", made, feeds, says="'Attention'", **more)
made, feeds, more = attention(ones(1, 3, 4, 8), ones(1, 3, 4, 8), ones(1, 3, 4, 8))
made.input.append("m")
case(
    "Attention with a mask of another size",
    made,
    feeds | {"m": ones(7, 5)},
    says="'Attention'",
    opset=23,
    dims=more["dims"] | {"m": ["u", "w"]},
)

case(
    "a target outside the classes",
    node("NegativeLogLikelihoodLoss", "x t"),
    {"x": X, "t": ints(0, 9)},
    says="'NegativeLogLikelihoodLoss'",
)
case(
    "a label outside the classes",
    node("SoftmaxCrossEntropyLoss", "x t"),
    {"x": X, "t": ints(0, -9)},
    says="'SoftmaxCrossEntropyLoss'",
)
case(
    "SequenceAt outside",
    [node("SequenceConstruct", "x x", "s"), node("SequenceAt", "s i")],
    {"x": X, "i": scalar(FAR)},
    says=("'SequenceAt'", str(FAR)),
)
case(
    "SequenceErase outside",
    [node("SequenceConstruct", "x x", "s"), node("SequenceErase", "s i")],
    {"x": X, "i": scalar(-3)},
    says=("'SequenceErase'", "-3"),
)
case(
    "SequenceInsert outside",
    [node("SequenceConstruct", "x x", "s"), node("SequenceInsert", "s x i")],
    {"x": X, "i": scalar(3)},
    says=("'SequenceInsert'", "3"),
)
case(
    "ConcatFromSequence of nothing",
    [node("SequenceEmpty", outputs="s"), node("ConcatFromSequence", "s", axis=0)],
    says="ConcatFromSequence",
)
case(
    "ConcatFromSequence of unequal ranks",
    [node("SequenceConstruct", "x z", "s"), node("ConcatFromSequence", "s", axis=0)],
    {"x": X, "z": ones(3)},
    says="ConcatFromSequence",
)

# Numbers in strings, and numbers that are none.
case(
    "Cast of strings out of range",
    node("Cast", "x", to=TensorProto.FLOAT),
    {"x": np.array(["1e999", "-1e999", "1e-999", "NaN"], object)},
    gives=np.array([np.inf, -np.inf, 0, np.nan], np.float32),
)
case(
    "Cast of a word",
    node("Cast", "x", to=TensorProto.FLOAT),
    {"x": np.array(["abc"], object)},
    says=("'Cast'", "abc"),
)
case(
    "Cast of a word to int64",
    node("Cast", "x", to=TensorProto.INT64),
    {"x": np.array(["9" * 40], object)},
    says="'Cast'",
)
case(
    "Cast of a word with control characters",
    node("Cast", "x", to=TensorProto.FLOAT),
    {"x": np.array(["\x1b[31m\x00"], object)},
    says="'Cast'",
)
case("Cast to an unknown type", node("Cast", "x", to=99), {"x": X}, says=("'Cast'", "99"))
case(
    "Clip whose min is above its max",
    node("Clip", "x a b"),
    {"x": X, "a": scalar(4, np.float32), "b": scalar(1, np.float32)},
    gives=np.ones_like(X),
    opset=13,
)
case(
    "Unique of nothing",
    node("Unique", "x", "y i n c"),
    {"x": ones(0)},
    gives=[ones(0), ints(), ints(), ints()],
    dims={"x": ["n"]},
)
case(
    "NonZero of nothing",
    node("NonZero", "x"),
    {"x": ones(0, 3)},
    gives=np.zeros((2, 0), np.int64),
    dims={"x": ["n", 3]},
)
case(
    "ArgMax of nothing",
    node("ArgMax", "x", axis=0, keepdims=0),
    {"x": ones(0, 3)},
    says="'ArgMax'",
    dims={"x": ["n", 3]},
)
case(
    "ReduceMax of nothing",
    node("ReduceMax", "x", keepdims=0),
    {"x": ones(0)},
    gives=scalar(-np.inf, np.float32),
    dims={"x": ["n"]},
)
case(
    "Softmax of nothing",
    node("Softmax", "x", axis=1),
    {"x": ones(3, 0)},
    gives=ones(3, 0),
    dims={"x": [3, "n"]},
)
case("Det of what is not square", node("Det", "x"), {"x": ones(2, 3)}, says="'Det'", dims={"x": ["a", "b"]})
case(
    "CumSum along a fed axis outside",
    node("CumSum", "x a"),
    {"x": X, "a": scalar(FAR)},
    says=("'CumSum'", "axis"),
)
case(
    "ReduceSum along a fed axis outside",
    node("ReduceSum", "x a"),
    {"x": X, "a": ints(5)},
    says=("'ReduceSum'", "ax"),
)
case(
    "ReduceSum along an axis twice",
    node("ReduceSum", "x a"),
    {"x": X, "a": ints(0, -2)},
    says=("'ReduceSum'", "axis -2 is given twice"),
)

QUANTIZED = {"x": ones(2, 4)}
case(
    "QuantizeLinear by a scale of 0",
    node("QuantizeLinear", "x s z"),
    {"x": np.array([1, -1], np.float32), "s": scalar(0, np.float32)},
    gives=np.array([255, 0], np.uint8),
    consts={"z": np.zeros((), np.uint8)},
)
case(
    "QuantizeLinear whose zero point has another size",
    node("QuantizeLinear", "x s z"),
    QUANTIZED | {"s": ones(4), "z": np.zeros(3, np.uint8)},
    says="'QuantizeLinear'",
    dims={"s": ["n"], "z": ["m"]},
)
case(
    "DequantizeLinear whose scale has another size",
    node("DequantizeLinear", "x s"),
    {"x": ones(2, 4, dtype=np.uint8), "s": ones(3)},
    says="'DequantizeLinear'",
    dims={"s": ["n"], "x": ["a", "b"]},
)
case(
    "QuantizeLinear in blocks of -1",
    node("QuantizeLinear", "x s", block_size=-1),
    QUANTIZED | {"s": ones(2, 2)},
    says="'QuantizeLinear'",
)
case(
    "QuantizeLinear in blocks of 3",
    node("QuantizeLinear", "x s", block_size=3),
    QUANTIZED | {"s": ones(2, 3)},
    says="'QuantizeLinear'",
    dims={"s": ["a", "b"]},
)
case(
    "QuantizeLinear along axis 7",
    node("QuantizeLinear", "x s", axis=7),
    QUANTIZED | {"s": ones(2)},
    says=("'QuantizeLinear'", "axis"),
)
case(
    "MatMulInteger whose zero point has another size",
    node("MatMulInteger", "x w z"),
    {"x": ones(2, 4, dtype=np.uint8), "w": ones(4, 3, dtype=np.uint8), "z": np.zeros(5, np.uint8)},
    says="'MatMulInteger'",
    dims={"z": ["n"]},
)
case(
    "BatchNormalization with a short mean",
    node("BatchNormalization", "x s s m s"),
    {"x": ones(1, 4, 3), "m": ones(3)},
    says="'BatchNormalization'",
    consts={"s": ones(4)},
    dims={"m": ["n"]},
)
case(
    "LayerNormalization with a longer scale",
    node("LayerNormalization", "x s"),
    {"x": X, "s": ones(5)},
    says="'LayerNormalization'",
    dims={"s": ["n"]},
)
case(
    "GroupNormalization in 3 groups of 4 channels",
    node("GroupNormalization", "x s s", num_groups=3),
    {"x": ones(1, 4, 3)},
    says="'GroupNormalization'",
    consts={"s": ones(4)},
)
case(
    "GroupNormalization in 0 groups",
    node("GroupNormalization", "x s s", num_groups=0),
    {"x": ones(1, 4, 3)},
    says="'GroupNormalization'",
    consts={"s": ones(4)},
)
case(
    "InstanceNormalization with a short scale",
    node("InstanceNormalization", "x s s"),
    {"x": ones(1, 4, 3), "s": ones(2)},
    says="'InstanceNormalization'",
    dims={"s": ["n"]},
)
