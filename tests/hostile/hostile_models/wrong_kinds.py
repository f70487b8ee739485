# SPDX-License-Identifier: Apache-2.0
"""Types, attributes, opsets and tensors of the wrong kind."""

import numpy as np
from onnx import AttributeProto, ModelProto, TensorProto, helper

from .build import case, count, graph, info, ints, model_of, node, ones

X = count(2, 3)
FLOAT = TensorProto.FLOAT


def attribute(op, key, value, kind=None, inputs="x"):
    """A node with one attribute; `kind` is what it says that it is, whatever it holds."""
    made = node(op, inputs)
    made.attribute.append(helper.make_attribute(key, value))
    if kind is not None:
        made.attribute[0].type = kind
    return made


case("an axis that is a float", attribute("Softmax", "axis", 1.0), {"x": X}, says=("'Softmax'", "axis"))
case("an axis that is a text", attribute("Softmax", "axis", "last"), {"x": X}, says=("'Softmax'", "axis"))
case("an axis that is a list", attribute("Softmax", "axis", [1, 2]), {"x": X}, says=("'Softmax'", "axis"))
case(
    "an axis that is a graph",
    attribute("Softmax", "axis", graph([], [], [])),
    {"x": X},
    says=("'Softmax'", "axis"),
)
case(
    "an axis that says it is a float",
    attribute("Softmax", "axis", 1, AttributeProto.FLOAT),
    {"x": X},
    says=("'Softmax'", "axis"),
)
case(
    "an axis of no kind",
    attribute("Softmax", "axis", 1, AttributeProto.UNDEFINED),
    {"x": X},
    says="axis",
    gives=np.exp(X) / np.exp(X).sum(1, keepdims=True),
)
case("a list that is a number", attribute("Transpose", "perm", 1), {"x": X}, says=("'Transpose'", "perm"))
case("a list of floats", attribute("Transpose", "perm", [1.0, 0.0]), {"x": X}, says=("'Transpose'", "perm"))
case(
    "a list of a million axes",
    attribute("Transpose", "perm", [0] * 10**6),
    {"x": X},
    says=("'Transpose'", "perm"),
)
case(
    "pads of a million numbers",
    node("MaxPool", "x", kernel_shape=[2, 2], pads=[0] * 10**6),
    {"x": ones(1, 1, 4, 4)},
    says=("'MaxPool'", "pads"),
)
case(
    "a kernel of a million numbers",
    node("MaxPool", "x", kernel_shape=[1] * 10**6),
    {"x": ones(1, 1, 4, 4)},
    says="'MaxPool'",
)
twice = attribute("Softmax", "axis", 1)
twice.attribute.append(helper.make_attribute("axis", 0))
case("an attribute twice", twice, {"x": X}, says=("'Softmax'", "axis"))
case("an attribute that nobody knows", attribute("Softmax", "axes", 1), {"x": X}, says=("'Softmax'", "axes"))
case("an attribute without a name", attribute("Softmax", "", 1), {"x": X}, says="'Softmax'")
for op, key, inputs in (
    ("MaxPool", "kernel_shape", "x"),
    ("Concat", "axis", "x x"),
    ("Cast", "to", "x"),
    ("Einsum", "equation", "x"),
    ("DepthToSpace", "blocksize", "x"),
    ("Scan", "body", "x"),
    ("SequenceMap", "body", "x"),
):
    case(f"{op} without {key}", node(op, inputs), {"x": ones(1, 4, 2, 2)}, says=(f"'{op}'", key))
for equation in (
    "ij,jk->",
    "ij->ijk",
    "i-j",
    "…",
    "i..j->i",
    "ijk->i",
    "",
    "ii->jj",
    "ij->ii",
    "1j->j",
    "i" * 60 + "->i",
    ",,,->",
    "ij->i->j",
):
    case(
        f"an Einsum of '{equation[:20]}'",
        node("Einsum", "x", equation=equation),
        {"x": X},
        says=("'Einsum'",),
    )
case(
    "an Einsum of unequal sizes",
    node("Einsum", "x z", equation="ij,jk->ik"),
    {"x": X, "z": ones(4, 2)},
    says="'Einsum'",
    dims={"z": ["a", "b"]},
)

case("Add without a second input", node("Add", "x"), {"x": X}, says="'Add'")
case("Add of an input left out", node("Add", "x -"), {"x": X}, says="'Add'")
case("Add of three", node("Add", "x x x"), {"x": X}, says="'Add'")
case("Relu for two outputs", node("Relu", "x", "y z"), {"x": X}, says="'Relu'")
case("Relu for no output", [node("Relu", "x", ""), node("Neg", "x")], {"x": X}, says="'Relu'", gives=-X)
case(
    "Relu for an output that is left out",
    [node("Relu", "x", "-"), node("Neg", "x")],
    {"x": X},
    says="'Relu'",
    gives=-X,
)
case("Add of floats and integers", node("Add", "x i"), {"x": X, "i": ints(1, 2, 3)}, says="'Add'")
case("MatMul of booleans", node("MatMul", "x x"), {"x": np.ones((2, 2), bool)}, says="'MatMul'")
case("Relu of strings", node("Relu", "x"), {"x": np.array(["a"], object)}, says="'Relu'")
case("And of floats", node("And", "x x"), {"x": X}, says="'And'")
case("Gather by floats", node("Gather", "x x"), {"x": X}, says="'Gather'")
case("SequenceAt of a tensor", node("SequenceAt", "x i"), {"x": X, "i": ints(0)}, says="'SequenceAt'")
case(
    "Relu of a sequence", [node("SequenceConstruct", "x x", "s"), node("Relu", "s")], {"x": X}, says="'Relu'"
)
case(
    "OptionalGetElement of nothing",
    [
        node("Optional", "", "o", type=helper.make_tensor_type_proto(FLOAT, [2])),
        node("OptionalGetElement", "o"),
    ],
    says="OptionalGetElement",
)
case(
    "an Optional without a type",
    [node("Optional", "", "o"), node("OptionalGetElement", "o")],
    says="'Optional'",
)

