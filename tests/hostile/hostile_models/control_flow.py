# SPDX-License-Identifier: Apache-2.0
"""Loops without an end, bodies that do not fit, graphs in circles, nests and very long graphs."""

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper

from .build import (
    case,
    count,
    deep_graph,
    deep_model,
    deep_node,
    graph,
    info,
    ints,
    model_of,
    node,
    ones,
    scalar,
)

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = count(2, 3)
TRUE = np.array(True)
HEAD = [info("i", INT64, []), info("c", BOOL, [])]
GO = info("go", BOOL, [])
KEEP = node("Identity", "c", "go", name="keep")


def loop_body(nodes, states=(), outputs=(), **more):
    return graph([KEEP, *nodes], [*HEAD, *states], [GO, *outputs], **more)


def value(name, kind=FLOAT):
    return info(name, kind)


# Without an end: the deadline answers.

STATE = loop_body([node("Add", "s one", "t")], [value("s")], [value("t")])
case(
    "Loop of 10^18 trips",
    node("Loop", "m c x", body=STATE),
    {"x": ones(1)},
    says="Loop",
    consts={"m": scalar(10**18), "c": TRUE, "one": ones(1)},
    options={"timeout": 0.3},
)
case(
    "Loop that never stops",
    node("Loop", "- c x", body=STATE),
    {"x": ones(1)},
    says="Loop",
    consts={"c": TRUE, "one": ones(1)},
    options={"timeout": 0.3},
)
case(
    "Loop of constants that never stops",
    node("Loop", "- c x", body=STATE),
    says="Loop",
    consts={"x": ones(1), "c": TRUE, "one": ones(1)},
    options={"timeout": 0.3},
)
case(
    "Loop of -1 trips",
    node("Loop", "m c x", body=STATE),
    {"x": ones(1), "m": scalar(-1)},
    gives=ones(1),
    consts={"c": TRUE, "one": ones(1)},
)
case(
    "Loop of -2^63 trips",
    node("Loop", "m c x", body=STATE),
    {"x": ones(1), "m": scalar(-(2**63))},
    gives=ones(1),
    consts={"c": TRUE, "one": ones(1)},
)
inner = node(
    "Loop",
    "m c s",
    "t",
    name="inner",
    body=graph(
        [node("Identity", "c2", "go2"), node("Add", "s2 one", "t2")],
        [info("i2", INT64, []), info("c2", BOOL, []), value("s2")],
        [info("go2", BOOL, []), value("t2")],
    ),
)
case(
    "Loop of Loops of 10^9 trips each",
    node("Loop", "m c x", body=loop_body([inner], [value("s")], [value("t")])),
    {"x": ones(1)},
    says="Loop",
    consts={"m": scalar(10**9), "c": TRUE, "one": ones(1)},
    options={"timeout": 0.3},
)

# Bodies that do not fit.

case(
    "Loop whose body lacks a state",
    node("Loop", "m c x", body=loop_body([])),
    {"x": X},
    says="'Loop'",
    consts={"m": scalar(1), "c": TRUE},
)
case(
    "Loop whose body has a state too many",
    node("Loop", "m c", "", body=loop_body([node("Identity", "s", "t")], [value("s")], [value("t")])),
    {"x": X},
    says="'Loop'",
    consts={"m": scalar(1), "c": TRUE},
    outputs=["x"],
)
case(
    "Loop with outputs too many",
    node("Loop", "m c x", "y z w", body=STATE),
    {"x": X},
    says="'Loop'",
    consts={"m": scalar(1), "c": TRUE, "one": ones(1)},
)
case(
    "Loop whose body has no outputs",
    node("Loop", "m c", "y", body=graph([], HEAD, [])),
    {"x": X},
    says="'Loop'",
    consts={"m": scalar(1), "c": TRUE},
)
case(
    "Loop whose state changes its type",
    node(
        "Loop", "m c x", body=loop_body([node("Cast", "s", "t", to=INT64)], [value("s")], [value("t", INT64)])
    ),
    {"x": X},
    says="Loop",
    consts={"m": scalar(2), "c": TRUE},
)
case(
    "Loop whose condition is a float",
    node("Loop", "m f x", body=STATE),
    {"x": X, "f": scalar(1, np.float32)},
    says="'Loop'",
    consts={"m": scalar(2), "one": ones(1)},
)
case(
    "Loop whose condition is a vector",
    node("Loop", "m f x", body=STATE),
    {"x": X, "f": np.array([True, False])},
    says="'Loop'",
    consts={"m": scalar(2), "one": ones(1)},
)
case(
    "Loop whose scan outputs differ in size",
    node(
        "Loop",
        "m c",
        body=loop_body([node("Unsqueeze", "i o", "j"), node("Expand", "one j", "e")], outputs=[value("e")]),
    ),
    {"m": scalar(3)},
    says="Loop",
    consts={"c": TRUE, "one": ones(1), "o": ints(0)},
)
case(
    "Loop without a body",
    node("Loop", "m c x"),
    {"x": X},
    says=("'Loop'", "body"),
    consts={"m": scalar(1), "c": TRUE},
)
case(
    "Loop whose body is a number",
    node("Loop", "m c x", body=3),
    {"x": X},
    says=("'Loop'", "body"),
    consts={"m": scalar(1), "c": TRUE},
)


