# SPDX-License-Identifier: Apache-2.0
"""InferenceSession: call-compatible with onnxruntime's."""

import os
import warnings
from collections.abc import Sequence

from . import _sardonyx
from .errors import NoSuchFile, NotFound
from .options import SessionOptions

# onnxruntime's names for the providers that are linked in. Others keep the name that their plugin gives them.
_OURS = {"CPUExecutionProvider": "cpu", "ReferenceExecutionProvider": "reference"}
_THEIRS = {ours: theirs for theirs, ours in _OURS.items()}


def get_available_providers() -> list[str]:
    return [_THEIRS.get(name, name) for name in _sardonyx.provider_names()]


get_all_providers = get_available_providers


class NodeArg:
    """An input or output: `name`, `type` as in "tensor(float)", `shape` of numbers, names and None."""

    __slots__ = ("_text", "name", "shape", "type")

    def __init__(self, name: str, type_: str, shape: list, text: str) -> None:
        self.name, self.type, self.shape, self._text = name, type_, shape, text

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


class ModelMetadata:
    """What the file says about itself."""

    def __init__(self, fields: dict) -> None:
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        return f"ModelMetadata({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


def _choose(providers, provider_options, known: bool) -> tuple[list[str], dict[str, dict]]:
    """Our names of the providers asked for, and the options of each by its onnxruntime name."""
    names, options = [], {}
    if provider_options is not None and len(provider_options) != len(providers or ()):
        raise ValueError("there must be as many provider_options as providers")
    for k, provider in enumerate(providers or ()):
        given = dict(provider_options[k] or {}) if provider_options else {}
        if not isinstance(provider, str):
            provider, given = provider[0], dict(provider[1])
        ours = _OURS.get(provider, provider)
        if known and ours not in _THEIRS:
            available = ", ".join(get_available_providers())
            warnings.warn(
                f"there is no provider '{provider}' here; available are {available}",
                UserWarning,
                stacklevel=3,
            )
            continue
        if ours not in names:
            names.append(ours)
            options[_THEIRS.get(ours, ours)] = given
    return names, options


class InferenceSession(_sardonyx.NativeSession):
    """A model made ready to run; runs may come from several threads at once.

    `path_or_bytes` is a path, or the bytes of a model. `providers` are names, best first: "CPUExecutionProvider", or
    our own "cpu" and "reference"; what the chosen ones cannot run falls to the reference.
    """

    def __init__(
        self,
        path_or_bytes: str | bytes | os.PathLike,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, dict]] | None = None,
        provider_options: Sequence[dict] | None = None,
        **kwargs,
    ) -> None:
        options = sess_options if sess_options is not None else SessionOptions()
        names, self._provider_options = _choose(providers, provider_options, not options.plugins)
        if isinstance(path_or_bytes, bytearray | memoryview):
            source = bytes(path_or_bytes)
        elif isinstance(path_or_bytes, bytes):
            source = path_or_bytes
        else:
            source = os.fsdecode(os.fspath(path_or_bytes))
        for name in kwargs:
            if name not in ("disabled_optimizers", "enable_fallback", "read_config_from_model"):
                raise TypeError(f"InferenceSession has no option '{name}'")
        try:
            super().__init__(source, options._settings(names))
        except NotFound as error:
            if isinstance(source, str) and not os.path.exists(source):
                raise NoSuchFile(str(error)) from None
            raise
        self._sess_options = options
        self._model_path = source if isinstance(source, str) else None
        self._asked = names
        self._inputs = [NodeArg(*fields) for fields in self._arguments(True)]
        self._outputs = [NodeArg(*fields) for fields in self._arguments(False)]

    # run(output_names, input_feed, run_options=None) is the native one.

    def get_inputs(self) -> list[NodeArg]:
        return self._inputs

    def get_outputs(self) -> list[NodeArg]:
        return self._outputs

    def get_overridable_initializers(self) -> list[NodeArg]:
        return []

    def get_providers(self) -> list[str]:
        """Who runs this session, best first. The reference, which takes the rest, is listed if it was asked for."""
        names = self._providers()
        if names[-1] not in self._asked and len(names) > 1:
            names.pop()
        return [_THEIRS.get(name, name) for name in names]

    def get_provider_options(self) -> dict[str, dict]:
        return {name: self._provider_options.get(name, {}) for name in self.get_providers()}

    def get_session_options(self) -> SessionOptions:
        return self._sess_options

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._metadata())

    def explain(self) -> dict:
        """Each step with its kernel, provider, layout, fused members, and who refused what: see sardonyx.explain."""
        return self._describe()

    def io_binding(self):
        from .binding import IOBinding

        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None) -> None:
        iobinding._run(run_options)

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None) -> list:
        from .binding import OrtValue

        feed = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(value) for value in self.run(output_names, feed, run_options)]

    def enable_fallback(self) -> None:
        pass

    def disable_fallback(self) -> None:
        pass

    def __repr__(self) -> str:
        name = os.path.basename(self._model_path) if self._model_path else "bytes"
        return f"<sardonyx.InferenceSession {name}: {len(self._inputs)} inputs, {len(self._outputs)} outputs>"
