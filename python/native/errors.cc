// SPDX-License-Identifier: Apache-2.0
#include "errors.h"

#include "onnx/display.h"

namespace sx::python {
namespace {

PyObject* classes_by_code = nullptr;  // a tuple; lives as long as the interpreter

}  // namespace

void set_error_classes(nanobind::tuple classes) { classes_by_code = classes.release().ptr(); }

void raise(const Status& status) {
  const auto code = Py_ssize_t(status.code());
  PyObject* type = PyExc_RuntimeError;
  if (classes_by_code && code < PyTuple_GET_SIZE(classes_by_code))
    type = PyTuple_GET_ITEM(classes_by_code, code);
  std::string text = onnx::shown(status);
  if (!status.advice().empty()) text += "\n" + status.advice();
  nanobind::object message =
      nanobind::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
  if (message.is_valid()) PyErr_SetObject(type, message.ptr());
  throw nanobind::python_error();
}

}  // namespace sx::python
