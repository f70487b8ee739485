// SPDX-License-Identifier: Apache-2.0
// Every tensor, graph or named thing of a model, wherever it is nested, with its path:
// "graph.node[3].attribute[0].t".
#pragma once
#include <string>

#include "base/function_ref.h"
#include "onnx/model.h"

namespace sx::onnx {

// Tensors of all kinds: initializers, attributes, the two halves of sparse tensors. Not the tensors of
// values.
void each_tensor(ModelProto& model, FunctionRef<void(TensorProto&, const std::string& path)> f);
void each_tensor(const ModelProto& model, FunctionRef<void(const TensorProto&, const std::string& path)> f);
// Graphs: the main one, bodies of nodes (in functions too), training graphs. Outer ones first.
void each_graph(ModelProto& model, FunctionRef<void(GraphProto&, const std::string& path)> f);
void each_graph(const ModelProto& model, FunctionRef<void(const GraphProto&, const std::string& path)> f);
void each_dimension(ModelProto& model, FunctionRef<void(DimensionProto&)> f);
// The graphs that the attributes of a node hold.
void each_body(NodeProto& node, FunctionRef<void(GraphProto&)> f);

}  // namespace sx::onnx
