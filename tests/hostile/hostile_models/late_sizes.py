# SPDX-License-Identifier: Apache-2.0
"""Sizes that are known only during the run, or that are symbols until a feed names them, and do not fit: the check must
hold inside fused groups too. Where they fit, the numbers must be right."""

import numpy as np
from onnx import TensorProto

from .build import case, count, graph, info, ints, node, ones, scalar

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = count(6, 4)

# Ways to make three rows of x of which nobody knew the number before: v is [3, 4].
BODY = graph(
    [node("Identity", "c", "go"), node("Slice", "s one six zero", "t")],
    [info("i", INT64, []), info("c", BOOL, []), info("s", FLOAT)],
    [info("go", BOOL, []), info("t", FLOAT)],
)
NUMBERS = {"zero": ints(0), "one": ints(1), "three": ints(3), "six": ints(6), "yes": np.array(True)}
LATE = {
    "Compress": ([node("Compress", "x keep", "v", axis=0)], {"keep": np.array([True] * 3 + [False] * 3)}),
    "a Slice with fed axes": ([node("Slice", "x zero three axes", "v")], {"axes": ints(0)}),
    "an If": (
        [
            node(
                "If",
                "which",
                "v",
                then_branch=graph([node("Slice", "x zero three zero", "a")], [], ["a"]),
                else_branch=graph([node("Identity", "x", "b")], [], ["b"]),
            )
        ],
        {"which": np.array(True)},
    ),
    "a Loop": ([node("Loop", "trips yes x", "v", body=BODY)], {"trips": scalar(3)}),
}
SHORT = {  # what follows, and what does not fit [3, 4]
    "Add": (node("Add", "v w"), ones(5, 4)),
    "Mul of a row": (node("Mul", "v w"), ones(5)),
    "MatMul": (node("MatMul", "v w"), ones(5, 2)),
    "MatMul from the left": (node("MatMul", "w v"), ones(2, 5)),
    "Gemm": (node("Gemm", "v w"), ones(5, 2)),
    "Gemm, transposed": (node("Gemm", "w v", transA=1), ones(5, 2)),
    "Concat": (node("Concat", "v w", axis=1), ones(5, 4)),
    "PRelu": (node("PRelu", "v w"), ones(5)),
    "Where": (node("Where", "flags v w"), ones(5, 4)),
    "Expand": (node("Expand", "v n"), None),
    "Split": (node("Split", "v sizes", "y z"), None),
    "Max": (node("Max", "v w"), ones(5, 4)),
    "Reshape": (node("Reshape", "v n"), None),
    "Squeeze": (node("Squeeze", "v zero"), None),
    "LayerNormalization": (node("LayerNormalization", "v w"), ones(5)),
}
for way, (before, feeds) in LATE.items():
    for name, (made, w) in SHORT.items():
        if way != "Compress" and name not in ("Add", "MatMul", "Gemm", "Concat", "Where", "Split", "Expand"):
            continue
        more = {"w": w} if w is not None else {}
        consts = NUMBERS | {"n": ints(5, 4), "sizes": ints(2, 2), "flags": np.array(True)}
        case(
            f"{name} after {way}",
            [*before, made],
            {"x": X, **feeds, **more},
            says=f"'{made.op_type}'",
            consts=consts,
            dims={"w": [f"w{k}" for k in range(w.ndim)] if w is not None else []},
        )
    case(
        f"what fits after {way}",
        [*before, node("MatMul", "v w", "m"), node("Add", "m b", "a"), node("Relu", "a")],
        {"x": X, "w": count(4, 2) - 3, **feeds},
        gives=np.maximum((X[3:] if way == "a Loop" else X[:3]) @ (count(4, 2) - 3) + np.float32(1), 0),
        consts=NUMBERS | {"b": ones(2)},
    )
