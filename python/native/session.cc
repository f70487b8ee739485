// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <algorithm>
#include <unordered_map>

#include "base/contained.h"
#include "base/format.h"
#include "base/task.h"
#include "convert/convert.h"
#include "errors.h"
#include "onnx/read.h"
#include "signals.h"
#include "strings.h"
#include "values.h"

namespace nb = nanobind;

namespace sx::python {
namespace {

const onnx::TensorShapeProto* declared_shape(const onnx::ValueInfoProto& info) {
  if (!info.type) return nullptr;
  const auto& tensor = info.type->tensor_type ? info.type->tensor_type : info.type->sparse_tensor_type;
  return tensor && tensor->shape ? &*tensor->shape : nullptr;
}

using DeclaredShapes = std::unordered_map<std::string_view, const onnx::TensorShapeProto*>;

DeclaredShapes declared_shapes(const std::vector<onnx::ValueInfoProto>& infos) {
  DeclaredShapes shapes;
  for (const onnx::ValueInfoProto& info : infos) shapes[std::string_view(info.name)] = declared_shape(info);
  return shapes;
}

// As onnxruntime tells it: numbers, names as the file has them, None for what neither the file nor inference
// says.
nb::list shape_of(const ValueDesc& desc, const DeclaredShapes& shapes) {
  const auto found = shapes.find(desc.name);
  const onnx::TensorShapeProto* declared = found == shapes.end() ? nullptr : found->second;
  nb::list list;
  const Shape& shape = desc.type.shape;
  for (size_t i = 0; i < shape.rank(); ++i) {
    const bool named =
        declared && declared->dim.size() == shape.rank() && !declared->dim[i].dim_param.empty();
    if (shape.dims[i].is_constant())
      list.append(shape.dims[i].constant());
    else if (named)
      list.append(str_of(std::string_view(declared->dim[i].dim_param)));
    else
      list.append(nb::none());
  }
  return list;
}

Argument argument_of(const ValueDesc& desc, const DeclaredShapes& shapes) {
  PyObject* name = str_of(desc.name).release().ptr();
  PyUnicode_InternInPlace(&name);
  return {nb::steal(name), str_of(onnxruntime_name(desc.type)), shape_of(desc, shapes),
          str_of(to_string(desc.type))};
}

}  // namespace

void RunControl::set_terminate(bool stop) {
  if (stop)
    cancel_->request();
  else if (cancel_->requested())
    cancel_ = std::make_shared<Cancel>();
}

NativeSession::NativeSession(nb::object source, nb::dict kwargs) {
  Settings settings = settings_of(std::move(kwargs));
  SessionOptions& options = settings.options;
  log_ = std::move(settings.log);
  if (!log_.is_none()) {
    options.log.sink = log_to_python;
    options.log.context = this;
  }
  const bool is_path = PyUnicode_Check(source.ptr());
  const std::string path = is_path ? text_of(source.ptr()) : "model";
  std::shared_ptr<onnx::Model> model;
  Cancel cancel;
  cancel.set_poll(poll_signals, nullptr);
  options.cancel = &cancel;
  options.memory = budget_of(options);
  auto load = [&]() -> Status {
    nb::gil_scoped_release unlocked;
    const TaskScope scope({options.memory.get(), SIZE_MAX, &cancel});
    if (is_path) {
      SX_ASSIGN(model, onnx::read_model(path, {.load = options.load}));
    } else {
      const auto size = size_t(PyBytes_GET_SIZE(source.ptr()));
      SX_ASSIGN(model, onnx::read_model(MappedFile::from_bytes(path, PyBytes_AS_STRING(source.ptr()), size),
                                        "", {}));
    }
    SX_ASSIGN(Graph graph, to_graph(*model, {.log = options.log, .allow_newer = options.allow_newer}));
    SX_ASSIGN(session_, Session::from_graph(std::move(graph), std::move(options)));
    return {};
  };
  Status status = contained(load);
  if (!status.ok() && status.to_string().rfind(path, 0) != 0) status = std::move(status).in(path);
  if (PyErr_Occurred()) throw nb::python_error();
  check(status);
  const DeclaredShapes in = model->graph ? declared_shapes(model->graph->input) : DeclaredShapes();
  const DeclaredShapes out = model->graph ? declared_shapes(model->graph->output) : DeclaredShapes();
  for (const ValueDesc& d : session_->inputs()) inputs_.push_back(argument_of(d, in));
  for (const ValueDesc& d : session_->outputs()) outputs_.push_back(argument_of(d, out));
  read_metadata(*model);
}

void NativeSession::log_to_python(void* self, LogLevel level, std::string_view message) {
  nb::gil_scoped_acquire locked;
  if (PyErr_Occurred()) return;
  try {
    static_cast<NativeSession*>(self)->log_(int(level), str_of(message));
  } catch (nb::python_error& e) {
    e.discard_as_unraisable("the logger of a sardonyx session");
  }
}

void NativeSession::read_metadata(const onnx::Model& model) {
  auto put = [&](const char* key, const auto& text) { metadata_[key] = str_of(std::string_view(text)); };
  put("producer_name", model.producer_name);
  put("domain", model.domain);
  put("description", model.doc_string);
  put("graph_name", model.graph ? std::string_view(model.graph->name) : "");
  put("graph_description", model.graph ? std::string_view(model.graph->doc_string) : "");
  metadata_["version"] = int64_t(model.model_version);
  nb::dict custom;
  for (const onnx::StringStringEntryProto& e : model.metadata_props) {
    custom[str_of(std::string_view(e.key))] = str_of(std::string_view(e.value));
  }
  metadata_["custom_metadata_map"] = custom;
}

nb::list NativeSession::arguments(bool inputs) const {
  nb::list list;
  for (const Argument& a : inputs ? inputs_ : outputs_)
    list.append(nb::make_tuple(a.name, a.type, a.shape, a.text));
  return list;
}

nb::list NativeSession::providers() const {
  nb::list list;
  for (const std::string& p : session_->providers()) list.append(str_of(p));
  return list;
}

// Names that do not fit: the library's own check by name has the words for it.
void NativeSession::complain(PyObject* names, PyObject* feed) {
  std::vector<NamedValue> values;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(feed, &at, &key, &item);) {
    NamedValue v{text_of(key), Value(Tensor())};
    if (!PyUnicode_Check(key)) {
      raise(error(Code::invalid_argument, "the key {} of the inputs is {}, expected the name of an input",
                  v.name, Py_TYPE(key)->tp_name));
    }
    values.push_back(std::move(v));
  }
  std::vector<std::string> outputs;
  if (names != Py_None) {
    for (nb::handle name : nb::borrow<nb::iterable>(names)) outputs.push_back(text_of(name.ptr()));
  }
  auto result = session_->run(values, outputs);
  raise(result.ok() ? Status(Code::internal, "names were not found that are there") : result.status());
}

