# SPDX-License-Identifier: Apache-2.0
"""Mutants: official cases and stand-in models in which a few things that a file may say are changed (attributes,
tensors, sizes, types, edges, opsets, the whole graph moved into a branch), and some of what is fed."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
from draw import Draw
from onnx import AttributeProto as Attribute
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, load, numpy_helper
from recipe import RANDOM
from wrong import EXTREMES, reshaped

ROOT = Path(__file__).resolve().parent.parent.parent
OFFICIAL, STAND_INS = ROOT / "build" / "official", ROOT / "build" / "test_models"
SMALL = (-3, -2, -1, 0, 1, 2, 3, 4, 7)
STRANGE_FLOATS = (0.0, -1.0, 0.5, 1e-30, 1e30, -1e30, float("inf"), float("nan"))
STRANGE_TEXTS = (
    b"",
    b"x",
    b"NOTSET",
    b"SAME_UPPER",
    b"VALID",
    b"linear",
    b"reverse",
    b"bidirectional",
    b"...",
    b"\xff",
)
TYPES = (1, 2, 3, 6, 7, 8, 9, 10, 11, 16)
CONDITION = "condition of the branch"
LARGEST = 3_000_000  # bytes of a model


class Mutant:
    """A model that is there already, in the place of a Net."""

    inside = None

    def __init__(self, model: ModelProto, feeds: dict) -> None:
        self.proto, self.feeds, self.shapes = model, feeds, {}
        tensors = [
            t for t in model.graph.initializer if t.data_type in (TensorProto.FLOAT, TensorProto.DOUBLE)
        ]
        self.constants = {t.name: a for t in tensors if (a := array_of(t)) is not None}
        self.nodes = [
            (n.op_type, n.domain, list(n.input), list(n.output), {}, {})
            for g in graphs_in(model.graph)
            for n in g.node
        ]

    def model(self, constants: dict | None = None) -> ModelProto:
        if not constants:
            return self.proto
        changed = ModelProto()
        changed.CopyFrom(self.proto)
        for t in changed.graph.initializer:
            if t.name in constants:
                t.CopyFrom(numpy_helper.from_array(constants[t.name], t.name))
        return changed


@cache
def folders(root: Path) -> list[Path]:
    if not OFFICIAL.exists():
        subprocess.run([sys.executable, ROOT / "tests/official/generate.py", "--out", OFFICIAL], check=True)
    found = sorted(path.parent for path in root.glob("*/model.onnx") if path.stat().st_size < LARGEST)
    random = {name.lower() for name in RANDOM} | {"random", "dropout"}
    return [folder for folder in found if not any(name in folder.name.replace("_", "") for name in random)]


def make(draw: Draw) -> tuple[str, Mutant]:
    folder = draw.of(folders(STAND_INS if draw.chance(0.1) else OFFICIAL))
    model = load(folder / "model.onnx")
    for _ in range(draw.one(1, 1, 2, 3)):
        draw.of(WAYS)(draw, model)
    return folder.name, Mutant(model, feeds_of(draw, folder, model))


def graphs_in(graph: GraphProto):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs] if attribute.HasField("g") else attribute.graphs:
                yield from graphs_in(body)


def nodes_in(model: ModelProto) -> list[NodeProto]:
    return [n for g in graphs_in(model.graph) for n in g.node] + [n for f in model.functions for n in f.node]


def array_of(tensor: TensorProto) -> np.ndarray | None:
    try:
        return numpy_helper.to_array(tensor)
    except Exception:  # what was changed before
        return None


# Ways to change a model. Where there is nothing of the kind they leave it alone.


def a_number(draw: Draw) -> int:
    return draw.of(EXTREMES if draw.chance(0.5) else SMALL)


def change_list(draw: Draw, values, other) -> None:
    at, way = draw.whole(0, len(values) - 1), draw.one("set", "set", "set", "drop", "add")
    if way == "set":
        values[at] = other
    elif way == "drop":
        del values[at]
    else:
        values.append(other)


def change_attribute(draw: Draw, model: ModelProto) -> None:
    there = [(n, a) for n in nodes_in(model) for a in n.attribute]
    if not there:
        return
    node, a = draw.of(there)
    if draw.chance(0.1):
        node.attribute.remove(a)
    elif a.type == Attribute.INT:
        a.i = a_number(draw)
    elif a.type == Attribute.FLOAT:
        a.f = draw.of(STRANGE_FLOATS)
    elif a.type == Attribute.STRING:
        a.s = draw.one(a.s[:-1], a.s + b"x", *STRANGE_TEXTS)
    elif a.type == Attribute.TENSOR:
        spoil_tensor(draw, a.t)
    elif a.type == Attribute.INTS and a.ints:
        change_list(draw, a.ints, a_number(draw))
    elif a.type == Attribute.FLOATS and a.floats:
        change_list(draw, a.floats, draw.of(STRANGE_FLOATS))
    elif a.type == Attribute.STRINGS and a.strings:
        change_list(draw, a.strings, draw.of(STRANGE_TEXTS))


def change_initializer(draw: Draw, model: ModelProto) -> None:
    if there := [t for g in graphs_in(model.graph) for t in g.initializer]:
        spoil_tensor(draw, draw.of(there))


def spoil_tensor(draw: Draw, tensor: TensorProto) -> None:
    way = draw.one("sizes", "sizes", "contents", "contents", "type")
    if way == "type":
        tensor.data_type = draw.of(TYPES)
    elif way == "sizes" and tensor.dims:
        at = draw.whole(0, len(tensor.dims) - 1)
        tensor.dims[at] = draw.one(0, 1, tensor.dims[at] + 1, tensor.dims[at] - 1, -1, 2**40, 2**62)
    elif (a := array_of(tensor)) is not None and a.size:
        tensor.CopyFrom(numpy_helper.from_array(with_a_strange_element(draw, a), tensor.name))


def with_a_strange_element(draw: Draw, array: np.ndarray) -> np.ndarray:
    changed = array.copy()
    at = np.unravel_index(draw.whole(0, array.size - 1), array.shape)
    with np.errstate(all="ignore"):
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            changed[at] = min(max(a_number(draw), limits.min), limits.max)
        elif array.dtype.kind == "f":
            changed[at] = draw.of(STRANGE_FLOATS)
    return changed


def change_declared(draw: Draw, model: ModelProto) -> None:
    values = [v for g in graphs_in(model.graph) for v in (*g.input, *g.output, *g.value_info)]
    tensors = [v.type.tensor_type for v in values if v.type.HasField("tensor_type")]
    if not tensors:
        return
    t = draw.of(tensors)
    way = draw.one("name", "size", "drop", "no shape", "type")
    if way == "type":
        t.elem_type = draw.of(TYPES)
    elif way == "no shape":
        t.ClearField("shape")
    elif t.shape.dim:
        dim = draw.of(t.shape.dim)
        if way == "name":
            dim.dim_param = draw.one("N", "M")
        elif way == "size":
            dim.dim_value = draw.one(0, 1, 2, 3, 5, 2**31, 2**62, -1)
        else:
            del t.shape.dim[-1]


def change_edge(draw: Draw, model: ModelProto) -> None:
    nodes = nodes_in(model)
    taking = [n for n in nodes if n.input]
    if not taking:
        return
    node, names = draw.of(taking), [name for n in nodes for name in (*n.input, *n.output)]
    change_list(draw, node.input, draw.of([*names, ""]))


def change_results(draw: Draw, model: ModelProto) -> None:
    if making := [n for n in nodes_in(model) if n.output]:
        change_list(draw, draw.of(making).output, draw.one("", "one more"))


def run_twice(draw: Draw, model: ModelProto) -> None:
    """A node once more behind itself, with its first result in the place of its first input."""
    graph = draw.of(list(graphs_in(model.graph)))
    going_on = [n for n in graph.node if n.input and n.output]
    if not going_on:
        return
    node = draw.of(going_on)
    again = graph.node.add()
    again.CopyFrom(node)
    again.input[0] = node.output[0]
    for k, name in enumerate(node.output):
        again.output[k] = f"{name} again"
    if graph.output and draw.chance(0.8):
        graph.output[0].name = again.output[0]


def change_opset(draw: Draw, model: ModelProto) -> None:
    if model.opset_import:
        draw.of(model.opset_import).version = draw.whole(1, 28)


def move_into_a_branch(draw: Draw, model: ModelProto) -> None:
    graph = model.graph
    if any(i.name == CONDITION for i in graph.input) or not graph.output:
        return
    body = helper.make_graph(list(graph.node), "branch", [], list(graph.output), list(graph.initializer))
    del graph.node[:], graph.initializer[:]
    branches = {"then_branch": body, "else_branch": body}
    graph.node.append(helper.make_node("If", [CONDITION], [o.name for o in graph.output], **branches))
    graph.input.append(helper.make_tensor_value_info(CONDITION, TensorProto.BOOL, []))


WAYS = (
    *(change_attribute,) * 4,
    *(change_initializer, change_declared, change_edge) * 2,
    *(change_results, run_twice, change_opset, move_into_a_branch),
)


# What is fed: what the case feeds, at times another shape or one strange element.


def feeds_of(draw: Draw, folder: Path, model: ModelProto) -> dict:
    feeds = {}
    for k, value in enumerate(model.graph.input):
        path = folder / "test_data_set_0" / f"input_{k}.pb"
        if value.name == CONDITION:
            feeds[value.name] = np.array(draw.chance(0.9))
        elif path.exists() and value.type.WhichOneof("value") == "tensor_type":
            tensor = TensorProto()
            tensor.ParseFromString(path.read_bytes())
            feeds[value.name] = fed(draw, numpy_helper.to_array(tensor))
    return feeds


def fed(draw: Draw, array: np.ndarray) -> np.ndarray:
    if draw.chance(0.75) or not array.size:
        return array
    return with_a_strange_element(draw, array) if draw.chance(0.5) else reshaped(draw, array)
