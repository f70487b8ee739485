// SPDX-License-Identifier: Apache-2.0
// Between numpy arrays and tensors. The only file that sees numpy's C interface is numpy.cc.
#pragma once
#include <nanobind/nanobind.h>

#include "tensor/tensor.h"

namespace sx::python {

void init_numpy();

bool is_array(PyObject* object);
// What an array of this dtype is to us; string for object, str and bytes arrays; undefined for what ONNX has
// not.
DType array_dtype(PyObject* array);
std::string array_text(PyObject* array);  // "datetime64[2, 3]", for messages

// An array of anything, as numpy makes one of a list, a number or an object with __array__; `type` is the
// dtype that lists and numbers take. Throws what numpy throws.
nanobind::object as_array(PyObject* object, DType type);

// The tensor lies in the array's own memory where that is plain, else in a copy. `owned` makes the tensor
// keep the array alive; otherwise `holder`, which gets the array that the memory belongs to, must be kept by
// the caller.
Tensor tensor_over(PyObject* array, DType type, bool owned, nanobind::object& holder);
Tensor tensor_of_strings(PyObject* array);

// The array takes the tensor's memory over if nobody else has it. `may_share` false: always a copy.
nanobind::object array_of(Tensor&& tensor, bool may_share);

}  // namespace sx::python
