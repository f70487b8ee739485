// SPDX-License-Identifier: Apache-2.0
// Graph to Model: ids become unique names, constants initializers, groups functions of the model itself.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/format.h"
#include "convert/check.h"
#include "convert/convert.h"
#include "convert/types.h"
#include "graph/op.h"
#include "onnx/tensor_data.h"

namespace sx {
namespace {

constexpr std::string_view kGroupDomain = "sx.group";
constexpr size_t kShareFrom = 1024;  // bytes of a payload that is worth sharing

int64_t ir_version_for(int64_t opset) {
  if (opset >= 28) return 14;
  if (opset >= 25) return 13;
  if (opset == 24) return 12;
  if (opset == 23) return 11;
  return opset >= 21 ? 10 : opset >= 19 ? 9 : 8;
}

class Exporter {
 public:
  explicit Exporter(const Graph& g) : g_(g) {}

  Result<onnx::Model> run() {
    onnx::GraphProto& graph = model_.graph.make();
    graph.name = g_.name.empty() ? "graph" : g_.name;
    if (!g_.doc.empty()) graph.doc_string = g_.doc;
    for (const auto& [key, value] : g_.metadata) {
      onnx::StringStringEntryProto entry;
      entry.key = key;
      entry.value = value;
      model_.metadata_props.push_back(std::move(entry));
    }
    for (const auto* list : {&g_.main().inputs, &g_.main().outputs}) {
      for (ValueId v : *list) claim(v, g_.value(v).name);
    }
    SX_TRY(body(kMainBody, graph));
    for (ValueId v : initializers_) SX_TRY(initializer(v, graph));
    finish();
    return std::move(model_);
  }

 private:
  void claim(ValueId v, std::string name) {
    taken_.insert(name);
    names_[v] = std::move(name);
  }

  static std::string unique(const std::string& wanted, std::unordered_set<std::string>& taken) {
    std::string name = wanted;
    for (size_t i = 1; !taken.insert(name).second; ++i) name = format("{}_{}", wanted, i);
    return name;
  }

  const std::string& name_of(ValueId v) {
    // A layout is no part of the meaning: what Reorder makes is what it was given.
    if (!names_.contains(v)) {
      const NodeId p = g_.value(v).producer;
      if (p != kNoNode && is_reorder(g_.node(p))) return names_[v] = name_of(g_.node(p).inputs[0]);
      names_[v] = unique(g_.value(v).name, taken_);
    }
    return names_[v];
  }

  static bool is_reorder(const Node& n) { return n.domain == "sx" && n.type == "Reorder"; }
  static bool is_group(const Node& n) { return n.domain == "sx" && n.type == "Group"; }

  onnx::ValueInfoProto value_info(ValueId v) {
    onnx::ValueInfoProto info;
    info.name = name_of(v);
    if (g_.value(v).type.known()) info.type = convert::from_type(g_.value(v).type);
    return info;
  }

  Status body(BodyId b, onnx::GraphProto& graph) {
    for (ValueId v : g_.body(b).inputs) graph.input.push_back(value_info(v));
    SX_TRY(nodes(b, graph.node));
    for (ValueId v : g_.body(b).outputs) {
      SX_TRY(use(v, graph.node));
      graph.output.push_back(value_info(v));
      if (b != kMainBody && (g_.value(v).body != b || g_.value(v).producer == kNoNode)) own_output(v, graph);
    }
    return {};
  }

  // A nested graph must make its outputs itself.
  void own_output(ValueId v, onnx::GraphProto& graph) {
    const std::string name = unique(g_.value(v).name, taken_);
    onnx::NodeProto copy;
    copy.op_type = "Identity";
    copy.input.push_back(name_of(v));
    copy.output.push_back(name);
    graph.node.push_back(std::move(copy));
    graph.output.back().name = name;
  }

  Status nodes(BodyId b, std::vector<onnx::NodeProto>& list) {
    for (NodeId n : g_.body(b).nodes) {
      const auto& outputs = g_.main().outputs;
      const Node& node = g_.node(n);
      const bool named = std::find(outputs.begin(), outputs.end(), node.outputs[0]) != outputs.end();
      if (is_reorder(node) && !named) continue;
      SX_TRY(this->node(n, list).in(describe(g_, n)));
    }
    return {};
  }

