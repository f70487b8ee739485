// SPDX-License-Identifier: Apache-2.0
#include "onnx/python_script.h"

#include <cmath>
#include <set>
#include <type_traits>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/schema.h"
#include "onnx/tensor_data.h"
#include "onnx/text_tensor.h"

namespace sx::onnx {
namespace {

constexpr std::string_view kHead = R"(import struct
import sys
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent


def load(name):
    """The elements of a large tensor."""
    return np.load(HERE / FOLDER / name)


def raw(dtype, values):
    return np.array(values, dtype).tobytes()


def bits(format, number):
    """A number that has no other text: a NaN of unusual bits."""
    return struct.unpack(format, number.to_bytes(struct.calcsize(format), "little"))[0]


def node(op_type, input, output, *attribute, **fields):
    return onnx.NodeProto(op_type=op_type, input=input, output=output, attribute=attribute, **fields)


def attr(name, type, **value):
    return onnx.AttributeProto(name=name, type=type, **value)


def value(name, elem_type, *dims, **fields):
    """A tensor value: dims are numbers, names, or None for an unknown size."""
    dim = [{} if d is None else {"dim_param" if isinstance(d, str) else "dim_value": d} for d in dims]
    type = {"tensor_type": {"elem_type": elem_type, "shape": {"dim": dim}}}
    return onnx.ValueInfoProto(name=name, type=type, **fields)


def tensor(name, data_type, dims, **fields):
    return onnx.TensorProto(name=name, data_type=data_type, dims=dims, **fields)


)";

constexpr std::string_view kTail = R"(
if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(model().SerializeToString())
)";

bool is_utf8(std::string_view s) {
  // Control characters are fine here; only malformed sequences are not.
  for (size_t i = 0; i < s.size();) {
    const auto a = uint8_t(s[i]);
    const size_t n = a < 0x80                ? 1
                     : a >= 0xc2 && a < 0xe0 ? 2
                     : a >= 0xe0 && a < 0xf0 ? 3
                     : a >= 0xf0 && a < 0xf5 ? 4
                                             : 0;
    if (n == 0 || i + n > s.size()) return false;
    for (size_t k = 1; k < n; ++k) {
      if ((uint8_t(s[i + k]) & 0xc0) != 0x80) return false;
    }
    const auto second = n > 1 ? uint8_t(s[i + 1]) : 0;
    if ((a == 0xe0 && second < 0xa0) || (a == 0xed && second > 0x9f) || (a == 0xf0 && second < 0x90) ||
        (a == 0xf4 && second > 0x8f)) {
      return false;
    }
    i += n;
  }
  return true;
}

std::string literal(std::string_view text, bool as_bytes) {
  std::string out = as_bytes ? "b\"" : "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t n = as_bytes && uint8_t(text[i]) >= 0x80 ? 0 : shown_sequence(text, i);
    const auto c = uint8_t(text[i]);
    if (n > 0) {
      if (c == '"' || c == '\\') out += '\\';
      out.append(text, i, n);
    } else if (c == '\n') {
      out += "\\n";
    } else if (as_bytes || c < 0x80) {
      out += format("\\x{:02x}", c);
    } else {  // a character that is not shown: its whole sequence as it is, in a str literal
      const size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
      out.append(text, i, length);
      i += length;
      continue;
    }
    i += n > 0 ? n : 1;
  }
  return out + "\"";
}

template <class T>
std::string number(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      Bits b;
      __builtin_memcpy(&b, &v, sizeof b);
      return format("bits(\"<{}\", 0x{:x})", sizeof(T) == 4 ? 'f' : 'd', b);
    }
    if (std::isinf(v)) return v < 0 ? "-np.inf" : "np.inf";
  }
  std::string out;
  append_number(out, v);
  return out;
}

template <class T>
std::string numbers(const std::vector<T>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + number(values[i]);
  return out + "]";
}

const char* numpy_type(DType t) {
  switch (t) {
    case DType::f32: return "<f4";
    case DType::f64: return "<f8";
    case DType::i64: return "<i8";
    case DType::i32: return "<i4";
    case DType::u8: return "u1";
    case DType::i8: return "i1";
    default: return nullptr;
  }
}

