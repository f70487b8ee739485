# SPDX-License-Identifier: Apache-2.0
"""The verbs that edit models: what they change, what they leave, and that onnxruntime runs the result."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from probe import msg, num

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SARDONYX", ROOT / "build/sardonyx"))
UNKNOWN = num(500, 7) + msg(501, "kept")


def sardonyx(*words, status=0, stdin=None):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, input=stdin, timeout=60)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout


def refused(*words, status=3):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, timeout=60)
    assert done.returncode == status
    return done.stderr.decode()


@pytest.fixture
def path(tmp_path):
    body = helper.make_graph(
        [helper.make_node("Add", ["h", "w"], ["inner"])],
        "body",
        [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, None)],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["h"], name="first"),
            helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body, name="second"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 512])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 512])],
        [
            numpy_helper.from_array(np.arange(512, dtype=np.float32), "w"),
            helper.make_tensor("c", TensorProto.BOOL, [], [True]),
        ],
        value_info=[helper.make_tensor_value_info("h", TensorProto.FLOAT, ["N", 512])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    helper.set_model_props(model, {"author": "nobody", "draft": "yes"})
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString() + UNKNOWN)
    return path


def run(path, name="x"):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {name: np.ones((2, 512), np.float32)})[0]


EXPECTED = np.ones((2, 512), np.float32) + np.arange(512, dtype=np.float32)


def test_copy_keeps_every_byte(path, tmp_path):
    sardonyx("copy", path, "-o", tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == path.read_bytes()
    assert sardonyx("copy", "-", "-o", "-", stdin=path.read_bytes()) == path.read_bytes()


def test_text_and_parse(path, tmp_path):
    text = sardonyx("text", path)
    sardonyx("parse", "-", "-o", tmp_path / "out.onnx", stdin=text)
    assert onnx.load(tmp_path / "out.onnx") == onnx.load(path)
    assert (tmp_path / "out.onnx").read_bytes().endswith(UNKNOWN) or UNKNOWN in (
        tmp_path / "out.onnx"
    ).read_bytes()
    assert "line 1, column 1" in refused("parse", path, "-o", tmp_path / "x")


def test_python(path, tmp_path):
    script, out = tmp_path / "m.py", tmp_path / "out.onnx"
    sardonyx("python", path, "-o", script)
    assert (tmp_path / "m_tensors" / "w.npy").exists()
    subprocess.run([sys.executable, script, out], check=True)
    assert out.read_bytes() == path.read_bytes()  # unknown fields too


def test_python_takes_data_files_along(path, tmp_path):
    packed, script = tmp_path / "packed" / "m.onnx", tmp_path / "script" / "m.py"
    out = tmp_path / "out" / "m.onnx"
    for file in (packed, script, out):
        file.parent.mkdir()
    sardonyx("external", path, "--pack", "data/w.bin", "-o", packed)
    sardonyx("python", packed, "-o", script)
    subprocess.run([sys.executable, script, out], check=True)
    assert onnx.load(out, load_external_data=False) == onnx.load(packed, load_external_data=False)
    assert np.array_equal(run(out), EXPECTED)


def test_rename(path, tmp_path):
    out = tmp_path / "out.onnx"
    sardonyx(
        "rename",
        path,
        "--value",
        "h=hidden",
        "--input",
        "x=image",
        "--node",
        "first=relu",
        "--dim",
        "N=batch",
        "-o",
        out,
    )
    model, was = onnx.load(out), onnx.load(path)
    assert np.array_equal(run(out, "image"), EXPECTED)
    text = str(was)
    for old, new in (("h", "hidden"), ("x", "image"), ("first", "relu"), ("N", "batch")):
        text = text.replace(f'"{old}"', f'"{new}"')
    assert str(model) == text
    assert out.read_bytes().endswith(UNKNOWN)
    assert "has no value 'nothing'" in refused("rename", path, "--value", "nothing=x", "-o", out)
    assert "has a value 'w' already" in refused("rename", path, "--value", "h=w", "-o", out)
    assert "has no input 'h'" in refused("rename", path, "--input", "h=z", "-o", out)


def test_rename_in_place_changes_only_the_names(path):
    was, size = path.read_bytes(), path.stat().st_ino
    sardonyx("rename", path, "--value", "h=k", "--in-place")
    now = path.read_bytes()
    changed = [i for i in range(len(was)) if was[i] != now[i]]
    assert len(now) == len(was) and path.stat().st_ino == size
    assert {(was[i], now[i]) for i in changed} == {(ord("h"), ord("k"))} and len(changed) == 4
    assert np.array_equal(run(path), EXPECTED)


def test_metadata(path, tmp_path):
    out = tmp_path / "out.onnx"
    assert json.loads(sardonyx("metadata", path, "--json")) == {"author": "nobody", "draft": "yes"}
    assert sardonyx("metadata", path, "--get", "author") == b"nobody\n"
    sardonyx("metadata", path, "--set", "author=me", "--set", "new=a=b", "--delete", "draft", "-o", out)
    expected = onnx.load(path)
    del expected.metadata_props[:]
    helper.set_model_props(expected, {"author": "me", "new": "a=b"})
    assert onnx.load(out) == expected
    assert out.read_bytes().endswith(UNKNOWN)
    refused("metadata", path, "--get", "nothing", status=1)
    refused("metadata", path, "--set", "a=b", status=2)


def test_external(path, tmp_path):
    packed, split, inside = (tmp_path / folder / "m.onnx" for folder in ("packed", "split", "inside"))
    for model in (packed, split, inside):
        model.parent.mkdir()
    sardonyx("external", path, "--pack", "data/w.bin", "--checksum", "-o", packed)
    assert (packed.parent / "data/w.bin").read_bytes() == np.arange(512, dtype=np.float32).tobytes()
    assert np.array_equal(run(packed), EXPECTED)
    sardonyx("external", packed, "--verify")
    sardonyx("external", packed, "--split", "-o", split)
    assert (split.parent / "w.bin").exists() and np.array_equal(run(split), EXPECTED)
    sardonyx("external", split, "--inside", "-o", inside)
    assert onnx.load(inside) == onnx.load(path)
    copy = tmp_path / "copy.onnx"
    sardonyx("copy", packed, "-o", copy)
    assert copy.read_bytes() == packed.read_bytes() and (tmp_path / "data/w.bin").exists()
    with (packed.parent / "data/w.bin").open("r+b") as file:
        file.write(b"x")
    assert json.loads(sardonyx("external", packed, "--json", "--verify", status=1))["files"][0][
        "state"
    ].startswith("the checksum is")


def test_tensors(path, tmp_path):
    rows = json.loads(sardonyx("tensors", path, "--json", "--statistics"))["tensors"]
    w = next(row for row in rows if row["name"] == "w")
    assert (w["path"], w["type"], w["dims"], w["bytes"]) == ("graph.initializer[0]", "float32", "[512]", 2048)
    assert (w["min"], w["max"], w["mean"], w["zeros"]) == (0, 511, 255.5, 1)
    assert w["deviation"] == pytest.approx(np.arange(512).std(), rel=1e-12)
    array, out = tmp_path / "w.npy", tmp_path / "out.onnx"
    sardonyx("tensors", path, "--extract", "w", "-o", array)
    assert np.array_equal(np.load(array), np.arange(512, dtype=np.float32))
    np.save(array, np.full(512, 2, np.float32))
    sardonyx("tensors", path, "--replace", f"w={array}", "-o", out)
    assert np.array_equal(run(out), np.full((2, 512), 3, np.float32))
    assert len(out.read_bytes()) == len(path.read_bytes())
    np.save(array, np.ones(3, np.float32))
    assert "is float32[512], the file has float32[3]" in refused(
        "tensors", path, "--replace", f"w={array}", "-o", out
    )


def test_tensors_refuses_what_cannot_be_right(path, tmp_path):
    model = onnx.load(path)
    model.graph.initializer[0].raw_data = model.graph.initializer[0].raw_data[:-1]
    onnx.save(model, tmp_path / "bad.onnx")
    assert "1 of 2 tensors cannot be right" in refused("tensors", tmp_path / "bad.onnx")
    sardonyx("info", tmp_path / "bad.onnx")  # a broken tensor does not stop it


def test_info(path):
    info = json.loads(sardonyx("info", path, "--json"))
    assert info["ir_version"] == 10 and info["opsets"] == {"": 21}
    assert info["inputs"] == [{"name": "x", "type": "float32", "shape": ["N", 512]}]
    assert info["outputs"] == [{"name": "y", "type": "float32", "shape": ["N", 512]}]
    assert info["nodes"] == 4 and info["operators"] == {"Add": 2, "If": 1, "Relu": 1}
    assert info["parameters"] == 513 and info["parameter_bytes"] == 2049
    assert info["metadata"] == {"author": "nobody", "draft": "yes"} and "flops" in info
    assert "If" in sardonyx("info", path).decode()
