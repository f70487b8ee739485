// SPDX-License-Identifier: Apache-2.0
// Graphs of a model: inputs, initializers, outputs, nested graphs.
#include "convert/import.h"

#include <unordered_set>
#include <utility>

#include "base/format.h"
#include "convert/constants.h"
#include "convert/order.h"
#include "convert/types.h"
#include "graph/builder.h"

namespace sx::convert {

namespace {
constexpr int kMostNesting = 64;  // graphs in graphs
}

Importer::Importer(const onnx::Model& model, const ConvertOptions& options)
    : model_(model),
      options_(options),
      source_(onnx::data_source(model)),
      problems_(options.most_problems),
      functions_(model.functions) {}

Result<Graph> Importer::run() {
  if (!model_.graph) return error(Code::invalid_model, "the model has no graph");
  check_versions();
  most_imported_ = count_nodes(*model_.graph) + options_.most_inlined;
  import_main(*model_.graph);
  if (problems_.any()) {
    if (options_.problems) *options_.problems = problems_.list();
    return problems_.status();
  }
  SX_TRY(graph_.verify());
  return std::move(graph_);
}

void Importer::check_versions() {
  const auto beyond = [&](std::string text) {
    if (options_.allow_newer)
      warn(std::move(text));
    else
      problems_.add(Code::unsupported, "", std::move(text));
  };
  const int64_t ir = model_.ir_version;
  if (ir > kNewestIr) beyond(format("the model is of IR version {}, the newest known is {}", ir, kNewestIr));
  constexpr int64_t kFirstWithOpsets = 3;
  if (model_.opset_import.empty() && ir >= kFirstWithOpsets)
    beyond("the model does not say which opset it uses: it has no opset_import");
  for (const auto& import : model_.opset_import) {
    const std::string_view domain = onnx::canonical_domain(import.domain);
    const int newest = newest_opset(domain);
    if (import.version < 1)
      problems_.add(Code::invalid_model, "",
                    format("opset {} of domain '{}' does not exist", int64_t(import.version), domain));
    if (newest > 0 && import.version > newest) {
      beyond(format("the model asks for opset {} of domain '{}', the newest known is {}",
                    int64_t(import.version), domain, newest));
    }
  }
}

void Importer::import_main(const onnx::GraphProto& graph) {
  graph_.name = graph.name.str();
  graph_.doc = graph.doc_string.str();
  for (const auto& m : model_.metadata_props) graph_.metadata.emplace_back(m.key.str(), m.value.str());
  Scope scope;
  scope.opsets = &model_.opset_import;
  gather_hints(graph, scope);
  import_initializers(graph, scope);
  import_inputs(graph, scope);
  import_nodes(graph.node, scope, "");
  import_outputs(graph, scope);
}

void Importer::gather_hints(const onnx::GraphProto& graph, Scope& scope) {
  for (const auto* list : {&graph.value_info, &graph.output}) {
    for (const onnx::ValueInfoProto& v : *list) {
      if (v.type) scope.hints.emplace(v.name.view(), v.type.get());
    }
  }
}

void Importer::import_constant(std::string_view name, Result<Tensor> tensor, Scope& scope) {
  const std::string where = format("initializer '{}'", name);
  if (name.empty()) {
    problems_.add(Code::invalid_model, "", "an initializer has no name");
  } else if (!tensor.ok()) {
    problems_.add(std::move(tensor).in(where).status());
    const ValueId v = graph_.add_value(scope.body, qualified(name, scope));
    poisoned_[v] = true;
    define(name, v, scope, where);
  } else {
    define(name, graph_.add_constant(scope.body, Value(std::move(*tensor)), qualified(name, scope)), scope,
           where);
  }
}

void Importer::import_initializers(const onnx::GraphProto& graph, Scope& scope) {
  std::unordered_set<std::string_view> kept;
  if (options_.overridable_initializers && scope.body == kMainBody) {
    for (const onnx::ValueInfoProto& v : graph.input) kept.insert(v.name.view());
  }
  for (const onnx::TensorProto& t : graph.initializer) {
    if (!kept.contains(t.name.view())) {
      import_constant(t.name, onnx::to_tensor(t, source_), scope);
      continue;
    }
    auto tensor = onnx::to_tensor(t, source_);
    if (!tensor.ok())
      problems_.add(std::move(tensor).in(format("initializer '{}'", t.name.view())).status());
    else if (options_.defaults)
      options_.defaults->push_back({t.name.str(), Value(std::move(*tensor))});
  }
  for (const onnx::SparseTensorProto& s : graph.sparse_initializer) {
    const std::string_view name = s.values ? s.values->name.view() : std::string_view();
    auto sparse = onnx::to_sparse_tensor(s, source_);
    import_constant(name, sparse.ok() ? densify(*sparse) : Result<Tensor>(sparse.status()), scope);
  }
}

void Importer::import_inputs(const onnx::GraphProto& graph, Scope& scope) {
  for (const onnx::ValueInfoProto& input : graph.input) {
    const std::string where = format("input '{}'", input.name.view());
    if (auto it = scope.names.find(input.name.view());
        it != scope.names.end() && graph_.value(it->second).is_constant()) {
      continue;  // an initializer that is listed as an input too
    }
    Type type;
    if (!input.type) {
      problems_.add(Code::invalid_model, where, "has no type");
    } else {
      auto read = to_type(*input.type, {graph_.pool(), true, input.name.str()});
      if (read.ok())
        type = std::move(*read);
      else
        problems_.add(std::move(read).in(where).status());
    }
    const ValueId v = graph_.add_input(scope.body, input.name.str(), std::move(type));
    if (!graph_.value(v).type.known()) poisoned_[v] = true;
    define(input.name.view(), v, scope, where);
  }
}

void Importer::import_nodes(const std::vector<Proto>& nodes, Scope& scope, const std::string& where) {
  imported_ += nodes.size();
  if (imported_ > most_imported_ && !std::exchange(stopped_, true)) {
    problems_.add(Code::invalid_model, where,
                  format("calls of functions make more than {} nodes", options_.most_inlined));
  }
  auto order = order_nodes(nodes);
  if (!order.ok()) {
    problems_.add(where.empty() ? order.status() : std::move(order).in(where).status());
    for (const Proto& n : nodes) poison_outputs(n, scope);
    return;
  }
  if (order->sorted)
    warn(format("{}the nodes are not in order; they were sorted", where.empty() ? "" : where + ": "));
  for (size_t i : order->order) {
    if (problems_.full() || stopped_) return;
    import_node(nodes[i], scope);
  }
}

void Importer::import_outputs(const onnx::GraphProto& graph, Scope& scope) {
  for (const onnx::ValueInfoProto& output : graph.output) {
    const std::string name = output.name.str();
    auto value = find(output.name.view(), scope);
    if (!value.ok()) {
      problems_.add(Code::invalid_model, format("output '{}'", name), "nothing in the graph makes it");
      continue;
    }
    ValueId v = *value;
    if (v == kNoValue || poisoned_.contains(v)) continue;
    if (scope.body == kMainBody) {
      check_output(output, v);
      const bool taken = graph_.is_main_output(v);
      const ValueInfo& info = graph_.value(v);
      if (info.is_constant()) {
        v = graph_.add_constant(kMainBody, Value(info.constant), name);
      } else if (taken || info.producer == kNoNode) {
        v = Builder(graph_, kMainBody).op("Identity", {v});
      }
      graph_.value(v).name = name;
    }
    graph_.add_output(scope.body, v);
  }
}

void Importer::note_promise(Dim made, Dim declared) {
  if (!options_.promises || made.is_constant() || !declared.is_constant()) return;
  const auto& terms = made.expr()->terms;
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1) return;
  const DimAtom& atom = *terms[0].atoms[0];
  if (atom.op != DimOp::symbol || graph_.pool().is_fresh(atom.symbol)) return;
  options_.promises->push_back({graph_.pool().symbol_name(atom.symbol), declared.constant()});
}

