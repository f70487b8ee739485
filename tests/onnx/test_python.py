# SPDX-License-Identifier: Apache-2.0
"""`sardonyx python`: running the script gives the same bytes, whatever the model holds; layers become loops."""

import random
import runpy
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from probe import msg, num, run_job, run_jobs
from test_wire import UNUSUAL, make_rich_model


def rebuilt(folder, data):
    """What the script of a model makes, and the script."""
    path, script = folder / "m.onnx", folder / "m.py"
    path.write_bytes(data)
    assert run_job("python", path, script) == "ok"
    return runpy.run_path(str(script))["model"]().SerializeToString(), script.read_text()


def rewritten(data):
    """The bytes that the package itself writes for a file."""
    return onnx.ModelProto.FromString(data).SerializeToString()


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_files(name, tmp_path):
    assert rebuilt(tmp_path, UNUSUAL[name])[0] == rewritten(UNUSUAL[name])


def messages_of(message):
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in value if field.is_repeated else [value]:
                yield from messages_of(child)


def rich_model():
    """Every field of the schema, the alternatives of types and dimensions too."""
    model = make_rich_model()
    tensor = {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_param": "N", "denotation": "D"}, {}]}}}
    types = [
        {"sequence_type": {"elem_type": tensor}},
        {"map_type": {"key_type": 7, "value_type": tensor}},
        {"optional_type": {"elem_type": tensor}},
        {"opaque_type": {"domain": "d", "name": "n"}},
        {"sparse_tensor_type": tensor["tensor_type"], "denotation": "IMAGE"},
        tensor,
    ]
    model.graph.value_info.extend(onnx.ValueInfoProto(name=f"v{i}", type=t) for i, t in enumerate(types))
    return model


def test_every_field(tmp_path):
    data = rich_model().SerializeToString()
    assert rebuilt(tmp_path, data)[0] == data


def test_unknown_fields_in_every_message(tmp_path):
    model, kinds = rich_model(), set()
    for i, message in enumerate(list(messages_of(model))):
        message.MergeFromString(num(500, i) + msg(501, b"\xff\x00kept"))
        kinds.add(message.DESCRIPTOR.full_name)
    assert len(kinds) >= 28
    data = model.SerializeToString()
    assert rebuilt(tmp_path, data)[0] == data


def test_texts_that_are_not_utf8(tmp_path):
    """In every text field of every message."""
    model, fields = rich_model(), set()
    for message in list(messages_of(model)):
        for field in message.DESCRIPTOR.fields:
            other = field.containing_oneof and message.WhichOneof(field.containing_oneof.name) != field.name
            if field.type != field.TYPE_STRING or other:
                continue
            message.MergeFromString(msg(field.number, b"a\xff\xc0\x80\xed\xa0\x80"))
            fields.add(field.full_name)
    assert len(fields) >= 40
    data = model.SerializeToString()
    assert rebuilt(tmp_path, data)[0] == data


def test_oneofs_that_are_not_utf8(tmp_path):
    dim = msg(2, msg(1, num(1, 1), msg(2, msg(1, msg(2, b"\xfe")), msg(1, num(1, 3)))))
    data = msg(7, msg(11, msg(1, "x"), dim))
    assert rebuilt(tmp_path, data)[0] == rewritten(data)


def test_numbers_that_python_cannot_say(tmp_path):
    nans = np.array([0x7F800001, 0xFFC00000, 0x7FC00000, 0x80000000, 0x7F800000], "<u4")
    wide = np.array([0x7FF0000000000001, 0xFFF8000000000000, 0x7FF8000000000000, 1 << 63], "<u8")
    attribute = msg(5, msg(1, "a"), b"\x15" + nans[:1].tobytes(), msg(7, nans.tobytes()), num(20, 99))
    tensor = msg(5, num(1, 5), num(2, 1), msg(4, nans.tobytes()), msg(8, "t"), num(14, 7))
    double = msg(5, num(1, 4), num(2, 11), msg(8, "d"), msg(10, wide.tobytes()))
    raw = msg(5, num(1, 5), num(2, 1), msg(8, "r"), msg(9, nans.tobytes()))
    data = msg(7, msg(1, msg(4, "Op"), attribute), tensor, double, raw)
    assert rebuilt(tmp_path, data)[0] == rewritten(data)


def test_floats_are_exact(tmp_path):
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 1 << 32, 40, dtype=np.uint64).astype(np.uint32)
    floats = bits.view(np.float32)[~np.isnan(bits.view(np.float32))]
    doubles = rng.integers(0, 1 << 63, 40).view(np.float64)
    doubles = doubles[~np.isnan(doubles)]
    graph = onnx.GraphProto(
        initializer=[
            numpy_helper.from_array(floats, "f"),
            numpy_helper.from_array(doubles, "d"),
            helper.make_tensor("tf", TensorProto.FLOAT, floats.shape, floats),
            helper.make_tensor("td", TensorProto.DOUBLE, doubles.shape, doubles),
            numpy_helper.from_array(np.array([-0.0, 0.0, 1.0, 1e20, -1e-45], np.float32), "z"),
        ],
        node=[helper.make_node("Op", [], [], f=-0.0, floats=floats.tolist())],
    )
    data = onnx.ModelProto(graph=graph).SerializeToString()
    assert rebuilt(tmp_path, data)[0] == data


