// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

namespace sx::python {

// `source` is a path (str) or a model (bytes); `feed` maps names to arrays. A list of all outputs.
nanobind::object evaluate(nanobind::object source, nanobind::dict feed, bool float64);

}  // namespace sx::python
