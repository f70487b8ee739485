# SPDX-License-Identifier: Apache-2.0
"""What a recipe for random nodes has in its hands. A recipe makes inputs and attributes of the newest form of an
operator; what the drawn version does not have is left out or moved from input to attribute here."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from draw import FLOATS, Draw
from schema import Schema

RECIPES: dict[tuple[str, str], Callable] = {}
RANDOM = {
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Bernoulli",
    "Multinomial",
    "Dropout",
}

# These end in logarithms of numbers near one or in products with small factors: an absolute error of a few units is
# all that float32 can give.
ABSOLUTE = {
    "Gelu",
    "LogSoftmax",
    "ReduceLogSumExp",
    "ReduceLogSum",
    "SoftmaxCrossEntropyLoss",
    "GRU",
    "LSTM",
    "RNN",
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
    "Swish",
    "Mish",
    "LRN",
    "Softplus",
    "Celu",
    "Elu",
    "Selu",
}
# Their results depend on the type of their inputs, or on ties after rounding to it.
BY_TYPE = set("BitCast Cast CastLike QuantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul".split())
# Sums of products and functions of them: right to a unit of the largest part, not of what is left of it.
SUMS = {
    *"Conv ConvTranspose DeformConv MatMul Gemm Einsum Det AveragePool LpPool GlobalAveragePool GlobalLpPool LRN".split(),
    *"BatchNormalization InstanceNormalization LayerNormalization GroupNormalization RMSNormalization".split(),
    *"MeanVarianceNormalization ReduceSumSquare ReduceProd ReduceSum ReduceMean ReduceL1 Sum Mean CumSum CumProd".split(),
    *"Pow RNN GRU LSTM Attention DFT STFT GridSample AffineGrid Resize Upsample Col2Im SwiGLU LpNormalization".split(),
}
# What overflows on the way depends on the order, or on the type of the sum.
OVERFLOWING = set("Gemm LayerNormalization RMSNormalization ReduceProd Sum RNN GRU LSTM".split())


def recipe(*names: str, domain: str = ""):
    def register(function):
        for name in names:
            RECIPES[domain, name] = function
        return function

    return register


@dataclass
class Control:
    """An input that steers (axes, sizes, indices): more often a constant. `attribute`: its name in versions that
    have it there."""

    array: np.ndarray
    attribute: str = ""


@dataclass
class Present:
    """An optional that has this element."""

    array: np.ndarray


@dataclass
class Spec:
    """One node: inputs may be missing (None), Control or plain arrays, or lists of arrays for sequences."""

    schema: Schema
    opset: int
    inputs: list
    attrs: dict
    outputs: list[bool]

    @property
    def label(self) -> str:
        return f"{self.schema.name}-{self.schema.since}"


class Kit:
    def __init__(self, draw: Draw, schema: Schema, opset: int) -> None:
        self.d, self.s, self.opset = draw, schema, opset
        self.version = schema.since
        self.name = schema.name

    def type(self, symbol: str = "T", among=None) -> np.dtype:
        types = self.s.types(symbol)
        if among is not None:
            types = [t for t in types if t in among] or types
        if np.dtype(np.float32) in types and self.d.chance(0.5):
            return np.dtype(np.float32)
        return self.d.of(types)

    def floats(self, symbol: str = "T") -> np.dtype:
        return self.type(symbol, FLOATS)

    def values(self, shape, dtype, style: str = "") -> np.ndarray:
        return np.asarray(self.d.values(shape, dtype, style), dtype)

    def has(self, attribute: str) -> bool:
        return attribute in self.s.attributes

    def maybe(self, value, p: float = 0.5):
        """Or None: an optional input."""
        return value if self.d.chance(p) else None

    def some(self, **attrs) -> dict:
        """Each of these attributes with some chance."""
        return {key: value for key, value in attrs.items() if value is not None and self.d.chance(0.6)}

    def spec(self, inputs: list, attrs: dict | None = None, outputs: int | list[bool] = 1) -> Spec:
        attrs = {key: value for key, value in (attrs or {}).items() if value is not None}
        kept = []
        for value in inputs:
            if isinstance(value, Control) and value.attribute and self.has(value.attribute):
                whole = self.s.attributes[value.attribute] in (1, 2)  # FLOAT, INT
                attrs[value.attribute] = value.array.item() if whole else value.array.tolist()
            else:
                kept.append(value)
        if not (self.s.inputs and self.s.inputs[-1].variadic):
            kept = kept[: len(self.s.inputs)]
        while kept and kept[-1] is None:
            kept.pop()
        attrs = {key: value for key, value in attrs.items() if self.has(key)}
        flags = [True] * outputs if isinstance(outputs, int) else list(outputs)
        if not (self.s.outputs and self.s.outputs[-1].variadic):
            flags = flags[: len(self.s.outputs)]
        return Spec(self.s, self.opset, kept, attrs, flags)


def i64(*values) -> np.ndarray:
    return np.array(values, np.int64)
