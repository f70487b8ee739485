# SPDX-License-Identifier: Apache-2.0
"""Functions of a model that double, call each other, or do not fit."""

from onnx import AttributeProto, FunctionProto, helper

from .build import case, count, node

X = count(2, 3)
HERE = "here"
IMPORTS = [helper.make_opsetid("", 21), helper.make_opsetid(HERE, 1)]


def function(name, nodes, inputs=("a",), outputs=("b",), imports=IMPORTS, **more):
    return FunctionProto(
        domain=HERE, name=name, input=inputs, output=outputs, node=nodes, opset_import=imports, **more
    )


def call(name, inputs="x", outputs="y", **attributes):
    return node(name, inputs, outputs, domain=HERE, **attributes)


def doubling(depth):
    """f0 calls f1 twice, which calls f2 twice, …"""
    made = [
        function(f"f{k}", [call(f"f{k + 1}", "a", "m"), call(f"f{k + 1}", "m", "b")]) for k in range(depth)
    ]
    return [*made, function(f"f{depth}", [node("Neg", "a", "b")])]


for depth in (20, 60):
    case(f"functions that double {depth} times", call("f0"), {"x": X}, says="f", functions=doubling(depth))
case("functions that double 10 times", call("f0"), {"x": X}, gives=X, functions=doubling(10))
chain = [function(f"f{k}", [call(f"f{k + 1}", "a", "b")]) for k in range(5000)]
case(
    "functions that call 5,000 others",
    call("f0"),
    {"x": X},
    says="f",
    gives=-X,
    functions=[*chain, function("f5000", [node("Neg", "a", "b")])],
)
case(
    "a function that calls itself",
    call("f"),
    {"x": X},
    says="f",
    functions=[function("f", [call("f", "a", "b")])],
)
case(
    "two functions that call each other",
    call("f"),
    {"x": X},
    says="f",
    functions=[function("f", [call("g", "a", "b")]), function("g", [call("f", "a", "b")])],
)
case(
    "a function that is called with too many",
    call("f", "x x x"),
    {"x": X},
    says="f",
    functions=[function("f", [node("Neg", "a", "b")])],
)
case(
    "a function that is called for too many",
    call("f", "x", "y z w"),
    {"x": X},
    says="f",
    functions=[function("f", [node("Neg", "a", "b")])],
)
case(
    "a function whose output nobody makes",
    call("f"),
    {"x": X},
    says="f",
    functions=[function("f", [node("Neg", "a", "q")])],
)
case(
    "a function that names a value outside",
    call("f"),
    {"x": X},
    says="'x'",
    functions=[function("f", [node("Neg", "x", "b")])],
)
case(
    "a function in a circle",
    call("f"),
    {"x": X},
    says="'f'",
    functions=[function("f", [node("Add", "a q", "b"), node("Neg", "b", "q")])],
)
case(
    "a function that is given twice",
    call("f"),
    {"x": X},
    says="'here.f' is defined twice",
    functions=[function("f", [node("Neg", "a", "b")])] * 2,
)
case(
    "a function without a name",
    call(""),
    {"x": X},
    says=(),
    gives=-X,
    functions=[function("", [node("Neg", "a", "b")])],
)
case(
    "a function without opsets",
    call("f"),
    {"x": X},
    says="f",
    gives=-X,
    functions=[function("f", [node("Neg", "a", "b")], imports=[])],
)
LEAKY = node("LeakyRelu", "a", "b")
LEAKY.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
case(
    "a function whose attribute is missing",
    call("f"),
    {"x": X},
    gives=X,
    says="slope",
    functions=[function("f", [LEAKY], attribute=["slope"])],
)
case(
    "a function whose attribute is of another kind",
    call("f", slope="steep"),
    {"x": X},
    says=("LeakyRelu", "alpha"),
    functions=[function("f", [LEAKY], attribute=["slope"])],
)
case(
    "a function that refers to an attribute it does not have",
    call("f"),
    {"x": X},
    says="slope",
    functions=[function("f", [LEAKY])],
    gives=X,
)
case("an attribute that refers outside of a function", [LEAKY], {"a": X}, says="slope")
