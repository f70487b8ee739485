// SPDX-License-Identifier: Apache-2.0
// Importer: walks a Model and builds a Graph, one scope of names for each graph and each call of a function.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "convert/convert.h"
#include "convert/functions.h"
#include "convert/problems.h"
#include "graph/op.h"
#include "onnx/tensor_data.h"

namespace sx::convert {

struct Scope;

// A call of a model-local function that is being inlined.
struct Call {
  const onnx::NodeProto& node;
  const onnx::FunctionProto& function;
  const Scope& caller;
  std::string prefix;  // of names made inside
};

struct Scope {
  const Scope* parent = nullptr;
  BodyId body = kMainBody;
  const std::vector<onnx::OperatorSetIdProto>* opsets = nullptr;
  const Call* call = nullptr;
  std::unordered_map<std::string_view, ValueId> names = {};  // kNoValue: an input that the call leaves out
  std::unordered_map<std::string_view, const onnx::TypeProto*> hints = {};
  int depth = 0;
  bool branch = false;  // inside an If: it may never run
};

using Opsets = std::unordered_map<std::string_view, int>;  // by domain

class Importer {
 public:
  Importer(const onnx::Model& model, const ConvertOptions& options);
  Result<Graph> run();

 private:
  using Proto = onnx::NodeProto;

  // Graphs.
  void check_versions();
  void import_main(const onnx::GraphProto& graph);
  void import_inputs(const onnx::GraphProto& graph, Scope& scope);
  void import_initializers(const onnx::GraphProto& graph, Scope& scope);
  void import_constant(std::string_view name, Result<Tensor> tensor, Scope& scope);
  void import_nodes(const std::vector<Proto>& nodes, Scope& scope, const std::string& where);
  void import_outputs(const onnx::GraphProto& graph, Scope& scope);
  void note_promise(Dim made, Dim declared);
  void check_output(const onnx::ValueInfoProto& declared, ValueId value);
  Result<BodyRef> import_body(const onnx::GraphProto& graph, const Scope& outer, std::span<const Type> seeds);
  void gather_hints(const onnx::GraphProto& graph, Scope& scope);
  void use_hint(std::string_view name, ValueId value, const Scope& scope);

  // Nodes.
  void import_node(const Proto& node, Scope& scope);
  void import_known(const Proto& node, Scope& scope, const Op& op, int opset, std::vector<ValueId> inputs);
  bool may_inline(const Proto& node, const onnx::FunctionProto& function, const Scope& scope);
  void inline_call(const Proto& node, const onnx::FunctionProto& function, Scope& scope,
                   const std::vector<ValueId>& inputs);
  bool import_constant_node(const Proto& node, Scope& scope, Attrs attrs);
  Result<std::vector<ValueId>> add_lifted(const Op& op, size_t history, NodeId node, bool may_not_run);
  bool resolve_inputs(const Proto& node, const Scope& scope, std::vector<ValueId>& inputs);
  Result<ValueId> find(std::string_view name, const Scope& scope) const;
  int opset_of(std::string_view domain, const Scope& scope);
  void define(std::string_view name, ValueId value, Scope& scope, const std::string& where);
  void poison_outputs(const Proto& node, Scope& scope);
  void fail(const Proto& node, const Scope& scope, Code code, std::string message);

  // Attributes.
  Result<Attrs> import_attrs(const Proto& node, const Scope& scope, const std::vector<ValueId>& inputs);
  Result<AttrValue> import_attr(const onnx::AttributeProto& attr, const Scope& scope,
                                std::span<const Type> seeds);
  Result<AttrValue> import_graphs(const onnx::AttributeProto& attr, const Scope& scope,
                                  std::span<const Type> seeds);
  std::vector<Type> seed_types(const Proto& node, const std::vector<ValueId>& inputs) const;

  std::string where(const Proto& node, const Scope& scope);
  std::string qualified(std::string_view name, const Scope& scope) const;
  void warn(std::string_view text) const { options_.log(LogLevel::warn, text); }

  const onnx::Model& model_;
  const ConvertOptions& options_;
  onnx::DataSource source_;
  Graph graph_;
  Problems problems_;
  std::unordered_map<ValueId, bool> poisoned_;    // outputs of nodes that failed: silence about what follows
  std::unordered_map<std::string, bool> warned_;  // domains that the model does not import
  Functions functions_;
  std::unordered_map<const void*, Opsets> opsets_;  // by the list that a model or function imports
  size_t imported_ = 0, most_imported_ = 0;         // nodes, those of inlined calls each time
  bool stopped_ = false;                            // too many: the rest is not looked at
  bool branch_ = false;                             // the graphs being read are branches of an If
};

}  // namespace sx::convert
