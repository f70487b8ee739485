# SPDX-License-Identifier: Apache-2.0
"""A tiny BERT-like encoder in the three spellings that exporters produce; batch and sequence are free.

Head size 12 and hidden size 48 are not multiples of the widest vectors.
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper

from net import Net, store

VOCABULARY, POSITIONS, HIDDEN, HEADS, INNER, LAYERS = 97, 64, 48, 4, 96, 2
HEAD = HIDDEN // HEADS
EPSILON = 1e-12
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Encoder:
    """The parts that all spellings share; each spelling says how its operators are written."""

    def __init__(self, name: str, opset: int):
        self.net = Net(name, opset)
        for value in ("input_ids", "attention_mask", "token_type_ids"):
            self.net.input(value, INT64, ["batch", "tokens"])

    def embeddings(self, positions: str) -> str:
        net = self.net
        words = net.op("Gather", net.weight("words", VOCABULARY, HIDDEN, scale=1.0), "input_ids")
        kinds = net.op("Gather", net.weight("kinds", 2, HIDDEN, scale=1.0), "token_type_ids")
        places = net.op("Gather", net.weight("places", POSITIONS, HIDDEN, scale=1.0), positions)
        return net.op("Add", net.op("Add", words, kinds), places)

    def norm_weights(self, name: str) -> tuple[str, str]:
        return (
            self.net.weight(f"{name}.gamma", HIDDEN, scale=0.2, mean=1.0),
            self.net.weight(f"{name}.beta", HIDDEN, scale=0.1),
        )

    def norm(self, x: str, name: str) -> str:
        return self.net.op("LayerNormalization", x, *self.norm_weights(name), axis=-1, epsilon=EPSILON)

    def linear(self, x: str, name: str, inputs: int, outputs: int) -> str:
        # The weight lies as MatMul wants it, input by output.
        weight = self.net.weight(f"{name}.weight", inputs, outputs, scale=1 / np.sqrt(inputs))
        product = self.net.op("MatMul", x, weight)
        return self.net.op("Add", product, self.net.weight(f"{name}.bias", outputs, scale=0.1))

    def gelu(self, x: str) -> str:
        net = self.net
        half = net.op("Mul", x, net.constant(0.5, np.float32))
        inside = net.op("Erf", net.op("Div", x, net.constant(np.sqrt(2), np.float32)))
        return net.op("Mul", half, net.op("Add", inside, net.constant(1, np.float32)))

    def layer(self, x: str, name: str) -> str:
        x = self.norm(self.net.op("Add", self.attention(x, name), x), f"{name}.norm1")
        y = self.linear(
            self.gelu(self.linear(x, f"{name}.inner", HIDDEN, INNER)), f"{name}.outer", INNER, HIDDEN
        )
        return self.norm(self.net.op("Add", y, x), f"{name}.norm2")

    def attention(self, x: str, name: str) -> str:
        raise NotImplementedError

    def finish(self, folder: Path, x: str, ir_version: int) -> None:
        for number in range(LAYERS):
            x = self.layer(x, f"layer{number}")
        self.net.output(x, "output", FLOAT, ["batch", "tokens", HIDDEN])
        store(folder, self.net.model(ir_version), [tokens(1, 2, 9), tokens(2, 1, 16), tokens(3, 3, 5)])


def tokens(seed: int, batch: int, length: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    mask = (np.arange(length) < random.integers(length // 2, length + 1, (batch, 1))).astype(np.int64)
    mask[0] = 1
    return {
        "input_ids": random.integers(0, VOCABULARY, (batch, length)),
        "attention_mask": mask,
        "token_type_ids": random.integers(0, 2, (batch, length)),
    }


class WrittenOut(Encoder):
    """Opset 12: no LayerNormalization, no Gelu, axes as attributes, Softmax on a named last axis."""

    def start(self) -> str:
        net = self.net
        length = net.op("Gather", net.op("Shape", "input_ids"), net.constant(1), axis=0)
        end = net.op("Unsqueeze", length, axes=[0])
        table = net.initializer("position_ids", np.arange(POSITIONS)[None])
        places = net.op("Slice", table, net.constant([0]), end, net.constant([1]), net.constant([1]))
        wide = net.op("Unsqueeze", "attention_mask", axes=[1, 2])
        off = net.op("Sub", net.constant(1, np.float32), net.op("Cast", wide, to=FLOAT))
        self.mask = net.op("Mul", off, net.constant(-10000.0, np.float32))
        return self.norm(self.embeddings(places), "embeddings")

    def norm(self, x: str, name: str) -> str:
        net = self.net
        centred = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
        variance = net.op("ReduceMean", net.op("Pow", centred, net.constant(2, np.float32)), axes=[-1])
        deviation = net.op("Sqrt", net.op("Add", variance, net.constant(EPSILON, np.float32)))
        gamma, beta = self.norm_weights(name)
        return net.op("Add", net.op("Mul", net.op("Div", centred, deviation), gamma), beta)

    def gelu(self, x: str) -> str:
        net = self.net
        inside = net.op("Erf", net.op("Div", x, net.constant(np.sqrt(2), np.float32)))
        whole = net.op("Add", net.constant(1, np.float32), inside)
        return net.op("Mul", net.op("Mul", x, net.constant(0.5, np.float32)), whole)

    def heads(self, x: str, perm: list[int]) -> str:
        net = self.net
        sizes = [net.op("Gather", net.op("Shape", x), net.constant(axis), axis=0) for axis in (0, 1)]
        shape = [net.op("Unsqueeze", size, axes=[0]) for size in sizes]
        shape += [net.constant([HEADS]), net.constant([HEAD])]
        return net.op("Transpose", net.op("Reshape", x, net.op("Concat", *shape, axis=0)), perm=perm)

    def attention(self, x: str, name: str) -> str:
        net = self.net
        q = self.heads(self.linear(x, f"{name}.query", HIDDEN, HIDDEN), [0, 2, 1, 3])
        k = self.heads(self.linear(x, f"{name}.key", HIDDEN, HIDDEN), [0, 2, 3, 1])
        v = self.heads(self.linear(x, f"{name}.value", HIDDEN, HIDDEN), [0, 2, 1, 3])
        scores = net.op("Div", net.op("MatMul", q, k), net.constant(np.sqrt(HEAD), np.float32))
        weights = net.op("Softmax", net.op("Add", scores, self.mask), axis=3)
        y = net.op("Transpose", net.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        sizes = [net.op("Gather", net.op("Shape", y), net.constant(axis), axis=0) for axis in (0, 1)]
        shape = [net.op("Unsqueeze", size, axes=[0]) for size in sizes] + [net.constant([HIDDEN])]
        y = net.op("Reshape", y, net.op("Concat", *shape, axis=0))
        return self.linear(y, f"{name}.attention", HIDDEN, HIDDEN)


class Script(Encoder):
    """Opset 17 as torch.onnx.export (script) writes it: shape arithmetic through Shape, Gather, Unsqueeze, Concat,
    the mask through Range, Gather, Expand and Where, Gelu by Erf, shared weights through Identity."""

    def size(self, x: str, axis: int) -> str:
        return self.net.op("Gather", self.net.op("Shape", x), self.net.constant(axis), axis=0)

    def one(self, x: str) -> str:
        return self.net.op("Unsqueeze", x, self.net.constant([0]))

    def along(self, size: str, *axes: int) -> str:
        net = self.net
        y = net.op("Range", net.constant(0), net.op("Cast", size, to=INT64), net.constant(1))
        for axis in axes:
            y = net.op("Unsqueeze", y, net.constant([axis]))
        return y

    def start(self) -> str:
        net = self.net
        end = self.one(self.size("input_ids", 1))
        table = net.constant(np.arange(POSITIONS)[None])
        places = net.op("Slice", table, net.constant([0]), end, net.constant([1]), net.constant([1]))
        x = self.norm(self.embeddings(places), "embeddings")
        flags = net.op("Cast", "attention_mask", to=BOOL)
        self.batch, self.length, keys = self.size(x, 0), self.size(x, 1), self.size(flags, 1)
        rows, columns = self.along(self.batch, 1, 2, 3), self.along(keys, 0, 1, 2)
        queries = self.along(self.length, 0, 1, 3)
        always = net.op("Cast", net.op("GreaterOrEqual", queries, net.constant(0)), to=BOOL)
        flat = net.op("Flatten", flags, axis=2)
        flat = net.op("Reshape", flat, net.constant([-1]))
        where = net.op("Add", columns, net.op("Mul", rows, self.size(flags, 1)))
        kept = net.op("And", always, net.op("Cast", net.op("Gather", flat, where, axis=0), to=BOOL))
        parts = [self.one(self.batch), net.constant([-1]), self.one(self.length), self.one(keys)]
        shape = net.op("Reshape", net.op("Concat", *parts, axis=0), net.constant([-1]))
        ones = net.op("ConstantOfShape", net.op("Shape", shape), value=numpy_helper.from_array(np.array([1])))
        keep = net.op("Equal", shape, net.op("Mul", ones, net.constant(-1)))
        self.mask = net.op("Expand", kept, net.op("Where", keep, ones, shape))
        return x

    def heads(self, x: str, perm: list[int]) -> str:
        net = self.net
        shape = [self.one(self.batch), self.one(self.length), net.constant([-1]), net.constant([HEAD])]
        return net.op("Transpose", net.op("Reshape", x, net.op("Concat", *shape, axis=0)), perm=perm)

    def attention(self, x: str, name: str) -> str:
        net = self.net
        root = np.sqrt(1 / np.sqrt(HEAD))
        q = self.heads(self.linear(x, f"{name}.query", HIDDEN, HIDDEN), [0, 2, 1, 3])
        k = self.heads(self.linear(x, f"{name}.key", HIDDEN, HIDDEN), [0, 2, 3, 1])
        v = self.heads(self.linear(x, f"{name}.value", HIDDEN, HIDDEN), [0, 2, 1, 3])
        q, k = (net.op("Mul", side, net.constant(root, np.float32)) for side in (q, k))
        bias = net.op("Where", self.mask, net.constant(0, np.float32), net.constant(-np.inf, np.float32))
        weights = net.op("Softmax", net.op("Add", net.op("MatMul", q, k), bias), axis=-1)
        weights = net.op("Where", net.op("IsNaN", weights), net.constant(0, np.float32), weights)
        y = net.op("Transpose", net.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        shape = net.op("Concat", self.one(self.batch), self.one(self.length), net.constant([-1]), axis=0)
        return self.linear(net.op("Reshape", y, shape), f"{name}.attention", HIDDEN, HIDDEN)

    def norm_weights(self, name: str) -> tuple[str, str]:
        # One pair for all the norms, handed around by Identity as the exporter does for equal weights.
        if not hasattr(self, "shared"):
            self.shared = super().norm_weights("shared")
            return self.shared
        return tuple(self.net.op("Identity", value) for value in self.shared)


class Dynamo(Encoder):
    """Opset 20 as torch.onnx.export (dynamo) writes it: initializers for constants, Shape with start and end,
    Gelu, the mask through GatherND, a softmax guarded by IsNaN."""

    def fixed(self, *values: int) -> str:
        return self.known(np.array(values))

    def known(self, value: np.ndarray) -> str:
        return self.net.initializer(f"val_{len(self.net.weights)}", value)

    def start(self) -> str:
        net = self.net
        self.batch = net.op("Shape", "input_ids", start=0, end=1)
        self.length = net.op("Shape", "token_type_ids", start=1, end=2)
        table = net.initializer("position_ids", np.arange(POSITIONS)[None])
        one = self.fixed(1)
        places = net.op("Slice", table, self.fixed(0), self.length, one, one)
        x = self.norm(self.embeddings(places), "embeddings")
        zero, step = self.known(np.array(0)), self.known(np.array(1))
        flags = net.op("Cast", "attention_mask", to=BOOL)
        rows = net.op("Range", zero, net.op("Squeeze", self.batch), step)
        rows = net.op("Unsqueeze", net.op("Unsqueeze", rows, self.fixed(1, 2)), self.fixed(3))
        along = net.op("Range", zero, net.op("Squeeze", self.length), step)
        along = net.op("Unsqueeze", along, self.fixed(0, 1))
        queries, columns = (
            net.op("Unsqueeze", along, self.fixed(3)),
            net.op("Unsqueeze", along, self.fixed(2)),
        )
        always = net.op("And", self.known(np.array(True)), net.op("GreaterOrEqual", queries, zero))
        shape = net.op("Shape", net.op("Max", rows, columns), start=0)
        last = self.fixed(-1)
        pair = [net.op("Unsqueeze", net.op("Expand", side, shape), last) for side in (rows, columns)]
        kept = net.op("GatherND", flags, net.op("Concat", *pair, axis=-1), batch_dims=0)
        target = net.op("Concat", self.batch, one, self.length, self.length, axis=0)
        self.mask = net.op("Expand", net.op("And", always, kept), target)
        self.split = net.op("Concat", self.batch, self.length, self.fixed(-1), self.fixed(HEAD), axis=0)
        self.joined = net.op("Concat", self.batch, self.length, self.fixed(-1), axis=0)
        return x

    def gelu(self, x: str) -> str:
        return self.net.op("Gelu", x, approximate="none")

    def heads(self, x: str) -> str:
        net = self.net
        return net.op("Transpose", net.op("Reshape", x, self.split, allowzero=1), perm=[0, 2, 1, 3])

    def turned(self, k: str) -> str:
        """The last two axes exchanged as the exporter does it: flattened, transposed, and put back."""
        net = self.net
        shape = net.op("Shape", k, start=0)
        last = net.op("Slice", shape, self.fixed(-1), self.fixed(9223372036854775807))
        before = net.op("Slice", shape, self.fixed(-2), self.fixed(-1))
        front = net.op("Slice", shape, self.fixed(-9223372036854775808), self.fixed(-2))
        flat = net.op("Reshape", k, net.op("Concat", self.fixed(-1), before, last, axis=0), allowzero=0)
        flat = net.op("Transpose", flat, perm=[0, 2, 1])
        return net.op("Reshape", flat, net.op("Concat", front, last, before, axis=0), allowzero=0)

    def attention(self, x: str, name: str) -> str:
        net = self.net
        root = self.known(np.array(np.sqrt(1 / np.sqrt(HEAD)), np.float32))
        q, k, v = (
            self.heads(self.linear(x, f"{name}.{part}", HIDDEN, HIDDEN)) for part in ("query", "key", "value")
        )
        q, k = net.op("Mul", q, root), net.op("Mul", self.turned(k), root)
        zero, off = self.known(np.array(0, np.float32)), self.known(np.array(-np.inf, np.float32))
        scores = net.op("Add", net.op("MatMul", q, k), net.op("Where", self.mask, zero, off))
        weights = net.op("Softmax", scores, axis=-1)
        weights = net.op("Where", net.op("IsNaN", weights), zero, weights)
        y = net.op("Transpose", net.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        y = net.op("Reshape", y, self.joined, allowzero=1)
        return self.linear(y, f"{name}.attention", HIDDEN, HIDDEN)


def encoder_written_out(folder: Path) -> None:
    encoder = WrittenOut("encoder_written_out", 12)
    encoder.finish(folder, encoder.start(), 7)


def encoder_script(folder: Path) -> None:
    encoder = Script("encoder_script", 17)
    encoder.finish(folder, encoder.start(), 8)


def encoder_dynamo(folder: Path) -> None:
    encoder = Dynamo("encoder_dynamo", 20)
    encoder.finish(folder, encoder.start(), 10)


MODELS = [encoder_written_out, encoder_script, encoder_dynamo]