class Writer {
 public:
  Writer(const Model& model, uint64_t largest) : model_(model), largest_(largest) {}

  Result<PythonScript> script(const std::string& folder) {
    const std::string main = model_.graph ? graph(*model_.graph, "main") : "";
    std::string end;
    std::string body = "    m = onnx.ModelProto(" +
                       arguments(static_cast<const ModelProto&>(model_), {"graph", "functions"}) + ")\n";
    if (model_.graph) body += "    m.graph.CopyFrom(" + main + "())\n";
    for (size_t i = 0; i < model_.functions.size(); ++i) {
      body += "    m.functions.append(" + function(model_.functions[i], i) + "())\n";
    }
    end = "def model():\n" + body + "    return m\n\n";
    if (!problem_.ok()) return std::move(problem_);
    PythonScript script;
    script.text = "# Rebuilds a model with the onnx package: python THIS_SCRIPT OUT.onnx\n";
    script.text += kHead;
    const size_t at = script.text.find("FOLDER");
    script.text.replace(at, 6, literal(folder, false));
    script.text += functions_ + end + std::string(kTail);
    script.arrays = std::move(arrays_);
    return script;
  }

 private:
  template <class M>
  struct Arguments;

  std::string text(const Bytes& b, bool as_bytes) {
    if (!as_bytes && !is_utf8(b) && problem_.ok()) {
      problem_ = error(Code::unsupported, "{} is not UTF-8, which the onnx package cannot set", quoted(b));
    }
    return literal(b, as_bytes);
  }
  std::string texts(const std::vector<Bytes>& all, bool as_bytes) {
    std::string out = "[";
    for (size_t i = 0; i < all.size(); ++i) out += (i ? ", " : "") + text(all[i], as_bytes);
    return out + "]";
  }
  // name=value, … of the fields that are present; `skip` are written elsewhere.
  template <class M>
  std::string arguments(const M& m, std::set<std::string_view> skip = {}) {
    std::string out;
    Schema<M>::fields(Arguments<M>{*this, out, skip}, m);
    return out;
  }
  static std::string joined(std::string first, const std::string& more) {
    return more.empty() ? first : first + ", " + more;
  }

  std::string message(const GraphProto& g) { return graph(g, "") + "()"; }
  std::string message(const NodeProto& n) {
    std::string out =
        "node(" + text(n.op_type, false) + ", " + texts(n.input, false) + ", " + texts(n.output, false);
    for (const AttributeProto& a : n.attribute) out += ", " + message(a);
    std::set<std::string_view> skip{"op_type", "input", "output", "attribute"};
    if (!n.op_type.present()) return "onnx.NodeProto(" + arguments(n) + ")";
    return joined(out, arguments(n, skip)) + ")";
  }
  std::string message(const AttributeProto& a) {
    if (!a.name.present() || !a.type.present) return "onnx.AttributeProto(" + arguments(a) + ")";
    const std::string_view type = attribute_type_name(AttributeType(a.type.value));
    const std::string kind =
        type == "unknown" ? number(a.type.value) : format("onnx.AttributeProto.{}", type);
    return joined("attr(" + text(a.name, false) + ", " + kind, arguments(a, {"name", "type"})) + ")";
  }
  std::string message(const ValueInfoProto& v) {
    const bool plain = v.name.present() && v.type && v.type->tensor_type && v.type->tensor_type->shape &&
                       dtype_is_valid(v.type->tensor_type->elem_type) && !v.type->denotation.present();
    std::string dims;
    if (plain) {
      for (const DimensionProto& d : v.type->tensor_type->shape->dim) {
        if (d.denotation.present()) return "onnx.ValueInfoProto(" + arguments(v) + ")";
        dims += ", ";
        dims += d.dim_value.present     ? number(d.dim_value.value)
                : d.dim_param.present() ? text(d.dim_param, false)
                                        : "None";
      }
      const std::string start =
          "value(" + text(v.name, false) + ", " + type_name(v.type->tensor_type->elem_type) + dims;
      return joined(start, arguments(v, {"name", "type"})) + ")";
    }
    return "onnx.ValueInfoProto(" + arguments(v) + ")";
  }
  std::string message(const TensorProto& t) {
    const std::set<std::string_view> payload{"raw_data",   "float_data",  "int32_data",
                                             "int64_data", "double_data", "uint64_data"};
    std::set<std::string_view> skip = payload;
    std::string out = "onnx.TensorProto(";
    if (t.name.present() && dtype_is_valid(t.data_type)) {
      out = "tensor(" + text(t.name, false) + ", " + type_name(t.data_type) + ", " + numbers(t.dims.values());
      skip.insert({"name", "data_type", "dims"});
    }
    std::string more = arguments(t, skip);
    const std::string data = elements(t);
    if (!more.empty() && !data.empty()) more += ", ";
    more += data;
    return (out.back() == '(' ? out + more : joined(out, more)) + ")";
  }
  template <class M>
  std::string message(const M& m) {
    return "dict(" + arguments(m) + ")";
  }

