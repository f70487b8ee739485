# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package, under the names that onnxruntime gives them.

Each also is the Python exception that fits: InvalidArgument is a ValueError, NoSuchFile a FileNotFoundError.
"""

from . import _sardonyx


class SardonyxError(Exception):
    """Whatever goes wrong inside the library."""


class Fail(SardonyxError, RuntimeError):
    pass


class RuntimeException(Fail):
    pass


class EngineError(Fail):
    pass


class EPFail(Fail):
    pass


class InvalidArgument(SardonyxError, ValueError):
    """A name, a type, a shape or an option is wrong."""


class InvalidGraph(SardonyxError):
    pass


class InvalidProtobuf(SardonyxError):
    pass


class InvalidModel(InvalidGraph, InvalidProtobuf):
    """The file, or the graph in it, cannot be right."""


class NotFound(SardonyxError, LookupError):
    """A value or a provider that does not exist."""


class NoSuchFile(SardonyxError, FileNotFoundError):
    pass


class NoModel(SardonyxError):
    pass


class ModelLoaded(SardonyxError):
    pass


class NotImplemented(SardonyxError, NotImplementedError):
    """Right, but not something that can be done here."""


class SystemFailure(Fail, OSError):
    """The operating system refused."""


class Cancelled(Fail):
    """Somebody asked the run to stop."""


class DeadlineExceeded(Fail, TimeoutError):
    """The time allowed is over."""


class OutOfMemory(Fail, MemoryError):
    pass


# In the order of the library's codes.
_sardonyx.set_error_classes(
    (
        Fail,
        InvalidArgument,
        InvalidModel,
        NotFound,
        NotImplemented,
        SystemFailure,
        Cancelled,
        DeadlineExceeded,
        OutOfMemory,
        RuntimeException,
    )
)
