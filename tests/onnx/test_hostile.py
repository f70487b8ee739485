# SPDX-License-Identifier: Apache-2.0
"""Hostile files: each gets its message, within a memory and a time limit, and never a signal."""

import itertools
import os
import random
import resource
import threading

import numpy as np
import pytest
from hostile import CASES
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper
from probe import run_jobs

LIMITED = not os.environ.get("SARDONYX_SANITIZED")  # sanitizers map terabytes


def limit():
    if LIMITED:
        resource.setrlimit(resource.RLIMIT_AS, (1500 << 20, 1500 << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))


def build(folder, files):
    for name, content in files.items():
        path = folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content(path)
    return folder / next(iter(files))


def test_there_are_enough():
    assert len(CASES) >= 150


@pytest.mark.parametrize("name", CASES)
def test_hostile_file(name, tmp_path):
    job, files, expected = CASES[name]
    path = build(tmp_path, files)
    (answer,) = run_jobs([(*job.split("\t"), path, tmp_path / "out", "")], timeout=30, preexec_fn=limit)
    assert expected in answer


def linked_model(folder, location):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    path = folder / "m.onnx"
    path.write_bytes(ModelProto(graph=GraphProto(initializer=[tensor])).SerializeToString())
    (folder / "sub").mkdir()
    (folder / "sub" / "w.bin").write_bytes(bytes(8))
    return path


@pytest.mark.parametrize(
    "location", ["file", "chain", "absolute", "folder/w.bin", "./folder//../folder/w.bin"]
)
def test_links_that_stay_in_the_folder(location, tmp_path):
    path = linked_model(tmp_path, location)
    (tmp_path / "file").symlink_to("sub/w.bin")
    (tmp_path / "chain").symlink_to("file")
    (tmp_path / "absolute").symlink_to(tmp_path / "sub" / "w.bin")
    (tmp_path / "folder").symlink_to("sub")
    (answer,) = run_jobs([("tensors", path)])
    assert answer == "ok" if ".." not in location else "climbs out" in answer


def test_a_link_that_changes_while_it_is_read(tmp_path):
    """Never a file outside, however the change falls between looking and opening."""
    folder, outside = tmp_path / "in", tmp_path / "secret"
    folder.mkdir()
    outside.write_bytes(bytes(5))
    path = linked_model(folder, "l")
    ways, done = [folder / "sub" / "w.bin", outside], threading.Event()

    def exchange():
        for i in itertools.cycle((0, 1)):
            (folder / "new").symlink_to(ways[i])
            (folder / "new").rename(folder / "l")
            if done.is_set():
                return

    thread = threading.Thread(target=exchange)
    thread.start()
    answers = run_jobs([("tensors", path)] * 3000)
    done.set()
    thread.join()
    assert {a if a == "ok" else a.split("external data ")[1].split("|")[0] for a in answers} <= {
        "ok",
        "'l' leaves the model's folder through a symbolic link",
        "'l': No such file or directory",
    }


def small_model():
    body = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["z"])],
        "body",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    )
    graph = helper.make_graph(
        [
            helper.make_node(
                "Conv", ["x", "w"], ["y"], kernel_shape=[1, 1], auto_pad="SAME_UPPER", name="conv"
            ),
            helper.make_node("If", ["c"], ["o"], then_branch=body, else_branch=body),
            helper.make_node(
                "Constant", [], ["c"], value=helper.make_tensor("", TensorProto.BOOL, [1], [True])
            ),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 4, 4])],
        [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)],
        [
            helper.make_tensor("w", TensorProto.FLOAT, [3, 2, 1, 1], range(6)),
            helper.make_tensor("i", TensorProto.INT4, [3], [1, 2, 3]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], producer_name="tests")
    helper.set_model_props(model, {"key": "value"})
    return model.SerializeToString()


@pytest.mark.parametrize("kind", ["cut", "flipped"])
def test_damaged_models(kind, tmp_path):
    """1,000 damaged files: an error, or a model that is written back byte for byte."""
    data, rng = small_model(), random.Random(7)
    jobs = []
    for i in range(1000):
        damaged = bytearray(data)
        if kind == "cut":
            del damaged[rng.randrange(len(data)) :]
        else:
            for _ in range(rng.choice([1, 1, 1, 2, 8])):
                damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path = tmp_path / f"{i}.onnx"
        path.write_bytes(damaged)
        jobs += [("copy", path), ("tensors", path), ("text", path)]
    answers = run_jobs(jobs, timeout=120, preexec_fn=limit)
    assert len(answers) == len(jobs)
    assert not [a for a in answers if "differs at byte" in a]
    reasons = {a.split(": ", 1)[1][:20] for a in answers if a != "ok" and ": " in a}
    assert len(reasons) > 5


def test_damaged_values(tmp_path):
    rng, jobs = random.Random(3), []
    tensor = numpy_helper.from_array(np.arange(12, dtype=np.int16).reshape(3, 4), "t").SerializeToString()
    for i in range(300):
        damaged = bytearray(tensor)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path = tmp_path / f"{i}.pb"
        path.write_bytes(damaged)
        jobs.append(("pb", "tensor", path, tmp_path / "out"))
    assert len(run_jobs(jobs, preexec_fn=limit)) == 300
