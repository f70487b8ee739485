# SPDX-License-Identifier: Apache-2.0
"""A few bytes that ask for terabytes: the error names the node before anything of that size is allocated."""

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper

from .build import case, graph, info, ints, node, ones, scalar

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
HUGE = 10**6

# Each is asked with sizes that the file holds, which folding sees, and with sizes that are fed.
ASKS = {
    "ConstantOfShape of 10^12": (node("ConstantOfShape", "n"), {"n": ints(HUGE, HUGE)}, {}),
    "ConstantOfShape of 2^62": (node("ConstantOfShape", "n"), {"n": ints(2**31, 2**31)}, {}),
    "ConstantOfShape of 2^70": (node("ConstantOfShape", "n"), {"n": ints(2**35, 2**35)}, {}),
    "ConstantOfShape of -1": (node("ConstantOfShape", "n"), {"n": ints(-1)}, {}),
    "Range to 10^18": (
        node("Range", "o n d"),
        {"n": scalar(10**18)},
        {"o": scalar(0), "d": scalar(1)},
    ),
    "Range of floats to 10^30": (
        node("Range", "o n d"),
        {"n": scalar(1e30, np.float32)},
        {"o": scalar(0, np.float32), "d": scalar(1, np.float32)},
    ),
    "Range of floats in steps of 1e-40": (
        node("Range", "o e n"),
        {"n": scalar(1e-40, np.float32)},
        {"o": scalar(0, np.float32), "e": scalar(1, np.float32)},
    ),
    "Range in steps of NaN": (
        node("Range", "o e n"),
        {"n": scalar(np.nan, np.float32)},
        {"o": scalar(0, np.float32), "e": scalar(1, np.float32)},
    ),
    "Range to infinity": (
        node("Range", "o n d"),
        {"n": scalar(np.inf, np.float32)},
        {"o": scalar(0, np.float32), "d": scalar(1, np.float32)},
    ),
    "Tile 10^12 times": (node("Tile", "x n"), {"n": ints(10**6, 10**6)}, {"x": ones(3, 5)}),
    "Tile -1 times": (node("Tile", "x n"), {"n": ints(1, -1)}, {"x": ones(3, 5)}),
    "Tile 2^61 times": (node("Tile", "x n"), {"n": ints(2**61, 2)}, {"x": ones(3, 5)}),
    "Expand to 10^12": (node("Expand", "x n"), {"n": ints(HUGE, HUGE, 5)}, {"x": ones(5)}),
    "Pad by 10^12": (node("Pad", "x n"), {"n": ints(0, 10**12)}, {"x": ones(5)}),
    "Pad by 2^63-1 on both sides": (node("Pad", "x n"), {"n": ints(2**63 - 1, 2**63 - 1)}, {"x": ones(5)}),
    "Pad by -10^12": (node("Pad", "x n"), {"n": ints(0, -(10**12))}, {"x": ones(5)}),
    "Resize by 10^6": (
        node("Resize", "x - n"),
        {"n": np.array([1, 1, 1e6, 1e6], np.float32)},
        {"x": ones(1, 1, 2, 2)},
    ),
    "Resize to 10^12": (node("Resize", "x - - n"), {"n": ints(1, 1, HUGE, HUGE)}, {"x": ones(1, 1, 2, 2)}),
    "OneHot of depth 10^12": (
        node("OneHot", "i n v"),
        {"n": scalar(10**12)},
        {"i": ints(1, 2), "v": ones(2)},
    ),
    "OneHot of depth -1": (node("OneHot", "i n v"), {"n": scalar(-1)}, {"i": ints(1, 2), "v": ones(2)}),
    "CenterCropPad to 10^12": (node("CenterCropPad", "x n"), {"n": ints(HUGE, HUGE)}, {"x": ones(3, 5)}),
    "CenterCropPad to -1": (node("CenterCropPad", "x n"), {"n": ints(-1, 3)}, {"x": ones(3, 5)}),
    "AffineGrid of 10^12": (
        node("AffineGrid", "t n"),
        {"n": ints(1, 1, HUGE, HUGE)},
        {"t": ones(1, 2, 3)},
    ),
    "HannWindow of 10^12": (node("HannWindow", "n"), {"n": scalar(10**12)}, {}),
    "BlackmanWindow of -1": (node("BlackmanWindow", "n"), {"n": scalar(-1)}, {}),
    "DFT of length 10^12": (node("DFT", "x n"), {"n": scalar(10**12)}, {"x": ones(1, 8, 1)}),
    "TopK of 10^12": (node("TopK", "x n", "y i"), {"n": ints(10**12)}, {"x": ones(5)}),
}
for name, (made, feeds, consts) in ASKS.items():
    says = f"'{made.op_type}'"
    case(f"{name}, constant", made, says=says, consts=consts | feeds, opset=20)
    case(f"{name}, fed", made, feeds, says=says, consts=consts, opset=20)

