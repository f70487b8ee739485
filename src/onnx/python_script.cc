// SPDX-License-Identifier: Apache-2.0
#include "onnx/python_script.h"

#include <set>
#include <type_traits>
#include <unordered_map>

#include "base/format.h"
#include "base/utf8.h"
#include "onnx/external_data.h"
#include "onnx/python_elements.h"
#include "onnx/python_fold.h"
#include "onnx/python_literal.h"
#include "onnx/python_odd.h"
#include "onnx/python_template.h"
#include "onnx/schema.h"
#include "onnx/walk.h"

namespace sx::onnx {
namespace {

template <class M>
constexpr const char* class_name(std::string_view field) {
  if (std::is_same_v<M, TensorTypeProto>)
    return field == "tensor_type" ? "TypeProto.Tensor" : "TypeProto.SparseTensor";
  if (std::is_same_v<M, SegmentProto>) return "TensorProto.Segment";
  if (std::is_same_v<M, DimensionProto>) return "TensorShapeProto.Dimension";
  if (std::is_same_v<M, SequenceTypeProto>) return "TypeProto.Sequence";
  if (std::is_same_v<M, MapTypeProto>) return "TypeProto.Map";
  if (std::is_same_v<M, OptionalTypeProto>) return "TypeProto.Optional";
  if (std::is_same_v<M, OpaqueTypeProto>) return "TypeProto.Opaque";
  return Schema<M>::kName;
}

// The field that holds the value of an attribute of this type; null: `attr` cannot say it.
const char* field_of(AttributeType type) {
  static constexpr const char* kFields[] = {
      nullptr,          "f",    "i",          "s",       "t",      "g",
      "floats",         "ints", "strings",    "tensors", "graphs", "sparse_tensor",
      "sparse_tensors", "tp",   "type_protos"};
  const auto i = size_t(type);
  return i < std::size(kFields) ? kFields[i] : nullptr;
}

struct CountPresent {
  int present = 0;
  bool count(bool yes) {
    present += yes;
    return false;
  }
  template <class T>
  bool operator()(uint32_t, const char*, const Opt<T>& f) {
    return count(f.present);
  }
  bool operator()(uint32_t, const char*, const Bytes& f) { return count(f.present()); }
  template <class C>
  bool operator()(uint32_t, const char*, const Box<C>& f) {
    return count(f.present());
  }
  template <class C>
  bool operator()(uint32_t, const char*, const std::vector<C>& f) {
    return count(!f.empty());
  }
  template <class T, class... Rest>
  bool operator()(uint32_t, const char*, const Numbers<T>& f, Rest...) {
    return count(f.has_bytes());
  }
};

using Names = std::set<std::string_view>;

class Writer {
 public:
  Writer(const Model& model, uint64_t largest) : model_(model), elements_(model, largest) {}

  Result<PythonScript> script(const std::string& folder) {
    const auto& m = static_cast<const ModelProto&>(model_);
    std::string body;
    if (m.graph) body += "    m.graph.CopyFrom(" + graph(*m.graph, "main") + "())\n";
    for (const FunctionProto& f : m.functions) body += "    m.functions.append(" + function(f) + "())\n";
    const std::string made = "    m = " + whole(m, oddities(m), {"graph", "functions"}) + "\n";
    SX_TRY(std::move(problem_));
    SX_ASSIGN(auto arrays, elements_.arrays());
    PythonScript script;
    data_files(script);
    script.text = "# Rebuilds a model with the onnx package: python THIS_SCRIPT OUT.onnx\n";
    script.text += kHead;
    const auto replace = [&](std::string_view word, const std::string& with) {
      script.text.replace(script.text.find(word), word.size(), with);
    };
    std::string files;
    for (const std::string& f : script.data_files) files += (files.empty() ? "" : ", ") + python_text(f);
    replace("FOLDER", python_text(folder));
    replace("FILES\n", "[" + files + "]\n");
    script.text += functions_ + "def model():\n" + without_holes(made + body) + "    return m\n\n";
    script.text += kTail;
    script.arrays = std::move(arrays);
    return script;
  }

 private:
  template <class M>
  struct Arguments;

  void data_files(PythonScript& script) const {
    std::set<std::string> locations;
    each_tensor(model_, [&](const TensorProto& t, const std::string&) {
      const auto info = t.is_external() ? external_info(t) : Result<ExternalInfo>(Status(Code::internal, ""));
      if (info.ok() && check_location(info->location).ok() && is_utf8(info->location)) {
        locations.emplace(info->location);
      }
    });
    script.data_files.assign(locations.begin(), locations.end());
  }

