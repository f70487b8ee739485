# SPDX-License-Identifier: Apache-2.0
"""Constants that cost hours or gigabytes to compute: loading must stay within a budget, and what the run then costs is
the run's affair, with its deadline."""

import numpy as np
from onnx import TensorProto

from .build import case, count, graph, info, ints, node, ones, scalar

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
SOON = {"timeout": 0.3}

filled = node("ConstantOfShape", "n", "f")
case(
    "an Einsum of 20 labels of size 1000",
    [filled, node("Einsum", "f f f f f", equation="abcd,efgh,ijkl,mnop,qrst->")],
    says=(),
    consts={"n": ints(1000, 1000, 1000, 1000)},
    options=SOON,
)
case(
    "an Einsum of 12 labels of size 10",
    [filled, node("Einsum", "f f f", equation="abcd,efgh,ijkl->")],
    says="Einsum",
    gives=scalar(0, np.float32),
    consts={"n": ints(10, 10, 10, 10)},
    options=SOON,
)
case(
    "an Einsum without end",
    node("Einsum", "f f f f", equation="ab,cd,ef,gh->"),
    says="Einsum",
    gives=scalar(1e12, np.float32),
    consts={"f": np.full((1000, 1000), 1e-3, np.float32)},
    options=SOON,
)
PRODUCTS = ["f", *(f"f{i}" for i in range(1, 100)), "y"]
case(
    "products of constants that take an hour",
    [filled, *(node("MatMul", f"{a} f", b) for a, b in zip(PRODUCTS, PRODUCTS[1:], strict=False))],
    says=("node '", "deadline"),
    consts={"n": ints(3000, 3000)},
    options=SOON | {"memory_limit": 400 << 20},
)
case(
    "Conv of constants that takes an hour",
    [filled, node("Conv", "f w")],
    says=("node '", "deadline"),
    consts={"n": ints(1, 16, 800, 800), "w": ones(64, 16, 31, 31)},
    options=SOON | {"memory_limit": 400 << 20},
)
BODY = graph(
    [node("Identity", "c", "go"), node("Add", "s one", "t")],
    [info("i", INT64, []), info("c", BOOL, []), info("s", FLOAT, [1])],
    [info("go", BOOL, []), info("t", FLOAT, [1])],
)
case(
    "a Loop of constants with 10^12 trips",
    node("Loop", "m yes x", body=BODY),
    says="Loop",
    consts={"m": scalar(10**12), "yes": np.array(True), "x": ones(1), "one": ones(1)},
    options=SOON,
)
case(
    "a Loop of constants that nobody reads",
    [node("Loop", "m yes z", "u", body=BODY), node("Relu", "x")],
    {"x": count(3)},
    gives=count(3),
    consts={"m": scalar(10**12), "yes": np.array(True), "z": ones(1), "one": ones(1)},
)
case(
    "an If whose constant branch is not taken",
    node(
        "If",
        "no",
        then_branch=graph([node("ConstantOfShape", "huge", "a")], [], ["a"]),
        else_branch=graph([node("Identity", "x", "b")], [], ["b"]),
    ),
    {"x": count(3), "no": np.array(False)},
    gives=count(3),
    consts={"huge": ints(10**6, 10**6)},
)
case(
    "a constant of 4 terabytes of which one number is wanted",
    [node("ConstantOfShape", "n", "f"), node("Gather", "f i")],
    says=(),
    gives=scalar(0, np.float32),
    consts={"n": ints(10**12), "i": scalar(5)},
)
case(
    "a constant of 4 terabytes of which the shape is wanted",
    [node("ConstantOfShape", "n", "f"), node("Shape", "f")],
    gives=ints(10**12),
    consts={"n": ints(10**12)},
)
doubling = [
    node("Concat", "f f" if k == 0 else f"d{k} d{k}", f"d{k + 1}", axis=0, name=f"c{k}") for k in range(36)
]
case("a constant doubled 36 times", [*doubling, node("ReduceMax", "d36")], says=(), consts={"f": ones(4)})
case(
    "a string doubled 40 times",
    [
        *(node("StringConcat", f"d{k} d{k}", f"d{k + 1}", name=f"c{k}") for k in range(40)),
        node("StringSplit", "d40", "y z"),
    ],
    says="c",
    consts={"d0": np.array(["ab"], object)},
    options={"memory_limit": 300 << 20},
)
case(
    "a constant Tile of 100 MB for each of 50 readers",
    [
        *(node("Tile", "f n", f"t{k}", name=f"tile{k}") for k in range(50)),
        *(node("ReduceMax", f"t{k}", f"r{k}", name=f"top{k}") for k in range(50)),
        node("Max", " ".join(f"r{k}" for k in range(50))),
    ],
    says="tile",
    gives=np.ones((1, 1), np.float32),
    consts={"f": ones(1, 1), "n": ints(5000, 5000)},
    options={"memory_limit": 300 << 20},
)
case(
    "an Expand of 10^9 that a constant Add reads",
    [node("Expand", "f n", "e"), node("Add", "e e", "a"), node("ReduceMax", "a")],
    says="node '",
    consts={"f": ones(1), "n": ints(10**9)},
    options={"memory_limit": 300 << 20, "timeout": 0.3},
)
case(
    "Pow of 10^7 constants",
    [node("Expand", "f n", "e"), node("Pow", "e e", "p"), node("ReduceMax", "p", keepdims=0)],
    says=(),
    gives=scalar(1, np.float32),
    consts={"f": ones(1), "n": ints(10**7)},
)
case(
    "an error in a constant that nobody reads",
    [node("Gather", "f i", "g"), node("Relu", "x")],
    {"x": count(3)},
    gives=count(3),
    consts={"f": ones(3), "i": ints(99)},
)
case(
    "an error in a constant of the branch that is not taken",
    node(
        "If",
        "no",
        then_branch=graph([node("Gather", "f i", "a")], [], ["a"]),
        else_branch=graph([node("Identity", "x", "b")], [], ["b"]),
    ),
    {"x": count(3), "no": np.array(False)},
    gives=count(3),
    consts={"f": ones(3), "i": ints(99, 0, 0)},
)