void Importer::check_output(const onnx::ValueInfoProto& declared, ValueId value) {
  if (!declared.type) return;
  auto type = to_type(*declared.type, {graph_.pool()});
  if (!type.ok()) {
    if (type.status().code() != Code::unsupported && declared.type->tensor_type &&
        declared.type->tensor_type->elem_type != 0) {
      problems_.add(std::move(type).in(format("output '{}'", declared.name.view())).status());
    }
    return;
  }
  const Type& made = graph_.value(value).type;
  if (!made.known()) return;
  if (made.kind != type->kind || (made.is_tensor() && made.elem != type->elem)) {
    problems_.add(Code::invalid_model, format("output '{}'", declared.name.view()),
                  format("is declared as {}, the graph makes {}", to_string(*type), to_string(made)));
    return;
  }
  bool same = !made.shape.known || !type->shape.known || made.shape.rank() == type->shape.rank();
  for (size_t i = 0; same && made.shape.known && i < type->shape.rank(); ++i) {
    const Dim a = made.shape.dims[i], b = type->shape.dims[i];
    note_promise(a, b);
    same = !a.is_constant() || !b.is_constant() || a == b;
  }
  if (!same) {
    warn(format("output '{}' is declared as {}, the graph makes {}", declared.name.view(), to_string(*type),
                to_string(made)));
  }
}

