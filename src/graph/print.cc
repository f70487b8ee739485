// SPDX-License-Identifier: Apache-2.0
// A Graph as text that people read in logs and test failures.
#include "base/format.h"
#include "graph/graph.h"

namespace sx {
namespace {

class Printer {
 public:
  explicit Printer(const Graph& g) : g_(g) {}
  std::string run() {
    body(kMainBody, "graph " + g_.name, "");
    for (const Guard& guard : g_.guards()) {
      text_ += format("guard {} {} {}  # {}\n", to_string(guard.a),
                      guard.broadcast ? "broadcasts with" : "==", to_string(guard.b), guard.what);
    }
    return std::move(text_);
  }

 private:
  std::string typed(ValueId v) const { return g_.value(v).name + " " + to_string(g_.value(v).type); }

  std::string list(const std::vector<ValueId>& values, bool types) const {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) {
      const ValueId v = values[i];
      text += (i ? ", " : "") + (v == kNoValue ? std::string("-") : types ? typed(v) : operand(v));
    }
    return text;
  }

  std::string operand(ValueId v) const {
    const ValueInfo& value = g_.value(v);
    if (!value.is_constant() || !value.constant.is_tensor()) return value.name;
    const Tensor& t = value.constant.tensor;
    if (t.count() > 8) return value.name + ":" + to_string(value.type);
    std::string text;
    for (int64_t i = 0; i < t.count(); ++i) {
      if (i) text += " ";
      switch (t.type()) {
        case DType::f32: text += format("{}", t.as<float>()[size_t(i)]); break;
        case DType::f64: text += format("{}", t.as<double>()[size_t(i)]); break;
        case DType::i64: text += format("{}", t.as<int64_t>()[size_t(i)]); break;
        case DType::i32: text += format("{}", t.as<int32_t>()[size_t(i)]); break;
        case DType::boolean: text += t.as<uint8_t>()[size_t(i)] ? "true" : "false"; break;
        default: return value.name + ":" + to_string(value.type);
      }
    }
    return t.rank() == 0 ? text : "[" + text + "]";
  }

  template <class T>
  static std::string numbers(const std::vector<T>& v) {
    std::string text = "[";
    for (size_t i = 0; i < v.size() && i < 16; ++i) text += (i ? ", " : "") + format("{}", v[i]);
    return text + (v.size() > 16 ? format(", … {} in all]", v.size()) : "]");
  }

  static std::string attr_text(const AttrValue& value) {
    if (const auto* i = std::get_if<int64_t>(&value)) return format("{}", *i);
    if (const auto* f = std::get_if<float>(&value)) return format("{}", *f);
    if (const auto* s = std::get_if<std::string>(&value)) return "\"" + *s + "\"";
    if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) return numbers(*v);
    if (const auto* v = std::get_if<std::vector<float>>(&value)) return numbers(*v);
    if (const auto* v = std::get_if<std::vector<std::string>>(&value)) return numbers(*v);
    if (const auto* t = std::get_if<Tensor>(&value))
      return format("{}{}", dtype_name(t->type()), to_string(t->dims()));
    if (const auto* b = std::get_if<BodyRef>(&value)) return format("body {}", b->id);
    return std::string(attr_kind_name(kind_of(value)));
  }

  void body(BodyId b, const std::string& head, const std::string& indent) {
    const Body& body_of = g_.body(b);
    text_ +=
        format("{}{} ({}) -> ({})\n", indent, head, list(body_of.inputs, true), list(body_of.outputs, true));
    for (NodeId n : body_of.nodes) node(n, indent + "  ");
  }

  void node(NodeId n, const std::string& indent) {
    const Node& x = g_.node(n);
    text_ +=
        format("{}{} = {}{}", indent, list(x.outputs, true), x.domain.empty() ? "" : x.domain + ".", x.type);
    std::string attrs;
    for (const Attr& a : x.attrs.list())
      attrs += (attrs.empty() ? "" : ", ") + a.name + "=" + attr_text(a.value);
    if (!attrs.empty()) text_ += "<" + attrs + ">";
    text_ += "(" + list(x.inputs, false) + ")";
    for (ValueId v : x.outputs) {
      if (v != kNoValue && g_.value(v).has_elements) {
        text_ +=
            "  # " + g_.value(v).name + " holds " + to_string(std::span<const Dim>(g_.value(v).elements));
      }
    }
    text_ += "\n";
    for (const Attr& a : x.attrs.list()) {
      if (const auto* one = std::get_if<BodyRef>(&a.value))
        body(one->id, format("body {}", one->id), indent + "  ");
      if (const auto* many = std::get_if<std::vector<BodyRef>>(&a.value)) {
        for (BodyRef r : *many) body(r.id, format("body {}", r.id), indent + "  ");
      }
    }
  }

  const Graph& g_;
  std::string text_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).run(); }

}  // namespace sx