def test_large_tensors_lie_beside_it(tmp_path):
    tensors = [numpy_helper.from_array(np.arange(500, dtype=t), f"w/{t}") for t in ("f4", "i8", "f2", "u1")]
    tensors.append(helper.make_tensor("w/f4", TensorProto.FLOAT, [100], np.arange(100)))
    tensors.append(helper.make_tensor("s", TensorProto.STRING, [100], [b"\xff"] * 100))
    data = onnx.ModelProto(graph=onnx.GraphProto(initializer=tensors)).SerializeToString()
    again, script = rebuilt(tmp_path, data)
    assert again == data and len(list((tmp_path / "m.py.d").iterdir())) == 5 and "w_f4-2.npy" in script
    assert np.array_equal(np.load(tmp_path / "m.py.d" / "w_f4.npy"), np.arange(500, dtype="f4"))


def transformer(layers, names):
    """A model shaped like the encoders that exporters write, with their ways to name things."""
    nodes, weights = [], []
    last = "embedded"
    for i in range(layers):
        scope = names["scope"](i)
        for k, op in enumerate(
            ("MatMul", "Add", "Softmax", "Mul", "Erf", "Sub", "Div", "LayerNormalization")
        ):
            out = names["value"](i, k, op)
            inputs = [last] if op in ("Softmax", "Erf") else [last, names["weight"](i, k)]
            if len(inputs) > 1:
                weights.append(helper.make_tensor(inputs[1], TensorProto.FLOAT, [2], [1, k]))
            node = helper.make_node(op, inputs, [out], name=f"{scope}/{op}")
            if op == "Softmax":
                node.attribute.append(helper.make_attribute("axis", -1))
            nodes.append(node)
            last = out
    graph = onnx.GraphProto(name="g", node=nodes, initializer=weights)
    return onnx.ModelProto(graph=graph, ir_version=10).SerializeToString()


NAMINGS = {
    "scopes": {
        "scope": lambda i: f"/m/encoder/layer.{i}",
        "value": lambda i, k, op: f"/m/encoder/layer.{i}/{op}_output_0",
        "weight": lambda i, k: f"onnx::MatMul_{1432 + 17 * i + k}",
    },
    "counters": {
        "scope": lambda i: f"layer{11 - i}",
        "value": lambda i, k, op: f"val_{100 + 8 * i + k}",
        "weight": lambda i, k: f'w{{{i}}}\\"{k}\t\u2028',
    },
    "first without a number": {
        "scope": lambda i: f"node{'_' + str(i) if i else ''}",
        "value": lambda i, k, op: f"{op.lower()}{'_' + str(i) if i else ''}",
        "weight": lambda i, k: f"p_{i}.{k}",
    },
    "no rule": {
        "scope": lambda i: f"stage_{'redgreenblueblackwhite'[i : i + 3]}{i * i}",
        "value": lambda i, k, op: f"stage_{'redgreenblueblackwhite'[i : i + 3]}{i * i}/{op}:0",
        "weight": lambda i, k: f"{k}.{i}",
    },
    "leading zeros": {
        "scope": lambda i: f"l{i:03}",
        "value": lambda i, k, op: f"l{i:03}_{k}",
        "weight": lambda i, k: f"{10**15 + i}_{k}",
    },
}

LINES = {"no rule": 55, "leading zeros": 110}  # tables, and names that are no numbers


@pytest.mark.parametrize("naming", NAMINGS)
def test_layers_become_loops(naming, tmp_path):
    data = transformer(12, NAMINGS[naming])
    again, script = rebuilt(tmp_path, data)
    assert again == data
    body = script[script.index("def main()") : script.index("def model()")].splitlines()
    assert "    for " in script and len(body) < LINES.get(naming, 32)  # for 96 nodes and 72 initializers


def test_loops_in_random_graphs_are_exact(tmp_path):
    """Graphs that repeat themselves, with irregular pieces in between and names that are hard to write."""
    rng = random.Random(11)
    jobs, expected = [], []
    for case in range(60):
        nodes = []
        pieces = [
            "a{}",
            "b.{}",
            "{{{}}}",
            '"{}"',
            "\\{}",
            "{}\n",
            "x",
            "{0}_{0}",
            "0{}",
            "é{}",
            "-{}",
            "{}\x01",
        ]
        for _ in range(rng.randrange(1, 5)):
            body = [
                (
                    rng.choice(["Add", "Mul", "Relu"]),
                    rng.choice(pieces),
                    rng.choice(pieces),
                    rng.randrange(4),
                    rng.randrange(50),
                )
                for _ in range(rng.randrange(1, 7))
            ]
            odd = rng.choice([None, 0, 1, 5])
            for i in range(rng.randrange(2, 12)):
                for op, a, b, step, start in body:
                    name = "odd" if i == odd and rng.random() < 0.4 else a.format(i)
                    node = helper.make_node(
                        op, [name, b.format(start + step * i)], [a.format(start - step * i)]
                    )
                    node.attribute.append(helper.make_attribute("k", rng.choice([start * i, 7])))
                    node.name = rng.choice(["", str(rng.random()), a.format(i * i)])
                    nodes.append(node)
        data = onnx.ModelProto(graph=onnx.GraphProto(node=nodes)).SerializeToString()
        path = tmp_path / f"{case}.onnx"
        path.write_bytes(data)
        jobs.append(("python", path, tmp_path / f"{case}.py"))
        expected.append(data)
    assert set(run_jobs(jobs)) == {"ok"}
    loops = 0
    for (_, _, script), data in zip(jobs, expected, strict=True):
        assert runpy.run_path(str(script))["model"]().SerializeToString() == data
        loops += Path(script).read_text().count("    for i")
    assert loops > 30


def test_equal_bodies_are_written_once(tmp_path):
    body = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "b", [], [])
    nodes = [helper.make_node("If", ["c"], [f"o{i}"], then_branch=body, else_branch=body) for i in range(5)]
    data = onnx.ModelProto(graph=onnx.GraphProto(node=nodes)).SerializeToString()
    again, script = rebuilt(tmp_path, data)
    assert again == data and script.count("def body_") == 1 and "for i in range(5):" in script
