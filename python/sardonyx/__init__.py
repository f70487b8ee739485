# SPDX-License-Identifier: Apache-2.0
"""Sardonyx runs ONNX models.

y = sardonyx.load("model.onnx")(x)          # the short way

import sardonyx as ort                      # what onnxruntime users know
session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
outputs = session.run(None, {"x": x})
"""

from . import capi
from ._sardonyx import __version__
from .binding import IOBinding, OrtValue
from .errors import SardonyxError
from .model import Model, evaluate, explain, load
from .options import (
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    RunOptions,
    SessionOptions,
)
from .session import (
    InferenceSession,
    ModelMetadata,
    NodeArg,
    get_all_providers,
    get_available_providers,
)

__all__ = [
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "Model",
    "ModelMetadata",
    "NodeArg",
    "OrtValue",
    "RunOptions",
    "SardonyxError",
    "SessionOptions",
    "__version__",
    "capi",
    "evaluate",
    "explain",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "load",
]


def get_device() -> str:
    return "CPU"
