// SPDX-License-Identifier: Apache-2.0
// Whatever is read is written back byte for byte; its text means the same model; it has a Python script; its
// tensors are decoded or refused.
#include "fuzzing.h"
#include "onnx/python_script.h"
#include "onnx/text.h"

using namespace sx;
using namespace sx::onnx;

namespace {

void use_tensors(const Model& model, const GraphProto& graph) {
  for (const TensorProto& t : graph.initializer) (void)to_tensor(model, t).ok();
  for (const SparseTensorProto& t : graph.sparse_initializer)
    (void)to_sparse_tensor(t, data_source(model)).ok();
  for (const NodeProto& n : graph.node) {
    for (const AttributeProto& a : n.attribute) {
      if (a.t) (void)to_tensor(model, *a.t).ok();
      if (a.g) use_tensors(model, *a.g);
    }
  }
}

// Packed numbers that are cut off cannot be said in text; they are refused when the tensor is used.
bool whole_numbers(const GraphProto& graph);
bool whole_numbers(const TensorProto& t) {
  return t.float_data.check().ok() && t.int32_data.check().ok() && t.int64_data.check().ok() &&
         t.double_data.check().ok() && t.uint64_data.check().ok();
}
bool whole_numbers(const SparseTensorProto& s) {
  return (!s.values || whole_numbers(*s.values)) && (!s.indices || whole_numbers(*s.indices));
}
bool whole_numbers(const NodeProto& n) {
  for (const AttributeProto& a : n.attribute) {
    if (a.t && !whole_numbers(*a.t)) return false;
    if (a.sparse_tensor && !whole_numbers(*a.sparse_tensor)) return false;
    if (a.g && !whole_numbers(*a.g)) return false;
    for (const TensorProto& t : a.tensors)
      if (!whole_numbers(t)) return false;
    for (const SparseTensorProto& t : a.sparse_tensors)
      if (!whole_numbers(t)) return false;
    for (const GraphProto& g : a.graphs)
      if (!whole_numbers(g)) return false;
  }
  return true;
}
bool whole_numbers(const GraphProto& graph) {
  for (const TensorProto& t : graph.initializer)
    if (!whole_numbers(t)) return false;
  for (const SparseTensorProto& t : graph.sparse_initializer)
    if (!whole_numbers(t)) return false;
  for (const NodeProto& n : graph.node)
    if (!whole_numbers(n)) return false;
  return true;
}
bool whole_numbers(const ModelProto& m) {
  if (m.graph && !whole_numbers(*m.graph)) return false;
  for (const TrainingInfoProto& t : m.training_info) {
    if (t.initialization && !whole_numbers(*t.initialization)) return false;
    if (t.algorithm && !whole_numbers(*t.algorithm)) return false;
  }
  for (const FunctionProto& f : m.functions) {
    for (const NodeProto& n : f.node)
      if (!whole_numbers(n)) return false;
    for (const AttributeProto& a : f.attribute_proto) {
      NodeProto n;
      n.attribute.push_back(a);
      if (!whole_numbers(n)) return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto model = read_model(input_file(data, size), "");
  if (!model.ok()) return 0;
  const std::string again = message_bytes<ModelProto>(**model);
  must(again == std::string(reinterpret_cast<const char*>(data), size), "written byte for byte");
  if ((*model)->graph) use_tensors(**model, *(*model)->graph);
  if (size > 20000 || !whole_numbers(**model)) return 0;
  const auto parsed = parse_text(print_text(**model));
  must(parsed.ok(), "our text is parsed");
  must(canonical(**parsed) == canonical(**model), "text means the same model");
  must(python_script(**model, "tensors", size % 7).ok(), "a script is written");
  return 0;
}
