// SPDX-License-Identifier: Apache-2.0
// Prints ONNX text. What the syntax has no place for is left out or stands there in a near form;
// text_notes.cc finds the difference and says it in comments.
#include <algorithm>

#include "base/format.h"
#include "onnx/tensor_data.h"
#include "onnx/text.h"
#include "onnx/text_notes.h"
#include "onnx/text_tensor.h"
#include "onnx/text_types.h"

namespace sx::onnx {
namespace {

class Printer {
 public:
  Printer(std::string& to, uint64_t largest, bool elide) : out_(to), largest_(largest), elide_(elide) {}

  void model(const ModelProto& m);
  void graph(const GraphProto& g);
  void function(const FunctionProto& f);
  void node(const NodeProto& n);
  void type(const TypeProto& t);
  bool can_say(const TypeProto& t) const;
  size_t left_out() const { return left_out_; }

 private:
  template <class C, class F>
  void list(const char* open, const C& items, const char* separator, const char* close, F&& each) {
    out_ += open;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += separator;
      each(items[i]);
    }
    out_ += close;
  }
  void quoted(std::string_view text) { append_quoted(out_, plain_text(text)); }
  // A name where quotes are allowed. Words that begin a type are quoted, lest they be read as one.
  void name(std::string_view text) {
    if (is_identifier(text) && !is_type_word(text)) {
      out_ += text;
    } else {
      quoted(text);
    }
  }
  void names(const char* open, const std::vector<Text>& all, const char* close) {
    list(open, all, ", ", close, [&](const Text& t) { name(t); });
  }
  void indent() { out_.append(size_t(3 * level_), ' '); }

  void shape(const Box<TensorShapeProto>& s);
  void value(const ValueInfoProto& v);
  void tensor(const TensorProto& t, bool initializer);
  void attribute(const AttributeProto& a);
  void attribute_value(const AttributeProto& a, AttributeType kind);
  void opsets(const std::vector<OperatorSetIdProto>& all);
  void nodes(const std::vector<NodeProto>& all);