std::vector<size_t> NativeSession::wanted(PyObject* names, PyObject* feed) {
  std::vector<size_t> list;
  if (PyUnicode_Check(names))
    raise(error(Code::invalid_argument, "the names of outputs are one text, expected a list of texts"));
  for (nb::handle name : nb::borrow<nb::iterable>(names)) {
    auto it = std::find_if(outputs_.begin(), outputs_.end(), [&](const Argument& a) {
      return a.name.ptr() == name.ptr() || PyObject_RichCompareBool(a.name.ptr(), name.ptr(), Py_EQ) == 1;
    });
    if (it == outputs_.end()) complain(names, feed);
    list.push_back(size_t(it - outputs_.begin()));
  }
  return list;
}

nb::object NativeSession::run(nb::object output_names, nb::object input_feed, nb::object run_options) {
  const size_t count = inputs_.size();
  nb::object feed = input_feed;
  if (!PyDict_Check(feed.ptr()))
    feed = nb::borrow<nb::type_object>(reinterpret_cast<PyObject*>(&PyDict_Type))(input_feed);
  std::vector<size_t> chosen;
  const bool all = output_names.is_none() || nb::len(output_names) == 0;
  if (!all) chosen = wanted(output_names.ptr(), feed.ptr());

  std::vector<Value> in(count), out(outputs_.size());
  std::vector<nb::object> holders(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = PyDict_GetItemWithError(feed.ptr(), inputs_[i].name.ptr());
    if (!item) complain(output_names.ptr(), feed.ptr());
    in[i] = to_value(item, session_->inputs()[i].type, session_->inputs()[i].name, holders[i]);
  }
  if (size_t(PyDict_GET_SIZE(feed.ptr())) != count) complain(output_names.ptr(), feed.ptr());

  std::shared_ptr<Cancel> outer;
  double timeout = 0;
  size_t memory_limit = 0;
  if (!run_options.is_none()) {
    const auto& control = nb::cast<const RunControl&>(run_options);
    outer = control.cancel();
    timeout = control.timeout;
    memory_limit = control.memory_limit;
  }
  Cancel cancel(outer.get());
  cancel.set_poll(poll_signals, nullptr);
  check(cancel.set_timeout_seconds(timeout));
  Status status;
  {
    nb::gil_scoped_release unlocked;
    status = session_->run(std::span<const Value>(in), std::span<Value>(out), {&cancel, memory_limit});
  }
  if (!status.ok()) {
    if (PyErr_Occurred()) throw nb::python_error();
    raise(status);
  }
  const size_t results = all ? out.size() : chosen.size();
  nb::object list = nb::steal(PyList_New(Py_ssize_t(results)));
  if (!list.is_valid()) throw nb::python_error();
  for (size_t i = 0; i < results; ++i) {
    // An output asked for twice is given twice.
    Value& v = out[all ? i : chosen[i]];
    const bool again =
        !all && std::find(chosen.begin() + long(i) + 1, chosen.end(), chosen[i]) != chosen.end();
    nb::object o = to_python(again ? Value(v) : std::move(v));
    PyList_SET_ITEM(list.ptr(), Py_ssize_t(i), o.release().ptr());
  }
  return list;
}

}  // namespace sx::python
