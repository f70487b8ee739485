// SPDX-License-Identifier: Apache-2.0
// The module sardonyx._sardonyx. What people use is in the Python files of the package.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "evaluate.h"
#include "numpy.h"
#include "runtime/provider.h"
#include "session.h"

namespace nb = nanobind;

namespace sx::python {

Settings settings_of(nb::dict kwargs) {
  Settings s;
  s.log = nb::none();
  SessionOptions& o = s.options;
  for (auto [key, value] : kwargs) {
    const auto name = nb::cast<std::string>(key);
    if (name == "threads")
      o.threads = nb::cast<unsigned>(value);
    else if (name == "rules")
      o.rules = nb::cast<bool>(value);
    else if (name == "allow_newer")
      o.allow_newer = nb::cast<bool>(value);
    else if (name == "strict_names")
      o.strict_names = nb::cast<bool>(value);
    else if (name == "providers")
      o.providers = nb::cast<std::vector<std::string>>(value);
    else if (name == "plugins")
      o.plugins = nb::cast<std::vector<std::string>>(value);
    else if (name == "dims")
      o.dims = nb::cast<std::vector<std::pair<std::string, int64_t>>>(value);
    else if (name == "taps")
      o.taps = nb::cast<std::vector<std::string>>(value);
    else if (name == "copy")
      o.load = nb::cast<bool>(value) ? LoadMode::copy : LoadMode::map;
    else if (name == "memory_limit")
      o.memory_limit = nb::cast<size_t>(value);
    else if (name == "log_level")
      o.log.least = LogLevel(nb::cast<int>(value));
    else if (name == "log")
      s.log = nb::borrow(value);
    else
      throw nb::key_error(name.c_str());
  }
  return s;
}

static nb::list provider_names() {
  nb::list list;
  for (const auto& p : builtin_providers()) list.append(nb::str(p->name().data(), p->name().size()));
  return list;
}

}  // namespace sx::python

NB_MODULE(_sardonyx, m) {
  using namespace sx::python;
  init_numpy();
  m.attr("__version__") = SX_VERSION;
  m.def("set_error_classes", &set_error_classes);
  m.def("provider_names", &provider_names);
  m.def("parse_memory", [](const std::string& text) { return take(sx::parse_memory(text)); });
  m.def("evaluate", &evaluate, nb::arg("source"), nb::arg("feed"), nb::arg("float64"));

  nb::class_<RunControl>(m, "RunControl")
      .def(nb::init<>())
      .def_prop_rw("terminate", &RunControl::terminate, &RunControl::set_terminate)
      .def_rw("timeout", &RunControl::timeout)
      .def_rw("_memory_limit", &RunControl::memory_limit);

  nb::class_<NativeSession>(m, "NativeSession")
      .def(nb::init<nb::object, nb::dict>(), nb::arg("source"), nb::arg("settings"))
      .def("run", &NativeSession::run, nb::arg("output_names").none(), nb::arg("input_feed"),
           nb::arg("run_options").none() = nb::none())
      .def("_arguments", &NativeSession::arguments)
      .def("_metadata", &NativeSession::metadata)
      .def("_providers", &NativeSession::providers)
      .def("_describe", &NativeSession::describe);
}