  static std::string type_name(int32_t type) {
    return format("onnx.TensorProto.{}", dtype_onnx_name(DType(type)));
  }

  std::string elements(const TensorProto& t);
  template <class T>
  void typed(std::string& out, const char* name, const Numbers<T>& f, const TensorProto& t);
  std::string keep(const TensorProto& t, Tensor tensor);
  std::string graph(const GraphProto& g, std::string name);
  std::string function(const FunctionProto& f, size_t i);
  template <class M, class L>
  void append_all(std::string& body, const char* var, const char* field, const L& list) {
    for (const M& m : list) body += format("    {}.{}.append({})\n", var, field, message(m));
  }

  const Model& model_;
  uint64_t largest_;
  std::string functions_;
  size_t graphs_ = 0;
  std::vector<std::pair<std::string, Tensor>> arrays_;
  std::set<std::string> taken_;
  Status problem_;
};

template <class M>
struct Writer::Arguments {
  Writer& w;
  std::string& out;
  const std::set<std::string_view>& skip;
  // The fields that the schema calls bytes; the others are text.
  static bool is_bytes(std::string_view name) {
    return (std::is_same_v<M, AttributeProto> && (name == "s" || name == "strings")) ||
           (std::is_same_v<M, TensorProto> && (name == "raw_data" || name == "string_data")) ||
           name == "string_keys";
  }
  bool put(const char* name, const std::string& value) {
    out += out.empty() ? "" : ", ";
    out += format("{}={}", name, value);
    return false;
  }
  template <class T>
  bool operator()(uint32_t, const char* name, const Opt<T>& f) {
    return f.present && !skip.contains(name) ? put(name, number(f.value)) : false;
  }
  bool operator()(uint32_t, const char* name, const Bytes& f) {
    return f.present() && !skip.contains(name) ? put(name, w.text(f, is_bytes(name))) : false;
  }
  bool operator()(uint32_t, const char* name, const std::vector<Bytes>& f) {
    return !f.empty() && !skip.contains(name) ? put(name, w.texts(f, is_bytes(name))) : false;
  }
  template <class C>
  bool operator()(uint32_t, const char* name, const Box<C>& f) {
    return f && !skip.contains(name) ? put(name, w.message(*f)) : false;
  }
  template <class C>
  bool operator()(uint32_t, const char* name, const std::vector<C>& f) {
    if (f.empty() || skip.contains(name)) return false;
    std::string all = "[";
    for (size_t i = 0; i < f.size(); ++i) all += (i ? ", " : "") + w.message(f[i]);
    return put(name, all + "]");
  }
  template <class T, class... Rest>
  bool operator()(uint32_t, const char* name, const Numbers<T>& f, Rest...) {
    return f.has_bytes() && !skip.contains(name) ? put(name, numbers(f.values())) : false;
  }
};

std::string Writer::keep(const TensorProto& t, Tensor tensor) {
  std::string base;
  for (char c : t.name.view().substr(0, 80))
    base += is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' ? c : '_';
  if (base.empty() || base[0] == '.') base = "tensor" + base;
  std::string name = base + ".npy";
  for (int i = 2; !taken_.insert(name).second; ++i) name = format("{}-{}.npy", base, i);
  arrays_.push_back({name, std::move(tensor)});
  return name;
}

