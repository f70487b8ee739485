# SPDX-License-Identifier: Apache-2.0
"""The exceptions of sardonyx.errors under onnxruntime's module name."""

from ..errors import (  # noqa: F401
    EngineError,
    EPFail,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoaded,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    RuntimeException,
)
