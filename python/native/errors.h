// SPDX-License-Identifier: Apache-2.0
// Errors of the library as Python exceptions. The classes live in sardonyx/errors.py, which registers them
// here.
#pragma once
#include <nanobind/nanobind.h>

#include "base/result.h"

namespace sx::python {

// By the number of sx::Code; called once, when the package is imported.
void set_error_classes(nanobind::tuple classes);

[[noreturn]] void raise(const Status& status);

inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}

template <class T>
T take(Result<T>&& result) {
  if (!result.ok()) raise(result.status());
  return std::move(result).value();
}

}  // namespace sx::python
