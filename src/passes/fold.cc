// SPDX-License-Identifier: Apache-2.0
// Constant folding, by the operators' own evaluation.
#include <algorithm>

#include "base/task.h"
#include "graph/evaluate.h"
#include "graph/op.h"
#include "passes/rule.h"
#include "passes/steps.h"
#include "passes/work.h"

namespace sx::passes {
namespace {

// What folding may cost more for each byte of constants that the graph has: weights are transposed, scaled
// and cast, each a few times.
constexpr double kBytesPerByte = 2, kWorkPerByte = 4, kNanosecondsPerByte = 20;

// The bytes of a tensor type whose shape is known; false otherwise.
bool bytes_of(const Type& type, size_t& bytes) {
  if (!type.is_tensor() || !type.shape.is_constant()) return false;
  int64_t count = 1;
  for (Dim d : type.shape.dims) {
    if (d.constant() < 0 || __builtin_mul_overflow(count, d.constant(), &count)) return false;
  }
  if (type.elem == DType::string) {
    bytes = size_t(count) * sizeof(std::string);
    return true;
  }
  return dtype_bytes(type.elem, uint64_t(count), bytes);
}

Tensor tensor_of(const ValueInfo& value) {
  std::vector<int64_t> ints;
  for (Dim d : value.elements) ints.push_back(d.constant());
  const Dims dims = value.type.shape.rank() == 0 ? Dims{} : Dims{int64_t(ints.size())};
  switch (value.type.elem) {
    case DType::i64: return Tensor::of<int64_t>(DType::i64, dims, ints);
    case DType::i32: {
      const std::vector<int32_t> narrow(ints.begin(), ints.end());
      return Tensor::of<int32_t>(DType::i32, dims, narrow);
    }
    case DType::boolean: {
      const std::vector<uint8_t> bits(ints.begin(), ints.end());
      return Tensor::of<uint8_t>(DType::boolean, dims, bits);
    }
    default: return {};
  }
}

}  // namespace

bool Folder::try_elements(NodeId node) {
  bool changed = false;
  const std::vector<ValueId> outputs = g_.node(node).outputs;
  for (ValueId v : outputs) {
    if (v == kNoValue || g_.node(node).removed) continue;
    const ValueInfo& value = g_.value(v);
    if (!value.has_elements || value.is_constant() || !value.type.is_tensor() || g_.use_count(v) == 0)
      continue;
    if (!std::all_of(value.elements.begin(), value.elements.end(), [](Dim d) { return d.is_constant(); }))
      continue;
    Tensor t = tensor_of(value);
    if (!t.defined()) continue;
    if (record_.wanted()) record_.add({"fold", describe(g_, node), node_text(g_, node), ""});
    g_.make_constant(v, Value(std::move(t)));
    changed = true;
  }
  return changed;
}

Folder::Folder(Graph& graph, const OptimizeOptions& options, const Record& record)
    : g_(graph), options_(options), record_(record) {
  double bytes = 0;
  for (ValueId v = 0; v < g_.values(); ++v) {
    if (const Tensor* t = constant_of(g_, v)) bytes += double(t->bytes());
  }
  bytes_left_ = double(options.fold_total) + kBytesPerByte * bytes;
  work_left_ = options.fold_work + kWorkPerByte * bytes;
  time_left_ = options.fold_time + std::chrono::nanoseconds(int64_t(kNanosecondsPerByte * bytes));
}

// Each string of the result may be as long as all the strings that go in.
bool Folder::strings_stay_short(const Node& node, double out) const {
  double letters = 0;
  for (ValueId v : node.inputs) {
    const Tensor* t = constant_of(g_, v);
    if (!t || t->type() != DType::string) continue;
    for (const std::string& s : t->strings()) letters += double(s.size());
  }
  return letters * std::max(1.0, out) <= double(options_.fold_growth);
}

bool Folder::worth(NodeId node, Cost& cost) const {
  const Node& n = g_.node(node);
  if (!n.op || !n.op->pure || n.op->control_flow || given_up_.contains(node) || n.outputs.empty())
    return false;
  if (n.domain == "sx") return false;
  size_t in = 0;
  double count = 0;
  for (ValueId v : n.inputs) {
    if (v == kNoValue) continue;
    if (!g_.value(v).is_constant() || !g_.value(v).constant.is_tensor()) return false;
    in += g_.value(v).constant.tensor.bytes();
  }
  for (ValueId v : n.outputs) {
    size_t bytes = 0;
    if (v == kNoValue) continue;
    const Type& type = g_.value(v).type;
    if (!bytes_of(type, bytes)) {
      // Sizes that only the contents tell (NonZero, Unique) are small where the inputs are.
      if (!type.is_tensor() || type.elem == DType::string || in > options_.fold_growth / 8) return false;
      bytes = in;
    }
    cost.bytes += bytes;
    count += type.elem == DType::string ? double(bytes) / double(sizeof(std::string))
                                        : double(bytes) * 8 / double(std::max(1, dtype_bits(type.elem)));
  }
  if (cost.bytes > options_.fold_bytes || (cost.bytes > in && cost.bytes > options_.fold_growth))
    return false;
  cost.work = work_of(g_, node, count);
  return double(cost.bytes) <= bytes_left_ && cost.work <= work_left_ && time_left_.count() > 0 &&
         strings_stay_short(n, count);
}

bool Folder::try_node(NodeId node) {
  Cost cost;
  if (!worth(node, cost)) return false;
  bytes_left_ -= double(cost.bytes);
  work_left_ -= cost.work;
  std::vector<Value> inputs;
  for (ValueId v : g_.node(node).inputs) inputs.push_back(v == kNoValue ? Value() : g_.value(v).constant);
  Cancel cancel;
  const auto start = Cancel::Clock::now();
  cancel.set_deadline(start + time_left_);
  auto made = evaluate_node(g_, node, inputs, {.cancel = &cancel});
  time_left_ -= Cancel::Clock::now() - start;
  const std::vector<ValueId> outputs = g_.node(node).outputs;
  const bool whole = made.ok() && made->size() >= outputs.size();
  for (size_t i = 0; whole && i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue && !(*made)[i].is_tensor()) return given_up_.insert(node), false;
  }
  if (!whole) return given_up_.insert(node), false;
  if (record_.wanted()) record_.add({"fold", describe(g_, node), node_text(g_, node), ""});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue) g_.make_constant(outputs[i], std::move((*made)[i]));
  }
  if (!g_.node(node).removed) g_.remove_node(node);
  return true;
}

Result<size_t> Folder::run() {
  size_t changed = 0;
  for (BodyId b = 0; b < g_.bodies(); ++b) {
    const std::vector<NodeId> nodes = g_.body(b).nodes;
    for (NodeId n : nodes) {
      if (g_.node(n).removed) continue;
      SX_TRY(check_stop());
      bool folded = try_elements(n);
      if (!g_.node(n).removed) folded = try_node(n) || folded;
      changed += folded;
    }
  }
  return changed;
}

}  // namespace sx::passes