  static std::string texts(const std::vector<Bytes>& all, bool as_bytes) {
    std::string out = "[";
    for (size_t i = 0; i < all.size(); ++i) {
      out += (i ? ", " : "") + hole(as_bytes ? python_bytes(all[i]) : python_text(all[i]));
    }
    return out + "]";
  }
  // name=value, … of the fields that are present; `skip` are written elsewhere.
  template <class M>
  std::string arguments(const M& m, const Oddities& odd, Names skip = {}) {
    std::string out;
    skip.insert(odd.fields.begin(), odd.fields.end());
    Schema<M>::fields(Arguments<M>{*this, out, skip}, m);
    return out;
  }
  static std::string joined(std::string first, const std::string& more) {
    return more.empty() ? first : first + ", " + more;
  }
  std::string finished(std::string expression, const Oddities& odd) {
    if (!odd.problem.ok() && problem_.ok()) problem_ = Status(odd.problem);
    return odd.none() ? expression
                      : "also(" + expression + ", " + elements_.of_bytes("fields", odd.bytes) + ")";
  }
  template <class M>
  std::string whole(const M& m, const Oddities& odd, Names skip = {}, std::string_view field = {}) {
    return finished(format("onnx.{}(", class_name<M>(field)) + arguments(m, odd, std::move(skip)) + ")", odd);
  }

  std::string message(const GraphProto& g, std::string_view) { return graph(g, "") + "()"; }
  std::string message(const NodeProto& n, std::string_view) {
    const Oddities odd = oddities(n);
    if (!n.op_type.present() || odd.has("op_type") || odd.has("input") || odd.has("output")) {
      return whole(n, odd);
    }
    std::string out =
        "node(" + python_text(n.op_type) + ", " + texts(n.input, false) + ", " + texts(n.output, false);
    for (const AttributeProto& a : n.attribute) out += ", " + message(a, "");
    const std::string more = arguments(n, odd, {"op_type", "input", "output", "attribute"});
    return finished(joined(out, more) + ")", odd);
  }
  std::string message(const AttributeProto& a, std::string_view) {
    const Oddities odd = oddities(a);
    const char* const field = field_of(AttributeType(a.type.value));
    const std::string value = arguments(a, odd, {"name", "type"});
    CountPresent fields;
    Schema<AttributeProto>::fields(fields, a);
    const bool plain = odd.none() && a.name.present() && a.type.present && field && fields.present == 3 &&
                       value.starts_with(format("{}=", field));
    if (plain) return "attr(" + python_text(a.name) + ", " + value + ")";
    return whole(a, odd);
  }
  std::string message(const ValueInfoProto& v, std::string_view) {
    const Oddities odd = oddities(v);
    std::string dims;
    if (!v.name.present() || odd.has("name") || !plain_type(v, dims)) return whole(v, odd);
    const std::string start =
        "value(" + hole(python_text(v.name)) + ", " + type_name(v.type->tensor_type->elem_type) + dims;
    return finished(joined(start, arguments(v, odd, {"name", "type"})) + ")", odd);
  }
  // A dense tensor with a shape and nothing unusual.
  static bool plain_type(const ValueInfoProto& v, std::string& dims) {
    if (!v.type || !v.type->tensor_type || !v.type->tensor_type->shape || v.type->denotation.present() ||
        !dtype_is_valid(v.type->tensor_type->elem_type) || !oddities(*v.type).none() ||
        !oddities(*v.type->tensor_type).none() || !oddities(*v.type->tensor_type->shape).none()) {
      return false;
    }
    for (const DimensionProto& d : v.type->tensor_type->shape->dim) {
      if (d.denotation.present() || !oddities(d).none()) return false;
      dims += ", ";
      dims += d.dim_value.present     ? hole(python_number(d.dim_value.value))
              : d.dim_param.present() ? hole(python_text(d.dim_param))
                                      : "None";
    }
    return true;
  }
  std::string message(const TensorProto& t, std::string_view) {
    const Oddities odd = oddities(t);
    Names skip{"raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data"};
    std::string out = "onnx.TensorProto(";
    if (t.name.present() && !odd.has("name") && dtype_is_valid(t.data_type)) {
      out = "tensor(" + hole(python_text(t.name)) + ", " + type_name(t.data_type) + ", " +
            hole(python_numbers<int64_t>(t.dims.values()));
      skip.insert({"name", "data_type", "dims"});
    }
    std::string more = arguments(t, odd, skip);
    const std::string data = elements_.of(t, odd);
    if (!more.empty() && !data.empty()) more += ", ";
    more += data;
    return finished((out.back() == '(' ? out + more : joined(out, more)) + ")", odd);
  }
  template <class M>
  std::string message(const M& m, std::string_view field) {
    const Oddities odd = oddities(m);
    if (!odd.none()) return whole(m, odd, {}, field);
    return "dict(" + arguments(m, odd) + ")";
  }

