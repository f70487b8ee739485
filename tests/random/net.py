# SPDX-License-Identifier: Apache-2.0
"""A model under construction: nodes, fed values, constants; written as protobuf without onnx.helper, which is slow."""

import copy

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, TypeProto, numpy_helper
from schema import number_of

# Sums and functions that round in more than the last place, and sums that may cancel.
ROUGH = set("Sigmoid Tanh Erf Softmax LogSoftmax ReduceMean ReduceSum MatMul Gemm Conv Loop Scan".split())
CANCELLING = {"Add", "Sub"}
PACKED = {"int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"}


def fill_tensor(proto: TensorProto, array: np.ndarray) -> None:
    if array.dtype == object or array.dtype.kind in "US":
        proto.data_type = TensorProto.STRING
        proto.dims.extend(array.shape)
        proto.string_data.extend(str(s).encode() for s in array.reshape(-1))
    elif array.dtype.name in PACKED:
        proto.CopyFrom(numpy_helper.from_array(array, proto.name))
    else:
        proto.data_type = number_of(array.dtype)
        proto.dims.extend(array.shape)
        proto.raw_data = array.tobytes()


def fill_attribute(proto: AttributeProto, name: str, value, kind: int | None = None) -> None:
    proto.name = name
    if isinstance(value, np.ndarray):
        proto.type = AttributeProto.TENSOR
        fill_tensor(proto.t, value)
    elif isinstance(value, GraphProto):
        proto.type = AttributeProto.GRAPH
        proto.g.CopyFrom(value)
    elif isinstance(value, TypeProto):
        proto.type = AttributeProto.TYPE_PROTO
        proto.tp.CopyFrom(value)
    elif isinstance(value, float):
        proto.type, proto.f = AttributeProto.FLOAT, value
    elif isinstance(value, int):
        proto.type, proto.i = AttributeProto.INT, value
    elif isinstance(value, str):
        proto.type, proto.s = AttributeProto.STRING, value.encode()
    else:
        _fill_list(proto, list(value), kind)


def _fill_list(proto: AttributeProto, values: list, kind: int | None) -> None:
    if not values:
        proto.type = kind or AttributeProto.INTS
    elif isinstance(values[0], str):
        proto.type = AttributeProto.STRINGS
        proto.strings.extend(v.encode() for v in values)
    elif kind == AttributeProto.FLOATS or isinstance(values[0], float):
        proto.type = AttributeProto.FLOATS
        proto.floats.extend(values)
    else:
        proto.type = AttributeProto.INTS
        proto.ints.extend(map(int, values))