  std::string& out_;
  uint64_t largest_;
  bool elide_;  // leave every payload out
  size_t left_out_ = 0;
  int level_ = 0;
};

void Printer::shape(const Box<TensorShapeProto>& s) {
  if (!s) {
    out_ += "[]";
    return;
  }
  if (s->dim.empty()) return;
  list("[", s->dim, ",", "]", [&](const DimensionProto& d) {
    if (d.dim_value.present) {
      append_number(out_, d.dim_value.value);
    } else if (d.dim_param.present()) {
      is_identifier(d.dim_param) ? void(out_ += d.dim_param.view()) : quoted(d.dim_param);
    } else {
      out_ += '?';
    }
  });
}

bool Printer::can_say(const TypeProto& t) const {
  if (t.tensor_type) return dtype_is_valid(t.tensor_type->elem_type);
  if (t.sparse_tensor_type) return dtype_is_valid(t.sparse_tensor_type->elem_type);
  if (t.sequence_type) return t.sequence_type->elem_type && can_say(*t.sequence_type->elem_type);
  if (t.optional_type) return t.optional_type->elem_type && can_say(*t.optional_type->elem_type);
  if (t.map_type) {
    return dtype_is_valid(t.map_type->key_type) && t.map_type->value_type && can_say(*t.map_type->value_type);
  }
  return bool(t.opaque_type);
}

void Printer::type(const TypeProto& t) {
  if (t.tensor_type) {
    out_ += text_type_name(DType(t.tensor_type->elem_type.value));
    shape(t.tensor_type->shape);
  } else if (t.sparse_tensor_type) {
    out_ += "sparse_tensor(";
    out_ += text_type_name(DType(t.sparse_tensor_type->elem_type.value));
    shape(t.sparse_tensor_type->shape);
    out_ += ')';
  } else if (t.sequence_type) {
    out_ += "seq(";
    type(*t.sequence_type->elem_type);
    out_ += ')';
  } else if (t.optional_type) {
    out_ += "optional(";
    type(*t.optional_type->elem_type);
    out_ += ')';
  } else if (t.map_type) {
    out_ += "map(";
    out_ += text_type_name(DType(t.map_type->key_type.value));
    out_ += ", ";
    type(*t.map_type->value_type);
    out_ += ')';
  } else if (t.opaque_type) {
    const auto dotted = [](std::string_view s) { return is_dotted_name(s); };
    const std::string_view domain = t.opaque_type->domain, id = t.opaque_type->name;
    out_ += "opaque(";
    if (dotted(domain) && is_identifier(id)) {
      out_ += domain;
      out_ += ',';
      out_ += id;
    } else if (domain.empty() && dotted(id)) {
      out_ += id;
    }
    out_ += ')';
  }
}

void Printer::value(const ValueInfoProto& v) {
  if (v.type && can_say(*v.type)) {
    type(*v.type);
    out_ += ' ';
  }
  name(v.name);
}

// type[dims] name = {elements}. In an attribute the name cannot be quoted and may be left out.
void Printer::tensor(const TensorProto& t, bool initializer) {
  const bool known = dtype_is_valid(t.data_type);
  out_ += known ? text_type_name(DType(t.data_type.value)) : "float";
  const std::vector<int64_t> dims = t.dims.values();
  if (!dims.empty()) list("[", dims, ",", "]", [&](int64_t d) { append_number(out_, d); });
  const PayloadForm form = elide_ && !t.is_external() ? PayloadForm::odd : payload_form(t);
  out_ += ' ';
  if (initializer) {
    name(t.name);
    out_ += " = ";
  } else if (is_identifier(t.name)) {
    out_ += t.name.view();
    out_ += ' ';
  } else if (form == PayloadForm::external) {
    out_ += "= ";  // lest what follows be read as a shape
  }
  const Result<TensorInfo> info = tensor_info(t);
  if (!info.ok() || (form != PayloadForm::external && uint64_t(info->count) > largest_)) {
    left_out_ += info.ok();
    print_elements(t, PayloadForm::odd, out_);
  } else {
    print_elements(t, form, out_);
  }
}

void Printer::attribute_value(const AttributeProto& a, AttributeType kind) {
  const auto numbers = [&](const auto& values) {
    list("[", values, ", ", "]", [&](auto v) { append_number(out_, v); });
  };
  switch (kind) {
    case AttributeType::f: return append_number(out_, a.f.value);
    case AttributeType::i: return append_number(out_, a.i.value);
    case AttributeType::s: return quoted(a.s);
    case AttributeType::floats: return numbers(a.floats.values());
    case AttributeType::ints: return numbers(a.ints.values());
    case AttributeType::strings: return list("[", a.strings, ", ", "]", [&](const Bytes& s) { quoted(s); });
    case AttributeType::t: return tensor(*a.t, false);
    case AttributeType::tensors:
      return list("[", a.tensors, ", ", "]", [&](const TensorProto& t) { tensor(t, false); });
    case AttributeType::tp: return type(*a.tp);
    case AttributeType::type_protos:
      return list("[", a.type_protos, ", ", "]", [&](const TypeProto& t) { type(t); });
    case AttributeType::g: return graph(*a.g);
    case AttributeType::graphs: return list("[", a.graphs, ", ", "]", [&](const GraphProto& g) { graph(g); });
    default: return;
  }
}

void Printer::attribute(const AttributeProto& a) {
  AttributeType kind = a.kind();
  const auto sayable = [&](const TypeProto& t) { return can_say(t); };
  const bool lost = (kind == AttributeType::t && !a.t) || (kind == AttributeType::g && !a.g) ||
                    (kind == AttributeType::tp && (!a.tp || !can_say(*a.tp))) ||
                    (kind == AttributeType::type_protos &&
                     !std::all_of(a.type_protos.begin(), a.type_protos.end(), sayable)) ||
                    text_attribute_type(kind).empty() ||
                    ((kind == AttributeType::sparse_tensor || kind == AttributeType::sparse_tensors) &&
                     a.ref_attr_name.empty());
  if (lost) kind = AttributeType::i;
  out_ += is_identifier(a.name) ? a.name.view() : std::string_view("unnamed");
  out_ += ": ";
  out_ += text_attribute_type(kind);
  out_ += " = ";
  if (a.ref_attr_name.present()) {
    out_ += '@';
    return name(a.ref_attr_name);
  }
  ++level_;
  attribute_value(a, kind);
  --level_;
}

void Printer::node(const NodeProto& n) {
  indent();
  if (n.name.present()) {
    out_ += '[';
    if (!n.name.empty()) name(n.name);
    out_ += "] ";
  }
  names("", n.output, " = ");
  if (is_dotted_name(n.domain)) {
    out_ += n.domain.view();
    out_ += '.';
  }
  out_ += is_identifier(n.op_type) ? n.op_type.view() : std::string_view("Unnamed");
  if (is_identifier(n.overload)) {
    out_ += ':';
    out_ += n.overload.view();
  }
  const bool body = std::any_of(n.attribute.begin(), n.attribute.end(),
                                [](const AttributeProto& a) { return a.g || !a.graphs.empty(); });
  const auto attributes = [&] {
    if (!n.attribute.empty()) {
      list(" <", n.attribute, ", ", ">", [&](const AttributeProto& a) { attribute(a); });
    }
  };
  if (!body) attributes();
  names(" (", n.input, ")");
  if (body) attributes();
}

void Printer::nodes(const std::vector<NodeProto>& all) {
  out_ += "{\n";
  ++level_;
  for (const NodeProto& n : all) {
    node(n);
    out_ += '\n';
  }
  --level_;
  indent();
  out_ += '}';
}

void Printer::graph(const GraphProto& g) {
  // As the value of an attribute the name must be an identifier that is neither a type nor nan or inf.
  if (level_ == 0) {
    name(g.name);
  } else {
    out_ += is_identifier(g.name) && !is_type_word(g.name) && !is_special_float(g.name)
                ? g.name.view()
                : std::string_view("body");
  }
  list(" (", g.input, ", ", ")", [&](const ValueInfoProto& v) { value(v); });
  list(" => (", g.output, ", ", ") ", [&](const ValueInfoProto& v) { value(v); });
  if (!g.initializer.empty() || !g.value_info.empty()) {
    ++level_;
    out_ += '\n';
    indent();
    const char* separator = "<";
    const auto next = [&] {
      out_ += separator;
      separator = ",\n";
      if (out_.back() == '\n') {
        indent();
        out_ += ' ';
      }
    };
    for (const TensorProto& t : g.initializer) {
      next();
      tensor(t, true);
    }
    for (const ValueInfoProto& v : g.value_info) {
      next();
      value(v);
    }
    --level_;
    out_ += ">\n";
    indent();
  }
  nodes(g.node);
}

void Printer::opsets(const std::vector<OperatorSetIdProto>& all) {
  list("[", all, ", ", "]", [&](const OperatorSetIdProto& o) {
    quoted(o.domain);
    out_ += ": ";
    append_number(out_, o.version.value);
  });
}

void Printer::function(const FunctionProto& f) {
  out_ += "<\n   domain: ";
  quoted(f.domain);
  if (f.overload.present()) {
    out_ += ",\n   overload: ";
    quoted(f.overload);
  }
  if (f.doc_string.present()) {
    out_ += ",\n   doc_string: ";
    quoted(f.doc_string);
  }
  out_ += ",\n   opset_import: ";
  opsets(f.opset_import);
  out_ += "\n>\n";
  name(f.name);
  if (!f.attribute.empty() || !f.attribute_proto.empty()) {
    list(" <", f.attribute, ", ", "", [&](const Text& t) { name(t); });
    if (!f.attribute.empty() && !f.attribute_proto.empty()) out_ += ", ";
    list("", f.attribute_proto, ", ", ">", [&](const AttributeProto& a) { attribute(a); });
  }
  names(" (", f.input, ")");
  names(" => (", f.output, ")\n");
  if (!f.value_info.empty()) {
    list("   <", f.value_info, ",\n    ", ">\n", [&](const ValueInfoProto& v) { value(v); });
  }
  nodes(f.node);
}

void Printer::model(const ModelProto& m) {
  const char* separator = "<\n   ";
  const auto key = [&](const char* word) {
    out_ += separator;
    out_ += word;
    out_ += ": ";
    separator = ",\n   ";
  };
  const auto text = [&](const char* word, const Text& value_text) {
    if (!value_text.present()) return;
    key(word);
    quoted(value_text);
  };
  if (m.ir_version.present) {
    key("ir_version");
    append_number(out_, m.ir_version.value);
  }
  if (!m.opset_import.empty()) {
    key("opset_import");
    opsets(m.opset_import);
  }
  text("producer_name", m.producer_name);
  text("producer_version", m.producer_version);
  text("domain", m.domain);
  if (m.model_version.present) {
    key("model_version");
    append_number(out_, m.model_version.value);
  }
  text("doc_string", m.doc_string);
  if (!m.metadata_props.empty()) {
    key("metadata_props");
    list("[", m.metadata_props, ", ", "]", [&](const StringStringEntryProto& e) {
      quoted(e.key);
      out_ += ": ";
      quoted(e.value);
    });
  }
  if (*separator == ',') out_ += "\n>\n";
  graph(m.graph ? *m.graph : GraphProto());
  out_ += '\n';
  for (const FunctionProto& f : m.functions) {
    function(f);
    out_ += '\n';
  }
}

}  // namespace

std::string print_text(const ModelProto& m, const PrintOptions& options) {
  std::string out;
  Printer printer(out, options.largest_tensor, false);
  printer.model(m);
  if (printer.left_out() > 0)
    out += format("# the elements of {} tensors are left out\n", printer.left_out());
  if (options.exact) {
    std::string outline;
    Printer(outline, UINT64_MAX, true).model(m);
    append_notes(outline, m, options.largest_tensor, out);
  }
  return out;
}

std::string print_text(const GraphProto& g) {
  std::string out;
  Printer(out, UINT64_MAX, false).graph(g);
  return out;
}

std::string print_text(const FunctionProto& f) {
  std::string out;
  Printer(out, UINT64_MAX, false).function(f);
  return out;
}

std::string print_text(const NodeProto& n) {
  std::string out;
  Printer(out, UINT64_MAX, false).node(n);
  return out;
}

std::string print_text(const TypeProto& t) {
  std::string out;
  Printer printer(out, UINT64_MAX, false);
  if (!printer.can_say(t)) return "?";
  printer.type(t);
  return out;
}

}  // namespace sx::onnx
