// SPDX-License-Identifier: Apache-2.0
// The host's half of the plugin door: what a plugin may ask about nodes, and help during a run.
#include <cstring>
#include <mutex>

#include "base/cancel.h"
#include "base/format.h"
#include "base/parallel.h"
#include "graph/op.h"
#include "runtime/abi.h"
#include "runtime/abi_export.h"

namespace sx::abi {
namespace {

thread_local std::string last_error;

const Node& node_of(const sx_node* c) {
  const NodeHandle& h = NodeHandle::of(c);
  return h.graph->node(h.node);
}

sx_text node_operator(const sx_node* c) {
  return to_c(node_of(c).op ? node_of(c).op->name : node_of(c).type);
}
sx_text node_domain(const sx_node* c) {
  return to_c(node_of(c).op ? node_of(c).op->domain : node_of(c).domain);
}
sx_text node_name(const sx_node* c) { return to_c(node_of(c).name); }
size_t node_inputs(const sx_node* c) { return node_of(c).inputs.size(); }
size_t node_outputs(const sx_node* c) { return node_of(c).outputs.size(); }

sx_operand operand(const NodeHandle& h, ValueId v, size_t slot) {
  sx_operand result = {0, 0, -1, nullptr, nullptr};
  if (v == kNoValue) return result;
  const ValueInfo& info = h.graph->value(v);
  result.given = 1;
  if (!info.type.is_tensor()) return result;
  result.type = sx_dtype(info.type.elem);
  if (info.is_constant() && info.constant.is_tensor() && info.type.elem != DType::string) {
    result.constant = info.constant.tensor.data();
  }
  if (!info.type.shape.known) return result;
  const Node& node = h.graph->node(h.node);
  if (h.dims.empty()) h.dims.resize(node.inputs.size() + node.outputs.size());
  std::vector<int64_t>& dims = h.dims[slot];
  dims.clear();
  for (Dim d : info.type.shape.dims) dims.push_back(d.is_constant() ? d.constant() : -1);
  result.rank = int32_t(dims.size());
  result.dims = dims.data();
  return result;
}

sx_operand node_input(const sx_node* c, size_t i) {
  const Node& n = node_of(c);
  return operand(NodeHandle::of(c), i < n.inputs.size() ? n.inputs[i] : kNoValue, i);
}

sx_operand node_output(const sx_node* c, size_t i) {
  const Node& n = node_of(c);
  return operand(NodeHandle::of(c), i < n.outputs.size() ? n.outputs[i] : kNoValue, n.inputs.size() + i);
}

const AttrDef* default_of(const Node& node, std::string_view name, AttrKind kind) {
  if (!node.op || node.attrs.has(name)) return nullptr;
  for (const AttrDef& def : node.op->attrs) {
    if (def.name == name && def.kind == kind && def.need == AttrDef::Need::defaulted) return &def;
  }
  return nullptr;
}

int32_t node_integer(const sx_node* c, const char* name, int64_t* value) {
  const Node& n = node_of(c);
  if (const int64_t* v = n.attrs.get<int64_t>(name))
    *value = *v;
  else if (const AttrDef* def = default_of(n, name, AttrKind::integer))
    *value = def->integer;
  else
    return 0;
  return 1;
}

int32_t node_float(const sx_node* c, const char* name, float* value) {
  const Node& n = node_of(c);
  if (const float* v = n.attrs.get<float>(name))
    *value = *v;
  else if (const AttrDef* def = default_of(n, name, AttrKind::floating))
    *value = def->floating;
  else
    return 0;
  return 1;
}

int32_t node_text(const sx_node* c, const char* name, sx_text* value) {
  const Node& n = node_of(c);
  if (const std::string* v = n.attrs.get<std::string>(name))
    *value = to_c(*v);
  else if (const AttrDef* def = default_of(n, name, AttrKind::text))
    *value = to_c(def->text);
  else
    return 0;
  return 1;
}

int32_t node_integers(const sx_node* c, const char* name, const int64_t** values, size_t* count) {
  const auto* v = node_of(c).attrs.get<std::vector<int64_t>>(name);
  if (!v) return 0;
  *values = v->data();
  *count = v->size();
  return 1;
}

int32_t same_shape(const sx_node* c, int32_t a_is_output, size_t a, int32_t b_is_output, size_t b) {
  const Node& n = node_of(c);
  auto shape = [&](int32_t is_output, size_t i) -> const Shape* {
    const std::vector<ValueId>& list = is_output ? n.outputs : n.inputs;
    if (i >= list.size() || list[i] == kNoValue) return nullptr;
    const Type& type = NodeHandle::of(c).graph->value(list[i]).type;
    return type.is_tensor() && type.shape.known ? &type.shape : nullptr;
  };
  const Shape* x = shape(a_is_output, a);
  const Shape* y = shape(b_is_output, b);
  return x && y && *x == *y;
}

int32_t reads(const sx_node* reader, size_t input, const sx_node* maker, size_t output) {
  const Node& r = node_of(reader);
  const Node& m = node_of(maker);
  if (input >= r.inputs.size() || output >= m.outputs.size()) return 0;
  return r.inputs[input] != kNoValue && r.inputs[input] == m.outputs[output];
}

size_t group_members(const sx_node* c) {
  const NodeHandle& h = NodeHandle::of(c);
  const Body* body = group_body(*h.graph, h.node);
  return body ? body->nodes.size() : 0;
}

const sx_node* group_member(const sx_node* c, size_t index) {
  const NodeHandle& h = NodeHandle::of(c);
  const Body* body = group_body(*h.graph, h.node);
  if (!body || index >= body->nodes.size()) return nullptr;
  if (h.members.empty()) {
    for (NodeId n : body->nodes) h.members.push_back({h.graph, n, h.weights});
  }
  return h.members[index].as_c();
}

int32_t member_operand(const sx_node* c, size_t member, size_t input) {
  const NodeHandle& h = NodeHandle::of(c);
  const Body* body = group_body(*h.graph, h.node);
  if (!body || member >= body->nodes.size()) return -1;
  const std::vector<NodeId> members = body->nodes;
  const Node& n = h.graph->node(members[member]);
  if (input >= n.inputs.size() || n.inputs[input] == kNoValue) return -1;
  for (size_t k = 0; k < body->inputs.size(); ++k) {
    if (body->inputs[k] == n.inputs[input]) return int32_t(k);
  }
  for (size_t m = 0; m < member; ++m) {
    if (h.graph->value(n.inputs[input]).producer == members[m]) return -int32_t(m) - 2;
  }
  return -1;
}

void parallel_for(void* parallel, size_t chunks, void (*body)(void*, size_t, size_t), void* context) {
  static_cast<Parallel*>(parallel)->run(chunks,
                                        [&](size_t chunk, size_t worker) { body(context, chunk, worker); });
}

int32_t cancelled(const void* cancel) { return cancel && !static_cast<const Cancel*>(cancel)->check().ok(); }

const sx_provider* builtin_provider(const char* name) {
  static std::vector<std::unique_ptr<ExportedProvider>> exported = [] {
    std::vector<std::unique_ptr<ExportedProvider>> list;
    for (auto& p : builtin_providers()) list.push_back(std::make_unique<ExportedProvider>(std::move(p)));
    return list;
  }();
  for (const auto& p : exported) {
    if (from_c(p->table().name) == name) return &p->table();
  }
  return nullptr;
}

}  // namespace

const sx_host& host() {
  static const sx_host table = {sizeof(sx_host), set_error,    node_operator,  node_domain,  node_name,
                                node_inputs,     node_outputs, node_input,     node_output,  node_integer,
                                node_float,      node_text,    node_integers,  same_shape,   reads,
                                group_members,   group_member, member_operand, parallel_for, cancelled,
                                builtin_provider};
  return table;
}

void view_from_c(const sx_view& c, uint32_t owner, View& v) {
  v.type = DType(c.type);
  v.layout = from_c(c.layout, owner);
  v.data = c.data;
  v.dims.assign({c.dims, c.rank});
  if (c.strides)
    v.strides.assign({c.strides, c.rank});
  else
    v.strides.clear();
}

void clear_error() { last_error.clear(); }
void set_error(const char* text) { last_error = text ? text : ""; }

sx_code give(const Status& status) {
  if (!status.ok()) last_error = status.to_string();
  return sx_code(status.code());
}

Status take(sx_code code, std::string_view what_failed) {
  if (code == SX_CODE_OK) return {};
  const bool known = code > 0 && code <= sx_code(Code::internal);
  std::string text = std::move(last_error);
  last_error.clear();
  if (text.empty()) text = format("{} failed with code {} and said nothing", what_failed, code);
  return Status(known ? Code(code) : Code::internal, std::move(text));
}

}  // namespace sx::abi