case(
    "LSTM after Compress",
    [
        node("Compress", "x keep", "v", axis=2),
        node("LSTM", "v w r", hidden_size=4),
    ],
    {"x": ones(5, 2, 6), "keep": np.array([True] * 4 + [False] * 2)},
    says="'LSTM'",
    consts={"w": ones(1, 16, 3), "r": ones(1, 16, 4)},
)
case(
    "Conv after Compress",
    [node("Compress", "x keep", "v", axis=1), node("Conv", "v w", "c"), node("Relu", "c")],
    {"x": ones(1, 6, 8, 8), "keep": np.array([True] * 5 + [False])},
    says="'Conv'",
    consts={"w": ones(16, 6, 3, 3)},
)
case(
    "BatchNormalization after Compress",
    [node("Compress", "x keep", "v", axis=1), node("BatchNormalization", "v s s s s")],
    {"x": ones(1, 6, 8, 8), "keep": np.array([True] * 5 + [False])},
    says="'BatchNormalization'",
    consts={"s": ones(6)},
)
case(
    "Concat of different ranks after an If",
    [
        node(
            "If",
            "c",
            "v",
            then_branch=graph([node("Identity", "x", "a")], [], ["a"]),
            else_branch=graph([node("Squeeze", "x", "b")], [], ["b"]),
        ),
        node("Concat", "v x", axis=0),
    ],
    {"x": ones(1, 4), "c": np.array(False)},
    says="'Concat'",
)

# Symbols that the feeds contradict, in what may be fused.
GROUPS = {
    "Gemm + Relu": ([node("Gemm", "x w b", "g"), node("Relu", "g")], {"w": ones(5, 8), "b": ones(8)}),
    "Gemm + Relu with a bias of another size": (
        [node("Gemm", "x w b", "g"), node("Relu", "g")],
        {"w": ones(4, 8), "b": ones(7)},
    ),
    "MatMul + Add + Relu": (
        [node("MatMul", "x w", "g"), node("Add", "g b", "a"), node("Relu", "a")],
        {"w": ones(5, 8), "b": ones(8)},
    ),
    "MatMul + Add + Relu with a bias of another size": (
        [node("MatMul", "x w", "g"), node("Add", "g b", "a"), node("Relu", "a")],
        {"w": ones(4, 8), "b": ones(7)},
    ),
    "MatMul + Mul + Sigmoid with a row too many": (
        [node("MatMul", "x w", "g"), node("Mul", "g b", "a"), node("Sigmoid", "a")],
        {"w": ones(4, 8), "b": ones(7, 1)},
    ),
}
for name, (nodes, feeds) in GROUPS.items():
    dims = {"x": ["n", "k"]} | {key: [f"{key}{k}" for k in range(value.ndim)] for key, value in feeds.items()}
    member = {"5": 0, "7": 1}[
        str(next(size for value in feeds.values() for size in value.shape if size in (5, 7)))
    ]
    says = f"{nodes[0].op_type}" if member == 0 or name.startswith("Gemm") else nodes[1].op_type
    case(f"{name}, with feeds that do not fit", nodes, {"x": X, **feeds}, says=f"({says}", dims=dims)
PICTURE, KERNEL = ones(1, 16, 8, 8), ones(16, 16, 3, 3)
for name, x, b, says in (
    ("other channels", PICTURE[:, :7], ones(1, 16, 6, 6), "Conv"),
    ("an Add of other channels", PICTURE, ones(1, 9, 6, 6), "Add"),
    ("an Add of another height", PICTURE, ones(1, 16, 5, 6), "Add"),
):
    case(
        f"Conv + Add + Relu, with {name}",
        [node("Conv", "x w", "c"), node("Add", "c b", "a"), node("Relu", "a")],
        {"x": x, "b": b},
        says=f"({says}",
        consts={"w": KERNEL},
        dims={"x": ["n", "c", "h", "w"], "b": ["bn", "bc", "bh", "bw"]},
    )
case(
    "Expand before MatMul",
    [node("Expand", "x n", "e"), node("MatMul", "e w")],
    {"x": count(1, 4), "w": count(4, 3)},
    gives=np.broadcast_to(count(1, 4), (5, 4)) @ count(4, 3),
    consts={"n": ints(5, 4)},
)
case(
    "Expand of one column before MatMul",
    [node("Expand", "x n", "e"), node("MatMul", "w e")],
    {"x": count(4, 1), "w": count(3, 4)},
    gives=count(3, 4) @ np.broadcast_to(count(4, 1), (4, 5)),
    consts={"n": ints(4, 5)},
)
for op in ("MaxPool", "AveragePool"):
    case(
        f"{op} of a constant",
        [node(op, "x", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Add", "p z")],
        {"z": scalar(0, np.float32)},
        gives=np.full((1, 16, 2, 2), 7, np.float32),
        consts={"x": np.full((1, 16, 4, 4), 7, np.float32)},
    )
