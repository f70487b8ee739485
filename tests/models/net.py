# SPDX-License-Identifier: Apache-2.0
"""What the model scripts share: a short way to write graphs, and to store a model with inputs and expected outputs."""

import zlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import AttributeProto, MapProto, SequenceProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


class Net:
    """A graph under construction: op() adds a node and names its outputs, weight() an initializer."""

    def __init__(self, name: str, opset: int, prefix: str = ""):
        self.name, self.opset, self.prefix = name, opset, prefix
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.random = np.random.default_rng(zlib.crc32(name.encode()))

    def op(self, kind: str, *inputs: str, count: int = 1, out: str | None = None, **attributes):
        """Adds a node; returns the name of its output, or a list of `count` names."""
        stem = f"{self.prefix}{kind.lower()}_{len(self.nodes)}"
        names = [out or stem] if count == 1 else [f"{stem}_{k}" for k in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, f"{stem}_node", **attributes))
        return names[0] if count == 1 else names

    def constant(self, value, dtype=np.int64) -> str:
        """A Constant node, as the older exporter writes them."""
        return self.op("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    def initializer(self, name: str, value: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(value, self.prefix + name))
        return self.prefix + name

    def weight(self, name: str, *shape: int, scale: float | None = None, mean: float = 0.0) -> str:
        """A random float32 weight, by default with the deviation that keeps the size of activations."""
        spread = scale if scale is not None else np.sqrt(1.0 / max(1, np.prod(shape[1:])))
        return self.initializer(name, (mean + spread * self.random.standard_normal(shape)).astype(np.float32))

    def input(self, name: str, dtype: int, shape) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value: str, name: str, dtype: int, shape) -> None:
        self.op("Identity", value, out=name)
        self.result(name, dtype, shape)

    def result(self, name: str, dtype: int, shape) -> None:
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def graph(self) -> onnx.GraphProto:
        return helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)

    def model(self, ir_version: int = 8) -> onnx.ModelProto:
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(self.graph(), ir_version=ir_version, opset_imports=opsets)
        model.producer_name = "sardonyx tests"
        onnx.checker.check_model(model, full_check=True)
        return model


def _double_tensor(tensor: TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name)
        )


def _double_graph(graph: onnx.GraphProto) -> None:
    for tensor in graph.initializer:
        _double_tensor(tensor)
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                _double_tensor(attribute.t)
            elif attribute.type == AttributeProto.GRAPH:
                _double_graph(attribute.g)
            elif (node.op_type, attribute.name, attribute.i) == ("Cast", "to", TensorProto.FLOAT):
                attribute.i = TensorProto.DOUBLE


def by_float64(model: onnx.ModelProto, feeds: dict) -> list:
    """Outputs by onnx's reference evaluator with every float32 made a float64, rounded to float32 at the end."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    _double_graph(wide.graph)
    feeds = {name: x.astype(np.float64) if x.dtype == np.float32 else x for name, x in feeds.items()}

    def narrow(value):
        if isinstance(value, list):
            return [narrow(item) for item in value]
        value = np.asarray(value)
        return value.astype(np.float32) if value.dtype == np.float64 else value

    return [narrow(value) for value in ReferenceEvaluator(wide).run(None, feeds)]


def by_onnxruntime(model: onnx.ModelProto, feeds: dict) -> list:
    """Outputs by onnxruntime with its optimisations off."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def _map_proto(entries: dict) -> MapProto:
    """Keys beside one tensor that holds all the values."""
    proto = MapProto()
    keys = list(entries)
    if isinstance(keys[0], str):
        proto.key_type = TensorProto.STRING
        proto.string_keys.extend(key.encode() for key in keys)
    else:
        proto.key_type = TensorProto.INT64
        proto.keys.extend(keys)
    proto.values.elem_type = SequenceProto.TENSOR
    proto.values.tensor_values.append(numpy_helper.from_array(np.array(list(entries.values()), np.float32)))
    return proto


def proto_of(value, name: str) -> TensorProto | SequenceProto:
    """A tensor, a sequence of tensors or a sequence of maps as the message that test data is stored in."""
    if not isinstance(value, list):
        return numpy_helper.from_array(np.asarray(value), name)
    proto = SequenceProto(name=name)
    if value and isinstance(value[0], dict):
        proto.elem_type = SequenceProto.MAP
        proto.map_values.extend(_map_proto(entries) for entries in value)
    else:
        proto.elem_type = SequenceProto.TENSOR
        proto.tensor_values.extend(numpy_helper.from_array(np.asarray(item)) for item in value)
    return proto


def _agree(name: str, ours, theirs) -> None:
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(a, list):
            _agree(name, a, b)
        elif np.asarray(a).dtype.kind == "f":
            scale = np.abs(b).max(initial=1e-30)
            error = np.abs(a - b).max(initial=0) / scale
            if not error < 2e-5:
                raise ValueError(f"{name}: onnx and onnxruntime differ by {error:.2g} of the largest value")
        elif not np.array_equal(a, b):
            raise ValueError(f"{name}: onnx and onnxruntime give different values")


def store(folder: Path, model: onnx.ModelProto, cases: list[dict], float64: bool = True) -> None:
    """Writes FOLDER/model.onnx, and for each case its inputs and expected outputs as test_data_set_K."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for number, feeds in enumerate(cases):
        expected = by_onnxruntime(model, feeds)
        if float64:
            exact = by_float64(model, feeds)
            _agree(folder.name, exact, expected)
            expected = exact
        data = folder / f"test_data_set_{number}"
        data.mkdir(exist_ok=True)
        for kind, values, infos in (
            ("input", [feeds[info.name] for info in model.graph.input], model.graph.input),
            ("output", expected, model.graph.output),
        ):
            for k, (value, info) in enumerate(zip(values, infos, strict=True)):
                (data / f"{kind}_{k}.pb").write_bytes(proto_of(value, info.name).SerializeToString())
    source = f"onnx {onnx.__version__} reference evaluator in float64" if float64 else "onnxruntime "
    source += "" if float64 else f"{onnxruntime.__version__} with optimisations off"
    if cases:
        (folder / "source.txt").write_text(f"Expected outputs: {source}.\n")
