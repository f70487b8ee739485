# SPDX-License-Identifier: Apache-2.0
"""Where code written for onnxruntime looks for exceptions."""

from . import onnxruntime_pybind11_state

_pybind_state = onnxruntime_pybind11_state
