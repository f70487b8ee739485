# SPDX-License-Identifier: Apache-2.0
"""A model with three operators that nobody has: every one of them is to be named at once."""

from pathlib import Path

from onnx import TensorProto, helper

from net import store


def unsupported(folder: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "fine"),
        helper.make_node("Frobnicate", ["a"], ["b"], "first", domain="com.example"),
        helper.make_node("Blend", ["a", "b"], ["c"], "second", domain="com.example", amount=0.5),
        helper.make_node("NotAnOperator", ["c"], ["y"], "third"),
    ]
    graph = helper.make_graph(
        nodes,
        "unsupported",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.example", 1)]
    store(folder, helper.make_model(graph, ir_version=10, opset_imports=opsets), [])


MODELS = [unsupported]
