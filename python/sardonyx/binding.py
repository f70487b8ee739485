# SPDX-License-Identifier: Apache-2.0
"""OrtValue and IOBinding on the processor's own memory, for code written for onnxruntime."""

import ctypes
import math

import numpy as np

from .errors import InvalidArgument


def _array_at(address: int, element_type, shape) -> np.ndarray:
    if element_type is None or shape is None:
        raise ValueError("buffer_ptr is given without element_type and shape")
    kind = np.dtype(element_type)
    memory = (ctypes.c_byte * (math.prod(shape) * kind.itemsize)).from_address(address)
    return np.ndarray(shape, kind, memory)


def _text(value) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__


class OrtValue:
    """An array, or whatever else a model takes or gives, in a box."""

    def __init__(self, value) -> None:
        self._value = value

    @staticmethod
    def ortvalue_from_numpy(array, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        if device_type != "cpu":
            raise ValueError(f"device_type is '{device_type}', expected 'cpu'")
        return OrtValue(np.ascontiguousarray(array))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape, element_type, device_type: str = "cpu", device_id: int = 0
    ) -> "OrtValue":
        if device_type != "cpu":
            raise ValueError(f"device_type is '{device_type}', expected 'cpu'")
        return OrtValue(np.empty(shape, element_type))

    def numpy(self):
        return self._value

    def shape(self) -> list[int]:
        return list(self._value.shape)

    def is_tensor(self) -> bool:
        return isinstance(self._value, np.ndarray)

    def has_value(self) -> bool:
        return self._value is not None

    def device_name(self) -> str:
        return "cpu"

    def update_inplace(self, array) -> None:
        self._value[...] = array


class IOBinding:
    """Inputs and outputs bound ahead. An output bound to a buffer of ours is copied there after the run."""

    def __init__(self, session) -> None:
        self._session = session
        self._feed: dict = {}
        self._wanted: dict[str, OrtValue | None] = {}
        self._results: list[OrtValue] = []

    def bind_cpu_input(self, name: str, array) -> None:
        self._feed[name] = array

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        self._feed[name] = value.numpy()

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type=None,
        shape=None,
        buffer_ptr: int | None = None,
    ) -> None:
        """With `buffer_ptr` the output comes to lie there, as an array of `shape` and `element_type`, a numpy type."""
        if device_type != "cpu":
            raise ValueError(f"device_type is '{device_type}', expected 'cpu'")
        self._wanted[name] = OrtValue(_array_at(buffer_ptr, element_type, shape)) if buffer_ptr else None

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        self._wanted[name] = value

    def clear_binding_inputs(self) -> None:
        self._feed.clear()

    def clear_binding_outputs(self) -> None:
        self._wanted.clear()

    def synchronize_inputs(self) -> None:
        pass

    def synchronize_outputs(self) -> None:
        pass

    def get_outputs(self) -> list[OrtValue]:
        return self._results

    def copy_outputs_to_cpu(self) -> list:
        return [value.numpy() for value in self._results]

    def _run(self, run_options) -> None:
        values = self._session.run(list(self._wanted), self._feed, run_options)
        self._results = []
        bindings = self._wanted or dict.fromkeys(output.name for output in self._session.get_outputs())
        for (name, bound), value in zip(bindings.items(), values, strict=True):
            if bound is None:
                bound = OrtValue(value)
            elif _text(value) != _text(bound.numpy()):
                raise InvalidArgument(
                    f"output '{name}' is {_text(value)}, it is bound to {_text(bound.numpy())}"
                )
            else:
                bound.update_inplace(value)
            self._results.append(bound)