def branch(op="Identity", source="x", **attributes):
    return graph([node(op, source, "z", **attributes)], [], ["z"])


case(
    "If whose branches have different types",
    node("If", "c", then_branch=branch(), else_branch=branch("Cast", to=INT64)),
    {"x": X, "c": TRUE},
    says="'If'",
)
case(
    "If whose branches have different numbers of outputs",
    node("If", "c", then_branch=branch(), else_branch=graph([], [], [])),
    {"x": X, "c": TRUE},
    says="'If'",
)
case(
    "If without an else",
    node("If", "c", then_branch=branch()),
    {"x": X, "c": TRUE},
    says=("'If'", "else_branch"),
)
case(
    "If whose condition is two",
    node("If", "c", then_branch=branch(), else_branch=branch()),
    {"x": X, "c": np.array([True, False])},
    says="'If'",
    dims={"c": ["n"]},
)
case(
    "If whose condition is nothing",
    node("If", "c", then_branch=branch(), else_branch=branch()),
    {"x": X, "c": np.array([], bool)},
    says="'If'",
    dims={"c": ["n"]},
)
case(
    "If whose branch has inputs",
    node("If", "c", then_branch=graph([node("Identity", "q", "z")], ["q"], ["z"]), else_branch=branch()),
    {"x": X, "c": TRUE},
    says="'If'",
)
case(
    "If whose branch gives a value from outside",
    node("If", "c", then_branch=graph([], [], ["x"]), else_branch=branch()),
    {"x": X, "c": TRUE},
    gives=X,
)
case(
    "If whose branch names nothing",
    node("If", "c", then_branch=branch(source="nobody"), else_branch=branch()),
    {"x": X, "c": TRUE},
    says="nobody",
)
case(
    "a value from inside a branch used outside",
    [node("If", "c", "w", then_branch=branch(), else_branch=branch()), node("Relu", "z")],
    {"x": X, "c": TRUE},
    says="'z'",
)

SCAN = graph(
    [node("Add", "s e", "t"), node("Identity", "t", "o")], [value("s"), value("e")], [value("t"), value("o")]
)
for name, scan_inputs in (("0", 0), ("-1", -1), ("3", 3), ("2^40", 2**40)):
    case(
        f"Scan of {name} inputs",
        node("Scan", "s x", "y o", num_scan_inputs=scan_inputs, body=SCAN),
        {"s": ones(3), "x": X},
        says="'Scan'",
    )
case(
    "Scan along axis 5",
    node("Scan", "s x", "y o", num_scan_inputs=1, scan_input_axes=[5], body=SCAN),
    {"s": ones(3), "x": X},
    says="'Scan'",
)
case(
    "Scan of unequal lengths",
    node(
        "Scan",
        "x w",
        "y",
        num_scan_inputs=2,
        body=graph([node("Add", "a b", "o")], [value("a"), value("b")], [value("o")]),
    ),
    {"x": X, "w": ones(5, 3)},
    says="Scan",
    dims={"w": ["n", 3], "x": ["m", 3]},
)
case(
    "Scan in direction 7",
    node("Scan", "s x", "y o", num_scan_inputs=1, scan_input_directions=[7], body=SCAN),
    {"s": ones(3), "x": X},
    says="'Scan'",
)
case(
    "SequenceMap over unequal sequences",
    [
        node("SequenceConstruct", "x x", "s"),
        node("SequenceConstruct", "x", "r"),
        node(
            "SequenceMap",
            "s r",
            body=graph([node("Add", "a b", "o")], [value("a"), value("b")], [value("o")]),
        ),
    ],
    {"x": X},
    says="SequenceMap",
)

# Circles, missing and repeated names.

case("a node that feeds itself", node("Add", "y x", "y"), {"x": X}, says="'Add'")
case(
    "two nodes that feed each other",
    [node("Add", "z x", "w", name="a"), node("Add", "w x", "z", name="b")],
    {"x": X},
    says=("circle", "'a'", "'b'"),
)
case("two nodes with the same output", [node("Relu", "x", "y"), node("Neg", "x", "y")], {"x": X}, says="'y'")
case("an output that is an input", node("Relu", "x", "x"), {"x": X}, says="'Relu'")
case("an output that nobody makes", node("Relu", "x", "y"), {"x": X}, says="'ghost'", outputs=["ghost"])
case("an input that nobody makes", node("Add", "x ghost"), {"x": X}, says="'ghost'")
case("an output without a name", node("Relu", "x", "y"), {"x": X}, says=(), outputs=[""])
case("an operator without a name", node("", "x", "y", name="n"), {"x": X}, says="'n'")
case(
    "an operator that is unknown",
    node("Frobnicate\x1b[31m", "x", "y", name="n"),
    {"x": X},
    says=("'n'", "Frobnicate"),
)
case(
    "the same input twice",
    None,
    {"x": X},
    says="'x'",
    model=model_of(node("Relu", "x"), inputs=[info("x", FLOAT, [2, 3])] * 2),
)
case(
    "a graph without nodes and outputs",
    [node("Relu", "x")],
    says=(),
    gives=[],
    model=helper.make_model(helper.make_graph([], "g", [], [])).SerializeToString(),
)