for opset in (0, -1, 2**31, 2**40, 99, -(2**63)):
    case(f"opset {opset}", node("Relu", "x"), {"x": X}, says="opset", opset=opset)
plain = ModelProto.FromString(model_of(node("Relu", "x"), {"x": X}))


def changed(change):
    copy = ModelProto()
    copy.CopyFrom(plain)
    change(copy)
    return copy.SerializeToString()


case("no opset", None, {"x": X}, says="opset", model=changed(lambda m: m.ClearField("opset_import")))
case(
    "two opsets for a domain",
    None,
    {"x": X},
    says="opset",
    gives=X,
    model=changed(lambda m: m.opset_import.append(helper.make_opsetid("", 7))),
)
case("a domain without an opset", node("Relu", "x", domain="nobody"), {"x": X}, says=("'Relu'",))
case("no graph", None, {}, says="graph", model=changed(lambda m: m.ClearField("graph")))
case("an input without a type", None, {"x": X}, says="'x'", model=model_of(node("Relu", "x"), inputs=["x"]))
case(
    "an input of an unknown type",
    None,
    {"x": X},
    says="'x'",
    model=model_of(node("Relu", "x"), inputs=[info("x", 99, [2])]),
)
case(
    "an input of a negative size",
    None,
    {"x": X},
    says="'x'",
    gives=X,
    model=model_of(node("Relu", "x"), inputs=[info("x", FLOAT, [-1, 3])]),
)
case(
    "an input of size 2^62",
    None,
    {"x": X},
    says="'x'",
    model=model_of(node("Relu", "x"), inputs=[info("x", FLOAT, [2**62, 2**62])]),
)
case(
    "an input of 300 dims",
    None,
    {"x": X},
    says="'x'",
    model=model_of(node("Relu", "x"), inputs=[info("x", FLOAT, [1] * 300)]),
)
case(
    "an input of 10^6 dims",
    None,
    {"x": X},
    says="'x'",
    model=model_of(node("Relu", "x"), inputs=[info("x", FLOAT, ["n"] * 10**6)]),
)
case(
    "an input whose sizes have a name of a megabyte",
    None,
    {"x": X},
    gives=X,
    model=model_of(node("Relu", "x"), inputs=[info("x", FLOAT, ["n" * 10**6, 3])]),
)
case(
    "an output declared of another type",
    node("Relu", "x"),
    {"x": X},
    says="'y'",
    outputs=[info("y", TensorProto.INT64, [2, 3])],
)
case(
    "an output declared of another size",
    node("Relu", "x"),
    {"x": X},
    says="'y'",
    gives=X,
    outputs=[info("y", FLOAT, [7])],
)
for name, changes in {
    "whose data is short": {"raw_data": b"\0" * 8},
    "whose data is long": {"raw_data": b"\0" * 80},
    "of a negative size": {"dims": [-3]},
    "of an unknown type": {"data_type": 99},
    "of 2^62 by 4": {"dims": [2**62, 4]},
    "of 300 dims": {"dims": [1] * 300, "raw_data": b"\0" * 4},
}.items():
    tensor = TensorProto(**{"dims": [3], "data_type": FLOAT, "raw_data": b"\0" * 12} | changes)
    case(f"an initialiser {name}", node("Add", "x w"), {"x": X}, says="'w'", consts={"w": tensor})
    constant = node("Constant", outputs="w")
    constant.attribute.append(AttributeProto(name="value", type=AttributeProto.TENSOR, t=tensor))
    case(f"a Constant {name}", [constant, node("Add", "x w")], {"x": X}, says="'Constant'")
case(
    "a Constant of two values",
    [node("Constant", outputs="w", value_int=1, value_float=1.0), node("Relu", "x")],
    {"x": X},
    says="'Constant'",
)
case(
    "a Constant of nothing", [node("Constant", outputs="w"), node("Add", "x w")], {"x": X}, says="'Constant'"
)
case(
    "an initialiser that an input contradicts",
    node("Relu", "x"),
    {"x": X},
    says="'x'",
    consts={"x": ones(5)},
    gives=X,
)
case("a node name of a megabyte", node("Add", "x x x", name="n" * 10**6), {"x": X}, says="Add")
case("a name of control characters", node("Add", "x \x1b[31mghost\x07"), {"x": X}, says="ghost")
case(
    "a name that is no text",
    None,
    {"x": X},
    says="'Relu'",
    model=model_of(node("Relu", "ghost"), {"x": X}).replace(b"ghost", b"\xff\xfe\x00\x1b\x7f"),
)
case("a name with a line break", node("Add", "x ghost\nerror:", name="a\nb"), {"x": X}, says="ghost")
