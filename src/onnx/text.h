// SPDX-License-Identifier: Apache-2.0
// ONNX text: the syntax of onnx.parser and onnx.printer, read and written. What that syntax cannot say is
// written as comment lines at the end, which the official parser skips and ours reads:
//   #@ graph.node[3].doc_string = "why"        #@ graph.initializer[0:12].raw_data = here
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "onnx/model.h"

namespace sx::onnx {

struct PrintOptions {
  bool exact = true;  // with the comment lines, so that parsing gives an equal model
  // Tensors of more elements are printed without them, with a comment; such a text is not the whole model.
  uint64_t largest_tensor = UINT64_MAX;
};

std::string print_text(const ModelProto& model, const PrintOptions& options = {});
std::string print_text(const GraphProto& graph);
std::string print_text(const FunctionProto& function);
std::string print_text(const NodeProto& node);
std::string print_text(const TypeProto& type);  // float[N,3], seq(int64)

// Errors say line and column and show the line. External data is looked for in `folder`.
Result<std::shared_ptr<Model>> parse_text(std::string_view text, const std::string& folder = {});
Result<std::shared_ptr<Model>> parse_text_file(const std::string& path);
Result<GraphProto> parse_graph_text(std::string_view text);
Result<FunctionProto> parse_function_text(std::string_view text);
Result<NodeProto> parse_node_text(std::string_view text);
Result<TypeProto> parse_type_text(std::string_view text);

}  // namespace sx::onnx
