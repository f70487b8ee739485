// SPDX-License-Identifier: Apache-2.0
#include "strings.h"

namespace nb = nanobind;

namespace sx::python {

static std::string bytes_of(PyObject* bytes) {
  return {PyBytes_AS_STRING(bytes), size_t(PyBytes_GET_SIZE(bytes))};
}

std::string text_of(PyObject* object) {
  if (object && PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    if (PyUnicode_IS_COMPACT_ASCII(object)) {
      return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(object)),
              size_t(PyUnicode_GET_LENGTH(object))};
    }
    if (const char* text = PyUnicode_AsUTF8AndSize(object, &size)) return {text, size_t(size)};
    PyErr_Clear();
    nb::object bytes = nb::steal(PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) throw nb::python_error();
    return bytes_of(bytes.ptr());
  }
  if (object && PyBytes_Check(object)) return bytes_of(object);
  nb::object text = nb::steal(PyObject_Str(object));
  if (!text.is_valid()) throw nb::python_error();
  return text_of(text.ptr());
}

nb::object str_of(std::string_view text) {
  PyObject* s = PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogateescape");
  if (!s) throw nb::python_error();
  return nb::steal(s);
}

}  // namespace sx::python
