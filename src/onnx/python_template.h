// SPDX-License-Identifier: Apache-2.0
// What every script has before and behind the model's own functions. FOLDER and FILES are filled in. Internal
// to src/onnx.
#pragma once
#include <string_view>

namespace sx::onnx {

inline constexpr std::string_view kHead = R"(import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T

HERE = Path(__file__).resolve().parent / FOLDER
DATA_FILES = FILES


def load(name):
    """The elements of a large tensor."""
    return np.load(HERE / name)


def raw(dtype, values):
    return np.array(values, dtype).tobytes()


def also(message, records):
    """The message with fields that Python has no words for, as they lie in a file."""
    message.MergeFromString(records)
    return message


def node(op_type, input, output, *attribute, **fields):
    return onnx.NodeProto(op_type=op_type, input=input, output=output, attribute=attribute, **fields)


ATTRIBUTE_TYPES = {"f": "FLOAT", "i": "INT", "s": "STRING", "t": "TENSOR", "g": "GRAPH", "tp": "TYPE_PROTO"}


def attr(name, **value):
    """An attribute; its type follows from the field that holds its value."""
    (field,) = value
    type = ATTRIBUTE_TYPES.get(field, field.upper())
    return onnx.AttributeProto(name=name, type=type, **value)


def value(name, elem_type, *dims, **fields):
    """A tensor value: dims are numbers, names, or None for an unknown size."""
    dim = [{} if d is None else {"dim_param" if isinstance(d, str) else "dim_value": d} for d in dims]
    type = {"tensor_type": {"elem_type": elem_type, "shape": {"dim": dim}}}
    return onnx.ValueInfoProto(name=name, type=type, **fields)


def tensor(name, data_type, dims, **fields):
    return onnx.TensorProto(name=name, data_type=data_type, dims=dims, **fields)


def entries(pairs):
    return [onnx.StringStringEntryProto(key=key, value=value) for key, value in pairs.items()]


)";

inline constexpr std::string_view kTail = R"(
if __name__ == "__main__":
    out = Path(sys.argv[1])
    out.write_bytes(model().SerializeToString())
    for name in DATA_FILES:
        to = out.parent / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if (HERE / "data" / name).exists():
            shutil.copyfile(HERE / "data" / name, to)
)";

}  // namespace sx::onnx