  // Constants become initializers of the main graph, which every nested graph sees; functions see nothing.
  Status use(ValueId v, std::vector<onnx::NodeProto>& list) {
    if (v == kNoValue || !g_.value(v).is_constant() || !used_.insert(v).second) return {};
    if (!g_.value(v).constant.is_tensor()) {
      return error(Code::unsupported, "constant '{}' is a {}, which a file cannot hold", g_.value(v).name,
                   kind_name(g_.value(v).constant.kind));
    }
    if (!in_function_) {
      initializers_.push_back(v);
      return {};
    }
    onnx::NodeProto constant;
    constant.op_type = "Constant";
    constant.output.push_back(name_of(v));
    onnx::AttributeProto value;
    value.name = "value";
    value.type = int32_t(onnx::AttributeType::t);
    value.t = tensor(g_.value(v).constant.tensor, "");
    constant.attribute.push_back(std::move(value));
    list.push_back(std::move(constant));
    newest_ = std::max(newest_, 13);
    return {};
  }

  onnx::TensorProto tensor(const Tensor& t, std::string_view name) {
    if (t.type() == DType::string || t.bytes() < kShareFrom || dtype_bits(t.type()) % 8 != 0) {
      return onnx::from_tensor(t, name);
    }
    onnx::TensorProto p;
    p.dims.assign(t.dims());
    p.data_type = int32_t(t.type());
    p.name = name;
    p.raw_data = onnx::Bytes::borrow(t.data(), t.bytes());
    model_.keep.push_back(t.buffer());
    return p;
  }

  Status initializer(ValueId v, onnx::GraphProto& graph) {
    graph.initializer.push_back(tensor(g_.value(v).constant.tensor, name_of(v)));
    return {};
  }

  Status node(NodeId n, std::vector<onnx::NodeProto>& list) {
    const Node& node = g_.node(n);
    onnx::NodeProto p;
    if (!node.name.empty()) p.name = unique(node.name, node_names_);
    for (ValueId v : node.inputs) {
      SX_TRY(use(v, list));
      p.input.push_back(v == kNoValue ? onnx::Text("") : onnx::Text(name_of(v)));
    }
    for (ValueId v : node.outputs)
      p.output.push_back(v == kNoValue ? onnx::Text("") : onnx::Text(name_of(v)));
    if (is_group(node)) {
      SX_TRY(group(node, p));
    } else {
      p.op_type = is_reorder(node) ? "Identity" : node.type;
      if (!node.domain.empty() && !is_reorder(node)) p.domain = node.domain;
      if (!is_reorder(node)) SX_TRY(attributes(node, p));
      note_version(node);
    }
    list.push_back(std::move(p));
    return {};
  }

  // The oldest version that means the same and takes these types and attributes.
  int oldest_version(const Node& node) const {
    if (!node.op || node.op->history.empty()) return 1;
    convert::NodeFacts facts{{}, {}, node.attrs};
    for (ValueId v : node.inputs) facts.inputs.push_back(v == kNoValue ? nullptr : &g_.value(v).type);
    for (ValueId v : node.outputs) facts.outputs.push_back(v != kNoValue);
    size_t oldest = 0;
    for (size_t i = 1; i < node.op->history.size(); ++i) {
      const Version& version = node.op->history[i];
      if (version.lift || version.removed) break;
      if (!convert::check_node(version_of(*node.op, i), facts).empty()) break;
      oldest = i;
    }
    return node.op->history[oldest].since;
  }

  void note_version(const Node& node) {
    const int since = oldest_version(node);
    int& newest = node.domain.empty() ? newest_ : domains_[node.domain];
    newest = std::max(newest, since);
  }

  Status group(const Node& node, onnx::NodeProto& p) {
    const auto* ref = node.attrs.get<BodyRef>("body");
    if (!ref) return error(Code::internal, "a group has no body");
    onnx::FunctionProto f;
    f.domain = kGroupDomain;
    f.name = format("Group{}", model_.functions.size());
    p.op_type = f.name;
    p.domain = kGroupDomain;
    const bool outside = std::exchange(in_function_, true);
    const auto used = std::exchange(used_, {});
    for (ValueId v : g_.body(ref->id).inputs) f.input.push_back(name_of(v));
    SX_TRY(nodes(ref->id, f.node));
    for (ValueId v : g_.body(ref->id).outputs) {
      SX_TRY(use(v, f.node));
      f.output.push_back(name_of(v));
    }
    in_function_ = outside;
    used_ = used;
    model_.functions.push_back(std::move(f));
    domains_[std::string(kGroupDomain)] = 1;
    return {};
  }

