// SPDX-License-Identifier: Apache-2.0
// Nodes of a model: names resolved, checked against their record, lifted to the newest version, functions
// inlined.
#include <algorithm>

#include "base/format.h"
#include "convert/check.h"
#include "convert/constants.h"
#include "convert/import.h"
#include "graph/builder.h"
#include "graph/infer_graph.h"
#include "graph/lift.h"

namespace sx::convert {

namespace {
constexpr size_t kLongestPrefix = 1000;  // of names in calls of calls
constexpr size_t kSpareAttributes = 64;  // more than these beyond what the operator knows are not read at all

void trim(std::vector<ValueId>& values, size_t least = 0) {
  while (values.size() > least && values.back() == kNoValue) values.pop_back();
}
}  // namespace

std::string Importer::qualified(std::string_view name, const Scope& scope) const {
  return scope.call ? scope.call->prefix + std::string(name) : std::string(name);
}

std::string Importer::where(const Proto& node, const Scope& scope) {
  const std::string_view domain = onnx::canonical_domain(node.domain);
  const std::string type =
      domain.empty() ? node.op_type.str() : std::string(domain) + "." + node.op_type.str();
  std::string who = "node '" + qualified(node.name.view(), scope) + "'";
  if (node.name.empty()) {
    who = node.output.empty() ? "node" : "node that makes '" + qualified(node.output[0].view(), scope) + "'";
  }
  return format("{} ({}, opset {})", who, type, opset_of(domain, scope));
}

void Importer::fail(const Proto& node, const Scope& scope, Code code, std::string message) {
  problems_.add(code, where(node, scope), std::move(message));
}

Result<ValueId> Importer::find(std::string_view name, const Scope& scope) const {
  for (const Scope* s = &scope; s; s = s->parent) {
    if (auto it = s->names.find(name); it != s->names.end()) return it->second;
  }
  return error(Code::invalid_model, "'{}' is not defined", name);
}

void Importer::define(std::string_view name, ValueId value, Scope& scope, const std::string& where) {
  if (!scope.names.try_emplace(name, value).second) {
    problems_.add(Code::invalid_model, where, format("'{}' is defined twice", name));
  }
}

void Importer::poison_outputs(const Proto& node, Scope& scope) {
  for (const onnx::Text& name : node.output) {
    if (name.empty() || scope.names.contains(name.view())) continue;
    const ValueId v = graph_.add_value(scope.body, qualified(name.view(), scope));
    poisoned_[v] = true;
    scope.names.emplace(name.view(), v);
  }
}

int Importer::opset_of(std::string_view domain, const Scope& scope) {
  for (const auto* imports : {scope.opsets, &model_.opset_import}) {
    const auto [known, fresh] = opsets_.try_emplace(imports);
    for (size_t i = 0; fresh && i < imports->size(); ++i) {
      const onnx::OperatorSetIdProto& import = (*imports)[i];
      known->second.try_emplace(onnx::canonical_domain(import.domain),
                                int(std::clamp<int64_t>(import.version, 1, 1 << 20)));
    }
    if (const auto it = known->second.find(domain); it != known->second.end()) return it->second;
  }
  if (model_.opset_import.empty() && domain.empty()) return 1;
  if (warned_.try_emplace(std::string(domain), true).second && newest_opset(domain) > 0) {
    warn(format("the model does not say which opset of domain '{}' it uses; taking {}", domain,
                newest_opset(domain)));
  }
  return std::max(newest_opset(domain), 1);
}

bool Importer::resolve_inputs(const Proto& node, const Scope& scope, std::vector<ValueId>& inputs) {
  bool sound = true;
  for (const onnx::Text& name : node.input) {
    if (name.empty()) {
      inputs.push_back(kNoValue);
      continue;
    }
    auto v = find(name.view(), scope);
    if (!v.ok()) {
      fail(node, scope, Code::invalid_model,
           format("input '{}' is not defined by any node, input or initializer", name.view()));
      sound = false;
      continue;
    }
    if (*v != kNoValue && poisoned_.contains(*v)) sound = false;
    inputs.push_back(*v);
  }
  trim(inputs);
  return sound;
}

void Importer::import_node(const Proto& node, Scope& scope) {
  std::vector<ValueId> inputs;
  const bool sound = resolve_inputs(node, scope, inputs);
  const std::string_view domain = onnx::canonical_domain(node.domain);
  if (const onnx::FunctionProto* function = functions_.find(node)) {
    if (sound)
      inline_call(node, *function, scope, inputs);
    else
      poison_outputs(node, scope);
    return;
  }
  const Op* op = find_op(domain, node.op_type);
  int opset = opset_of(domain, scope);
  // onnxruntime's optimiser writes some operators into the standard's domain before the standard has them.
  if (domain.empty() && (!op || history_at(*op, opset) < 0)) {
    if (const Op* early = find_op("sx.legacy", node.op_type)) op = early, opset = 1;
  }
  if (!op) {
    const std::string name =
        domain.empty() ? node.op_type.str() : std::string(domain) + "." + node.op_type.str();
    const bool named = !node.name.empty() || node.output.empty();
    problems_.unknown_operator(
        format("{} (opset {})", name, opset),
        "'" + qualified(named ? node.name.view() : node.output[0].view(), scope) + "'");
  } else if (sound) {
    import_known(node, scope, *op, opset, std::move(inputs));
  }
  // Whatever was not defined on the way failed.
  poison_outputs(node, scope);
}

bool Importer::import_constant_node(const Proto& node, Scope& scope, Attrs attrs) {
  auto value = constant_of(attrs);
  if (!value.ok() || node.output.size() != 1 || !node.input.empty()) {
    fail(node, scope, Code::invalid_model,
         value.ok() ? "expects no input and one output" : value.status().message());
    return false;
  }
  const std::string name = qualified(node.output[0].view(), scope);
  define(node.output[0].view(), graph_.add_constant(scope.body, std::move(*value), name), scope,
         where(node, scope));
  return true;
}

void Importer::import_known(const Proto& node, Scope& scope, const Op& op, int opset,
                            std::vector<ValueId> inputs) {
  const int index = history_at(op, opset);
  if (index < 0) {
    fail(node, scope, Code::invalid_model, format("the operator does not exist in opset {}", opset));
    return;
  }
  const OpVersion version = version_of(op, size_t(index));
  if (version.removed) {
    fail(node, scope, Code::invalid_model, format("the operator was removed in opset {}", version.since));
    return;
  }
  if (node.attribute.size() > version.attrs.size() + kSpareAttributes) {
    fail(node, scope, Code::invalid_model,
         format("has {} attributes, the operator has {}", node.attribute.size(), version.attrs.size()));
    return;
  }
  auto attrs = import_attrs(node, scope, inputs);
  if (!attrs.ok()) {
    if (!attrs.status().message().empty()) problems_.add(std::move(attrs).in(where(node, scope)).status());
    return;
  }
  if (op.name == "Constant" && op.domain.empty()) {
    import_constant_node(node, scope, std::move(*attrs));
    return;
  }
  NodeFacts facts{{}, {}, *attrs};
  for (ValueId v : inputs) facts.inputs.push_back(v == kNoValue ? nullptr : &graph_.value(v).type);
  for (const onnx::Text& name : node.output) facts.outputs.push_back(!name.empty());
  const std::vector<std::string> wrong = check_node(version, facts);
  for (const std::string& message : wrong) fail(node, scope, Code::invalid_model, message);
  if (!wrong.empty()) return;

  std::vector<ValueId> outputs;
  for (const onnx::Text& name : node.output) {
    outputs.push_back(name.empty() ? kNoValue : graph_.add_value(scope.body, qualified(name.view(), scope)));
  }
  trim(outputs, required_outputs(version));
  const bool unread = std::all_of(outputs.begin(), outputs.end(), [](ValueId v) { return v == kNoValue; });
  if (unread && !outputs.empty())
    outputs[0] = graph_.add_value(scope.body, "");  // every step makes something
  const NodeId id =
      graph_.add_node(scope.body, &op, std::move(inputs), std::move(*attrs), std::move(outputs));
  Node& made = graph_.node(id);
  made.name = node.name.empty() ? "" : qualified(node.name.view(), scope);
  made.version = opset;
  if (scope.call) made.origin = "function " + scope.call->function.name.str();
  auto results = add_lifted(op, size_t(index), id, scope.branch);
  if (!results.ok()) {
    problems_.add(results.status());
    return;
  }
  std::vector<const Type*> made_types;
  for (ValueId v : *results) made_types.push_back(v == kNoValue ? nullptr : &graph_.value(v).type);
  for (const std::string& message : check_results(version, made_types))
    fail(node, scope, Code::invalid_model, message);
  for (size_t i = 0; i < node.output.size() && i < results->size(); ++i) {
    if (node.output[i].empty() || (*results)[i] == kNoValue) continue;
    use_hint(node.output[i].view(), (*results)[i], scope);
    define(node.output[i].view(), (*results)[i], scope, where(node, scope));
  }
}

Result<std::vector<ValueId>> Importer::add_lifted(const Op& op, size_t history, NodeId node,
                                                  bool may_not_run) {
  const std::string who = describe(graph_, node);
  for (size_t i = history; i > 0; --i) {
    if (!op.history[i].lift) continue;
    Lift lift(graph_, node, op.history[i].since);
    Status status = op.history[i].lift(lift);
    if (status.ok()) status = lift.status();
    if (!status.ok()) return std::move(status).in(who);
    if (lift.replaced()) {
      graph_.remove_node(node);
      return lift.results();
    }
    if (lift.become()) break;
  }
  Status inferred = infer_node(graph_, node);
  if (!inferred.ok() && !may_not_run) return inferred;
  return graph_.node(node).outputs;
}

// Asked once for each call that is not inside another: what it makes is counted, not made, first.
bool Importer::may_inline(const Proto& node, const onnx::FunctionProto& function, const Scope& scope) {
  auto made = functions_.nodes_made(function);
  if (!made.ok()) {
    fail(node, scope, made.status().code(), made.status().message());
    return false;
  }
  if (imported_ + *made <= most_imported_) return true;
  fail(node, scope, Code::invalid_model,
       format("function '{}' makes {} nodes with the calls inside it, calls may make {} in all",
              function_name(function), *made, options_.most_inlined));
  return false;
}

void Importer::inline_call(const Proto& node, const onnx::FunctionProto& function, Scope& scope,
                           const std::vector<ValueId>& inputs) {
  if (!scope.call && !may_inline(node, function, scope)) {
    poison_outputs(node, scope);
    return;
  }
  if (node.input.size() > function.input.size() || node.output.size() > function.output.size()) {
    fail(node, scope, Code::invalid_model,
         format("the function has {} inputs and {} outputs, the call {} and {}", function.input.size(),
                function.output.size(), node.input.size(), node.output.size()));
    poison_outputs(node, scope);
    return;
  }
  const std::string_view name =
      node.name.empty() && !node.output.empty() ? node.output[0].view() : node.name.view();
  std::string prefix = qualified(name, scope) + "/";
  if (prefix.size() > kLongestPrefix) prefix = graph_.fresh_name("call") + "/";
  const Call call{node, function, scope, std::move(prefix)};
  Scope inner{.body = scope.body, .opsets = &function.opset_import, .call = &call};
  inner.depth = scope.depth;
  inner.branch = scope.branch;
  for (size_t i = 0; i < function.input.size(); ++i) {
    define(function.input[i].view(), i < inputs.size() ? inputs[i] : kNoValue, inner, where(node, scope));
  }
  for (const onnx::ValueInfoProto& v : function.value_info) {
    if (v.type) inner.hints.emplace(v.name.view(), v.type.get());
  }
  import_nodes(function.node, inner, where(node, scope));
  for (size_t i = 0; i < node.output.size(); ++i) {
    if (node.output[i].empty()) continue;
    auto v = find(function.output[i].view(), inner);
    if (!v.ok()) {
      fail(node, scope, Code::invalid_model,
           format("the function does not make its output '{}'", function.output[i].view()));
      continue;
    }
    if (*v == kNoValue || poisoned_.contains(*v)) continue;
    ValueInfo& info = graph_.value(*v);
    if (info.producer != kNoNode && info.name.starts_with(call.prefix))
      info.name = qualified(node.output[i].view(), scope);
    define(node.output[i].view(), *v, scope, where(node, scope));
  }
  poison_outputs(node, scope);
}

}  // namespace sx::convert
