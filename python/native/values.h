// SPDX-License-Identifier: Apache-2.0
// Between Python objects and values: arrays, lists for sequences, dicts for maps, None for an empty optional.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "graph/type.h"
#include "tensor/value.h"

namespace sx::python {

// `object` as a value of `type`. A dtype that does not fit is passed on: the library says what it expected.
// A plain array is borrowed: `holder` gets what must live until the run is over.
Value to_value(PyObject* object, const Type& type, const std::string& name, nanobind::object& holder);

nanobind::object to_python(Value&& value);

// "tensor(float)", "seq(map(int64,tensor(float)))": how onnxruntime writes types.
std::string onnxruntime_name(const Type& type);

}  // namespace sx::python
