// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <algorithm>

#include "base/format.h"
#include "errors.h"
#include "numpy.h"
#include "strings.h"

namespace nb = nanobind;

namespace sx::python {
namespace {

[[noreturn]] void wrong(const std::string& name, PyObject* object, const Type& type, const char* what) {
  raise(error(Code::invalid_argument, "input '{}' is {}, expected {} for {}", name, Py_TYPE(object)->tp_name,
              what, to_string(type)));
}

Value tensor_value(PyObject* object, const Type& type, const std::string& name, bool owned,
                   nb::object& holder) {
  nb::object made;
  if (!is_array(object)) {
    try {
      made = as_array(object, type.elem);
    } catch (nb::python_error& e) {
      if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError)) throw;
      raise(error(Code::invalid_argument, "input '{}' is no array: {}", name, nb::str(e.value()).c_str()));
    }
    object = made.ptr();
  }
  const DType dtype = array_dtype(object);
  if (dtype == DType::undefined) {
    raise(error(Code::invalid_argument, "input '{}' is {}, expected {}", name, array_text(object),
                to_string(type)));
  }
  if (dtype == DType::string) return Value(tensor_of_strings(object));
  try {
    return Value(tensor_over(object, dtype, owned, holder));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_MemoryError)) throw;
  }
  raise(error(Code::out_of_memory, "input '{}' is {}, not as it lies in memory: there is none for a copy",
              name, array_text(object)));
}

Value any_value(PyObject* object, const Type& type, const std::string& name, bool owned, nb::object& holder);

Value inner_value(PyObject* object, const Type& type, const std::string& name) {
  nb::object holder;
  return any_value(object, type, name, true, holder);
}

Value sequence_value(PyObject* object, const Type& type, const std::string& name) {
  if (PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object))
    wrong(name, object, type, "a list");
  nb::object items = nb::steal(PySequence_Fast(object, ""));
  if (!items.is_valid()) {
    PyErr_Clear();
    wrong(name, object, type, "a list");
  }
  std::vector<Value> values;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    values.push_back(inner_value(PySequence_Fast_GET_ITEM(items.ptr(), i), *type.inner, name));
  }
  return Value::of_sequence(std::move(values));
}

Value map_value(PyObject* object, const Type& type, const std::string& name) {
  if (!PyDict_Check(object)) wrong(name, object, type, "a dict");
  Map map;
  map.key_type = type.key;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &item);) {
    if (type.key == DType::string) {
      if (!PyUnicode_Check(key)) wrong(name, key, type, "text as a key");
      map.string_keys.push_back(text_of(key));
    } else {
      map.int_keys.push_back(PyLong_AsLongLong(key));
      if (PyErr_Occurred()) throw nb::python_error();
    }
    map.values.push_back(inner_value(item, *type.inner, name));
  }
  return Value::of_map(std::move(map));
}

Value any_value(PyObject* object, const Type& type, const std::string& name, bool owned, nb::object& holder) {
  switch (type.kind) {
    case Value::Kind::sequence: return sequence_value(object, type, name);
    case Value::Kind::map: return map_value(object, type, name);
    case Value::Kind::optional:
      return object == Py_None ? Value::empty_optional()
                               : Value::of_optional(inner_value(object, *type.inner, name));
    case Value::Kind::sparse:
      raise(error(Code::unsupported, "input '{}' is {}: sparse tensors cannot be given from Python", name,
                  to_string(type)));
    default: break;
  }
  if (object == Py_None || PyDict_Check(object)) wrong(name, object, type, "an array");
  return tensor_value(object, type, name, owned, holder);
}

// A map's values are plain Python numbers and texts, as onnxruntime gives them.
nb::object scalar_of(const Tensor& t) {
  switch (t.type()) {
    case DType::f32: return nb::float_(double(t.as<float>()[0]));
    case DType::f64: return nb::float_(t.as<double>()[0]);
    case DType::i64: return nb::int_(t.as<int64_t>()[0]);
    case DType::string: return str_of(t.strings()[0]);
    default: return array_of(Tensor(t), false);
  }
}

// Keys come in their order, as onnxruntime gives them, not as they were inserted. Rows of a classifier all
// have the same keys: they are made once and shared.
class MapWriter {
 public:
  nb::object write(const Map& map) {
    if (!last_ || !same_keys(*last_, map)) make_keys(map);
    last_ = &map;
    nb::dict dict;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const Value& v = map.values[order_[i]];
      nb::object item = v.is_tensor() && v.tensor.count() == 1 ? scalar_of(v.tensor) : to_python(Value(v));
      if (PyDict_SetItem(dict.ptr(), keys_[i].ptr(), item.ptr()) < 0) throw nb::python_error();
    }
    return dict;
  }

 private:
  static bool same_keys(const Map& a, const Map& b) {
    return a.key_type == b.key_type && a.int_keys == b.int_keys && a.string_keys == b.string_keys;
  }
  void make_keys(const Map& map) {
    const bool text = map.key_type == DType::string;
    order_.resize(map.values.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return text ? map.string_keys[a] < map.string_keys[b] : map.int_keys[a] < map.int_keys[b];
    });
    keys_.clear();
    for (size_t i : order_)
      keys_.push_back(text ? str_of(map.string_keys[i]) : nb::object(nb::int_(map.int_keys[i])));
  }
  const Map* last_ = nullptr;
  std::vector<nb::object> keys_;
  std::vector<size_t> order_;
};

nb::object list_of(const Sequence& sequence) {
  nb::object list = nb::steal(PyList_New(Py_ssize_t(sequence.items.size())));
  if (!list.is_valid()) throw nb::python_error();
  MapWriter maps;
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    const Value& item = sequence.items[i];
    nb::object o = item.kind == Value::Kind::map ? maps.write(*item.map) : to_python(Value(item));
    PyList_SET_ITEM(list.ptr(), Py_ssize_t(i), o.release().ptr());
  }
  return list;
}

std::string element_name(DType t) {
  switch (t) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    default: return std::string(dtype_name(t));
  }
}

}  // namespace

Value to_value(PyObject* object, const Type& type, const std::string& name, nb::object& holder) {
  return any_value(object, type, name, false, holder);
}

nb::object to_python(Value&& value) {
  switch (value.kind) {
    case Value::Kind::tensor: return array_of(std::move(value.tensor), true);
    case Value::Kind::sequence: return list_of(*value.sequence);
    case Value::Kind::map: return MapWriter().write(*value.map);
    case Value::Kind::optional: return value.optional ? to_python(Value(*value.optional)) : nb::none();
    case Value::Kind::sparse: raise(Status(Code::unsupported, "a sparse tensor cannot be given to Python"));
    case Value::Kind::none: break;
  }
  return nb::none();
}

std::string onnxruntime_name(const Type& type) {
  const std::string inner = type.inner ? onnxruntime_name(*type.inner) : "";
  switch (type.kind) {
    case Value::Kind::tensor: return "tensor(" + element_name(type.elem) + ")";
    case Value::Kind::sparse: return "sparse_tensor(" + element_name(type.elem) + ")";
    case Value::Kind::sequence: return "seq(" + inner + ")";
    case Value::Kind::optional: return "optional(" + inner + ")";
    case Value::Kind::map: return "map(" + element_name(type.key) + "," + inner + ")";
    case Value::Kind::none: break;
  }
  return "";
}

}  // namespace sx::python
