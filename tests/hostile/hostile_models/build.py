# SPDX-License-Identifier: Apache-2.0
"""How a hostile case is written down: nodes, what is fed, and what must be said or given. CASES holds them all."""

from dataclasses import dataclass, field

import numpy as np
from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

CASES: dict[str, "Case"] = {}
ML = "ai.onnx.ml"
CONDITION = "the condition outside"


@dataclass
class Case:
    """`says`: fragments that the error must hold. `gives`: the right outputs. With both, either is an answer."""

    name: str
    model: bytes
    feeds: dict
    says: tuple[str, ...] | None
    gives: list | None
    options: dict = field(default_factory=dict)
    action: str = "run"


def node(op, inputs="", outputs="y", name=None, domain="", **attributes):
    """Inputs and outputs are words in a string; '-' is one that is left out. The node's name is the operator's."""
    words = [["" if word == "-" else word for word in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *words, name=op if name is None else name, domain=domain, **attributes)


def ml(op, inputs="x", outputs="y", **attributes):
    return node(op, inputs, outputs, domain=ML, **attributes)


def strange(made, name, value, kind):
    """The node with an attribute whose kind is wrong for it."""
    made.attribute.append(helper.make_attribute(name, value, attr_type=getattr(AttributeProto, kind)))
    return made


def graph(nodes, inputs=(), outputs=(), consts=None, name="body"):
    """A graph whose inputs are value infos or names without a type; so are its outputs."""

    def info(value):
        return value if isinstance(value, ValueInfoProto) else ValueInfoProto(name=value)

    return GraphProto(
        name=name,
        node=nodes,
        input=[info(value) for value in inputs],
        output=[info(value) for value in outputs],
        initializer=[tensor(key, value) for key, value in (consts or {}).items()],
    )


def tensor(name, value):
    if isinstance(value, TensorProto):
        value.name = name
        return value
    return numpy_helper.from_array(np.asarray(value), name)


def info(name, kind, dims=None):
    return helper.make_tensor_value_info(name, kind, dims)


def declared(name, value, dims):
    """An input as its feed is, or with other dims."""
    kind = (
        helper.np_dtype_to_tensor_dtype(value.dtype) if value.dtype.kind not in "OU" else TensorProto.STRING
    )
    return info(name, kind, dims.get(name, value.shape))


def model_of(nodes, feeds=None, consts=None, dims=None, outputs=None, opset=21, inputs=None, functions=()):
    """The bytes of a model; its outputs are those of its last node, unless others are named."""
    nodes = [nodes] if not isinstance(nodes, list) else nodes
    if inputs is None:
        inputs = [declared(key, np.asarray(value), dims or {}) for key, value in (feeds or {}).items()]
    outputs = outputs or [name for name in nodes[-1].output if name]
    domains = {"": opset, ML: 3} | {function.domain: 1 for function in functions}
    made = ModelProto(
        ir_version=10,
        graph=graph(nodes, inputs, outputs, consts, "hostile"),
        opset_import=[helper.make_opsetid(*pair) for pair in domains.items()],
        functions=functions,
    )
    return made.SerializeToString()


def part(number, data):
    """A field of a message, as bytes."""
    size, length = b"", len(data)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + data


def deep_node(made, attribute, body):
    """The bytes of a node with one more attribute, a graph that is given as bytes."""
    named = helper.make_attribute(attribute, 0, attr_type=AttributeProto.INT)
    named.ClearField("i")
    named.type = AttributeProto.GRAPH
    return made.SerializeToString() + part(5, named.SerializeToString() + part(6, body))


def deep_graph(nodes, inputs, outputs, consts=None):
    """The bytes of a graph, some of whose nodes are given as bytes."""
    parts = [made if isinstance(made, bytes) else made.SerializeToString() for made in nodes]
    return graph([], inputs, outputs, consts).SerializeToString() + b"".join(part(1, data) for data in parts)


def deep_model(body, opset=21):
    head = ModelProto(ir_version=10, opset_import=[helper.make_opsetid("", opset)])
    return head.SerializeToString() + part(7, body)


def case(name, nodes, feeds=None, *, says=None, gives=None, options=None, action="run", model=None, **more):
    """Adds a case. `options` are those of sardonyx.load, `timeout` in seconds and `memory` in bytes."""
    assert name not in CASES, name
    assert says is not None or gives is not None, name
    says = (says,) if isinstance(says, str) else says
    gives = [gives] if gives is not None and not isinstance(gives, list) else gives
    model = model_of(nodes, feeds, **more) if model is None else model
    CASES[name] = Case(name, model, feeds or {}, says, gives, options or {}, action)


def in_a_branch(model: bytes) -> bytes | None:
    """The same model as both branches of an If, where inference forgives what may never run. None: it cannot be read, or
    is large."""
    made = ModelProto()
    try:
        made.ParseFromString(model)
    except DecodeError:
        return None
    if len(model) > 100_000 or not made.graph.output:
        return None
    inside = GraphProto()
    inside.CopyFrom(made.graph)
    held = {tensor.name for tensor in inside.initializer}
    inputs = [value for value in inside.input if value.name not in held]
    del inside.input[:]
    names = [f"outside {k}" for k in range(len(inside.output))]
    choice = helper.make_node("If", [CONDITION], names, then_branch=inside, else_branch=inside)
    whole = graph([choice], [*inputs, info(CONDITION, TensorProto.BOOL, [])], names, name="outside")
    made.graph.CopyFrom(whole)
    return made.SerializeToString()


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def count(*shape, dtype=np.float32):
    """0, 1, 2, … in a shape."""
    return np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)


def ints(*values):
    return np.array(values, np.int64)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)
