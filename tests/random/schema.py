# SPDX-License-Identifier: Apache-2.0
"""What the standard says about each version of each operator, from the installed onnx package."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import onnx
from onnx import helper

NEWEST = {"": 0, "ai.onnx.ml": 0, "ai.onnx.preview.training": 0}


@dataclass
class Parameter:
    name: str
    types: list[str]  # as in "tensor(float)"
    symbol: str
    optional: bool
    variadic: bool


@dataclass
class Schema:
    name: str
    domain: str
    since: int
    last: int  # the last opset that means this version
    inputs: list[Parameter]
    outputs: list[Parameter]
    attributes: dict[str, int]  # name to AttributeProto type
    constraints: dict[str, list[str]] = field(default_factory=dict)

    def types(self, symbol: str) -> list[np.dtype]:
        """Element types that a type parameter (or an input's own type) allows, as numpy types."""
        listed = self.constraints.get(symbol)
        if listed is None:
            listed = next(p.types for p in (*self.inputs, *self.outputs) if symbol in (p.symbol, p.name))
        return element_types(tuple(sorted(listed)))


@cache
def element_types(listed: tuple[str, ...]) -> list[np.dtype]:
    return [t for t in map(element_type, listed) if t is not None]


@cache
def element_type(text: str) -> np.dtype | None:
    if not text.startswith("tensor("):
        return None
    name = text[7:-1]
    if name == "string":
        return np.dtype(object)
    number = getattr(onnx.TensorProto, {"double": "DOUBLE", "float": "FLOAT"}.get(name, name.upper()))
    return np.dtype(helper.tensor_dtype_to_np_dtype(number))


@cache
def number_of(dtype: np.dtype) -> int:
    """TensorProto's number of a numpy type."""
    return (
        onnx.TensorProto.STRING if dtype == np.dtype(object) else int(helper.np_dtype_to_tensor_dtype(dtype))
    )


def _parameters(formal) -> list[Parameter]:
    option = onnx.defs.OpSchema.FormalParameterOption
    return [
        Parameter(p.name, list(p.types), p.type_str, p.option == option.Optional, p.option == option.Variadic)
        for p in formal
    ]


@cache
def all_schemas() -> dict[tuple[str, str], list[Schema]]:
    """By domain and name, oldest version first; deprecated versions end an operator's history."""
    raw: dict[tuple[str, str], list] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in NEWEST:
            raw.setdefault((schema.domain, schema.name), []).append(schema)
            NEWEST[schema.domain] = max(NEWEST[schema.domain], schema.since_version)
    found = {}
    for key, versions in sorted(raw.items()):
        versions.sort(key=lambda s: s.since_version)
        ends = [s.since_version - 1 for s in versions[1:]] + [NEWEST[key[0]]]
        found[key] = [
            Schema(
                s.name,
                s.domain,
                s.since_version,
                end,
                _parameters(s.inputs),
                _parameters(s.outputs),
                {name: int(a.type.value) for name, a in s.attributes.items()},
                {c.type_param_str: list(c.allowed_type_strs) for c in s.type_constraints},
            )
            for s, end in zip(versions, ends, strict=True)
            if not s.deprecated
        ]
    return found
