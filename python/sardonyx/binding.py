# SPDX-License-Identifier: Apache-2.0
"""OrtValue and IOBinding on the processor's own memory, for code written for onnxruntime."""

import numpy as np


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

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, *_) -> None:
        if device_type != "cpu":
            raise ValueError(f"device_type is '{device_type}', expected 'cpu'")
        self._wanted[name] = None

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
        for bound, value in zip(self._wanted.values() or [None] * len(values), values, strict=True):
            if bound is None:
                bound = OrtValue(value)
            else:
                bound.update_inplace(value)
            self._results.append(bound)