# Long and deep.

chain = [node("Identity", "x" if k == 0 else f"v{k}", f"v{k + 1}", name="") for k in range(100_000)]
case("100,000 Identities in a row", chain, {"x": X}, gives=X)
chain = [node("Add", "x one" if k == 0 else f"v{k} one", f"v{k + 1}", name="") for k in range(20_000)]
case("20,000 Adds in a row", chain, {"x": X}, gives=X + np.float32(20_000), consts={"one": ones()})
case(
    "70 inputs to a Sum",
    node("Sum", " ".join(f"x{k}" for k in range(70))),
    {f"x{k}": ones(2) * k for k in range(70)},
    gives=ones(2) * 2415,
)
case(
    "70 inputs to a Concat",
    node("Concat", " ".join(f"x{k}" for k in range(70)), axis=0),
    {f"x{k}": ones(1) * k for k in range(70)},
    gives=count(70),
)
case(
    "70 outputs of a Split",
    node("Split", "x", " ".join(f"y{k}" for k in range(70)), num_outputs=70),
    {"x": count(70)},
    gives=[ones(1) * k for k in range(70)],
)
case("5,000 inputs to a Max", node("Max", "x " * 5000), {"x": X}, gives=X)
many = [info(f"x{k}", FLOAT, [1]) for k in range(50_000)]
case(
    "50,000 inputs of a model",
    None,
    {"x7": ones(1)},
    says=("x6", "and 49949 more"),
    model=model_of(node("Relu", "x7"), inputs=many),
)


def nested_ifs(depth):
    """Ifs in the branches of Ifs, as bytes: the protobuf library itself stops at 30."""
    inside = deep_graph([node("Neg", "x", "z")], [], ["z"])
    for _ in range(depth):
        inside = deep_graph(
            [deep_node(node("If", "c", "z", else_branch=branch()), "then_branch", inside)], [], ["z"]
        )
    return inside


def nested_loops(depth, step):
    """Loops in Loops of one trip each, around a step from s0 to t0."""
    inside, states = step, ("s0", "t0")
    for k in range(1, depth + 1):
        inputs = [info(f"i{k}", INT64, []), info(f"c{k}", BOOL, []), info(states[0], FLOAT, ["n"])]
        outputs = [info(f"g{k}", BOOL, []), info(states[1], FLOAT, ["k"])]
        body = deep_graph([node("Identity", f"c{k}", f"g{k}", name=""), inside], inputs, outputs)
        inside = deep_node(node("Loop", f"one go s{k}", f"t{k}"), "body", body)
        states = (f"s{k}", f"t{k}")
    return deep_graph([inside], [info(states[0], FLOAT, ["n"])], [states[1]], {"one": scalar(1), "go": TRUE})


STEPS = {
    "keep their sizes": (node("Neg", "s0", "t0"), -count(3)),
    "double them": (node("Concat", "s0 s0", "t0", axis=0), np.concatenate([count(3)] * 2)),
}
INPUTS = [info("x", FLOAT, [2, 3]), info("c", BOOL, [])]
for depth in (14, 50, 90):
    answers = {"gives": -X} if depth < 90 else {"says": "nested"}
    top = deep_node(node("If", "c", "y", else_branch=branch()), "then_branch", nested_ifs(depth - 1))
    model = deep_model(deep_graph([top], INPUTS, ["y"]))
    case(f"{depth} Ifs in Ifs", None, {"x": X, "c": TRUE}, model=model, **answers)
    for name, (step, right) in STEPS.items():
        answers = {"gives": right} if depth < 90 else {"says": "nested"}
        model = deep_model(nested_loops(depth, step))
        case(f"{depth} Loops in Loops that {name}", None, {f"s{depth}": count(3)}, model=model, **answers)


def wide(depth):
    """Two Ifs in each branch: twice as many with each level."""
    inside = [node("Neg", "x", "z", name="")]
    for k in range(depth):
        part = graph(inside, [], [inside[-1].output[0]])
        inside = [
            node("If", "c", f"p{k}", name="", then_branch=part, else_branch=part),
            node("Neg", f"p{k}", f"q{k}", name=""),
        ]
    return inside


case("4,000 branches", wide(11), {"x": X, "c": TRUE}, gives=X if 12 % 2 == 0 else -X)


def nested_type(depth, make):
    kind = helper.make_tensor_type_proto(FLOAT, None)
    for _ in range(depth):
        kind = make(kind)
    return kind


for name, make in (
    ("optional", helper.make_optional_type_proto),
    ("sequence", helper.make_sequence_type_proto),
):
    inputs = [ValueInfoProto(name="x", type=nested_type(20, make))]
    case(
        f"{name} of {name}, 20 times",
        None,
        {"x": X},
        says="'Identity'",
        model=model_of(node("Identity", "x"), inputs=inputs),
    )