  // {"key": "value"}, if that says it all.
  static std::string pairs(const std::vector<StringStringEntryProto>& list) {
    Names keys;
    std::string out;
    for (const StringStringEntryProto& e : list) {
      if (!e.key.present() || !e.value.present() || !oddities(e).none() || !keys.insert(e.key).second)
        return {};
      out += (out.empty() ? "" : ", ") + python_text(e.key) + ": " + hole(python_text(e.value));
    }
    return "entries({" + out + "})";
  }

  static std::string type_name(int32_t type) { return format("T.{}", dtype_onnx_name(DType(type))); }

  std::string graph(const GraphProto& g, const std::string& name);
  std::string function(const FunctionProto& f);
  std::string define(const std::string& name, const std::string& body);
  // VAR.FIELD.append(…) for each, repeated ones in loops.
  template <class M>
  void append_all(std::string& body, const char* var, const char* field, const std::vector<M>& list) {
    std::vector<std::string> statements;
    for (const M& m : list) {
      std::string made;
      if constexpr (std::is_same_v<M, SparseTensorProto> || std::is_same_v<M, TensorAnnotation>) {
        made = whole(m, oddities(m));
      } else {
        made = message(m, field);
      }
      statements.push_back(format("{}.{}.append(", var, field) + made + ")");
    }
    for (const std::string& line : fold_statements(statements)) body += "    " + line + "\n";
  }

  const Model& model_;
  PythonElements elements_;
  std::string functions_;
  std::unordered_map<std::string, std::string> defined_;  // the body of a function → its name
  size_t bodies_ = 0;
  Status problem_;
};

template <class M>
struct Writer::Arguments {
  Writer& w;
  std::string& out;
  const Names& skip;

  bool put(const char* name, const std::string& value) {
    out += out.empty() ? "" : ", ";
    out += name;
    out += "=" + value;
    return false;
  }
  template <class T>
  bool operator()(uint32_t, const char* name, const Opt<T>& f) {
    return f.present && !skip.contains(name) ? put(name, hole(python_number(f.value))) : false;
  }
  bool operator()(uint32_t, const char* name, const Bytes& f) {
    if (!f.present() || skip.contains(name)) return false;
    return put(name, hole(is_bytes_field<M>(name) ? python_bytes(f) : python_text(f)));
  }
  bool operator()(uint32_t, const char* name, const std::vector<Bytes>& f) {
    return !f.empty() && !skip.contains(name) ? put(name, texts(f, is_bytes_field<M>(name))) : false;
  }
  template <class C>
  bool operator()(uint32_t, const char* name, const Box<C>& f) {
    return f && !skip.contains(name) ? put(name, w.message(*f, name)) : false;
  }
  template <class C>
  bool operator()(uint32_t, const char* name, const std::vector<C>& f) {
    if (f.empty() || skip.contains(name)) return false;
    if constexpr (std::is_same_v<C, StringStringEntryProto>) {
      if (const std::string said = pairs(f); !said.empty()) return put(name, said);
    }
    std::string all = "[";
    for (size_t i = 0; i < f.size(); ++i) all += (i ? ", " : "") + w.message(f[i], name);
    return put(name, all + "]");
  }
  template <class T, class... Rest>
  bool operator()(uint32_t, const char* name, const Numbers<T>& f, Rest...) {
    if (!f.has_bytes() || skip.contains(name)) return false;
    return put(name, hole(python_numbers<T>(f.values())));
  }
};

// Defines a function and returns its name; that of an earlier one if it is the same.
std::string Writer::define(const std::string& name, const std::string& body) {
  const auto [it, is_new] = defined_.emplace(body, name);
  if (is_new) functions_ += "def " + name + "():\n" + body + "\n\n";
  return it->second;
}

std::string Writer::graph(const GraphProto& g, const std::string& name) {
  std::string body = "    g = " +
                     whole(g, oddities(g),
                           {"node", "initializer", "input", "output", "value_info", "sparse_initializer",
                            "quantization_annotation"}) +
                     "\n";
  append_all(body, "g", "input", g.input);
  append_all(body, "g", "output", g.output);
  append_all(body, "g", "initializer", g.initializer);
  append_all(body, "g", "sparse_initializer", g.sparse_initializer);
  append_all(body, "g", "node", g.node);
  append_all(body, "g", "value_info", g.value_info);
  append_all(body, "g", "quantization_annotation", g.quantization_annotation);
  return define(name.empty() ? format("body_{}", ++bodies_) : name, without_holes(body) + "    return g\n");
}

std::string Writer::function(const FunctionProto& f) {
  std::string body = "    f = " + whole(f, oddities(f), {"node", "value_info"}) + "\n";
  append_all(body, "f", "node", f.node);
  append_all(body, "f", "value_info", f.value_info);
  return define(format("function_{}", ++bodies_), without_holes(body) + "    return f\n");
}

}  // namespace

Result<PythonScript> python_script(const Model& model, const std::string& folder, uint64_t largest_inline) {
  return Writer(model, largest_inline).script(folder);
}

}  // namespace sx::onnx