Result<BodyRef> Importer::import_body(const onnx::GraphProto& graph, const Scope& outer,
                                      std::span<const Type> seeds) {
  if (outer.depth >= kMostNesting)
    return error(Code::invalid_model, "graphs are nested more than {} deep", kMostNesting);
  Scope scope{.parent = &outer,
              .body = graph_.add_body(kNoNode, graph.name.str()),
              .opsets = outer.opsets,
              .call = outer.call};
  scope.depth = outer.depth + 1;
  scope.branch = outer.branch || branch_;
  const size_t before = problems_.count();
  gather_hints(graph, scope);
  import_initializers(graph, scope);
  for (size_t i = 0; i < graph.input.size(); ++i) {
    const onnx::ValueInfoProto& input = graph.input[i];
    Type type = i < seeds.size() ? seeds[i] : Type();
    if (input.type) {
      // Without an element type the declaration says nothing.
      auto read = to_type(*input.type, {graph_.pool()});
      if (read.ok()) type = std::move(*read);
    }
    const ValueId v = graph_.add_input(scope.body, qualified(input.name.view(), scope), std::move(type));
    define(input.name.view(), v, scope,
           format("input '{}' of graph '{}'", input.name.view(), graph.name.view()));
  }
  import_nodes(graph.node, scope, format("graph '{}'", graph.name.view()));
  import_outputs(graph, scope);
  if (problems_.count() > before) return error(Code::invalid_model, "");  // already reported
  return BodyRef{scope.body};
}

void Importer::use_hint(std::string_view name, ValueId value, const Scope& scope) {
  auto it = scope.hints.find(name);
  Type& type = graph_.value(value).type;
  if (it == scope.hints.end() || (type.known() && (!type.is_tensor() || type.shape.known))) return;
  auto hint = to_type(*it->second, {graph_.pool()});
  if (!hint.ok()) return;
  // Sizes that a file declares may be stale, and nobody checks them: the rank is taken, the run tells the
  // rest.
  for (Dim& d : hint->shape.dims) d = graph_.pool().fresh();
  if (!type.known())
    type = std::move(*hint);
  else if (hint->is_tensor() && hint->elem == type.elem)
    type.shape = hint->shape;
}

}  // namespace sx::convert