LINE = np.ones((10**6, 1), np.float32)
case(
    "MatMul that makes a matrix of 10^12",
    [node("Transpose", "x", "t"), node("MatMul", "x t")],
    {"x": LINE},
    says="'MatMul'",
    dims={"x": ["n", 1]},
)
case(
    "Add that makes a matrix of 10^12",
    [node("Transpose", "x", "t"), node("Add", "x t")],
    {"x": LINE},
    says="'Add'",
    dims={"x": ["n", 1]},
)
case(
    "Einsum that makes a matrix of 10^12",
    node("Einsum", "x x", equation="ik,jk->ij"),
    {"x": LINE},
    says="'Einsum'",
    dims={"x": ["n", 1]},
)
case(
    "Expand of a whole number to 10^9",  # which may be a shape
    [node("Expand", "x n")],
    says="'Expand'",
    consts={"x": ints(7), "n": ints(10**9)},
    options={"memory_limit": 300 << 20},
)
case(
    "Gather of 10^6 rows of 10^6",
    [node("Expand", "x n", "rows"), node("Gather", "rows i")],
    {"i": np.zeros(10**6, np.int64)},
    says="'Gather'",
    consts={"x": ones(1), "n": ints(4, HUGE)},
    dims={"i": ["n"]},
)
case(
    "Where of 10^12",
    [node("Transpose", "x", "t"), node("Where", "c x t")],
    {"x": LINE, "c": np.array(True)},
    says="'Where'",
    dims={"x": ["n", 1]},
)
case(
    "Attention over a million places",
    node("Attention", "x x x"),
    {"x": np.ones((1, 1, 10**6, 1), np.float32)},
    says="'Attention'",
    dims={"x": [1, 1, "n", 1]},
    opset=23,
    options={"timeout": 0.3},  # its rows take little memory, all of them together take an hour
)
case(
    "RandomNormal of 10^12",
    node("RandomNormal", shape=[HUGE, HUGE]),
    says="'RandomNormal'",
)
case(
    "RandomUniform of -1",
    node("RandomUniform", shape=[-1]),
    says="'RandomUniform'",
)
case(
    "Multinomial of 10^12 samples",
    node("Multinomial", "x", sample_size=10**12),
    {"x": ones(1, 3)},
    says="'Multinomial'",
)
case(
    "MelWeightMatrix of 10^12",
    node("MelWeightMatrix", "a b c d e"),
    says="'MelWeightMatrix'",
    consts={
        "a": scalar(HUGE),
        "b": scalar(HUGE),
        "c": scalar(8192),
        "d": scalar(0, np.float32),
        "e": scalar(4096, np.float32),
    },
)
case(
    "RoiAlign of 10^12",
    node("RoiAlign", "x r i", output_height=HUGE, output_width=HUGE),
    {"x": ones(1, 1, 4, 4), "r": ones(1, 4), "i": ints(0)},
    says="'RoiAlign'",
)
case(
    "RoiAlign with 2^31 samples",
    node("RoiAlign", "x r i", sampling_ratio=2**31),
    {"x": ones(1, 1, 4, 4), "r": ones(1, 4), "i": ints(0)},
    says="'RoiAlign'",
)
case(
    "SplitToSequence of 10^7 parts",
    [node("Expand", "x n", "t"), node("SplitToSequence", "t s")],
    {"n": ints(10**7)},
    says=("SplitToSequence",),
    consts={"x": ones(1), "s": scalar(1)},
    options={"memory_limit": 300 << 20},
)


def loop(body_nodes, states=(), outputs=(), consts=None):
    """A body whose condition stays true, with states by name and type."""
    return graph(
        [node("Identity", "c", "go"), *body_nodes],
        [info("i", INT64, []), info("c", BOOL, []), *states],
        [info("go", BOOL, []), *outputs],
        consts,
    )


TRIPS = {"m": scalar(10**18), "c": np.array(True)}
case(
    "Loop whose scan output grows without end",
    [node("Loop", "m c", "y", body=loop([node("Identity", "x", "o")], outputs=[info("o", FLOAT, [None])]))],
    {"x": ones(100000)},
    says=("Loop",),
    consts=TRIPS,
    options={"memory_limit": 300 << 20, "timeout": 1},
)
case(
    "Loop whose state doubles",
    node(
        "Loop",
        "m c x",
        "y",
        body=loop(
            [node("Concat", "s s", "t", axis=0)],
            [info("s", FLOAT, [None])],
            [info("t", FLOAT, [None])],
        ),
    ),
    {"x": ones(1)},
    says=("'Loop'", "limit of"),
    consts=TRIPS,
    dims={"x": ["n"]},
    options={"memory_limit": 100 << 20},
)
case(
    "Loop whose string doubles",
    [
        node(
            "Loop",
            "m c x",
            "t",
            body=loop(
                [node("StringConcat", "s s", "t")],
                [info("s", TensorProto.STRING, [1])],
                [info("t", TensorProto.STRING, [1])],
            ),
        ),
        node("StringSplit", "t", "y l", delimiter="ab"),
    ],
    {"x": np.array(["ab"], object)},
    says=("Loop",),
    consts=TRIPS,
    options={"memory_limit": 300 << 20, "timeout": 1},
)


def growing_sequence():
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None))
    body = loop(
        [node("SequenceInsert", "s x", "t")],
        [ValueInfoProto(name="s", type=kind)],
        [ValueInfoProto(name="t", type=kind)],
    )
    return [node("SequenceEmpty", outputs="e"), node("Loop", "m c e", "y", body=body)]


case(
    "Loop whose sequence grows without end",
    growing_sequence(),
    {"x": ones(100000)},
    says=("Loop",),
    consts=TRIPS,
    options={"memory_limit": 300 << 20, "timeout": 1},
)
case(
    "Scan whose output has 10^12 elements",
    [
        node("Expand", "x n", "t"),
        node(
            "Scan",
            "t",
            "y",
            num_scan_inputs=1,
            body=graph(
                [node("Expand", "e n", "o")],
                [info("e", FLOAT, None)],
                [info("o", FLOAT, None)],
            ),
        ),
    ],
    {"n": ints(10**6)},
    says=(),
    consts={"x": ones(1)},
    options={"memory_limit": 300 << 20, "timeout": 1},
)