template <class T>
void Writer::typed(std::string& out, const char* name, const Numbers<T>& f, const TensorProto& t) {
  if (!f.has_bytes()) return;
  const std::vector<T> values = f.values();
  constexpr DType type = std::is_same_v<T, float>     ? DType::f32
                         : std::is_same_v<T, double>  ? DType::f64
                         : std::is_same_v<T, int32_t> ? DType::i32
                         : std::is_same_v<T, int64_t> ? DType::i64
                                                      : DType::u64;
  if (!out.empty()) out += ", ";
  if (values.size() <= largest_) {
    out += format("{}={}", name, numbers(values));
  } else {
    const std::string file = keep(t, Tensor::of<T>(type, Dims{int64_t(values.size())}, values));
    out += format("{}=load({})", name, literal(file, false));
  }
}

std::string Writer::elements(const TensorProto& t) {
  std::string out;
  if (t.raw_data.present()) {
    const auto info = tensor_info(t);
    const auto bytes = t.raw_data.bytes();
    const bool right = info.ok() && info->raw_bytes == bytes.size() && payload_form(t) == PayloadForm::raw;
    const char* numpy = right ? numpy_type(info->type) : nullptr;
    if (numpy && uint64_t(info->count) <= largest_) {
      std::string list;
      print_elements(t, PayloadForm::raw, list);
      list = "[" + list.substr(1, list.size() - 2) + "]";
      for (const std::string_view word : {"nan", "inf"}) {
        for (size_t at = 0; (at = list.find(word, at)) != std::string::npos; at += 6)
          list.replace(at, 3, format("np.{}", word));
      }
      out = format("raw_data=raw(\"{}\", {})", numpy, list);
    } else if (bytes.size() <= 4 * largest_) {
      out = "raw_data=" + literal(t.raw_data, true);
    } else {
      const DType type = numpy ? info->type : DType::u8;
      Dims dims = numpy ? info->dims : Dims{int64_t(bytes.size())};
      auto tensor = Tensor::allocate(type, std::move(dims));
      if (!tensor.ok()) {
        problem_ = std::move(tensor).status();
        return out;
      }
      __builtin_memcpy(tensor->mutable_data(), bytes.data(), bytes.size());
      out = format("raw_data=load({}).tobytes()", literal(keep(t, std::move(*tensor)), false));
    }
  }
  typed(out, "float_data", t.float_data, t);
  typed(out, "int32_data", t.int32_data, t);
  typed(out, "int64_data", t.int64_data, t);
  typed(out, "double_data", t.double_data, t);
  typed(out, "uint64_data", t.uint64_data, t);
  return out;
}

std::string Writer::graph(const GraphProto& g, std::string name) {
  if (name.empty()) name = format("body_{}", ++graphs_);
  std::string body =
      "    g = onnx.GraphProto(" +
      arguments(g, {"node", "initializer", "input", "output", "value_info", "sparse_initializer"}) + ")\n";
  append_all<ValueInfoProto>(body, "g", "input", g.input);
  append_all<ValueInfoProto>(body, "g", "output", g.output);
  append_all<TensorProto>(body, "g", "initializer", g.initializer);
  for (const SparseTensorProto& s : g.sparse_initializer) {
    body += "    g.sparse_initializer.append(onnx.SparseTensorProto(" + arguments(s) + "))\n";
  }
  append_all<NodeProto>(body, "g", "node", g.node);
  append_all<ValueInfoProto>(body, "g", "value_info", g.value_info);
  functions_ += "def " + name + "():\n" + body + "    return g\n\n\n";
  return name;
}

std::string Writer::function(const FunctionProto& f, size_t i) {
  std::string name = format("function_{}", i);
  std::string body = "    f = onnx.FunctionProto(" + arguments(f, {"node", "value_info"}) + ")\n";
  append_all<NodeProto>(body, "f", "node", f.node);
  append_all<ValueInfoProto>(body, "f", "value_info", f.value_info);
  functions_ += "def " + name + "():\n" + body + "    return f\n\n\n";
  return name;
}

}  // namespace

Result<PythonScript> python_script(const Model& model, const std::string& folder, uint64_t largest_inline) {
  return Writer(model, largest_inline).script(folder);
}

}  // namespace sx::onnx
