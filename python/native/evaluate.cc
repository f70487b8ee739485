// SPDX-License-Identifier: Apache-2.0
// Evaluation by the operators' own records, in the model's types or in float64: what results are measured
// against.
#include "evaluate.h"

#include "base/cancel.h"
#include "base/format.h"
#include "convert/convert.h"
#include "errors.h"
#include "graph/evaluate.h"
#include "onnx/read.h"
#include "signals.h"
#include "strings.h"
#include "values.h"

namespace nb = nanobind;

namespace sx::python {

nb::object evaluate(nb::object source, nb::dict feed, bool float64) {
  std::shared_ptr<onnx::Model> model;
  if (PyUnicode_Check(source.ptr())) {
    model = take(onnx::read_model(text_of(source.ptr())));
  } else {
    const auto bytes = nb::cast<nb::bytes>(source);
    model = take(onnx::read_model(MappedFile::from_bytes("model", bytes.c_str(), bytes.size()), "", {}));
  }
  const Graph graph = take(to_graph(*model));
  std::vector<Value> in;
  std::vector<nb::object> holders(graph.main().inputs.size());
  for (ValueId v : graph.main().inputs) {
    const ValueInfo& info = graph.value(v);
    PyObject* item = PyDict_GetItemWithError(feed.ptr(), str_of(info.name).ptr());
    if (!item)
      raise(error(Code::invalid_argument, "input '{}', {}, is not given", info.name, to_string(info.type)));
    in.push_back(to_value(item, info.type, info.name, holders[in.size()]));
  }
  Cancel cancel;
  cancel.set_poll(poll_signals, nullptr);
  Result<std::vector<Value>> out = Status(Code::internal, "not run");
  {
    nb::gil_scoped_release unlocked;
    out = evaluate_graph(graph, in, {.widen = float64, .cancel = &cancel});
  }
  if (!out.ok() && PyErr_Occurred()) throw nb::python_error();
  nb::list results;
  for (Value& v : take(std::move(out))) results.append(to_python(Value(v)));
  return results;
}

}  // namespace sx::python
