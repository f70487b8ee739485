// SPDX-License-Identifier: Apache-2.0
// Between Python's text and UTF-8. Bytes that are no UTF-8 survive the way out and back in (surrogateescape).
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace sx::python {

std::string text_of(PyObject* object);  // of a str; of bytes as they are; of anything else what str() says
nanobind::object str_of(std::string_view text);

}  // namespace sx::python