  Status attributes(const Node& node, onnx::NodeProto& p) {
    for (const Attr& a : node.attrs.list()) {
      onnx::AttributeProto proto;
      proto.name = a.name;
      SX_TRY(attribute(a.value, proto).in("attribute '" + a.name + "'"));
      p.attribute.push_back(std::move(proto));
    }
    return {};
  }

  Status attribute(const AttrValue& value, onnx::AttributeProto& p) {
    using Kind = onnx::AttributeType;
    auto kind = [&](Kind k) { p.type = int32_t(k); };
    if (const auto* i = std::get_if<int64_t>(&value))
      kind(Kind::i), p.i = *i;
    else if (const auto* f = std::get_if<float>(&value))
      kind(Kind::f), p.f = *f;
    else if (const auto* s = std::get_if<std::string>(&value))
      kind(Kind::s), p.s = *s;
    else if (const auto* is = std::get_if<std::vector<int64_t>>(&value))
      kind(Kind::ints), p.ints = *is;
    else if (const auto* fs = std::get_if<std::vector<float>>(&value))
      kind(Kind::floats), p.floats = *fs;
    else if (const auto* ss = std::get_if<std::vector<std::string>>(&value)) {
      kind(Kind::strings);
      p.strings.assign(ss->begin(), ss->end());
    } else if (const auto* t = std::get_if<Tensor>(&value)) {
      kind(Kind::t);
      p.t = tensor(*t, "");
    } else if (const auto* ts = std::get_if<std::vector<Tensor>>(&value)) {
      kind(Kind::tensors);
      for (const Tensor& x : *ts) p.tensors.push_back(tensor(x, ""));
    } else if (const auto* b = std::get_if<BodyRef>(&value)) {
      kind(Kind::g);
      p.g.make().name = body_name(b->id);
      SX_TRY(body(b->id, *p.g));
    } else if (const auto* bs = std::get_if<std::vector<BodyRef>>(&value)) {
      kind(Kind::graphs);
      for (BodyRef x : *bs) {
        p.graphs.emplace_back().name = body_name(x.id);
        SX_TRY(body(x.id, p.graphs.back()));
      }
    } else if (const auto* type = std::get_if<Type>(&value)) {
      kind(Kind::tp);
      p.tp = convert::from_type(*type);
    } else if (const auto* sparse = std::get_if<std::shared_ptr<const SparseTensor>>(&value)) {
      kind(Kind::sparse_tensor);
      p.sparse_tensor = onnx::from_sparse_tensor(**sparse);
    } else {
      return error(Code::unsupported, "{} cannot be written", attr_kind_name(kind_of(value)));
    }
    return {};
  }

  std::string body_name(BodyId b) const {
    return g_.body(b).name.empty() ? format("body{}", b) : g_.body(b).name;
  }

  void finish() {
    std::vector<onnx::OperatorSetIdProto> imports(1);
    imports[0].domain = "";
    imports[0].version = newest_;
    for (const auto& [domain, version] : domains_) {
      onnx::OperatorSetIdProto import;
      import.domain = domain;
      import.version = version;
      imports.push_back(std::move(import));
    }
    for (onnx::FunctionProto& f : model_.functions) f.opset_import = imports;
    model_.opset_import = std::move(imports);
    model_.ir_version = ir_version_for(newest_);
    model_.producer_name = "sardonyx";
  }

  const Graph& g_;
  onnx::Model model_;
  std::unordered_map<ValueId, std::string> names_;
  std::unordered_set<std::string> taken_, node_names_;
  std::unordered_set<ValueId> used_;
  std::vector<ValueId> initializers_;
  std::unordered_map<std::string, int> domains_;
  int newest_ = 13;
  bool in_function_ = false;
};

}  // namespace

Result<onnx::Model> to_model(const Graph& graph) { return Exporter(graph).run(); }

}  // namespace sx