class Net:
    """Values are names. `arrays` are what is fed, `constants` what the model holds."""

    def __init__(self, opset: int, others: dict[str, int] | None = None, prefix: str = "") -> None:
        self.opset, self.others, self.prefix = opset, others or {}, prefix
        self.nodes: list[tuple] = []  # (op, domain, inputs, outputs, attributes, kinds of attributes)
        self.feeds: dict[str, np.ndarray] = {}
        self.shapes: dict[str, list | None] = {}  # declared: numbers, names, "" or None for no shape at all
        self.constants: dict[str, np.ndarray] = {}
        self.outputs: list[str] = []
        self.inside: Net | None = None  # what stands in the branches of our only node
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{self.prefix}{stem}{self.count}"

    def feed(self, array: np.ndarray, shape: list | None | str = "fixed") -> str:
        array = array if isinstance(array, list) else np.asarray(array)
        name = self.name("x")
        self.feeds[name] = array
        self.shapes[name] = list(array.shape) if shape == "fixed" else shape
        return name

    def constant(self, array: np.ndarray) -> str:
        name = self.name("c")
        self.constants[name] = np.asarray(array)
        return name

    def node(self, op: str, inputs: list[str], attrs: dict | None = None, outputs=1, domain="", kinds=None):
        """The name of the result, or of all where `outputs` is not 1; a list of flags leaves some unnamed."""
        wanted = [True] * outputs if isinstance(outputs, int) else outputs
        names = [self.name("v") if w else "" for w in wanted]
        self.nodes.append((op, domain, list(inputs), names, attrs or {}, kinds or {}))
        return names[0] if outputs == 1 else names

    def in_a_branch(self) -> "Net":
        """The same as the branches of an If, where inference forgives what may never run."""
        net = Net(self.opset, self.others, self.prefix)
        net.feeds, net.shapes, net.count = dict(self.feeds), dict(self.shapes), self.count
        net.constants, inside = self.constants, copy.copy(self)
        inside.constants = {}
        body = inside.body([], self.outputs)
        outputs = [True] * len(self.outputs)
        condition = net.feed(np.array(True))
        net.outputs = net.node("If", [condition], {"then_branch": body, "else_branch": body}, outputs)
        net.inside = self
        return net

    def nudged(self, steps) -> "Net":
        """The same with what `steps` says done to results: pairs of an operator and a number, for the operator that
        made one and its name."""
        if self.inside:
            return self.inside.nudged(steps).in_a_branch()
        net = copy.copy(self)
        net.nodes, net.constants = [], dict(self.constants)
        for op, domain, inputs, outputs, attrs, kinds in self.nodes:
            todo = {name: steps(op, name) for name in outputs if name and not domain}
            exact = [f"{name}_exact" if todo.get(name) else name for name in outputs]
            net.nodes.append((op, domain, inputs, exact, attrs, kinds))
            for name, pairs in todo.items():
                made = f"{name}_exact"
                for k, (step, number) in enumerate(pairs):
                    net.constants[f"{name}_step{k}"] = np.array(number, np.float32)
                    result = name if k + 1 == len(pairs) else f"{name}_stepped{k}"
                    net.nodes.append((step, "", [made, f"{name}_step{k}"], [result], {}, {}))
                    made = result
        return net

    def _fill_nodes(self, graph: GraphProto) -> None:
        for op, domain, inputs, outputs, attrs, kinds in self.nodes:
            n = graph.node.add()
            n.op_type = op
            if domain:
                n.domain = domain
            n.input.extend(inputs)
            n.output.extend(outputs)
            for key, value in attrs.items():
                fill_attribute(n.attribute.add(), key, value, kinds.get(key))

    def body(self, inputs: list[tuple], outputs: list[str], shapes: dict | None = None) -> GraphProto:
        """As the body of a control-flow node: inputs with element types and perhaps shapes."""
        graph = GraphProto(name="body")
        for name, number, *shape in inputs:
            info = graph.input.add()
            info.name = name
            info.type.tensor_type.elem_type = number
            if shape:
                self._declare_shape(info.type.tensor_type, shape[0])
        for name in outputs:
            info = graph.output.add()
            info.name = name
            if shapes and name in shapes:
                info.type.tensor_type.elem_type = 1
                self._declare_shape(info.type.tensor_type, shapes[name])
        self._fill_constants(graph, self.constants)
        self._fill_nodes(graph)
        return graph

    @staticmethod
    def _fill_constants(graph: GraphProto, constants: dict[str, np.ndarray]) -> None:
        for name, array in constants.items():
            tensor = graph.initializer.add()
            tensor.name = name
            fill_tensor(tensor, array)

    def model(self, constants: dict[str, np.ndarray] | None = None) -> ModelProto:
        model = ModelProto(ir_version=10 if self.opset < 25 else 13)
        for domain, version in {"": self.opset, **self.others}.items():
            entry = model.opset_import.add()
            entry.domain, entry.version = domain, version
        graph = model.graph
        graph.name = "g"
        for name, array in self.feeds.items():
            info = graph.input.add()
            info.name = name
            self._declare(info.type, array, self.shapes.get(name))
        for name in self.outputs:
            graph.output.add().name = name
        self._fill_constants(graph, constants or self.constants)
        self._fill_nodes(graph)
        return model

    @staticmethod
    def _declare(proto: TypeProto, array, shape: list | None) -> None:
        if isinstance(array, list):
            proto.sequence_type.elem_type.tensor_type.elem_type = number_of(array[0].dtype) if array else 1
            return
        tensor = proto.tensor_type
        tensor.elem_type = number_of(array.dtype)
        if shape is not None:
            Net._declare_shape(tensor, shape)

    @staticmethod
    def _declare_shape(tensor, shape) -> None:
        tensor.shape.SetInParent()
        for size in shape:
            dim = tensor.shape.dim.add()
            if isinstance(size, str):
                if size:
                    dim.dim_param = size
            else:
                dim.dim_value = size
