# SPDX-License-Identifier: Apache-2.0
"""What `info` says about a model's work: counted by hand here, from the shapes."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from program import DIGITS, run

FLOAT = TensorProto.FLOAT


def value(name, *dims):
    return helper.make_tensor_value_info(name, FLOAT, dims)


def model(tmp_path, nodes, inputs, outputs, weights=None, functions=(), opset=23):
    """A file; weights are given by their dims."""
    tensors = [
        numpy_helper.from_array(np.zeros(dims, np.float32), name) for name, dims in (weights or {}).items()
    ]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("mine", 1)]
    proto = helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def flops(path, *more):
    return json.loads(run("info", path, "--json", *more)[0])["flops"]


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


CASES = {
    "MatMul": (node("MatMul", "x w", "y"), [(5, 2, 3, 4)], {"w": (4, 7)}, 2 * 5 * 2 * 3 * 4 * 7),
    "MatMul of vectors": (node("MatMul", "x w", "y"), [(6,)], {"w": (6,)}, 2 * 6),
    "Gemm": (node("Gemm", "x w", "y", transA=1), [(4, 3)], {"w": (4, 5)}, 2 * 3 * 4 * 5),
    "Conv": (
        node("Conv", "x w", "y", group=2, strides=[2, 2]),
        [(1, 4, 9, 9)],
        {"w": (6, 2, 3, 3)},
        2 * (6 * 4 * 4) * (2 * 3 * 3),
    ),
    "ConvTranspose": (
        node("ConvTranspose", "x w", "y"),
        [(1, 4, 5, 5)],
        {"w": (4, 6, 3, 3)},
        2 * (4 * 5 * 5) * (6 * 3 * 3),
    ),
    "Attention": (
        node("Attention", "q k v", "y"),
        [(2, 8, 10, 16), (2, 4, 12, 16), (2, 4, 12, 20)],
        {},
        2 * 2 * 8 * 10 * 12 * (16 + 20),
    ),
    "LSTM": (
        node("LSTM", "x w r", "y", hidden_size=5, direction="bidirectional"),
        [(7, 3, 4)],
        {"w": (2, 20, 4), "r": (2, 20, 5)},
        2 * 7 * 3 * 2 * 20 * (4 + 5),
    ),
    "GRU": (
        node("GRU", "x w r", "y", hidden_size=5),
        [(7, 3, 4)],
        {"w": (1, 15, 4), "r": (1, 15, 5)},
        2 * 7 * 3 * 15 * (4 + 5),
    ),
    "Einsum": (
        node("Einsum", "x w", "y", equation="bij, bjk -> bik"),
        [(2, 3, 4)],
        {"w": (2, 4, 5)},
        2 * 120,
    ),
    "Einsum with dots": (
        node("Einsum", "x w", "y", equation="...ij,jk->...ik"),
        [(6, 2, 3, 4)],
        {"w": (4, 5)},
        2 * 6 * 2 * 3 * 4 * 5,
    ),
    "nothing to multiply": (node("Relu", "x", "y"), [(3,)], {}, 0),
}


@pytest.mark.parametrize("case", CASES)
def test_work(tmp_path, case):
    what, shapes, weights, expected = CASES[case]
    inputs = [value(name, *dims) for name, dims in zip(what.input, shapes, strict=False)]
    path = model(tmp_path, [what], inputs, [value("y")], weights)
    proto = onnx.load(path)
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    path.write_bytes(proto.SerializeToString())
    assert flops(path) == expected


def test_free_sizes(tmp_path):
    path = model(
        tmp_path,
        [node("MatMul", "x w", "h"), node("Transpose", "h", "t", perm=[0, 2, 1]), node("MatMul", "h t", "y")],
        [value("x", "N", "S", 8)],
        [value("y", "N", "S", "S")],
        {"w": (8, 16)},
    )
    text = flops(path)
    for n, s in ((1, 1), (2, 3), (4, 100)):
        expected = 2 * n * s * 8 * 16 + 2 * n * s * 16 * s
        assert eval(text, {"N": n, "S": s}) == expected
        assert flops(path, "--dim", f"N={n}", "--dim", f"S={s}") == expected
    assert "256 FLOP × N × S + 32 FLOP × N × S²" in run("info", path)[0]


def test_bodies_and_functions(tmp_path):
    product = helper.make_graph([node("MatMul", "x w", "z")], "b", [], [value("z", 4, 4)])
    plain = helper.make_graph([node("Identity", "x", "z2")], "b", [], [value("z2", 4, 4)])
    path = model(
        tmp_path,
        [helper.make_node("If", ["c"], ["y"], then_branch=product, else_branch=plain)],
        [helper.make_tensor_value_info("c", TensorProto.BOOL, []), value("x", 4, 4)],
        [value("y", 4, 4)],
        {"w": (4, 4)},
    )
    assert flops(path) == 2 * 64
    twice = helper.make_function(
        "mine",
        "Twice",
        ["a", "b"],
        ["c"],
        [node("MatMul", "a b", "t"), node("MatMul", "t b", "c")],
        [helper.make_opsetid("", 23)],
    )
    call = helper.make_node("Twice", ["x", "w"], ["y"], domain="mine")
    path = model(tmp_path, [call], [value("x", 4, 4)], [value("y", 4, 4)], {"w": (4, 4)}, [twice])
    assert flops(path) == 2 * 2 * 64


def test_what_is_not_known(tmp_path):
    path = model(
        tmp_path,
        [helper.make_node("Mystery", ["x"], ["y"], domain="mine")],
        [value("x", 4)],
        [value("y", 4)],
    )
    assert flops(path) is None and "Mystery" in run("info", path)[0]
    path = model(
        tmp_path,
        [node("NonZero", "x", "i"), node("Cast", "i", "f", to=FLOAT), node("MatMul", "f w", "y")],
        [value("x", 4)],
        [value("y", "a", "b")],
        {"w": ()},
    )
    assert flops(path) is None
    many = 1 << 40
    path = model(tmp_path, [node("MatMul", "x x", "y")], [value("x", many, many)], [value("y", many, many)])
    assert flops(path) is None and "more than can be counted" in run("info", path)[0]


def test_page():
    page = run("info", DIGITS, env={"COLUMNS": "80"})[0]
    assert max(map(len, page.splitlines())) <= 80
    conv = next(line for line in page.splitlines() if line.startswith("Conv "))
    assert conv.split()[:3] == ["Conv", "2", f"{100 * (18432 + 589824) / 618496:.1f}%"]
    for part in ("618 kFLOP × N", "dense.weight", "51.6%", "9.93 k in 39.7 kB, all float32", "Conv"):
        assert part in page
    info = json.loads(run("info", DIGITS, "--json")[0])
    assert info["largest"][0] == {
        "name": "dense.weight",
        "type": "float32",
        "dims": "[10, 512]",
        "bytes": 20480,
    }


def test_json_keeps_every_name_that_is_text(tmp_path):
    """Marks that a terminal should not be sent are escaped, not lost."""
    name = 'a"\\\u0085\u00ad\u200b\u202e\ufeff\U0001f600\x7f\x01'
    path = model(tmp_path, [node("Relu", "x", "y")], [value("x", 1)], [value("y", 1)])
    proto = onnx.load(path)
    proto.producer_name = name
    path.write_bytes(proto.SerializeToString())
    text = run("info", path, "--json")[0]
    assert json.loads(text)["producer"] == name
    assert "\\u202e" in text and "\u202e" not in text and "\U0001f600" in text
